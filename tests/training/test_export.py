from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

from glauber_core.errors import UserError
from glauber_core.training.export import export, with_weights
from tests.training import tiny


@pytest.mark.parametrize(("kind", "loader"), [("masked", AutoModelForMaskedLM), ("causal", AutoModelForCausalLM)])
def test_round_trip_in_half_precision(tmp_path: Path, kind: str, loader: type) -> None:
    model = tiny.model(tiny.config(kind=kind)).eval()
    tokenizer = tiny.tokenizer()
    digest = export(model, tokenizer, tmp_path, "# card {sha256}\n")
    weights = (tmp_path / "model.safetensors").read_bytes()
    assert hashlib.sha256(weights).hexdigest() == digest
    assert json.loads((tmp_path / "manifest.json").read_text())["sha256"] == digest
    assert (tmp_path / "README.md").read_text() == f"# card {digest}\n"

    loaded = loader.from_pretrained(tmp_path, dtype=torch.float32).eval()  # type: ignore[attr-defined]
    for name, stored in model.named_parameters():
        assert torch.equal(dict(loaded.named_parameters())[name], stored.half().float()), name
    batch = AutoTokenizer.from_pretrained(tmp_path)("the cat saw a big house .", return_tensors="pt")
    assert (
        batch["input_ids"].tolist() == tokenizer("the cat saw a big house .", return_tensors="pt")["input_ids"].tolist()
    )
    with torch.inference_mode():
        difference = loaded(batch["input_ids"]).logits - model(batch["input_ids"]).logits
    assert float(difference.abs().max()) < 0.01
    assert next(model.parameters()).dtype == torch.float32  # the model itself stays as it was


def test_export_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    model = tiny.model(tiny.config())
    assert export(model, tiny.tokenizer(), tmp_path, "") == export(model, tiny.tokenizer(), tmp_path, "")


def test_a_diverged_model_is_not_exported(tmp_path: Path) -> None:
    model = tiny.model(tiny.config())
    with torch.no_grad():
        next(model.parameters())[0, 0] = float("nan")
    with pytest.raises(UserError, match="diverged"):
        export(model, tiny.tokenizer(), tmp_path, "")
    assert not list(tmp_path.iterdir())


def test_other_weights_leave_the_model_alone() -> None:
    model = tiny.model(tiny.config())
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    other = with_weights(model, {name: torch.zeros_like(p) for name, p in before.items()})
    assert all(float(p.detach().abs().max()) == 0.0 for p in other.parameters())
    assert all(torch.equal(p, before[name]) for name, p in model.named_parameters())
    decoder = other.cls.predictions.decoder.weight
    assert decoder is other.bert.embeddings.word_embeddings.weight  # still tied
