"""The rectangle page: model and text, one rectangle, the explanation. Tests and comparisons are in their own files."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from glauber_core.errors import UserError
from glauber_core.rectangle.floor import Floor
from glauber_core.rectangle.presets import PRESETS, corner
from glauber_core.texts import from_file
from pages.ui import rectangle_words as words
from pages.ui.address import MAX_TEXT
from pages.ui.rectangle_address import VIEWS, link
from pages.ui.rectangle_components import rectangle, word_picker
from pages.ui.rectangle_session import RectangleSession
from pages.ui.resources import precision
from pages.ui.shared_controls import fetching, link_code, model_field
from pages.ui.style import say

VIEW_NAMES = {"one": "one rectangle", "test": "all words", "compare": "models"}


def controls(session: RectangleSession) -> None:
    """Model, examples, file, link."""
    state = st.session_state
    if "r_text" not in state:  # the first visit, or back from another page: what had been refused is no longer there
        state["r_text"], session.refused = session.address.text, ""

    def pick_preset() -> None:
        chosen = state["r_preset"]
        if chosen is None:
            return
        preset = PRESETS[chosen]
        session.acts()
        state["r_text"] = preset.text
        address = replace(
            session.address, text=preset.text, view="one", corner=corner(preset, session.model.vocabulary)
        )
        session.load(address)
        state["r_view"] = "one"

    with st.container(key="top"):
        model, preset, file, share = st.columns([2.6, 4.2, 1.6, 0.9], vertical_alignment="center")
    model_field(model, session, "r_model")
    preset.selectbox(
        "example",
        range(len(PRESETS)),
        index=None,
        key="r_preset",
        on_change=pick_preset,
        format_func=lambda k: PRESETS[k].name,
        placeholder="a strong or a weak contradiction",
        help="Our own sentences; strong and weak as the built-in model sees them.",
    )
    with file.popover("open a file", key="r_file_open", width="stretch"):
        _file(session)
    with share.popover("link", key="r_link", width="stretch"):
        st.write("The address bar holds model, text, the rectangle shown and the rule of the test.")
        link_code(link(session.address))
        if len(session.address.text) > MAX_TEXT:
            st.write("The text is too long for a link; export the test instead.")


def text(session: RectangleSession) -> None:
    """The sentences, and the switch between the three views beside them."""

    def new_text() -> None:
        session.acts()
        st.session_state["r_preset"] = None
        session.load(replace(session.address, text=st.session_state["r_text"], corner=None))

    field, switch = st.columns([6.7, 3.3], vertical_alignment="center")
    field.text_area(
        "sentences",
        key="r_text",
        label_visibility="collapsed",
        on_change=new_text,
        height=68,
        placeholder="Type or paste a sentence, or many, one a line",
        help="One sentence a line. Ctrl+Enter, or a click elsewhere, takes the text.",
    )
    with switch:
        _view(session)


def _file(session: RectangleSession) -> None:
    st.write(
        "A .txt file with one sentence a line, or a .csv or .tsv table with a column of text (MS MARCO files work)."
    )
    state = st.session_state

    def use() -> None:
        given = state["r_upload"]
        if given is None:
            return
        session.acts()
        try:
            texts = from_file(given.name, given.getvalue())
        except UserError as error:
            session.error = str(error)
            return
        text = "\n".join(texts.sentences)
        if session.load(replace(session.address, text=text, corner=None)):
            session.notes = (*texts.notes, *session.notes)
            state["r_text"], state["r_preset"] = text, None

    st.file_uploader("file", key="r_upload", on_change=use, label_visibility="collapsed")


def messages(session: RectangleSession) -> None:
    """What could not be done, what the model cannot see as it was typed, and which model is being fetched."""
    with st.container(key="errors"):
        for notice in session.notices:
            say("notice", notice)
        if session.refused:
            say("error", f"{session.refused} Meanwhile the text before stays in use.")
        if session.error:
            say("error", session.error)
        if session.notes and not session.refused and not session.error:
            say("note", " ".join(session.notes))


def waiting(session: RectangleSession) -> None:
    """Look for a model that is being fetched and for a noise floor that is being measured; offer to stop waiting."""
    floor = precision().request(session.model)

    @st.fragment(run_every=0.5 if session.pending or not floor.done() else None)
    def look() -> None:
        if (session.pending and session.pending.future.done()) or (not measured and floor.done()):
            st.rerun(scope="app")
        fetching(session, "r_stop_waiting")

    measured = floor.done()
    look()


def known_floor(session: RectangleSession) -> tuple[Floor | None, bool]:
    """The noise floor of the model in use, if it has been measured, and whether it could not be."""
    floor = precision().request(session.model)
    lost = floor.done() and floor.exception() is not None
    return (floor.result() if floor.done() and not lost else None), lost


def _view(session: RectangleSession) -> None:
    """The switch between the three views."""
    state = st.session_state
    state["r_view"] = session.address.view

    def switch() -> None:
        session.acts()
        session.turn(state["r_view"] or session.address.view)

    st.segmented_control(
        "view",
        VIEWS,
        key="r_view",
        format_func=VIEW_NAMES.__getitem__,
        on_change=switch,
        required=True,
        label_visibility="collapsed",
    )


def which(session: RectangleSession) -> None:
    """Which of several sentences is shown."""
    if len(session.sentences) < 2:
        return
    state = st.session_state
    state["r_current"] = session.current
    st.selectbox(
        "sentence shown",
        range(len(session.sentences)),
        key="r_current",
        on_change=lambda: session.select(state["r_current"]),
        format_func=lambda k: f"{k + 1}. {session.model.vocabulary.text(session.sentences[k].ids)}",
        label_visibility="collapsed",
    )


def one(session: RectangleSession) -> None:
    """The sentence, two replacements, the rectangle."""
    vocabulary = session.model.vocabulary
    words_shown = sorted(session.picked)
    tokens = []
    for k, token in enumerate(session.tokens):
        piece = vocabulary.surface(token)
        oov = not bool(session.model.allowed[token])
        tokens.append({"t": piece.text, "glue": piece.glued and k > 0, "oov": oov, "tip": ""})
    data = {
        "tokens": tokens,
        "picked": words_shown,
        "rev": _revision(session),
        "label": "click two words",
    }
    word_picker(data, key="r_picker", on_pick_change=lambda: _pick(session))
    with st.container(key="r_replacements"):
        for place, column in enumerate(st.columns(2)):
            with column:
                _replacement(session, place, words_shown[place] if place < len(words_shown) else None)
        say("hint", " ".join(session.hints.values()))
    floor, lost = known_floor(session)
    if session.shown is None:
        rectangle({"empty": _invitation(session)}, key="r_rectangle")
        return
    shown = session.shown if floor is None else words.judged(session.shown, floor.value)
    rectangle(words.drawing(shown, vocabulary, floor, lost), key="r_rectangle")
    _numbers(session)


def _invitation(session: RectangleSession) -> str:
    if len(session.eligible) < 2:
        return "A rectangle needs two words that the model knows: type a longer sentence."
    return "Click two words of the sentence." if not session.picked else "Click a second word."


def _revision(session: RectangleSession) -> str:
    return f"{session.model.model_hash[:8]}-{session.current}-{hash(session.tokens)}"


def _pick(session: RectangleSession) -> None:
    picked = st.session_state["r_picker"].pick
    if isinstance(picked, dict) and picked.get("rev") == _revision(session):  # else a word of the sentence before
        session.pick(picked.get("pos"))


def _replacement(session: RectangleSession, place: int, position: int | None) -> None:
    vocabulary = session.model.vocabulary
    if position is None:
        st.selectbox(f"word {place + 1}", ["not chosen yet"], disabled=True, key=f"r_none_{place}")
        return
    chances = dict(session.tops[position])
    options = list(dict.fromkeys([*chances, session.new[position]]))
    key = f"r_new_{place}_{session.serial}"

    def name(token: object) -> str:
        if not isinstance(token, int):
            return str(token)
        chance = f"  ({100 * chances[token]:.2g} %)" if token in chances else ""
        return vocabulary.surface(token).text + chance

    st.selectbox(
        f"replace word {place + 1} by",
        options,
        options.index(session.new[position]),
        key=key,
        format_func=name,
        accept_new_options=True,
        on_change=lambda: session.replace(position, st.session_state[key]),
        help="The likeliest words given the rest of the sentence, with their probabilities at temperature 1; or type "
        "one. It must be a single token of this model.",
    )


def _numbers(session: RectangleSession) -> None:
    """Full precision, for those who compare."""
    probe = session.shown
    if probe is None:
        return
    with st.expander("all numbers", key="r_numbers"):
        rows = [
            ("x to y: change word 1", probe.ratios[0]),
            ("y to z: then change word 2", probe.ratios[1]),
            ("x to w: change word 2", probe.ratios[2]),
            ("w to z: then change word 1", probe.ratios[3]),
            ("L1, word 1 first", probe.l1),
            ("L2, word 2 first", probe.l2),
            ("curl, L1 - L2", probe.curl),
            ("delta, |curl|", probe.delta),
        ]
        table = [{"quantity": name, "nats at tau = 1": f"{value:.7f}"} for name, value in rows]
        table.append(
            {"quantity": "relative delta, delta / (|L1| + |L2|), no unit", "nats at tau = 1": f"{probe.relative:.7f}"}
        )
        st.table(table)


def explanation() -> None:
    """The formulas, with the reference."""
    with st.expander("how this is computed", key="r_how"):
        st.markdown(
            r"""
Two words of the sentence, at positions $i$ and $j$, are changed, $a \to a'$ and $b \to b'$, in either order. Each
change costs $R_i(a \to a' \mid b) = \log p_i(a' \mid b) - \log p_i(a \mid b)$, where $p_i$ is the model's guess at
$i$ when only that word is hidden. Word 1 first: $L_1 = R_i(a \to a' \mid b) + R_j(b \to b' \mid a')$. Word 2 first:
$L_2 = R_j(b \to b' \mid a) + R_i(a \to a' \mid b')$.

If one joint law of sentences had all these conditionals, both sums would be $\log \pi(z) - \log \pi(x)$. So $\delta =
|L_1 - L_2|$ above the **noise floor** certifies that there is none. Only ratios enter, so at another temperature it
is $\delta / \tau$; all numbers here are at $\tau = 1$. The relative delta is $\delta / (|L_1| + |L_2|)$.

The noise floor is the largest difference that computing in float64 instead, or in batches of another shape, made to
delta on a sample of rectangles of the same model: an estimate, not a bound.

**Rules.** *Natural*: $a' \sim p_i(\cdot \mid x_{-i})$ given that it differs from the present word, and $b'$ likewise.
*Top-k*: uniform on the $k$ likeliest other words. *Uniform*: uniform on all other words. With $m$ alternatives a
position, a pair of positions gives $m^2$ rectangles. Intervals come from resampling sentences, because rectangles of
one sentence are not independent.

**Controls.** A bigram Markov chain and the Curie-Weiss magnet have a joint law, and go through the same code: they
must read zero. Random conditionals have none. A causal model is read through its joint law ($\log P(x^{i \to a'}) -
\log P(x)$), so its zero is by construction.

Source: *Mixing Times of Glauber Dynamics on Masked Language Models*, arXiv 2605.16378, section 3.
"""
        )
