"""Names and folders that cannot be used: one clear sentence each, never a traceback, never foreign code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, GPT2LMHeadModel

from glauber_core.errors import UserError
from glauber_core.models import load, source
from glauber_core.models.source import BUILT_IN, SUGGESTED, canonical_name, is_hub_id, locate
from tests.models.checkpoints import FAMILIES, copy_of, edit_json, folder, model


def refusal(name: str, device: str = "cpu") -> str:
    """The sentence with which a name is refused."""
    with pytest.raises(UserError) as caught:
        load(name, device)
    text = str(caught.value)
    assert text.strip() == text and len(text) < 600 and "Traceback" not in text and "\n" not in text
    return text


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "   ", "\n"])
def test_no_name(name: str) -> None:
    assert "Name a model" in refusal(name)


@pytest.mark.parametrize(
    "name",
    ["x\x00y", "a" * 5000, "/etc/passwd", "model?", "a/b/c", "owner/..", "../../../../nowhere/at-all", "\ud800/x"],
    ids=["nul", "5000 characters", "a file", "odd sign", "two slashes", "dots", "upwards", "surrogate"],
)
def test_names_that_are_neither_a_folder_nor_a_hub_id(name: str) -> None:
    assert len(refusal(name)) < 300


@pytest.mark.parametrize("name", ["owner/a--b", "owner/x.git", "owner/model.", "owner/mod\u00e8l", "~nosuchuser/x"])
def test_names_that_the_hubs_client_would_refuse(name: str) -> None:
    assert "no model or folder" in refusal(name)


def test_a_folder_of_the_machine_that_is_no_model() -> None:
    upwards = "/".join([".."] * len(Path.cwd().parts)) + "/etc"
    assert Path(upwards).is_dir() and "holds no config.json" in refusal(upwards)


@pytest.mark.parametrize("name", ["nobody/no-such-model", "bert-base-uncased", " roberta-base "])
def test_hub_out_of_reach(name: str) -> None:
    text = refusal(name)
    assert canonical_name(name) in text and "hub cannot be reached" in text and "local folder" in text


def test_hub_ids() -> None:
    for good in (*(s for s in SUGGESTED if s != BUILT_IN), "a/b", "A1/b_c-d.e"):
        assert is_hub_id(good), good
    for bad in (
        "",
        "a",
        "/a",
        "a/",
        "a/b/c",
        "a b/c",
        "../x",
        "a/..",
        "a/b..c",
        "a/b--c",
        "a/b.git",
        "a/b.",
        "a/b\u00e8",
        "-a/b",
        "a/" + "b" * 200,
        "~/x",
        "\\x/y",
    ):
        assert not is_hub_id(bad), bad


def test_short_names_get_their_owner() -> None:
    assert canonical_name(" ModernBERT-base ") == "answerdotai/ModernBERT-base"
    assert canonical_name("gpt2") == "openai-community/gpt2" and is_hub_id(canonical_name("gpt2"))
    assert canonical_name(BUILT_IN) == BUILT_IN
    assert all(canonical_name(name) == name for name in SUGGESTED)


# -- the built-in model -----------------------------------------------------------------------------------------------


def test_built_in_is_checked_against_its_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(folder("bert"), tmp_path / BUILT_IN)
    manifest = tmp_path / BUILT_IN / "manifest.json"
    manifest.write_text(json.dumps({"sha256": locate(str(folder("bert"))).sha256}))
    monkeypatch.setattr(source, "ASSETS", tmp_path)
    assert locate(BUILT_IN).folder == tmp_path / BUILT_IN
    weights = tmp_path / BUILT_IN / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1  # one bit
    weights.write_bytes(data)
    assert "is damaged" in refusal(BUILT_IN)


def test_built_in_manifest_names_the_shipped_file() -> None:
    found = locate(f" {BUILT_IN} ")
    assert found.name == BUILT_IN and found.folder.parent == source.ASSETS
    assert json.loads((found.folder / "manifest.json").read_text())["sha256"] == found.sha256


# -- folders ----------------------------------------------------------------------------------------------------------


def test_a_folder_may_be_named_relatively(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_of("bert", tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    lm = load("mine")
    assert lm.name == str(tmp_path / "mine") and lm.model_hash == model("bert").model_hash


@pytest.mark.parametrize("family", FAMILIES)
def test_a_copy_of_a_folder_gives_the_same_logits(family: str, tmp_path: Path) -> None:
    states = torch.nonzero(model(family).allowed)[3:8, 0][None]
    position = torch.tensor([2])
    assert torch.equal(load(str(copy_of(family, tmp_path / "copy")))(states, position), model(family)(states, position))


def test_half_precision_on_disk_is_float32_in_memory(tmp_path: Path) -> None:
    target = copy_of("bert", tmp_path / "half")
    weights = load_file(target / "model.safetensors")
    save_file({k: w.half() for k, w in weights.items()}, target / "model.safetensors", metadata={"format": "pt"})
    edit_json(target / "config.json", dtype="float16")
    lm = load(str(target))
    assert lm.dtype == torch.float32 and {p.dtype for p in lm._model.parameters()} == {torch.float32}
    assert lm.model_hash != model("bert").model_hash


def _no_safetensors(target: Path) -> None:
    torch.save(load_file(target / "model.safetensors"), target / "pytorch_model.bin")
    (target / "model.safetensors").unlink()


def _without(prefix: str) -> Callable[[Path], None]:
    def damage(target: Path) -> None:
        weights = load_file(target / "model.safetensors")
        kept = {k: w for k, w in weights.items() if not k.startswith(prefix)}
        assert len(kept) < len(weights)
        save_file(kept, target / "model.safetensors", metadata={"format": "pt"})

    return damage


def _no_tokenizer(target: Path) -> None:
    (target / "tokenizer.json").unlink()


def _rewritten(name: str, content: str) -> Callable[[Path], None]:
    def damage(target: Path) -> None:
        (target / name).write_text(content)

    return damage


def _cut_weights(size: int) -> Callable[[Path], None]:
    def damage(target: Path) -> None:
        weights = target / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:size])

    return damage


def _configured(**values: object) -> Callable[[Path], None]:
    return lambda target: edit_json(target / "config.json", **values)


DAMAGES: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "only .bin": ("bert", _no_safetensors, "no safetensors weights"),
    "no config": ("bert", lambda t: (t / "config.json").unlink(), "holds no config.json"),
    "no tokenizer, bert": ("bert", _no_tokenizer, ""),
    "no tokenizer, roberta": ("roberta", _no_tokenizer, ""),
    "no tokenizer, modernbert": ("modernbert", _no_tokenizer, "no tokenizer"),
    "cut tokenizer": ("roberta", _rewritten("tokenizer.json", '{"version": "1.0", "mod'), "no tokenizer"),
    "empty tokenizer": ("modernbert", _rewritten("tokenizer.json", "{}"), "no tokenizer"),
    "cut config": ("bert", _rewritten("config.json", '{"model_type": '), "cannot be loaded"),
    "list as tokenizer config": ("bert", _rewritten("tokenizer_config.json", "[]"), "no tokenizer"),
    "list as config": ("bert", _rewritten("config.json", "[]"), "cannot be loaded"),
    "unknown architecture": ("bert", _configured(model_type="nonesuch"), "cannot be loaded"),
    "not a multiple": ("bert", _configured(hidden_size=33), "cannot be loaded"),
    "a size that is no number": ("bert", _configured(hidden_size="abc"), "cannot be loaded"),
    "no attention heads": ("bert", _configured(num_attention_heads=0), "cannot be loaded"),
    "empty weights": ("bert", _cut_weights(0), "cannot be loaded"),
    "four bytes of weights": ("bert", _cut_weights(4), "cannot be loaded"),
    "a thousand bytes of weights": ("bert", _cut_weights(1000), "cannot be loaded"),
    "other size": ("bert", _configured(hidden_size=64), "cannot be loaded"),
    "more layers": ("bert", _configured(num_hidden_layers=3), "not a complete masked language model"),
    "no head, bert": ("bert", _without("cls."), "not a complete masked language model"),
    "no head, roberta": ("roberta", _without("lm_head."), "not a complete masked language model"),
    "no head, modernbert": ("modernbert", _without("head."), "not a complete masked language model"),
    "no layer": ("bert", _without("bert.encoder.layer.1."), "not a complete masked language model"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_folders(damage: str, tmp_path: Path) -> None:
    family, harm, sentence = DAMAGES[damage]
    target = copy_of(family, tmp_path / "model")
    harm(target)
    assert sentence in refusal(str(target))


def test_a_causal_model_is_refused(tmp_path: Path) -> None:
    config = GPT2Config(vocab_size=300, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
    GPT2LMHeadModel(config).save_pretrained(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder("roberta") / name, tmp_path)
    assert "cannot be loaded as a masked language model" in refusal(str(tmp_path))


def test_a_masked_architecture_used_as_a_causal_one_is_refused(tmp_path: Path) -> None:
    target = copy_of("bert", tmp_path / "model")
    edit_json(target / "config.json", is_decoder=True, architectures=["BertLMHeadModel"])
    assert "causal language model" in refusal(str(target))


# "cuda" alone is there on some machines; no machine has a hundred of them.
@pytest.mark.parametrize("device, sentence", [("nonsense", "no device called"), ("cuda:99", "not available")])
def test_devices_that_are_not_there(device: str, sentence: str) -> None:
    assert sentence in refusal(str(folder("bert")), device)


@pytest.mark.parametrize("model_type", ["bert", "never-heard-of"])
def test_custom_code_never_runs(model_type: str, tmp_path: Path) -> None:
    target = copy_of("bert", tmp_path / "model")
    trace = tmp_path / "executed"
    (target / "modeling_mine.py").write_text(f"open({str(trace)!r}, 'w').close()\nraise SystemExit\n")
    classes = {"AutoConfig": "modeling_mine.Config", "AutoModelForMaskedLM": "modeling_mine.Model"}
    edit_json(target / "config.json", model_type=model_type, auto_map=classes)
    edit_json(target / "tokenizer_config.json", auto_map={"AutoTokenizer": ["modeling_mine.T", "modeling_mine.T"]})
    if model_type == "bert":  # an architecture of the library itself: its own code is used
        assert torch.equal(load(str(target)).allowed, model("bert").allowed)
    else:
        assert "cannot be loaded" in refusal(str(target))
    assert not trace.exists()


def test_pickled_weights_beside_safetensors_are_never_read(tmp_path: Path) -> None:
    target = copy_of("bert", tmp_path / "model")
    (target / "pytorch_model.bin").write_bytes(b"not weights at all")
    assert load(str(target)).model_hash == model("bert").model_hash
