"""What one session holds of a sampler: conditionals like any others, read in company."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glauber_core.models.vocabulary import Vocabulary
from glauber_core.service.line import Session
from glauber_core.shape import EvaluationShape

if TYPE_CHECKING:
    from glauber_core.service.sampler import SamplerService


class Client:
    """The model of a service on the ``Conditionals`` protocol, for one session; made by ``SamplerService.client``.

    Threads of the session may share it. Rows are evaluated at ``shape``, whatever else is asked for at the same time.

    Attributes:
        fills_up: True: give it real rows only, as many as there are (``shape.fills_up``).
        shape: the canonical evaluation shape of every value.
        vocab_size, allowed: as in ``Conditionals``.
        name, model_hash, device, dtype, kernels, vocabulary: the model's own.
    """

    fills_up = True

    def __init__(self, service: SamplerService, session: Session) -> None:
        model = service.model
        self._service, self._session = service, session
        self.shape: EvaluationShape = service.shape
        self.vocab_size: int = model.vocab_size
        self.allowed: Bool[Tensor, " V"] = model.allowed
        self.name = str(getattr(model, "name", type(model).__name__))
        self.model_hash = str(getattr(model, "model_hash", ""))
        self.device = torch.device(getattr(model, "device", "cpu"))
        self.dtype: torch.dtype = getattr(model, "dtype", torch.float64)
        self.kernels = str(getattr(model, "kernels", "plain"))

    @property
    def vocabulary(self) -> Vocabulary:
        """The model's; AttributeError for a model that has none."""
        return self._service.model.vocabulary  # type: ignore[attr-defined]

    def __call__(self, states: Int[Tensor, "B n"], positions: Int[Tensor, " B"]) -> Float[Tensor, "B V"]:
        """Logits l_i(v | x_-i), as ``Conditionals``; waits until all rows were read.

        Inside ``turns.urgent`` they go before what others ask without it.

        Raises:
            UserError: a token, position or sentence that the model does not have.
            Busy: too much is in line already.
            Cancelled: the session was closed or left.
            Abandoned: it gave no sign of life while it waited.
        """
        return self._service.read(self._session, states, positions)

    def beat(self) -> None:
        """A sign of life. A session that gives none while it waits loses its place in line (``SamplerService``)."""
        self._service.beat(self._session)

    def leave(self) -> None:
        """Nobody waits any more: what is in line is dropped, waiting calls raise Cancelled; a later call is served."""
        self._service.leave(self._session)

    def close(self) -> None:
        """The session has ended: what it has in line is dropped, its calls raise Cancelled from now on."""
        self._service.end(self._session)

    @property
    def closed(self) -> bool:
        """True after ``close`` of this client or of the service."""
        return self._session.closed
