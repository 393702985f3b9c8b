"""The moving part of the live page (one fragment on a timer), the step log and the explanation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from glauber_core.errors import Busy, Cancelled
from glauber_core.service import Late, patience
from glauber_core.turns import urgent
from pages.ui import frames
from pages.ui.beat import BEATS
from pages.ui.components import conditional_panel, scrubber, stage, timelines
from pages.ui.live_session import REWOUND, LiveSession
from pages.ui.player import Player
from pages.ui.resources import beats, samplers
from pages.ui.style import say
from pages.ui.words import whole

LOG_ROWS = 500
LAG = 0.1  # seconds that a beat waits for the bars of the selected word


@contextmanager
def ended_quietly() -> Iterator[None]:
    """A tab that was closed in mid-run has nobody to be told about it."""
    try:
        yield
    except Busy:
        raise
    except Cancelled:
        st.stop()


def unit_of(player: Player) -> str:
    """What the records' entries are called: steps, as long as every step has one."""
    return "entry" if player.clocked else "step"


def moving(live: LiveSession) -> None:
    """Strips, badge, conditional and timelines; redrawn at every beat while playing."""
    beat = beats().of(live.name) if live.player.playing else BEATS[0]

    @st.fragment(run_every=beat if live.player.playing or live.pending else None)
    def draw() -> None:
        with live.lock, ended_quietly():
            if not live.tick(beat) or (live.pending and live.pending[1].done()):
                st.rerun(scope="app")
            if live.player.playing and beats().of(live.name) != beat:  # only a run of the page moves the timer
                st.rerun(scope="app")
            _strip(live, beat)
            left, right = st.columns(2, gap="medium")
            with left:
                _hands(live)
                _conditional(live)
            with right:
                _time(live)
                timelines(frames.timelines(live.player), key="timelines", on_seek_change=lambda: _seek(live))
            _log(live)

    draw()


def _strip(live: LiveSession, beat: float) -> None:
    player = live.player
    longest = max((len(f) for f in player.block.frames), default=0)
    frame_ms = int(1000 / player.wanted) if player.wanted else int(1000 * beat / max(longest, 1))
    data = frames.stage(player, live.model.vocabulary, live.address.color, frame_ms, live.selected)
    stage(data, key="stage", on_pick_change=lambda: _pick(live))


def _pick(live: LiveSession) -> None:
    picked = st.session_state["stage"].pick
    if isinstance(picked, dict):
        live.pick(picked.get("chain"), picked.get("pos"))


def _seek(live: LiveSession) -> None:
    wanted = st.session_state["timelines"].seek
    if isinstance(wanted, dict):
        live.seek(wanted["entry"]) if "entry" in wanted else live.seek_sweep(wanted.get("sweep"))


def _hands(live: LiveSession) -> None:
    """What can be done with the selected word, and why something could not; the room is always there."""
    target = live.target
    locked = target is not None and target[1] in target[0].chain.locked
    past = target is not None and not live.player.playing and not live.at_present(target[0])
    off = target is None or locked or past
    with st.container(key="hands", horizontal=True, vertical_alignment="bottom"):
        st.button("resample", key="do_resample", on_click=live.resample, disabled=off)
        st.button(
            "unlock" if locked else "lock",
            key="do_lock",
            on_click=live.switch_lock,
            disabled=target is None,
            help="A locked word never changes.",
        )

        def put() -> None:
            word = st.session_state["word"]
            if word and live.act("put", word):
                st.session_state["word"] = ""

        st.text_input(
            "another word",
            key="word",
            on_change=put,
            disabled=off,
            label_visibility="collapsed",
            placeholder="another word here" if target else "click a word first",
            width=220,
        )
    with st.container(key="hint"):
        say("hint", live.hint or (REWOUND if past else "This word is locked." if locked else ""))


def _time(live: LiveSession) -> None:
    """Where on the run the screen stands, and how fast it moves; the room is always there."""
    player = live.player
    note = "" if player.live else "an earlier sentence"
    if player.playing and not player.live:
        note = "replaying recorded steps; branch to change them"
    elif player.playing and player.rate is not None:
        unit = "changes" if player.skip and player.until is None else "steps"
        wanted = "" if player.wanted is None else f" of {player.wanted:g} wanted"
        note = f"{player.rate:.1f} {unit} a second{wanted}"
    elif player.stuck:
        note = player.tracks[0].stuck if len(player.tracks) == 1 else "No chain changes any more."

    with st.container(key="time", horizontal=True, vertical_alignment="bottom"):
        scrubber(
            player.cursor,
            player.head,
            note,
            key="scrubber",
            unit=unit_of(player),
            disabled=player.playing or player.head == 0,
            on_seek_change=lambda: _scrub(live),
        )
        st.button(
            "latest",
            key="latest",
            on_click=live.seek,
            args=(player.head,),
            disabled=player.playing or player.live,
            help="Back to the last sentence computed.",
        )
        st.button(
            "branch",
            key="branch",
            on_click=live.branch,
            help="A new chain from the sentence on the screen, with fresh random numbers; the old one stays.",
        )


def _scrub(live: LiveSession) -> None:
    wanted = st.session_state["scrubber"].seek
    if isinstance(wanted, dict) and not live.player.playing:
        live.seek(wanted.get("step"))


def _conditional(live: LiveSession) -> None:
    target = live.target
    if target is None:
        note = "Click a word to see what the model would put there."
        conditional_panel({"rows": [], "empty": note}, key="conditional", on_choose_change=lambda: None)
        return
    track, position = target
    step = track.local(live.player.cursor)
    shown = live.panel if live.player.playing else None
    known = shown is not None and shown[0] == live.selected
    try:
        # A click must be answered; the bars of a word selected before may lag behind what plays.
        with patience(time.monotonic() + LAG) if known else urgent():
            view = track.chain.conditional(position, step)
    except Late:
        assert shown is not None
        conditional_panel(shown[1], key="conditional", on_choose_change=lambda: _choose(live))
        return
    except Busy as error:
        conditional_panel({"rows": [], "empty": str(error)}, key="conditional", on_choose_change=lambda: None)
        return
    word = int(track.chain.record.state_at(step)[position])
    note = f"{unit_of(live.player)} {step:,}"
    if len(live.player.tracks) > 1:
        note = f"chain {track.name}, {note}"
    data = frames.conditional(live.model.vocabulary, view, position, word, note)
    if live.selected is not None:
        live.panel = live.selected, data
    conditional_panel(data, key="conditional", on_choose_change=lambda: _choose(live))


def _choose(live: LiveSession) -> None:
    chosen = st.session_state["conditional"].choose
    ident = chosen.get("id") if isinstance(chosen, dict) else None
    if isinstance(ident, int) and not isinstance(ident, bool):
        live.act("put", ident)


def _log(live: LiveSession) -> None:
    """Every step, and the run as a file."""
    player = live.player
    with st.expander("step log and export", key="log_open"):
        names = [t.name for t in player.tracks]
        name = st.segmented_control("chain", names, default="A", key="log_chain") if len(names) > 1 else "A"
        track = next((t for t in player.tracks if t.name == name), player.tracks[0])
        chain, vocabulary = track.chain, live.model.vocabulary
        first = max(0, chain.steps - LOG_ROWS)
        entries = [] if player.playing else list(enumerate(chain.record.entries[first:], start=first + 1))[::-1]
        clock = chain.record.clock() if entries else []
        rows = [
            {
                unit_of(player): k,
                "kind": e.kind,
                "word number": e.position + 1,
                "old": vocabulary.surface(e.old).text,
                "new": vocabulary.surface(e.new).text,
                "log p (nats)": e.log_prob,
                "tau": e.tau,
                # As text: no column of numbers holds 10^300.
                **({"steps it took": whole(e.dwell), "steps so far": whole(clock[k])} if player.clocked else {}),
            }
            for k, e in entries
        ]
        shown = (
            f"The last {len(entries):,} of {chain.steps:,} {'entries' if player.clocked else 'steps'}, newest first."
        )
        st.caption("The steps are listed on every pause." if player.playing else f"{shown} {_kept()}")
        st.dataframe(rows or None, height=280, hide_index=True)
        stem = f"glauber-{chain.header.seed}-{track.name}"
        with st.container(horizontal=True):
            st.download_button(
                "export CSV",
                lambda: live.export(lambda: chain.record.to_csv(lambda i: vocabulary.surface(i).text)),
                f"{stem}.csv",
                "text/csv",
                on_click="ignore",
                key="export_csv",
            )
            st.download_button(
                "export JSON",
                lambda: live.export(chain.record.to_json),
                f"{stem}.json",
                "application/json",
                on_click="ignore",
                key="export_json",
            )


def _kept() -> str:
    """How often the model's answers were found in the cache."""
    cache = samplers().cache
    asked = cache.hits + cache.misses
    if asked == 0:
        return ""
    return (
        f"Of the {whole(asked)} conditionals that this server's visitors asked for, {100 * cache.hit_rate:.0f} % had "
        f"been read before and were kept ({cache.bytes / 2**20:.0f} MB)."
    )


def explanation() -> None:
    """The formulas, with the reference."""
    with st.expander("how this is computed"):
        st.markdown(
            r"""
A step picks one of the $n$ free (not locked) words, $i$, at random, hides it behind the mask token, and draws a new
word from $p_i^\tau(v \mid x_{-i}) \propto \exp(\ell_i(v \mid x_{-i})/\tau)$, where $\ell_i$ are the model's scores.
$n$ steps make one *sweep*. At $\tau = 0$ the best word is always taken (the first in the vocabulary on a tie); the
hotter, the more random.

**Holding probability** $h = 1 - q$ with the exit rate
$q = \frac1n \sum_i \sum_{v \ne x_i} p_i^\tau(v \mid x_{-i})$: exact for the sentence shown up to the model's
rounding, from one look at every free word, once a sweep and on every pause. At this temperature the expected stay is
$1/q$ steps. Words outside the sampled vocabulary (an unknown or a blank) are left out; $q$ is then a lower bound.

**Margin** $g_i = \ell_i(x_i) - \max_{v \ne x_i} \ell_i(v)$, in nats at $\tau = 1$. **Perfect trap**: all margins are
positive. **Approximate trap**: not perfect, but $h \ge 0.99$, or the chain stayed within $\max(1, n/8)$ words of one
visited sentence for 20 sweeps. Otherwise *wandering*.

**Skip waiting** is exact too, by the $n$-fold way (Bortz, Kalos and Lebowitz, J. Comput. Phys. 17, 1975): from one look
at every free word, the number $D$ of steps up to and including the next change is drawn from
$P(D > k) = (1 - q)^k$, then the change, word $i$ to $v \ne x_i$, with probability
$p_i^\tau(v \mid x_{-i}) / (n q)$. The run has the law of the plain steps, with other random numbers; while a slow
anneal moves the temperature at every step, plain steps are done. The clock counts simulated steps, and what is done by
hand as one.

Colours by probability, entropy and margin show each word's figure when it was last looked at. Rare words are written as
several pieces, each a token of its own; pieces that continue a word stand close to it, and one that has lost its
beginning is marked ##.

Source: *Mixing Times of Glauber Dynamics on Masked Language Models*, arXiv 2605.16378, sections 2 and 4; Levin and
Peres, *Markov Chains and Mixing Times*, section 3.3.
"""
        )
