"""Many visitors of the live page who all play at once, and now and then click a word."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from glauber_core.starters import STARTERS
from tests.load.tab import Tab

FIRST_SEED = 1000


@dataclass
class Visitor:
    """One tab with what was seen in it.

    Attributes:
        tab: the tab.
        seed: its own.
        text: its sentence, no other visitor's.
        step: the last one that was shown.
        clicks: seconds from a click on a word to that word's bars, and when the click was (clock value).
        mixed: what belongs to somebody else: another seed, or a state that the steps shown do not lead to.
        lost: blocks that the server merged into the next one, so that the steps between were not seen.
    """

    tab: Tab
    seed: int
    text: str
    step: int = 0
    clicks: list[tuple[float, float]] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    lost: int = 0
    _words: list[str] = field(default_factory=list)
    _seen: float = 0.0

    @classmethod
    async def come(cls, url: str, number: int, tau: float) -> Visitor:
        """Open the page with a sentence and a seed of one's own."""
        starter = STARTERS[number % len(STARTERS)].text
        text = starter if number < len(STARTERS) else f"{starter.removesuffix('.')}today ."
        seed = FIRST_SEED + number
        tab = await Tab.open(url, text=text, seed=str(seed), tau=str(tau))
        visitor = cls(tab, seed, text)
        await tab.until("its first sentence", lambda: "stage" in tab.drawn and tab.runs > 0)
        visitor.look()
        return visitor

    def look(self) -> None:
        """Read what the page shows: play the block's steps on the words seen before."""
        drawn = self.tab.drawn["stage"]
        if drawn.at == self._seen:
            return
        self._seen = drawn.at
        chain = self.tab.data("stage")["chains"][0]
        if not chain["title"].endswith(f"seed {self.seed}"):
            self.mixed.append(chain["title"])
        words = [token["t"] for token in chain["tokens"]]
        if not self._words and chain["step"] == 0:
            self._words = words
        last = chain["frames"][-1]["s"] if chain["frames"] else chain["step"]
        if chain["step"] == self.step and words != self._words:
            self.mixed.append(f"step {self.step}: {' '.join(words)}, not {' '.join(self._words)}")
        self.lost += chain["step"] > self.step
        for frame in chain["frames"]:
            words[frame["i"]] = frame["t"]
        self.step, self._words = max(last, self.step), words

    async def play(self, playing: bool = True) -> None:
        """Press play, or pause."""
        await self.tab.press("play")
        wanted = "pause" if playing else "play"
        await self.tab.until(wanted, lambda: self.tab.drawn["play"].proto.label == wanted)

    async def click(self, position: int) -> None:
        """Click a word and wait for its bars."""
        begin = time.monotonic()
        await self.tab.send("stage", "pick", {"chain": "A", "pos": position, "step": self.step})
        await self.tab.until(f"the bars of word {position + 1}", lambda: self._bars() == position)
        self.clicks.append((begin, time.monotonic() - begin))

    def _bars(self) -> int | None:
        panel = self.tab.data("conditional")
        return int(panel["subtitle"].split(",")[0].removeprefix("word ")) - 1 if panel["rows"] else None

    async def live(self, every: float | None, start: float, rng: random.Random) -> None:
        """Watch for ever; click another word every ``every`` seconds, the first time after ``start``."""
        watching = asyncio.create_task(self._watch())
        try:
            if every is None:
                await watching
                return
            position = 0
            await asyncio.sleep(start)
            while True:
                due = time.monotonic() + every
                others = [k for k in range(len(self._words)) if k != position]
                position = rng.choice(others)
                await self.click(position)
                await asyncio.sleep(max(0.0, due - time.monotonic()))
        finally:
            watching.cancel()

    async def _watch(self) -> None:
        while True:
            await self.tab.until("the next block", lambda: self.tab.drawn["stage"].at != self._seen)
            self.look()


async def together(
    url: str,
    count: int,
    warm_up: float,
    seconds: float,
    *,
    every: float | None = 10.0,
    tau: float = 1.0,
    sample: Callable[[], None] = lambda: None,
    period: float = 5.0,
    begun: Callable[[], None] = lambda: None,
) -> tuple[list[Visitor], list[int]]:
    """``count`` visitors play for ``warm_up`` and then ``seconds``; them, and the steps each saw in those seconds.

    Args:
        url: of the app.
        every: seconds between two clicks of a visitor, spread evenly over the visitors; None for no clicks.
        tau: temperature of all.
        sample: called every ``period`` seconds of the whole time.
        begun: called once, when the warm-up is over.
    """
    visitors = [await Visitor.come(url, number, tau) for number in range(count)]
    for visitor in visitors:
        await visitor.play()
    rng = random.Random(0)
    lives = [
        asyncio.create_task(v.live(every, (every or 0.0) * k / count, random.Random(rng.random())))
        for k, v in enumerate(visitors)
    ]
    try:
        await _pass(warm_up, lives, sample, period)
        begun()
        before = [v.step for v in visitors]
        await _pass(seconds, lives, sample, period)
        steps = [v.step - b for v, b in zip(visitors, before, strict=True)]
    finally:
        for life in lives:
            life.cancel()
        await asyncio.gather(*lives, return_exceptions=True)
    return visitors, steps


async def _pass(seconds: float, lives: list[asyncio.Task[None]], sample: Callable[[], None], period: float) -> None:
    """Let time go by; a visitor's trouble ends it."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        sample()
        ended, _ = await asyncio.wait(lives, timeout=min(period, left), return_when=asyncio.FIRST_EXCEPTION)
        for life in ended:
            life.result()
