"""The landscape with ten thousand points: embedding, the message to the browser, and the drawing in a real Chromium."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from glauber_core.landscape.analysis import analyse
from glauber_core.landscape.embedder import SentenceEmbedder
from glauber_core.landscape.expedition import Picture
from glauber_core.landscape.topics import frozen_topics
from glauber_core.landscape.visits import Visits
from glauber_core.starters import STARTERS
from pages.ui.landscape_address import default
from pages.ui.landscape_frames import Wire
from pages.ui.landscape_map import Maps
from pages.ui.landscape_session import Scene
from tests.bench.machine import seconds
from tests.browser.chromium import HELP, find

POINTS, CHAINS, BEAT = 10_000, 8, 64  # a beat of hot chains brings about so many new ones
SOURCES = Path(__file__).resolve().parents[2] / "pages/ui/frontend"


def measure() -> dict[str, float]:
    """embed_states_per_s; landscape_refresh_ms_10k: 64 new points beside 10,000, message, transfer as JSON, drawing.

    Also printed: the same when everything is sent anew, and the search for basins.
    """
    rng = np.random.default_rng(1)
    words = sorted({word for starter in STARTERS for word in starter.text.split()})
    texts = [" ".join(rng.choice(words, 12)) for _ in range(POINTS)]
    embedder = SentenceEmbedder()
    embedder(texts[:32])
    embedding = seconds(lambda: embedder(texts[:512]), 3)
    session, scene = _session(texts, rng)
    begin = time.perf_counter()
    found = analyse(scene.picture, (13,) * CHAINS)
    basins = time.perf_counter() - begin
    session.scene = scene._replace(analysis=found)
    wire = Wire()
    whole, whole_ms = _message(wire, session)
    for _ in range(4):
        wire.message(session)
    grown = Wire()
    session.scene = _first(session.scene, POINTS - BEAT)
    for _ in range(5):
        grown.message(session)
    session.scene = scene._replace(analysis=found)
    small, small_ms = _message(grown, session)
    drawn = _drawn([whole, small])
    print(
        f"{POINTS} points, {CHAINS} chains: everything {whole_ms:.0f} ms ({len(whole) / 1e6:.1f} MB) on the server "
        f"and {drawn[0]:.0f} ms in the browser; {BEAT} new points {small_ms:.0f} ms ({len(small) / 1e3:.0f} kB) and "
        f"{drawn[1]:.0f} ms; basins {1e3 * basins:.0f} ms, in the background"
    )
    return {"embed_states_per_s": 512 / embedding, "landscape_refresh_ms_10k": small_ms + drawn[1]}


def _session(texts: list[str], rng: np.random.Generator) -> tuple[Any, Scene]:
    maps = Maps()
    vectors = (
        rng.normal(size=(POINTS, 384)).astype(np.float32) + 4 * frozen_topics().centres[rng.integers(8, size=POINTS)]
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    each = POINTS // CHAINS
    visits = tuple(
        Visits(
            np.arange(k, POINTS, CHAINS),
            np.arange(each),
            tuple(range(0, 16 * each, 16)),
            np.full(each, 16.0),
            np.full(each, np.nan),
        )
        for k in range(CHAINS)
    )
    picture = Picture(texts, vectors, visits, (16 * each,) * CHAINS, (False,) * CHAINS, (1,) * CHAINS)
    scene = Scene(picture, maps.plane(vectors, None), None)
    expedition = SimpleNamespace(per_sweep=(13,) * CHAINS)
    return SimpleNamespace(
        maps=maps, scene=scene, epoch=1, selected=None, address=default(), expedition=expedition
    ), scene


def _first(scene: Scene, count: int) -> Scene:
    """The scene a beat earlier."""
    less = BEAT // CHAINS
    visits = tuple(
        Visits(v.state[:-less], v.entry[:-less], v.entered[:-less], *(c[:-less] for c in v[3:]))
        for v in scene.picture.visits
    )
    picture, plane = scene.picture._replace(texts=scene.picture.texts[:count], visits=visits), scene.plane
    return scene._replace(picture=picture, plane=type(plane)(plane.axes, *(c[:count] for c in plane[1:])))


def _message(wire: Wire, session: Any) -> tuple[str, float]:
    begin = time.perf_counter()
    text = json.dumps(wire.message(session))
    return text, 1e3 * (time.perf_counter() - begin)


def _drawn(messages: list[str]) -> list[float]:
    """Milliseconds from each message's text to the finished drawing."""
    script = "\n".join((SOURCES / f"{stem}.js").read_text(encoding="utf-8") for stem in ("shared", "landscape"))
    style = "\n".join((SOURCES / f"{stem}.css").read_text(encoding="utf-8") for stem in ("shared", "landscape"))
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        path = find()
        if path is None:
            raise RuntimeError(HELP)
        browser = playwright.chromium.launch(executable_path=path, args=options)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_content(f"<style>{style} .root {{ --st-background-color: #fff }}</style><div id=here></div>")
        page.add_script_tag(content=script.replace("export default", "window.component ="))
        found = page.evaluate(
            """async (messages) => { const found = [], parentElement = document.getElementById("here");
            for (const text of messages) {
              const begin = performance.now();
              component({ data: JSON.parse(text), parentElement, setTriggerValue: () => {} });
              await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
              found.push(performance.now() - begin);
            }
            return found; }""",
            messages,
        )
        browser.close()
    return [float(ms) for ms in found]
