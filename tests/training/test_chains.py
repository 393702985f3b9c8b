from __future__ import annotations

from pathlib import Path

import pytest

from glauber_core.evaluate.__main__ import main as evaluate
from glauber_core.evaluate.chains import PROMPTS, fragment_share, fragments_at, rewrite, run_chains, trapped
from glauber_core.models import MaskedLM, load
from glauber_core.training.export import export
from tests.training import tiny

TEXTS = ("the cat saw a big house .", "the dogs liked the river .", "a bird heard the green trees .")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> MaskedLM:
    folder = tmp_path_factory.mktemp("model")
    export(tiny.model(tiny.config()), tiny.tokenizer(), folder, "")
    return load(str(folder))


def test_fragments_are_counted(model: MaskedLM) -> None:
    vocabulary = model.vocabulary
    assert fragment_share(model, [vocabulary.encode(TEXTS[0]).ids]) == 0.0
    # dog ##s and tree ##s, of 7 and 8 pieces
    assert fragment_share(model, [vocabulary.encode(text).ids for text in TEXTS[1:]]) == pytest.approx(2 / 15)


def test_hot_chains_of_a_random_model_are_uniform(model: MaskedLM) -> None:
    before, after = fragments_at(model, TEXTS * 40, sweeps=20, tau=1e6)
    assert before == pytest.approx(2 / 22)
    # 2 of the 23 allowed pieces are fragments; 880 of them: four standard errors are 0.038 (false-fail rate 6e-5).
    assert after == pytest.approx(2 / 23, abs=0.038)


def test_chains_of_different_lengths_keep_order_and_do_not_depend_on_company(model: MaskedLM) -> None:
    starts = [model.vocabulary.encode(text).ids for text in (*TEXTS, "the cat .")]
    together = run_chains(model, starts, sweeps=3, tau=1.0, seed=5)
    assert [len(state) for state in together] == [len(start) for start in starts]
    alone = run_chains(model, starts[:1], sweeps=3, tau=1.0, seed=5)
    assert together[0].tolist() == alone[0].tolist()
    assert together[0].tolist() != run_chains(model, starts[:1], sweeps=3, tau=1.0, seed=6)[0].tolist()


def test_rewriting_shows_both_sentences(model: MaskedLM) -> None:
    written = rewrite(model, TEXTS, sweeps=2, tau=1.0)
    assert [pair.before for pair in written] == list(TEXTS)
    assert all(pair.after != pair.before for pair in written)


def test_a_cold_chain_is_trapped_and_a_hot_one_wanders(model: MaskedLM) -> None:
    cold = trapped(model, TEXTS, tau=1e-4, sweeps=60)
    assert {kind for kind, _ in cold} <= {"perfect", "approximate"}
    assert all(1 <= sweep < 60 for _, sweep in cold)
    assert trapped(model, TEXTS, tau=1e6, sweeps=2) == [("wandering", 2)] * 3


def test_ten_prompts_of_our_own() -> None:
    assert len(set(PROMPTS)) == 10


def test_command_prints_figures_fragments_and_prompts(
    model: MaskedLM, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tiny.text_file(tmp_path / "text.txt", 30)
    assert evaluate([model.name, "--texts", str(texts), "--sweeps", "1"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "| text | 30 |" in said.out
    assert "fragments after 1 sweeps at tau = 1" in said.out
    assert said.out.count("\n- ") == 10
