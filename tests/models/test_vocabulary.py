"""Text in, ids, text out: on the three families of tokenizers, and with what broke other tools."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from glauber_core.errors import UserError
from glauber_core.models.surface import Surface, join, surface, visible
from glauber_core.models.vocabulary import MAX_CHARACTERS, Vocabulary
from tests.models.checkpoints import FAMILIES, builtin, folder, model

WORDPIECE, BYTES = ("bert",), ("roberta", "modernbert")
ODD = {
    "special tokens": "[SEP] the </s> cat [CLS] <s> <pad> [PAD]",
    "continuation first": "##s the cat",
    "hyphen": "al-ain",
    "accents": "naïve café",
    "emoji": "a 🤖 👨‍👩‍👧 b",
    "chinese": "猫 sat 在 mat",
    "dollars": "$5 and $119.6 billion",
    "markdown": "**x** _y_ `z` # head",
    "html": "<img src=x onerror=alert(1)> <script>",
    "control": "the\x00cat\x07 \x1b[31m sat",
    "bidi": "\u202ethe cat\u202c sat",
    "lone surrogate": "the \ud800 cat \udfff",
    "zero width": "the\u200bcat\ufeff",
    "two masks": "[MASK] <mask> mat",
    "long word": "x" * 120,
    "white space": "  the\t\tcat \n\n sat   ",
}

STAND_INS = ("|||IP_ADDRESS|||", "|||EMAIL_ADDRESS|||", "|||PHONE_NUMBER|||")  # for private data in a training set


def vocabulary(family: str) -> Vocabulary:
    return model(family).vocabulary


@cache
def hugging_face(family: str) -> Any:
    return AutoTokenizer.from_pretrained(folder(family))


def texts_of(words: Vocabulary, ids: tuple[int, ...]) -> list[str]:
    return [words.surface(i).text for i in ids]


# -- what may be sampled ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_no_special_unused_stand_in_or_foreign_token_is_allowed(family: str) -> None:
    lm, tokenizer = model(family), hugging_face(family)
    barred = set(tokenizer.all_special_ids) | {i for i, t in tokenizer.added_tokens_decoder.items() if t.special}
    barred |= {i for t, i in tokenizer.get_vocab().items() if "unused" in t or t.startswith("madeupword")}
    barred |= {i for t, i in tokenizer.get_vocab().items() if t in STAND_INS}
    barred |= set(range(len(tokenizer), lm.vocab_size))
    assert tokenizer.mask_token_id in barred and tokenizer.unk_token_id in barred
    assert torch.nonzero(~lm.allowed)[:, 0].tolist() == sorted(barred)


def test_the_fixtures_hold_the_cases_that_matter() -> None:
    spellings = {family: set(hugging_face(family).get_vocab()) for family in FAMILIES}
    assert {"[unused0]", "##s", "[MASK]"} <= spellings["bert"]
    assert {"Ġthe", "the", "madeupword0000", "<mask>"} <= spellings["roberta"]
    assert {"Ġthe", "the", "[unused0]", "[MASK]", "    ", STAND_INS[0]} <= spellings["modernbert"]
    assert model("roberta")._model.config.pad_token_id == 1
    assert model("modernbert").vocab_size > len(hugging_face("modernbert"))  # a padded output layer


def test_built_in_vocabulary() -> None:
    lm = builtin()
    words = [lm.vocabulary.surface(i).text for i in torch.nonzero(~lm.allowed)[:, 0].tolist()]
    assert len(words) == 999 and {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused993]"} < set(words)


def test_surfaces_of_the_whole_built_in_vocabulary_are_visible() -> None:
    for token in range(builtin().vocab_size):
        text = builtin().vocabulary.surface(token).text
        assert text and text == visible(text) and text.isprintable(), (token, text)


@pytest.mark.parametrize("family", FAMILIES)
def test_surfaces_are_never_empty_and_always_visible(family: str) -> None:
    words = vocabulary(family)
    for token in range(words.size):
        text = words.surface(token).text
        assert text.strip() and text.isprintable(), (token, text)
    for token in (-1, words.size):
        with pytest.raises(IndexError):
            words.surface(token)


# -- text to ids ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["the cat sat on the mat.", "Water, to drink?", "told  the\tdoctor", "al-ain $5"])
@pytest.mark.parametrize("family", FAMILIES)
def test_ids_are_those_of_the_models_own_tokenizer(family: str, text: str) -> None:
    wanted = hugging_face(family)(text)["input_ids"]
    words = vocabulary(family)
    assert (*words.prefix, *words.encode(text).ids, *words.suffix) == tuple(wanted)


@pytest.mark.parametrize("text", ["{} sat on the mat", "the {} sat", "the cat {}", "the {} {} mat", "the{}cat", "{}"])
@pytest.mark.parametrize("typed", ["[MASK]", "<mask>"])
@pytest.mark.parametrize("family", FAMILIES)
def test_both_spellings_of_the_mask_are_the_models_own(family: str, typed: str, text: str) -> None:
    tokenizer, words = hugging_face(family), vocabulary(family)
    found = words.encode(text.replace("{}", typed))
    wanted = tokenizer(text.replace("{}", tokenizer.mask_token), add_special_tokens=False)["input_ids"]
    assert found.ids == tuple(wanted)
    blanks = found.ids.count(words.mask_id)
    assert blanks == text.count("{}") and any("blank" in note for note in found.notes)


def test_two_masks_and_their_note() -> None:
    found = vocabulary("bert").encode("the [MASK] sat on [MASK]")
    assert found.ids.count(vocabulary("bert").mask_id) == 2
    assert found.notes == ("2 blanks to be filled in by the chain.",)


@pytest.mark.parametrize("family", FAMILIES)
def test_typed_special_tokens_are_ordinary_characters(family: str) -> None:
    words = vocabulary(family)
    mine = "</s>" if family == "roberta" else "[SEP]"
    for typed in ("[SEP]", "</s>", "[CLS]", "<s>", "[PAD]", "<pad>", "<unk>", "[UNK]"):
        found = words.encode(f"the {typed} cat")
        specials = set(hugging_face(family).all_special_ids) - {words.unknown_id}
        assert not specials & set(found.ids), typed
        if typed == mine:
            assert any(mine in note and "ordinary characters" in note for note in found.notes)
            assert len(found.ids) > 3


@pytest.mark.parametrize("typed", ["[unused0]", *STAND_INS])
def test_typed_unused_tokens_and_stand_ins_are_ordinary_characters(typed: str) -> None:
    words = vocabulary("modernbert")
    for text in (f"the {typed} cat", f"the{typed}cat", typed):
        found = words.encode(text)
        assert bool(words.allowed[list(found.ids)].all()) and len(found.ids) > 3, text
        assert words.text(found.ids).replace("␣", " ") == text  # a space that is a token of its own is shown as one


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("family", FAMILIES)
def test_odd_text_is_encoded_and_shown(family: str, text: str) -> None:
    words = vocabulary(family)
    found = words.encode(text)
    assert all(0 <= i < words.size for i in found.ids)
    banned = [i for i in found.ids if not words.allowed[i]]
    assert set(banned) <= {words.mask_id, words.unknown_id}
    shown = words.text(found.ids)
    assert shown.isprintable() and shown.strip()
    shown.encode("utf-8")  # no lone surrogate is left
    assert found == words.encode(text)


@pytest.mark.parametrize("family", BYTES)
def test_byte_level_vocabularies_know_every_character(family: str) -> None:
    words = vocabulary(family)
    for text in ODD.values():
        assert words.unknown_id not in words.encode(text).ids
    assert words.text(words.encode("naïve café").ids) == "naïve café"
    for text in ("**x**", "<img onerror=1>", "$5"):
        assert words.text(words.encode(text).ids) == text
    assert "猫" not in words.text(words.encode("猫").ids) and "⟨e7⟩" in words.text(words.encode("猫").ids)


def test_unknown_characters_are_shown_as_the_model_sees_them() -> None:
    found = vocabulary("bert").encode("a 🤖 cat 猫")
    assert vocabulary("bert").text(found.ids) == "a [UNK] cat [UNK]"
    assert found.notes == ("2 pieces are unknown to this model; it sees [UNK] there.",)
    assert builtin().vocabulary.text(builtin().vocabulary.encode("Naïve café 🤖").ids) == "naive cafe [UNK]"


def test_hyphens_and_dollars_live_in_ids() -> None:
    words = builtin().vocabulary
    assert words.text(words.encode("al-ain").ids) == "al - ain"  # what the model sees: three tokens
    assert len(words.encode("al-ain").ids) == 3
    assert words.text(words.encode("$5 **x**").ids) == "$ 5 * * x * *"


@pytest.mark.parametrize("family", FAMILIES)
def test_text_without_a_word_is_refused(family: str) -> None:
    for text in ("", " ", "\n\t  \u3000 "):
        with pytest.raises(UserError, match="type a sentence"):
            vocabulary(family).encode(text)


def test_text_that_vanishes_is_refused() -> None:
    for text in ("\u200b", "\x00\x07"):
        with pytest.raises(UserError, match="sees no word"):
            vocabulary("bert").encode(text)


@pytest.mark.parametrize("family", FAMILIES)
def test_one_token_is_taken_with_a_note(family: str) -> None:
    found = vocabulary(family).encode("the")
    assert len(found.ids) == 1 and any("One token alone" in note for note in found.notes)


# -- limits -----------------------------------------------------------------------------------------------------------


def test_limits_leave_room_for_the_special_tokens() -> None:
    assert [vocabulary(f).limit for f in FAMILIES] == [510, 510, 158]
    assert builtin().vocabulary.limit == 510


@pytest.mark.parametrize("family", FAMILIES)
def test_a_sentence_at_the_limit_is_taken_and_one_more_refused(family: str) -> None:
    lm = model(family)
    limit = lm.vocabulary.limit
    longest = lm.vocabulary.encode("the" + " the" * (limit - 1))
    assert len(longest.ids) == limit
    for position in (0, limit - 1):
        row = lm(torch.tensor([longest.ids]), torch.tensor([position]))
        assert bool(torch.isfinite(row[0, lm.allowed]).all())
    for more in (1, 2, 4, 5):  # RoBERTa: 511, 512, 514, 515 tokens; its table has 514 rows
        with pytest.raises(UserError, match=f"the limit here is {limit}"):
            lm.vocabulary.encode("the" + " the" * (limit - 1 + more))


def test_a_cap_below_the_models_own_limit() -> None:
    words = vocabulary("bert")
    assert len(words.encode("the " * 20, cap=20).ids) == 20
    with pytest.raises(UserError, match="21 tokens; the limit here is 20"):
        words.encode("the " * 21, cap=20)
    with pytest.raises(UserError, match="the limit here is 510"):
        words.encode("the " * 600, cap=10_000)


def test_ten_thousand_words_are_refused_at_once() -> None:
    for family in FAMILIES:
        with pytest.raises(UserError, match="characters"):
            vocabulary(family).encode("water " * 10_000)
        with pytest.raises(UserError, match="tokens"):
            vocabulary(family).encode("a " * (MAX_CHARACTERS // 2))


# -- ids to text ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", BYTES)
def test_the_same_word_with_and_without_its_leading_space_shows_the_same_text(family: str) -> None:
    tokenizer, words = hugging_face(family), vocabulary(family)
    spelt = tokenizer.get_vocab()
    pairs = [(i, spelt["Ġ" + t]) for t, i in spelt.items() if "Ġ" + t in spelt and not t.startswith("Ġ")]
    assert len(pairs) > 20 and (spelt["the"], spelt["Ġthe"]) in pairs
    for bare, spaced in pairs:
        assert words.surface(bare).text == words.surface(spaced).text
        assert words.surface(bare).glued and not words.surface(spaced).glued


@pytest.mark.parametrize("family", BYTES)
def test_spacing_is_that_of_the_text(family: str) -> None:
    words = vocabulary(family)
    for text in ("the cat, sat on the mat.", "al-ain", "doctor's water", "the cat"):
        assert words.text(words.encode(text).ids) == text
    spaced = words.encode("the cat").ids
    assert words.text(spaced[1:])[0] != " "  # a leading-space token at the sentence's start
    assert words.text(words.encode("the [MASK] cat").ids).split()[2] == "cat"


def test_word_pieces_are_glued_except_at_the_start() -> None:
    words = vocabulary("bert")
    ids = words.encode("doctors").ids
    assert words.text(ids) == "doctors" and len(ids) == 2
    assert words.text((ids[1], ids[0])) == "s doctor"  # "##s" first: no crash, glued to nothing


def test_visible() -> None:
    assert visible("a b") == "a b" and visible("  ") == "␣␣" and visible("\n") == "⏎" and visible("a\tb") == "a⇥b"
    assert visible("\u00a0") == "⟨00a0⟩" and visible("\u3000") == "⟨3000⟩"
    assert visible("\u202ex\x00") == "⟨202e⟩x⟨0000⟩" and visible("\ud800") == "⟨d800⟩" and visible("é🤖") == "é🤖"


def test_surface_of_byte_tokens() -> None:
    assert surface("Ġthe", "bytes", False) == Surface("the", False)
    assert surface("the", "bytes", False) == Surface("the", True)
    assert surface("Ġ", "bytes", False) == Surface("␣", True)
    assert surface("Ċ", "bytes", False) == Surface("⏎", True)
    assert surface("Ã", "bytes", False) == Surface("⟨c3⟩", True)  # half a character
    assert surface("Â\u0142", "bytes", False) == Surface("⟨00a0⟩", True)  # a no-break space
    assert surface("ĠÃ©t", "bytes", False) == Surface("ét", False)
    assert surface("[MASK]", "bytes", True) == Surface("[MASK]", False)
    assert surface("##s", "wordpiece", False) == Surface("s", True)
    assert surface("##", "wordpiece", False) == Surface("##", False)
    assert surface("▁the", "metaspace", False) == Surface("the", False)
    assert join([Surface("a", True), Surface("b", True), Surface("c", False)]) == "ab c"


# -- one word ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", BYTES)
def test_a_typed_word_takes_the_form_it_has_in_the_sentence(family: str) -> None:
    words, spelt = vocabulary(family), hugging_face(family).get_vocab()
    assert words.word_id("the", first=False) == words.word_id("  the ", first=False) == spelt["Ġthe"]
    assert words.word_id("the", first=True) == spelt["the"]


def test_a_typed_word_on_wordpiece() -> None:
    words, spelt = vocabulary("bert"), hugging_face("bert").get_vocab()
    for first in (True, False):
        assert words.word_id(" Cafés"[:5], first) == spelt["cafe"]
        assert words.word_id("##ing", first) == spelt["##ing"]
        assert words.word_id("$", first) == spelt["$"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_word_of_several_pieces_is_refused_with_their_names(family: str) -> None:
    with pytest.raises(UserError, match=r"as \d+ tokens \(.+ \+ .+\); only a single token"):
        vocabulary(family).word_id("waterdoctor", first=False)
    with pytest.raises(UserError, match="only a single token"):
        vocabulary(family).word_id("the cat", first=False)


@pytest.mark.parametrize(
    "typed", ["[MASK]", "<mask>", "[SEP]", "</s>", "<pad>", "[PAD]", "madeupword0000", "[unused0]", STAND_INS[0]]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_special_tokens_cannot_be_placed_by_hand(family: str, typed: str) -> None:
    with pytest.raises(UserError):
        vocabulary(family).word_id(typed, first=False)


def test_unknown_empty_and_endless_words_are_refused() -> None:
    words = vocabulary("bert")
    with pytest.raises(UserError, match="does not know that word"):
        words.word_id("🤖", first=False)
    for typed in ("", "  "):
        with pytest.raises(UserError, match="Type a word"):
            words.word_id(typed, first=False)
    with pytest.raises(UserError, match="sees no word"):
        words.word_id("\u200b", first=False)
    with pytest.raises(UserError, match="too long"):
        words.word_id("x" * 5000, first=False)
    for family in FAMILIES:
        with pytest.raises(UserError):
            vocabulary(family).word_id("\ud800🤖\x00x", first=False)
