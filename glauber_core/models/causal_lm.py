"""Any Hugging Face causal language model on the ``JointLaw`` protocol: the control of the rectangle test."""

from __future__ import annotations

import torch
from jaxtyping import Float64, Int
from torch import Tensor

from glauber_core.errors import UserError
from glauber_core.models.loading import Pretrained
from glauber_core.models.source import Source, locate

_ROWS = 16  # rows of one forward pass: logits at every position are large (GPT-2: 0.2 MB a token)


class CausalLM(Pretrained):
    """A causal language model: it gives the probability of a sentence, and through it every conditional.

    What opens the row, and whether its end counts, is as in training, and thus up to the tokenizer. One that frames a
    sentence as BERT's does has [CLS] open the row and [SEP] predicted at its end. One that adds nothing (GPT-2's) has
    the beginning-of-text token <|endoftext|> open the row, and no end is predicted. One forward pass runs at a time
    (``turns.Turns``), so the object may be shared between threads.

    There is no mask: ``vocabulary.mask_id`` is None, and a typed [MASK] is read as ordinary characters.

    Args:
        source: the model's files.
        device: where it runs, for example "cpu" or "cuda".
        dtype: of the network, torch.float32 or torch.float64.

    Attributes:
        name, model_hash: as in ``Source``.
        device, dtype: where and in what the network runs.
        kernels: "plain", the kind of its linear layers (``models.packed``).
        vocabulary: text to ids and back.
        vocab_size: V, the number of token ids, disallowed ones included.
        allowed: bool [V], the tokens that may be sampled, on the CPU.

    Raises:
        UserError: not a causal language model with a fast tokenizer and safetensors, one that reads words to the right
            (a BERT), or one with no token that opens a sentence.
    """

    def __init__(self, source: Source, device: str = "cpu", dtype: torch.dtype = torch.float32) -> None:
        super().__init__(source, "causal", device, dtype)
        if not self.vocabulary.prefix:
            raise UserError(f"{self.name} has no token that opens a sentence, so its first word has no probability.")
        self._model.config.use_cache = False
        self._refuse_what_reads_ahead()

    def log_joint(self, states: Int[Tensor, "B n"]) -> Float64[Tensor, " B"]:
        """log P(x) = sum_k log p(x_k | x_<k) of each row; see ``JointLaw``.

        The sum runs over everything after the opening token or tokens: the n tokens of the sentence, then the end
        token if the tokenizer puts one. Logits come in the network's dtype, the rest is float64.

        Args:
            states: int64 [B, n], B >= 1, token ids in 0 .. V-1, special ones not excluded. Rows are padded to
                ``loading.padded_length``.

        Returns:
            float64 [B], nats, on the CPU.

        Raises:
            UserError: the sentences are longer than the network can read.
        """
        return torch.cat([self._log_joint(part) for part in states.split(_ROWS)])

    def _log_joint(self, states: Tensor) -> Tensor:
        ids, attention = self._framed(states)
        start = len(self.vocabulary.prefix)
        end = start + states.shape[1] + len(self.vocabulary.suffix)
        ids = ids.to(self.device)
        total = torch.zeros(len(ids), dtype=torch.float64, device=self.device)
        with self._turns, torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=attention.to(self.device)).logits
            for k in range(start, end):  # one position at a time: all of them in float64 would be twice the logits
                row = logits[:, k - 1].double()
                total += row.gather(1, ids[:, k : k + 1])[:, 0] - row.logsumexp(dim=1)
        return total.cpu()

    def _refuse_what_reads_ahead(self) -> None:
        """Transformers loads a BERT as a causal model without complaint: only its predictions show what it reads."""
        words = torch.nonzero(self.allowed)[:, 0]
        states = words[0].repeat(2, 3)
        states[1, 2] = words[-1]
        ids, attention = self._framed(states)
        with torch.inference_mode():
            logits = self._model(input_ids=ids.to(self.device), attention_mask=attention.to(self.device)).logits
        before = logits[:, : len(self.vocabulary.prefix) + 2]
        if not float((before[0] - before[1]).abs().amax()) <= 1e-3 * (float(before.abs().amax()) + 1.0):
            raise UserError(f"{self.name} is not a causal language model: it reads the words on both sides.")


def load_causal(name: str, device: str = "cpu", dtype: torch.dtype = torch.float32) -> CausalLM:
    """Load a causal model by name; see ``source.locate``. Raises UserError as there and as ``CausalLM``."""
    return CausalLM(locate(name), device, dtype)
