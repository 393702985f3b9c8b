"""What every pretrained language model shares: from files to network and vocabulary, from sentences to padded rows."""

from __future__ import annotations

from typing import Any, Literal

import torch
from jaxtyping import Bool, Int, Int64
from tokenizers import Tokenizer
from torch import Tensor, nn

from glauber_core.errors import UserError
from glauber_core.models.source import Source
from glauber_core.models.vocabulary import Vocabulary
from glauber_core.turns import Turns

Kind = Literal["masked", "causal"]


def padded_length(tokens: int, limit: int) -> int:
    """Length a row is padded to: the next multiple of 4 up to 32, of 8 up to 128, of 32 above; at most ``limit``.

    A function of the sentence's length alone, so that a run's evaluation shape never depends on its company.
    """
    multiple = 4 if tokens <= 32 else 8 if tokens <= 128 else 32
    return min(-(-tokens // multiple) * multiple, limit)


class Pretrained:
    """A network with its vocabulary, for inference: the part that ``MaskedLM`` and ``CausalLM`` have in common.

    Args:
        source: the model's files.
        kind: which of a network's heads is asked for.
        device: where it runs, for example "cpu" or "cuda".
        dtype: torch.float32 or torch.float64.

    Attributes:
        name, model_hash: as in ``Source``.
        device, dtype: where and in what the network runs.
        kernels: ``plain`` or ``packed`` linear layers (``models.packed``).
        vocabulary: text to ids and back.
        vocab_size: V, the number of token ids, disallowed ones included.
        allowed: bool [V], the tokens that may be sampled, on the CPU.

    Raises:
        UserError: no such device; or no complete model of this kind with a fast tokenizer and safetensors.
    """

    def __init__(self, source: Source, kind: Kind, device: str, dtype: torch.dtype) -> None:
        self.name, self.model_hash, self.device, self.dtype = source.name, source.sha256, _device(device), dtype
        self.kernels = "plain"
        self._turns = Turns()
        self._model = _placed(load_network(source, kind), self.device, dtype).eval()
        self._model.requires_grad_(False)
        self.vocabulary = _load_vocabulary(source, self._model, kind)
        self.vocab_size = self.vocabulary.size
        self.allowed: Bool[Tensor, " V"] = self.vocabulary.allowed
        self._reach = self.vocabulary.limit + len(self.vocabulary.prefix) + len(self.vocabulary.suffix)

    def _framed(self, states: Int[Tensor, "B n"]) -> tuple[Int64[Tensor, "B L"], Int64[Tensor, "B L"]]:
        """Rows as the network reads them, and which of their places are no padding (1): int64 [B, L], on the CPU.

        Raises:
            UserError: the sentences are longer than the network can read.
        """
        vocabulary = self.vocabulary
        count, n = states.shape
        start, used = len(vocabulary.prefix), self._used(n)
        # The pad id matters to RoBERTa, which counts its positions from the non-pad tokens.
        ids = torch.full((count, padded_length(used, self._reach)), self._pad_id)
        if vocabulary.prefix:
            ids[:, :start] = torch.tensor(vocabulary.prefix)
        ids[:, start : start + n] = states
        if vocabulary.suffix:
            ids[:, start + n : used] = torch.tensor(vocabulary.suffix)
        attention = torch.zeros_like(ids)
        attention[:, :used] = 1
        return ids, attention

    def _used(self, n: int) -> int:
        """Places that a sentence of n tokens takes, the model's own tokens included. Raises UserError: too many."""
        used = len(self.vocabulary.prefix) + n + len(self.vocabulary.suffix)
        if used > self._reach:
            raise UserError(f"That is {n:,} tokens; {self.name} reads at most {self.vocabulary.limit:,}.")
        return used

    @property
    def _pad_id(self) -> int:
        pad = self._model.config.pad_token_id
        return int(pad) if pad is not None else 0


def load_network(source: Source, kind: Kind) -> Any:
    """The network in float32 on the CPU, from safetensors; code that ships with a model is never run.

    Raises:
        UserError: the files hold no complete model of this kind.
    """
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    loader: Any = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    try:
        network, report = loader.from_pretrained(
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
        raise UserError(f"{source.name} cannot be loaded as a {kind} language model: {reason}") from None
    if kind == "masked" and getattr(network.config, "is_decoder", False):
        raise UserError(f"{source.name} is a causal language model: it predicts from the left alone.")
    if report["mismatched_keys"]:
        raise UserError(f"The weights of {source.name} do not have the sizes that its config.json gives.")
    missing = sorted(report["missing_keys"])
    if missing:
        raise UserError(
            f"{source.name} is not a complete {kind} language model: the weights of {missing[0]} are missing."
        )
    return network


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


def _load_vocabulary(source: Source, network: Any, kind: Kind) -> Vocabulary:
    from transformers import AutoTokenizer

    try:
        fast = AutoTokenizer.from_pretrained(source.folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # as above
        raise UserError(f"{source.name} has no tokenizer that can be loaded ({type(error).__name__}).") from None
    backend = getattr(fast, "backend_tokenizer", None)
    if not isinstance(backend, Tokenizer) or backend.get_vocab_size() <= len(fast.all_special_ids):
        raise UserError(f"{source.name} has no fast tokenizer (tokenizer.json); it cannot be used.")
    mask = fast.mask_token_id if kind == "masked" else None  # a causal model cannot fill a blank
    return Vocabulary(
        backend,
        size=int(network.config.vocab_size),
        mask_id=None if mask is None else int(mask),
        unknown_id=None if fast.unk_token_id is None else int(fast.unk_token_id),
        special_ids=set(fast.all_special_ids) | {i for i, t in fast.added_tokens_decoder.items() if t.special},
        positions=min(_positions(network), int(fast.model_max_length)),
        opening_id=_opening_id(fast, network.config) if kind == "causal" else None,
    )


def _opening_id(fast: Any, config: Any) -> int | None:
    """What stands before the first token of a text: the beginning-of-sequence token, else the end-of-sequence one."""
    for name in ("bos_token_id", "eos_token_id"):
        for token in (getattr(fast, name, None), getattr(config, name, None)):
            if isinstance(token, int) and 0 <= token < config.vocab_size:
                return token
    return None


def _positions(network: Any) -> int:
    """The longest row the network can read; RoBERTa spends its first positions on the padding offset."""
    for name, module in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            offset = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - offset
    return int(getattr(network.config, "max_position_embeddings", 512))
