"""Any Hugging Face masked language model on the ``Conditionals`` protocol (arXiv 2605.16378, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glauber_core.errors import UserError
from glauber_core.models import packed
from glauber_core.models.loading import Pretrained, padded_length
from glauber_core.models.source import Source, locate


class MaskedLM(Pretrained):
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
        super().__init__(source, "masked", device, dtype)
        if self.vocabulary.mask_id is None:
            raise UserError(f"{self.name} has no mask token, so it is not a masked language model.")
        self._mask_id = self.vocabulary.mask_id
        self._rows: Tensor | None = None
        self._barred = torch.zeros(self.vocab_size, dtype=dtype)
        self._barred[~self.allowed] = -torch.inf
        self._barred = self._barred.to(self.device)
        self._prepare_rows()

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """Logits l_i(v | x_-i); see ``Conditionals``.

        Rows are padded to ``padded_length``; the caller decides how many go together (``shape.EvaluationShape``).
        """
        return self._read(*self._rows_of(states, positions))

    def kin(self, n: int) -> int:
        """A number that sentences share if their rows may be read in one call of ``mixed``, each to the same bits.

        Those are padded to one length. A row without padding keeps to its like: a network may read a batch in which
        nothing is padded by another kernel. Raises UserError: too long.
        """
        used = self._used(n)
        length = padded_length(used, self._reach)
        return 2 * length + (used == length)

    def mixed(self, states: Sequence[Int[Tensor, " _"]], positions: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """As ``__call__``, for B sentences of different lengths of one ``kin``."""
        parts = [self._rows_of(s[None], p[None]) for s, p in zip(states, positions, strict=True)]
        ids, attention, reads = (torch.cat(column) for column in zip(*parts, strict=True))
        return self._read(ids, attention, reads)

    def _read(self, ids: Tensor, attention: Tensor, reads: Tensor) -> Float[Tensor, "B V"]:
        with self._turns, torch.inference_mode(), self._slicing(reads):
            logits = self._model(input_ids=ids, attention_mask=attention).logits[:, 0]
        return logits + self._barred

    def _rows_of(self, states: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        ids, attention = self._framed(states)
        reads = positions + len(self.vocabulary.prefix)
        ids[torch.arange(len(ids)), reads] = self._mask_id
        return ids.to(self.device), attention.to(self.device), reads.to(self.device)

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


def load(name: str, device: str = "cpu", dtype: torch.dtype = torch.float32) -> MaskedLM:
    """Load a model by name; see ``source.locate``. Raises UserError as there."""
    return MaskedLM(locate(name), device, dtype)
