"""A model that is being fetched while the page goes on with the one it has."""

from __future__ import annotations

from concurrent.futures import Future

from glauber_core.errors import UserError
from glauber_core.models import MaskedLM


def outcome(name: str, future: Future[MaskedLM], current: str) -> MaskedLM:
    """The model of a finished future.

    Args:
        name: what was asked for.
        future: done.
        current: name of the model in use.

    Raises:
        UserError: why it is not there, and what stays in use.
    """
    try:
        return future.result()
    except UserError as error:
        raise UserError(f"{error} Still using {current}.") from None
    except Exception as error:  # whatever a foreign model's files make a loader do, the page goes on
        raise UserError(f"{name} cannot be loaded ({type(error).__name__}). Still using {current}.") from None
