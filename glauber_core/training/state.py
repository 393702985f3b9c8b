"""Where a run stands, and how it is stored."""

from __future__ import annotations

import os
import pickle
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from glauber_core.errors import UserError
from glauber_core.training.average import Average

FILE = "checkpoint.pt"


@dataclass
class State:
    """Counters of a run.

    Attributes:
        step: optimizer steps taken.
        tokens: tokens seen, special tokens included, padding not.
        epoch, index: the next batch.
        seconds: wall time spent, pauses included, time between a stop and a resume not.
    """

    step: int = 0
    tokens: int = 0
    epoch: int = 0
    index: int = 0
    seconds: float = 0.0


def save(folder: Path, state: State, model: nn.Module, average: Average, optimizer: torch.optim.Optimizer) -> None:
    """Write ``checkpoint.pt`` so that a kill at any moment leaves either the old file or the new one.

    Raises:
        UserError: the disk is full or the folder is gone.
    """
    part = folder / (FILE + ".part")
    stored = {
        "state": asdict(state),
        "model": model.state_dict(),
        "average": average.weights,
        "optimizer": optimizer.state_dict(),
    }
    try:
        torch.save(stored, part)
        os.replace(part, folder / FILE)
    except (OSError, RuntimeError) as error:  # torch's writer turns a full disk into a RuntimeError
        raise UserError(f"The checkpoint could not be written to {folder} ({error}).") from None


def restore(folder: Path, model: nn.Module, average: Average, optimizer: torch.optim.Optimizer) -> State:
    """Load ``checkpoint.pt`` into the given objects and return the counters.

    Raises:
        UserError: there is no checkpoint, it is damaged, or it belongs to another model.
    """
    path = folder / FILE
    if not path.exists():
        raise UserError(f"There is no checkpoint in {folder}; start without --resume.")
    try:
        stored: dict[str, Any] = torch.load(path, weights_only=True)
    except (RuntimeError, OSError, EOFError, pickle.UnpicklingError):
        raise UserError(f"The checkpoint {path} is damaged; start anew in another folder.") from None
    try:
        model.load_state_dict(stored["model"])
        average.load(stored["average"])
    except (RuntimeError, KeyError):
        raise UserError(f"The checkpoint in {folder} belongs to another model; use the same --init.") from None
    # Peak rates come from the present settings, so that a resumed run may change them.
    for old, new in zip(stored["optimizer"]["param_groups"], optimizer.state_dict()["param_groups"], strict=True):
        old.update({key: new[key] for key in ("peak", "weight_decay")})
    optimizer.load_state_dict(stored["optimizer"])
    return State(**stored["state"])
