"""Any Hugging Face masked language model on the ``Conditionals`` protocol (arXiv 2605.16378, section 2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn

from glauber_core.errors import UserError
from glauber_core.models import packed
from glauber_core.models.source import Source, locate
from glauber_core.models.vocabulary import Vocabulary
from glauber_core.turns import Turns


def padded_length(tokens: int, limit: int) -> int:
    """Length a row is padded to: the next multiple of 4 up to 32, of 8 up to 128, of 32 above; at most ``limit``.

    A function of the sentence's length alone, so that a run's evaluation shape never depends on its company.
    """
    multiple = 4 if tokens <= 32 else 8 if tokens <= 128 else 32
    return min(-(-tokens // multiple) * multiple, limit)


class MaskedLM:
    """A masked language model whose rows each mask exactly the one position they read.

    Only the hidden vector at the masked position goes through the vocabulary head. One forward pass runs at a time
    (``turns.Turns``), so the object may be shared between threads.

    Args:
        source: the model's files.
        device: where it runs, for example "cpu" or "cuda".
        dtype: torch.float32, or torch.float64 for the noise floor of the rectangle test.

    Raises:
        UserError: not a masked language model with a fast tokenizer and safetensors, or one whose head needs more than
            the hidden vector of the position it predicts.
    """

    def __init__(self, source: Source, device: str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        self.name, self.model_hash, self.device, self.dtype = source.name, source.sha256, _device(device), dtype
        self._turns = Turns()
        self._rows: Tensor | None = None
        self._model = _placed(_load_network(source), self.device, dtype).eval()
        self._model.requires_grad_(False)
        self.vocabulary = _load_vocabulary(source, self._model)
        self.vocab_size = self.vocabulary.size
        self.allowed: Bool[Tensor, " V"] = self.vocabulary.allowed
        self._barred = torch.zeros(self.vocab_size, dtype=dtype)
        self._barred[~self.allowed] = -torch.inf
        self._barred = self._barred.to(self.device)
        self._reach = self.vocabulary.limit + len(self.vocabulary.prefix) + len(self.vocabulary.suffix)
        self.kernels = "plain"
        self._prepare_rows()

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """Logits l_i(v | x_-i); see ``Conditionals``.

        Rows are padded to ``padded_length``; the caller decides how many go together (``shape.EvaluationShape``).
        """
        ids, attention, reads = self._rows_of(states, positions)
        with self._turns, torch.inference_mode(), self._slicing(reads):
            logits = self._model(input_ids=ids, attention_mask=attention).logits[:, 0]
        return logits + self._barred

    def _rows_of(self, states: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        vocabulary = self.vocabulary
        count, n = states.shape
        start = len(vocabulary.prefix)
        used = start + n + len(vocabulary.suffix)
        if used > self._reach:
            raise UserError(f"That is {n:,} tokens; {self.name} reads at most {vocabulary.limit:,}.")
        length = padded_length(used, self._reach)
        ids = torch.zeros((count, length), dtype=torch.int64)
        if vocabulary.prefix:
            ids[:, :start] = torch.tensor(vocabulary.prefix)
        ids[:, start : start + n] = states
        if vocabulary.suffix:
            ids[:, start + n : used] = torch.tensor(vocabulary.suffix)
        # The pad id matters to RoBERTa, which counts its positions from the non-pad tokens.
        ids[:, used:] = self._pad_id
        reads = positions + start
        ids[torch.arange(count), reads] = vocabulary.mask_id
        attention = torch.zeros_like(ids)
        attention[:, :used] = 1
        return ids.to(self.device), attention.to(self.device), reads.to(self.device)

    @property
    def _pad_id(self) -> int:
        pad = self._model.config.pad_token_id
        return int(pad) if pad is not None else 0

    @contextmanager
    def _slicing(self, reads: Tensor | None) -> Iterator[None]:
        self._rows = reads
        try:
            yield
        finally:
            self._rows = None

    def _keep_masked_rows(self, module: nn.Module, inputs: Any, output: Any) -> Any:
        """Forward hook of the encoder: keep one hidden vector a row, so that the head sees [B, 1, H]."""
        if self._rows is None:
            return output
        hidden = output[0]
        kept = hidden[torch.arange(len(hidden), device=hidden.device), self._rows][:, None]
        if isinstance(output, tuple):
            return (kept, *output[1:])
        output.last_hidden_state = kept
        return output

    def _prepare_rows(self) -> None:
        """Slice at the encoder's end and pack the weights, if the logits stay those of the full, plain network.

        A head that mixes positions is refused; a network that cannot be packed runs unpacked.
        """
        token = int(torch.nonzero(self.allowed)[0, 0])
        states = torch.full((2, 3), token)
        positions = torch.tensor([1, 2])
        ids, attention, reads = self._rows_of(states, positions)
        with torch.inference_mode():
            full = self._model(input_ids=ids, attention_mask=attention).logits[torch.arange(2), reads]
        self._model.base_model.register_forward_hook(self._keep_masked_rows)
        full = full[:, self.allowed.to(full.device)]
        bound = 1e-3 * (float(full.abs().amax()) + 1.0)

        def agrees() -> bool:
            sliced = self(states, positions)[:, self.allowed]
            return full.shape == sliced.shape and float((full - sliced).abs().amax()) <= bound

        if not agrees():
            raise UserError(f"{self.name} predicts a word from more than its own position; this kind is not supported.")
        if packed.available(self.device, self.dtype):
            replaced = packed.pack(self._model)
            try:
                good = agrees()
            except (AttributeError, RuntimeError):  # a network that reads its layers' weights itself
                good = False
            if good:
                self.kernels = "packed"
            else:
                packed.unpack(replaced)


def _device(name: str) -> torch.device:
    try:
        return torch.device(name)
    except RuntimeError:
        raise UserError(f"There is no device called {name!r}; use cpu, or cuda for an NVIDIA GPU.") from None


def _placed(network: Any, device: torch.device, dtype: torch.dtype) -> Any:
    try:
        return network.to(dtype).to(device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise UserError(f"The device {device} is not available to PyTorch here; use cpu.") from None


def _load_network(source: Source) -> Any:
    from transformers import AutoModelForMaskedLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        network, report = AutoModelForMaskedLM.from_pretrained(
            source.folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=torch.float32,
            attn_implementation="sdpa",
            output_loading_info=True,
        )
    except Exception as error:  # the files are a stranger's: any fault in them must end in one sentence
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise UserError(f"{source.name} cannot be loaded as a masked language model: {reason}") from None
    if getattr(network.config, "is_decoder", False):
        raise UserError(f"{source.name} is a causal language model: it predicts from the left alone.")
    if report["mismatched_keys"]:
        raise UserError(f"The weights of {source.name} do not have the sizes that its config.json gives.")
    missing = sorted(report["missing_keys"])
    if missing:
        raise UserError(
            f"{source.name} is not a complete masked language model: the weights of {missing[0]} are missing."
        )
    return network


def _load_vocabulary(source: Source, network: Any) -> Vocabulary:
    from transformers import AutoTokenizer

    try:
        fast = AutoTokenizer.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # as above
        raise UserError(f"{source.name} has no tokenizer that can be loaded ({type(error).__name__}).") from None
    backend = getattr(fast, "backend_tokenizer", None)
    if not isinstance(backend, Tokenizer) or backend.get_vocab_size() <= len(fast.all_special_ids):
        raise UserError(f"{source.name} has no fast tokenizer (tokenizer.json); it cannot be used.")
    if fast.mask_token_id is None:
        raise UserError(f"{source.name} has no mask token, so it is not a masked language model.")
    specials = set(fast.all_special_ids) | {i for i, t in fast.added_tokens_decoder.items() if t.special}
    framing = len(backend.encode("a", add_special_tokens=True).ids) - len(
        backend.encode("a", add_special_tokens=False).ids
    )
    return Vocabulary(
        backend,
        size=int(network.config.vocab_size),
        mask_id=int(fast.mask_token_id),
        unknown_id=None if fast.unk_token_id is None else int(fast.unk_token_id),
        special_ids=specials,
        limit=min(_positions(network), int(fast.model_max_length)) - framing,
    )


def _positions(network: Any) -> int:
    """The longest row the network can read; RoBERTa spends its first positions on the padding offset."""
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            offset = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - offset
    return int(getattr(network.config, "max_position_embeddings", 512))


def load(name: str, device: str = "cpu", dtype: torch.dtype = torch.float32) -> MaskedLM:
    """Load a model by name; see ``source.locate``. Raises UserError as there."""
    return MaskedLM(locate(name), device, dtype)
