"""Tiny checkpoints of the real architectures, made on the spot: BERT, RoBERTa, ModernBERT and GPT-2, each with a
tokenizer of its own kind. Nothing is downloaded; weights are random with a fixed seed, large enough for conditionals to
differ.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers.models import BPE, WordLevel, WordPiece
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
    ModernBertConfig,
    ModernBertForMaskedLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaTokenizer,
)
from transformers.utils import logging

from glauber_core.models import CausalLM, MaskedLM, load, load_causal
from glauber_core.starters import STARTERS

FAMILIES = ("bert", "roberta", "modernbert")
CAUSAL = ("gpt2", "gpt2-wordpiece")
# GPT-2 over five words, which its tokenizer leaves bare, opens, or opens and closes.
FRAMES = {"letters": "$A", "letters-opened": "[CLS] $A", "letters-closed": "[CLS] $A [SEP]"}
TEXTS = [s.text for s in STARTERS] + ["the the the cat sat on the mat", "naïve café", "it costs $5", "a 🤖 b"]
BERT_WORDS = (
    "the cat sat on mat doctor told patient to drink water al ain s ? . , - $ 5 * < > / [ ] ' cafe naive".split()
)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@cache
def root() -> Path:
    """A folder of this process, removed when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="glauber-checkpoints-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def folder(family: str) -> Path:
    """A checkpoint of one family: config, safetensors, tokenizer files."""
    made = {
        "bert": _bert,
        "roberta": _roberta,
        "modernbert": _modernbert,
        "gpt2": _gpt2,
        "gpt2-wordpiece": _gpt2_wordpiece,
    }
    target = root() / family
    logging.disable_progress_bar()
    network, tokenizer = _letters(FRAMES[family]) if family in FRAMES else made[family]()
    network.save_pretrained(target)
    tokenizer.save_pretrained(target)
    return target


@cache
def model(family: str) -> MaskedLM:
    """The family's checkpoint through the public door; shared by all tests, so never change it."""
    return load(str(folder(family)))


@cache
def causal(family: str, dtype: torch.dtype = torch.float32) -> CausalLM:
    """A causal checkpoint through the public door; shared by all tests, so never change it."""
    return load_causal(str(folder(family)), dtype=dtype)


@cache
def builtin() -> MaskedLM:
    """glauber-mini, loaded once."""
    return load("glauber-mini")


def named(name: str) -> MaskedLM:
    """A family's model, or the built-in one."""
    return builtin() if name == "glauber-mini" else model(name)


def copy_of(family: str, target: Path) -> Path:
    """A private copy to damage."""
    return Path(shutil.copytree(folder(family), target))


def edit_json(path: Path, **values: Any) -> None:
    """Change keys of a JSON file; None removes a key."""
    data = json.loads(path.read_text(encoding="utf-8"))
    for key, value in values.items():
        data.pop(key, None)
        if value is not None:
            data[key] = value
    path.write_text(json.dumps(data), encoding="utf-8")


def _seeded(network_class: Any, config: Any) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(20)
        network = network_class(config)
        for name, weight in network.named_parameters():
            if any(
                part in name.lower() for part in ("bias", "norm", "ln_")
            ):  # real checkpoints have none of them at 0 or 1
                weight.data += 0.2 * torch.randn_like(weight)
    return network.eval()


def _wordpiece() -> Any:
    words = ["[PAD]", *(f"[unused{k}]" for k in range(9)), "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused9]"]
    words += [*BERT_WORDS, *LETTERS, *(f"##{c}" for c in LETTERS), "##tor", "##ing"]
    vocab = {word: k for k, word in enumerate(dict.fromkeys(words))}
    backend = Tokenizer(WordPiece(vocab, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece(prefix="##")
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocab["[CLS]"]), ("[SEP]", vocab["[SEP]"])],
    )
    return BertTokenizer(tokenizer_object=backend, model_max_length=512)


def _bert() -> tuple[Any, Any]:
    tokenizer = _wordpiece()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=512,
        initializer_range=0.25,
        pad_token_id=0,
    )
    return _seeded(BertForMaskedLM, config), tokenizer


def _bytes_bpe(specials: list[str], size: int) -> Tokenizer:
    backend = Tokenizer(BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    # Each word also at the start of a text, so that most have a form with and one without its leading space.
    backend.train_from_iterator(TEXTS * 3 + [word for text in TEXTS for word in text.split()], trainer)
    return backend


def _roberta() -> tuple[Any, Any]:
    trained = json.loads(_bytes_bpe(["<s>", "<pad>", "</s>", "<unk>"], 640).to_str())["model"]
    vocab = dict(trained["vocab"])
    for word in ("madeupword0000", "madeupword0001", "madeupword0002", "<mask>"):
        vocab[word] = len(vocab)
    backend = Tokenizer(BPE(vocab=vocab, merges=[(a, b) for a, b in trained["merges"]]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    backend.add_special_tokens([AddedToken(t, normalized=False) for t in ("<s>", "<pad>", "</s>", "<unk>")])
    backend.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer = RobertaTokenizer(
        tokenizer_object=backend,
        model_max_length=512,
        mask_token=AddedToken("<mask>", lstrip=True, normalized=False),  # type: ignore[arg-type]
    )
    config = RobertaConfig(
        vocab_size=len(vocab),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=514,
        type_vocab_size=1,
        initializer_range=0.25,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    return _seeded(RobertaForMaskedLM, config), tokenizer


def _modernbert() -> tuple[Any, Any]:
    trained = json.loads(_bytes_bpe(["|||IP_ADDRESS|||", "<|padding|>"], 620).to_str())
    trained["added_tokens"][0].update(special=False, normalized=True)  # as in the real one
    backend = Tokenizer.from_str(json.dumps(trained))
    backend.normalizer = normalizers.NFC()
    backend.add_tokens([AddedToken(" " * k, normalized=True) for k in (4, 3, 2)])
    backend.add_special_tokens(["<|endoftext|>", "[UNK]", "[CLS]", "[SEP]", "[PAD]"])
    backend.add_special_tokens([AddedToken("[MASK]", lstrip=True, normalized=False)])
    backend.add_tokens([AddedToken(f"[unused{k}]", normalized=True) for k in range(7)])
    used = backend.get_vocab_size()
    first, last = backend.token_to_id("[CLS]"), backend.token_to_id("[SEP]")
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", first), ("[SEP]", last)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=160,
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        mask_token=AddedToken("[MASK]", lstrip=True, normalized=False),
    )
    config = ModernBertConfig(
        vocab_size=-(-used // 64) * 64 + 64,  # padded, and larger than the tokenizer's vocabulary
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=160,
        layer_types=["full_attention", "sliding_attention", "full_attention"],
        local_attention=8,
        initializer_range=0.25,
        pad_token_id=backend.token_to_id("[PAD]"),
        bos_token_id=first,
        eos_token_id=last,
        cls_token_id=first,
        sep_token_id=last,
    )
    return _seeded(ModernBertForMaskedLM, config), tokenizer


def _gpt2_network(size: int, positions: int, **ids: int) -> Any:
    shape: dict[str, Any] = {"n_embd": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.25}
    return _seeded(GPT2LMHeadModel, GPT2Config(vocab_size=size, n_positions=positions, **shape, **ids))


def _gpt2() -> tuple[Any, Any]:
    backend = _bytes_bpe([], 600)
    backend.post_processor = processors.ByteLevel(trim_offsets=False)
    backend.add_special_tokens(["<|endoftext|>"])  # the only special token, and the last id
    end = backend.token_to_id("<|endoftext|>")
    tokenizer = GPT2Tokenizer(tokenizer_object=backend, model_max_length=160)
    return _gpt2_network(backend.get_vocab_size(), 160, bos_token_id=end, eos_token_id=end), tokenizer


def _gpt2_wordpiece() -> tuple[Any, Any]:
    tokenizer = _wordpiece()
    ids = {"pad_token_id": 0, "bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
    return _gpt2_network(len(tokenizer), 128, **ids), tokenizer


def _letters(frame: str) -> tuple[Any, Any]:
    vocab = {word: k for k, word in enumerate(("a", "b", "c", "[CLS]", "[SEP]"))}
    backend = Tokenizer(WordLevel(vocab))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    specials = [(word, vocab[word]) for word in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(single=frame, special_tokens=specials)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=16, bos_token="[CLS]", eos_token="[SEP]"
    )
    return _gpt2_network(len(vocab), 16, bos_token_id=vocab["[CLS]"], eos_token_id=vocab["[SEP]"]), tokenizer
