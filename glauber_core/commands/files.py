"""Files that commands write."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from glauber_core.errors import UserError


def check_out(out: Path, endings: Sequence[str] = (".json", ".csv")) -> None:
    """Refuse a file that cannot be written before anything is computed.

    Raises:
        UserError: no such folder, no permission, or another ending than ``endings``.
    """
    parent = out.absolute().parent
    if not parent.is_dir():
        raise UserError(f"There is no folder {parent} to write to.")
    if out.is_dir() or not os.access(out if out.exists() else parent, os.W_OK):
        raise UserError(f"{out} cannot be written; name another file with --out.")
    if out.suffix.lower() not in endings:
        raise UserError(f"The file given by --out must end in {' or '.join(endings)}.")


def write(out: Path, text: str) -> None:
    """Write UTF-8 text. Raises UserError where that fails."""
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{out} cannot be written: {error.strerror}.") from None
