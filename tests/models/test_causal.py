"""The joint law of a causal model: against a plain forward pass, as a probability, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

import glauber_core
from glauber_core.errors import UserError
from glauber_core.models import CausalLM, load_causal, source
from glauber_core.types import Conditionals, JointLaw
from tests.models.checkpoints import CAUSAL, FAMILIES, FRAMES, causal, copy_of, edit_json, folder, model

LENGTHS = (1, 2, 3, 6, 7, 13, 31, 40)
TEXTS = ["the cat sat on the mat", "doctor told patient to drink water.", "a"]
POSITIONS = {"gpt2": 160, "gpt2-wordpiece": 128}


@cache
def reference(path: Path) -> Any:
    """The checkpoint as Transformers itself runs it, in float64 and without fused attention."""
    return AutoModelForCausalLM.from_pretrained(path, dtype=torch.float64, attn_implementation="eager").eval()


def frame(family: str) -> tuple[list[int], list[int]]:
    """What stands before and after a sentence, from the tokenizer's own names."""
    tokenizer = AutoTokenizer.from_pretrained(folder(family))
    if family == "gpt2":
        return [tokenizer.convert_tokens_to_ids("<|endoftext|>")], []
    return [tokenizer.cls_token_id], [tokenizer.sep_token_id]


def plain(network: Any, row: list[int]) -> float:
    """log of the probability of row[1:] after row[0]: no padding, no batch, one full softmax a position."""
    with torch.inference_mode():
        scores = network(input_ids=torch.tensor([row])).logits[0].log_softmax(dim=1)
    return sum(float(scores[k - 1, row[k]]) for k in range(1, len(row)))


def some_states(lm: CausalLM, count: int, n: int, seed: int = 0) -> torch.Tensor:
    """int64 [count, n] of allowed tokens."""
    allowed = torch.nonzero(lm.allowed)[:, 0]
    return allowed[torch.randint(len(allowed), (count, n), generator=torch.Generator().manual_seed(seed))]


def refusal(path: Path, device: str = "cpu") -> str:
    """The sentence with which a folder is refused."""
    with pytest.raises(UserError) as caught:
        load_causal(str(path), device)
    text = str(caught.value)
    assert text.strip() == text and len(text) < 600 and "Traceback" not in text and "\n" not in text
    return text


# -- the interface ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", CAUSAL)
def test_is_a_joint_law_and_not_a_conditionals(family: str) -> None:
    lm = causal(family)
    assert isinstance(lm, JointLaw) and not isinstance(lm, Conditionals)
    assert isinstance(model("bert"), Conditionals) and not isinstance(model("bert"), JointLaw)
    assert lm.allowed.shape == (lm.vocab_size,) and lm.allowed.dtype == torch.bool
    assert (lm.name, lm.device, lm.dtype, lm.kernels) == (
        str(folder(family)),
        torch.device("cpu"),
        torch.float32,
        "plain",
    )
    assert lm.model_hash == source.locate(str(folder(family))).sha256


def test_the_package_offers_it_by_name() -> None:
    assert glauber_core.CausalLM is CausalLM and glauber_core.load_causal is load_causal
    assert glauber_core.JointLaw is JointLaw


# -- against a plain pass ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("family", CAUSAL)
def test_is_the_sum_over_a_plain_pass(family: str, n: int) -> None:
    states = some_states(causal(family), 3, n, seed=n)
    before, after = frame(family)
    wanted = torch.tensor([plain(reference(folder(family)), before + s + after) for s in states.tolist()])
    wide, narrow = causal(family, torch.float64).log_joint(states), causal(family).log_joint(states)
    assert wide.dtype == narrow.dtype == torch.float64 and wide.shape == (3,)
    assert torch.allclose(wide, wanted.double(), rtol=1e-6, atol=0)
    assert torch.allclose(narrow, wide, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("family", CAUSAL)
def test_is_the_loss_that_training_reports(family: str, text: str) -> None:
    before, after = frame(family)
    ids = AutoTokenizer.from_pretrained(folder(family))(text, add_special_tokens=False)["input_ids"]
    row = torch.tensor([before + ids + after])
    with torch.inference_mode():
        loss = reference(folder(family))(input_ids=row, labels=row).loss  # a mean over all tokens but the first
    lm = causal(family, torch.float64)
    found = lm.log_joint(torch.tensor([lm.vocabulary.encode(text).ids]))
    assert float(found) == pytest.approx(-float(loss) * (row.shape[1] - 1), rel=1e-6)


@pytest.mark.parametrize("family", CAUSAL)
def test_a_row_does_not_depend_on_its_company(family: str) -> None:
    for dtype, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-10)):
        lm = causal(family, dtype)
        states = some_states(lm, 37, 9)  # two full batches and a part of one
        together = lm.log_joint(states)
        alone = torch.cat([lm.log_joint(s[None]) for s in states])
        assert float((together - alone).abs().amax()) <= tolerance
        assert float((lm.log_joint(states.flip(0)).flip(0) - together).abs().amax()) <= tolerance


def test_threads_may_share_a_model() -> None:
    lm = causal("gpt2", torch.float64)
    states = [some_states(lm, 2, n, seed=n) for n in (3, 8, 5, 12) * 3]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lm.log_joint, states))
    assert all(torch.allclose(f, lm.log_joint(s), rtol=0, atol=1e-10) for f, s in zip(found, states, strict=True))


@pytest.mark.parametrize("family", CAUSAL)
def test_inputs_are_not_mutated(family: str) -> None:
    states = some_states(causal(family), 2, 5)
    before = states.clone()
    causal(family).log_joint(states)
    assert torch.equal(states, before)


@pytest.mark.parametrize("family", CAUSAL)
def test_the_longest_sentence_is_read_whole_and_one_more_token_refused(family: str) -> None:
    lm = causal(family, torch.float64)
    before, after = frame(family)
    limit = POSITIONS[family] - len(before) - len(after)
    assert lm.vocabulary.limit == limit
    state = some_states(lm, 1, limit)
    wanted = plain(reference(folder(family)), before + state[0].tolist() + after)
    assert float(lm.log_joint(state)) == pytest.approx(wanted, rel=1e-6)
    with pytest.raises(UserError, match=f"{limit + 1} tokens; .* reads at most {limit}"):
        lm.log_joint(some_states(lm, 1, limit + 1))


# -- as a probability -------------------------------------------------------------------------------------------------


def mass(family: str, words: int, n: int) -> float:
    """Probability of all sentences of n of the first ``words`` words, by enumeration."""
    lm = causal(family, torch.float64)
    states = torch.tensor(list(itertools.product(range(words), repeat=n)), dtype=torch.int64).reshape(words**n, n)
    return float(lm.log_joint(states).exp().sum())


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("family", ["letters", "letters-opened"])
def test_all_sentences_of_one_length_sum_to_one(family: str, n: int) -> None:
    assert causal(family).vocab_size == 5
    assert mass(family, 5, n) == pytest.approx(1.0, abs=1e-12)  # special tokens are among the words a law may emit


def test_all_sentences_that_end_and_those_that_go_on_sum_to_one() -> None:
    ended = [mass("letters-closed", 4, n) for n in range(4)]  # [SEP], the last id, ends a sentence
    assert all(share > 0.001 for share in ended)
    assert sum(ended) + mass("letters-opened", 4, 4) == pytest.approx(1.0, abs=1e-12)


def test_frames() -> None:
    found = {family: (causal(family).vocabulary.prefix, causal(family).vocabulary.suffix) for family in FRAMES}
    assert found == {"letters": ((3,), ()), "letters-opened": ((3,), ()), "letters-closed": ((3,), (4,))}
    for family in CAUSAL:
        before, after = frame(family)
        assert (causal(family).vocabulary.prefix, causal(family).vocabulary.suffix) == (tuple(before), tuple(after))


# -- vocabulary -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", CAUSAL)
def test_special_tokens_are_not_allowed_and_words_are(family: str) -> None:
    lm, tokenizer = causal(family), AutoTokenizer.from_pretrained(folder(family))
    barred = set(tokenizer.all_special_ids) | {i for t, i in tokenizer.get_vocab().items() if "unused" in t}
    assert torch.nonzero(~lm.allowed)[:, 0].tolist() == sorted(barred) != []


@pytest.mark.parametrize("typed", ["[MASK]", "<mask>"])
@pytest.mark.parametrize("family", CAUSAL)
def test_a_typed_mask_is_ordinary_characters(family: str, typed: str) -> None:
    words = causal(family).vocabulary
    assert words.mask_id is None
    found = words.encode(f"the {typed} cat")
    assert "".join(words.text(found.ids).replace("␣", "").split()).lower() == f"the{typed}cat".lower()
    assert not {i for i in found.ids if not words.allowed[i]}
    assert not any("blank" in note for note in found.notes)
    said = any("[MASK] is read as ordinary characters" in note for note in found.notes)
    assert said == (family == "gpt2-wordpiece" and typed == "[MASK]")  # only there is it a special token
    assert words.encode(typed).ids  # alone, too


def test_the_beginning_of_text_token_cannot_be_typed() -> None:
    words = causal("gpt2").vocabulary
    found = words.encode("the <|endoftext|> cat")
    assert words.prefix[0] not in found.ids and any("ordinary characters" in note for note in found.notes)


# -- what is taken and what is refused --------------------------------------------------------------------------------


def test_a_checkpoint_of_the_body_alone_is_complete(tmp_path: Path) -> None:
    """GPT-2 as it lies on the hub: names without their prefix, and no head, which is the embedding."""
    target = copy_of("gpt2", tmp_path / "model")
    weights = load_file(target / "model.safetensors")
    body = {k.removeprefix("transformer."): w for k, w in weights.items() if k.startswith("transformer.")}
    save_file(body, target / "model.safetensors", metadata={"format": "pt"})
    states = some_states(causal("gpt2"), 2, 6)
    assert torch.equal(load_causal(str(target)).log_joint(states), causal("gpt2").log_joint(states))


def test_a_bert_that_is_a_decoder_is_taken(tmp_path: Path) -> None:
    target = copy_of("bert", tmp_path / "model")
    edit_json(target / "config.json", is_decoder=True, architectures=["BertLMHeadModel"])
    lm = load_causal(str(target), dtype=torch.float64)
    states = some_states(lm, 2, 6)
    wanted = [plain(reference(target), [*lm.vocabulary.prefix, *s, *lm.vocabulary.suffix]) for s in states.tolist()]
    assert lm.log_joint(states).tolist() == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_masked_model_is_refused(family: str) -> None:
    text = refusal(folder(family))
    assert "both sides" in text or "cannot be loaded as a causal language model" in text


@pytest.mark.parametrize("values", [{"architectures": None}, {"architectures": ["BertLMHeadModel"]}])
def test_a_masked_model_is_refused_whatever_it_calls_itself(values: dict[str, Any], tmp_path: Path) -> None:
    target = copy_of("bert", tmp_path / "model")
    edit_json(target / "config.json", **values)
    assert "reads the words on both sides" in refusal(target)


def _without(prefix: str) -> Callable[[Path], None]:
    def damage(target: Path) -> None:
        weights = load_file(target / "model.safetensors")
        kept = {k: w for k, w in weights.items() if not k.startswith(prefix)}
        assert len(kept) < len(weights)
        save_file(kept, target / "model.safetensors", metadata={"format": "pt"})

    return damage


def _pickled(target: Path) -> None:
    torch.save(load_file(target / "model.safetensors"), target / "pytorch_model.bin")
    (target / "model.safetensors").unlink()


def _speechless(target: Path) -> None:
    edit_json(target / "config.json", bos_token_id=None, eos_token_id=None)
    edit_json(target / "tokenizer_config.json", bos_token=None, eos_token=None)


def _configured(**values: object) -> Callable[[Path], None]:
    return lambda target: edit_json(target / "config.json", **values)


DAMAGES: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "only .bin": ("gpt2", _pickled, "no safetensors weights"),
    "no tokenizer": ("letters", lambda t: (t / "tokenizer.json").unlink(), "no tokenizer"),
    "cut tokenizer": ("gpt2", lambda t: (t / "tokenizer.json").write_text('{"version": "1.0", "mod'), "no tokenizer"),
    "cut weights": ("gpt2", lambda t: (t / "model.safetensors").write_bytes(b"1234"), "cannot be loaded"),
    "unknown architecture": ("gpt2", _configured(model_type="nonesuch"), "as a causal language model"),
    "other size": ("gpt2", _configured(n_embd=64), "cannot be loaded"),
    "more layers": ("gpt2", _configured(n_layer=3), "not a complete causal language model"),
    "no embedding": ("gpt2", _without("transformer.wte."), "not a complete causal language model"),
    "no opening token": ("letters", _speechless, "no token that opens a sentence"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_folders(damage: str, tmp_path: Path) -> None:
    family, harm, sentence = DAMAGES[damage]
    target = copy_of(family, tmp_path / "model")
    harm(target)
    assert sentence in refusal(target)


@pytest.mark.parametrize("device, sentence", [("nonsense", "no device called"), ("cuda:99", "not available")])
def test_devices_that_are_not_there(device: str, sentence: str) -> None:
    assert sentence in refusal(folder("gpt2"), device)


def test_gpt2_has_a_short_name_and_is_not_among_the_suggestions() -> None:
    assert source.canonical_name("gpt2") == "openai-community/gpt2" not in source.SUGGESTED
    with pytest.raises(UserError, match="openai-community/gpt2 .* hub cannot be reached"):
        load_causal("gpt2")
