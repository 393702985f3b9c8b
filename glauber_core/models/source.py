"""Where a model's files come from: the package, a local folder, or the Hugging Face hub; and their hash."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from glauber_core.errors import UserError

ASSETS = Path(__file__).resolve().parents[1] / "assets"
BUILT_IN = "glauber-mini"
SUGGESTED = {
    BUILT_IN: "built in, works with no network",
    "google-bert/bert-base-uncased": "110 M parameters, the paper's BERT",
    "google-bert/bert-large-uncased": "340 M parameters",
    "FacebookAI/roberta-base": "125 M parameters, the paper's RoBERTa",
    "answerdotai/ModernBERT-base": "149 M parameters, the paper's ModernBERT",
}
_SHORT = {
    "bert-base-uncased": "google-bert/bert-base-uncased",
    "bert-large-uncased": "google-bert/bert-large-uncased",
    "roberta-base": "FacebookAI/roberta-base",
    "ModernBERT-base": "answerdotai/ModernBERT-base",
    "gpt2": "openai-community/gpt2",
}
_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
_HUB_ID = re.compile(f"{_NAME}/{_NAME}")
_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"]
_FILES += ["vocab.json", "merges.txt", "added_tokens.json", "model.safetensors", "model.safetensors.index.json"]
_FILES += ["model-?????-of-?????.safetensors", "spiece.model", "sentencepiece.bpe.model"]


def built_in() -> list[str]:
    """Names of the models that come with the package, the default first."""
    found = sorted(path.parent.name for path in ASSETS.glob("*/manifest.json"))
    return [BUILT_IN, *(name for name in found if name != BUILT_IN)]


@dataclass(frozen=True)
class Source:
    """A model's files on disk.

    Attributes:
        name: what the user called it, in its canonical form.
        folder: where config.json, the tokenizer and the safetensors lie.
        sha256: hex digest over the weight files, in name order.
    """

    name: str
    folder: Path
    sha256: str


def canonical_name(name: str) -> str:
    """The name in the form used by links and run records; short hub names get their owner."""
    clean = name.strip()
    return _SHORT.get(clean, clean)


def is_hub_id(name: str) -> bool:
    """True for ``owner/model`` as the hub spells it; nothing with ``..``, ``--``, ``.git`` or white space passes."""
    clean = bool(_HUB_ID.fullmatch(name)) and ".." not in name and "--" not in name
    return clean and len(name) <= 96 and not name.endswith(".git")


def locate(name: str, extra: tuple[str, ...] = ()) -> Source:
    """Find a model's files, fetching them from the hub if need be.

    Args:
        name: ``glauber-mini``, a hub id (``owner/model``), or a local folder.
        extra: patterns of further files to fetch, beside those that every language model has.

    Raises:
        UserError: no such model, hub out of reach, no safetensors, or built-in weights that fail their SHA-256.
    """
    name = canonical_name(name)
    if not name:
        raise UserError("Name a model: a hub id such as google-bert/bert-base-uncased, or a folder.")
    if re.fullmatch(r"[\w-]{1,64}", name) and (ASSETS / name / "manifest.json").is_file():
        folder = ASSETS / name
        source = Source(name, folder, _digest(folder, name))
        manifest = json.loads((folder / "manifest.json").read_text())
        if manifest["sha256"] != source.sha256:
            raise UserError(f"The built-in model {name} is damaged: its SHA-256 does not match; reinstall the package.")
        return source
    path = Path(name)
    try:
        path = path.expanduser()
        is_folder = path.is_dir()
    except (OSError, ValueError, RuntimeError):  # too long for the file system, a NUL byte, or no such user's home
        is_folder = False
    if is_folder:
        if not (path / "config.json").is_file():
            raise UserError(f"The folder {name} holds no config.json, so it is not a Hugging Face model.")
        return Source(str(path.resolve()), path.resolve(), _digest(path.resolve(), name))
    if not is_hub_id(name):
        raise UserError(f"There is no model or folder called {name[:120]!r}; give a hub id such as owner/model.")
    folder = _from_hub(name, extra)
    return Source(name, folder, _digest(folder, name))


def _from_hub(name: str, extra: tuple[str, ...]) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    wanted = [*_FILES, *extra]
    try:
        folder = Path(snapshot_download(name, allow_patterns=wanted, local_files_only=True))
        complete = all(any(folder.glob(pattern)) for pattern in extra[:1])
        if complete and list(folder.glob("*.safetensors")) and (folder / "config.json").is_file():
            return folder
    except (LocalEntryNotFoundError, HFValidationError):
        pass
    try:
        return Path(snapshot_download(name, allow_patterns=wanted, etag_timeout=5))
    except (RepositoryNotFoundError, HFValidationError):
        raise UserError(f"The hub has no public model {name}; check the spelling.") from None
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError, RuntimeError) as error:
        if isinstance(error, OSError) and getattr(error, "errno", None) == 28:
            raise UserError(f"The disk is full: {name} could not be stored.") from None
        raise UserError(
            f"{name} is not on this computer and the hub cannot be reached: connect to the network, "
            "or give a local folder that holds the model."
        ) from None


def _digest(folder: Path, name: str) -> str:
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise UserError(f"{name} has no safetensors weights; other formats are not loaded because they can run code.")
    stamp = tuple((str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files)
    return _hash_files(stamp)


@lru_cache(maxsize=64)
def _hash_files(stamp: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, _, _ in stamp:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
