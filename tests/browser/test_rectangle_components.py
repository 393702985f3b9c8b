"""The components of the rectangle test in a real browser, fed by rectangle_components_app.py."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.app import events, press, rest, told
from tests.browser.contrast import contrasts
from tests.browser.rectangle_words import CASES, FIRST, MEANING, NASTY, SECOND

APP = "tests/browser/rectangle_components_app.py"
Show = Callable[..., Page]

FOREIGN = """
() => { const found = []; const walk = (root) => { for (const el of root.querySelectorAll("*")) {
    if (root !== document && ["IMG", "B", "SCRIPT"].includes(el.tagName)) found.push(el.outerHTML);
    if (el.shadowRoot) walk(el.shadowRoot); } }; walk(document); return found }
"""
WIDE = """
() => [...document.querySelectorAll("*")].flatMap(e => e.shadowRoot ? [...e.shadowRoot.querySelectorAll("*")] : [])
    .filter(e => !e.closest(".tip, svg") && e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.className)
"""


@pytest.fixture
def show(page: Page, run_app: Callable[..., str]) -> Iterator[Show]:
    """``show(query)``: the app, drawn; no error may reach the page while the test runs."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def open_app(query: str = "") -> Page:
        page.goto(f"{run_app(APP)}/?{query}")
        drawn(page)
        return page

    yield open_app
    assert errors == []


def drawn(page: Page) -> None:
    for name in ("word-picker", "rectangle"):
        expect(page.get_by_test_id(name)).to_be_attached(timeout=30_000)
    rest(page)


def word(page: Page, pos: int) -> Locator:
    return page.get_by_test_id(f"word-{pos}")


def clicks(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ast.literal_eval(events(page).removeprefix("events "))
    return found


def settled(page: Page, runs: int) -> None:
    expect(page.get_by_text(re.compile(rf"^runs {runs}$"))).to_be_visible()
    rest(page)


# ---- the sentence ----------------------------------------------------------------------------------------------


def test_clicks_send_the_word_and_the_marks_follow_what_is_picked(show: Show) -> None:
    page = show("picked=none")
    word(page, 2).click()
    told(page, "{'pos': 2, 'n': 1, 'rev': 0}")
    expect(word(page, 2)).to_have_attribute("data-mark", "1")
    expect(word(page, 2)).to_have_attribute("aria-pressed", "true")
    expect(word(page, 2)).to_have_attribute("aria-label", "told, picked as word 1")
    word(page, 6).click()
    expect(word(page, 6)).to_have_attribute("data-mark", "2")
    expect(word(page, 6)).to_have_text("drink")  # the 2 is drawn, not written into the word
    assert word(page, 6).evaluate("el => getComputedStyle(el, '::before').content") == '"2"'
    hues = [word(page, k).evaluate("el => getComputedStyle(el).getPropertyValue('--hue').trim()") for k in (2, 6)]
    assert hues == ["#0072b2", "#b34700"]


def test_a_second_click_on_the_same_word_is_a_new_event(show: Show) -> None:
    page = show("picked=none")
    word(page, 2).click()
    told(page, "'n': 1")
    rest(page)
    word(page, 2).click()
    told(page, "'n': 2")
    assert [(c["pos"], c["n"]) for c in clicks(page)] == [(2, 1), (2, 2)]


def test_a_click_says_which_sentence_it_meant(show: Show) -> None:
    page = show("picked=none")
    press(page, "turn")
    expect(word(page, 0)).to_have_text(".")
    rest(page)
    word(page, 3).click()
    told(page, "{'pos': 3, 'n': 1, 'rev': 1}")


def test_words_outside_the_vocabulary_are_explained_and_send_nothing(show: Show) -> None:
    page = show("nasty=1&picked=none")
    unknown = word(page, 2)
    expect(unknown).to_have_attribute("aria-disabled", "true")
    expect(unknown).to_have_attribute("aria-label", "**x**, cannot be picked")
    unknown.click(force=True)
    expect(page.get_by_role("tooltip").filter(has_text="it cannot be a corner")).to_be_visible()
    unknown.press("Enter")
    word(page, 0).focus()
    press(page, "rerun")
    settled(page, 2)
    assert clicks(page) == []
    word(page, 7).hover()
    expect(page.get_by_role("tooltip").filter(has_text="a corner needs a known word")).to_be_visible()


def test_keyboard_moves_and_picks(show: Show) -> None:
    page = show("picked=none")
    stops = page.get_by_test_id("word-picker").locator('[tabindex="0"]')
    expect(stops).to_have_count(1)
    word(page, 0).focus()
    for key, pos in [("ArrowRight", 1), ("End", 11), ("ArrowRight", 11), ("ArrowLeft", 10), ("Home", 0)]:
        page.keyboard.press(key)
        expect(word(page, pos)).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    told(page, "{'pos': 1, 'n': 1")
    expect(word(page, 1)).to_have_attribute("data-mark", "1")
    expect(word(page, 1)).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    told(page, "{'pos': 2, 'n': 2")
    expect(stops).to_have_count(1)
    page.set_viewport_size({"width": 500, "height": 700})
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    top = [word(page, 0).evaluate("el => el.getBoundingClientRect().top")]
    at = page.evaluate("() => { let e = document.activeElement; while (e.shadowRoot) e = e.shadowRoot.activeElement; "
                       "return [Number(e.dataset.pos), e.getBoundingClientRect().top] }")  # fmt: skip
    assert at[0] > 0 and at[1] > top[0]
    page.keyboard.press("ArrowUp")
    expect(word(page, at[0])).not_to_be_focused()


def test_the_room_of_the_sentence_and_of_the_drawing_is_kept(show: Show) -> None:
    page = show("picked=none")
    names = ("word-picker", "rectangle")
    before = [page.get_by_test_id(name).bounding_box() for name in names]
    page.evaluate(
        """() => { window.heights = []; for (const host of document.querySelectorAll("*")) {
            const root = host.shadowRoot?.querySelector(".picker, .rectangle");
            if (root) new ResizeObserver(() => window.heights.push(root.offsetHeight)).observe(root) } }"""
    )
    expect(page.get_by_test_id("rectangle-empty")).to_have_text(re.compile("^Click two words"))
    expect(page.get_by_test_id("delta")).to_be_hidden()
    for pos in (2, 6):
        word(page, pos).click()
        expect(word(page, pos)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_test_id("delta")).to_be_visible()
    expect(page.get_by_test_id("rectangle-empty")).to_be_hidden()
    rest(page)
    assert [page.get_by_test_id(name).bounding_box() for name in names] == before
    assert len(page.evaluate("window.heights")) == 2  # each was measured once, and never had another size


def test_an_invitation_without_words_keeps_the_room_of_the_drawing_before(show: Show) -> None:
    page = show("nasty=1&picked=0,3&lean=1")
    before = page.get_by_test_id("rectangle").bounding_box()
    assert before and before["height"] > 400
    word(page, 9).click()
    expect(page.get_by_test_id("rectangle-empty")).to_be_visible()
    rest(page)
    assert page.get_by_test_id("rectangle").bounding_box() == before


# ---- the drawing -----------------------------------------------------------------------------------------------


def test_numbers_have_two_decimals_to_read_and_all_of_them_underneath(show: Show) -> None:
    page = show()
    for name, text in [("xy", "−2.31"), ("yz", "−1.94"), ("xw", "−0.87"), ("wz", "−1.02")]:
        number = {"xy": 1, "wz": 1}.get(name, 2)
        expect(page.get_by_test_id(f"edge-{name}")).to_have_text(f"change word {number}: {text} nats")
        expect(page.get_by_test_id(f"edge-{name}")).to_have_attribute("data-value", repr(FIRST[name]))
    l1, l2 = FIRST["xy"] + FIRST["yz"], FIRST["xw"] + FIRST["wz"]
    for name, text, value in [
        ("l1", "word 1 first: −4.25 nats", l1),
        ("l2", "word 2 first: −1.89 nats", l2),
        ("delta", "delta = 2.36 nats", abs(l1 - l2)),
        ("relative", "relative delta 0.38", abs(l1 - l2) / (abs(l1) + abs(l2))),
        ("floor", "noise floor 3.1 × 10⁻⁶ nats", 3.1e-06),
    ]:
        expect(page.get_by_test_id(name)).to_have_text(text)
        expect(page.get_by_test_id(name)).to_have_attribute("data-value", repr(value))
    page.get_by_test_id("edge-xw").hover()
    tip = page.get_by_role("tooltip").filter(has_text="x to w: change word 2")
    expect(tip).to_contain_text("in full −0.8700000000000001 nats")
    expect(tip).to_contain_text("log p(eat) − log p(drink) at word 2, the other words as they stand in x")
    page.get_by_test_id("delta").hover()
    expect(page.get_by_role("tooltip").filter(has_text=f"in full {abs(l1 - l2)!r} nats")).to_be_visible()
    page.get_by_test_id("verdict").hover()
    expect(page.get_by_role("tooltip").filter(has_text="far above the noise floor")).to_be_visible()
    expect(page.get_by_test_id("meaning")).to_have_text(MEANING)


def test_corners_hold_the_sentence_with_the_words_in_their_places(show: Show) -> None:
    page = show()
    rest_of = ("the doctor {} the patient to {} more water and rest .").format
    pairs = {"x": ("told", "drink"), "y": ("asked", "drink"), "w": ("told", "eat"), "z": ("asked", "eat")}
    for name, (one, two) in pairs.items():
        corner = page.get_by_test_id(f"corner-{name}")
        expect(corner.locator(".words")).to_have_text(rest_of(one, two))
        expect(corner.locator(".letter")).to_have_text(name)
        for place, text in (("1", one), ("2", two)):
            marked = corner.locator(f'[data-mark="{place}"]')
            expect(marked).to_have_text(text)
            expect(marked).to_have_class(re.compile(r"\bnew\b" if text in ("asked", "eat") else r"^tok$"))
    box = {name: page.get_by_test_id(f"corner-{name}").bounding_box() for name in "xywz"}
    x, y, w, z = (box[name] for name in "xywz")
    assert x and y and w and z
    assert (x["y"], w["y"], x["x"], y["x"]) == (y["y"], z["y"], w["x"], z["x"])
    assert x["x"] + x["width"] < y["x"] and x["y"] + x["height"] < w["y"]
    height = page.get_by_test_id("rectangle").bounding_box()
    assert height and height["height"] < 340


def test_routes_differ_in_colour_and_in_line(show: Show) -> None:
    page = show()
    style = "el => { const s = getComputedStyle(el); return [s.getPropertyValue('--route').trim(), s.backgroundImage] }"
    lines = {n: page.get_by_test_id(f"edge-{n}").locator(".line").evaluate(style) for n in ("xy", "yz", "xw", "wz")}
    assert lines["xy"][0] == lines["yz"][0] != lines["xw"][0] == lines["wz"][0]
    for name, dashed in (("xy", False), ("yz", False), ("xw", True), ("wz", True)):
        assert lines[name][1].startswith("repeating-linear-gradient") == dashed
    samples = [page.get_by_test_id(n).locator(".sample").evaluate(style) for n in ("l1", "l2")]
    assert [s[0] for s in samples] == [lines["xy"][0], lines["xw"][0]]
    assert [s[1].startswith("repeating") for s in samples] == [False, True]


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_numbers_change_in_place_and_glow(browser: Browser, run_app: Callable[..., str], motion: Any) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, reduced_motion=motion)
    page = context.new_page()
    page.add_init_script(
        """window.glows = []; const animate = Element.prototype.animate;
        Element.prototype.animate = function (...a) {
            window.glows.push(this.closest("[data-testid]").dataset.testid); return animate.apply(this, a) }"""
    )
    page.goto(f"{run_app(APP)}/")
    drawn(page)
    assert page.evaluate("window.glows") == []  # a first drawing is no change
    page.get_by_test_id("rectangle").evaluate(
        """root => { window.replaced = 0; new MutationObserver(records => { for (const r of records)
            for (const n of r.removedNodes) if (n.nodeType === 1 && !r.target.closest("svg")) window.replaced++ })
            .observe(root, { childList: true, subtree: true }) }"""
    )
    press(page, "change")
    expect(page.get_by_test_id("edge-xy")).to_have_attribute("data-value", repr(SECOND["xy"]))
    expect(page.get_by_test_id("edge-xy")).to_have_text("change word 1: −0.50 nats")
    expect(page.get_by_test_id("edge-yz")).to_have_text("change word 2: 0.00 nats")
    expect(page.get_by_test_id("edge-yz")).to_have_attribute("data-value", "1e-06")
    expect(page.get_by_test_id("l2")).to_have_text("word 2 first: 1.2 × 10⁸ nats")
    expect(page.get_by_test_id("floor")).to_have_text("noise floor not measured")
    assert page.get_by_test_id("floor").get_attribute("data-value") is None
    rest(page)
    assert page.evaluate("window.replaced") == 0
    glows = set(page.evaluate("window.glows"))
    changed = {"edge-xy", "edge-yz", "edge-xw", "edge-wz", "l1", "l2", "delta", "relative", "floor"}
    assert glows == (changed if motion == "no-preference" else set())
    count = len(page.evaluate("window.glows"))
    press(page, "rerun")
    settled(page, 3)
    assert len(page.evaluate("window.glows")) == count
    context.close()


def test_every_verdict_has_an_icon_of_its_own(show: Show) -> None:
    page = show()
    icons = set()
    for kind, text in [
        ("contradiction", "the two orders disagree"),
        ("agree", "the two orders agree"),
        ("zero", "zero by construction"),
        ("unknown", "not yet known"),
    ]:
        expect(page.get_by_test_id("verdict")).to_have_attribute("data-kind", kind)
        expect(page.get_by_test_id("verdict")).to_contain_text(text)
        icons.add(page.get_by_test_id("verdict").locator("svg").evaluate("el => el.innerHTML"))
        press(page, "change")
    assert len(icons) == 4


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("words=64&picked=20,50", r"^\[…\] to drink more water .* \. \[…\] \. the doctor told the patient to \[…\]$"),
        ("words=64&picked=2,6", r"^the doctor told the patient to drink more .* told the \[…\]$"),
        ("words=64&picked=30,63", r"^\[…\] .* the$"),
        ("words=16&picked=0,15", r"^the doctor .* told the$"),
    ],
)
def test_of_a_long_sentence_corners_show_what_is_around_the_two_words(show: Show, query: str, shown: str) -> None:
    page = show(query)
    for name in "xywz":
        words = page.get_by_test_id(f"corner-{name}").locator(".words")
        if name == "x":
            expect(words).to_have_text(re.compile(shown))
        assert words.locator(".tok:not(.dots)").count() <= 18
        expect(words.locator("[data-mark]")).to_have_count(2)
    height = page.get_by_test_id("rectangle").bounding_box()
    assert height and height["height"] < 360
    page.get_by_test_id("corner-x").hover()
    tip = page.get_by_role("tooltip").filter(has_text="x: the sentence as it stands")
    expect(tip).to_contain_text("the doctor told the patient to drink more water and rest .")


# ---- what comes in, and where it is shown ----------------------------------------------------------------------


def test_text_is_shown_literally(show: Show) -> None:
    page = show("nasty=1&picked=0,3")
    for k, text in enumerate(NASTY[:4]):
        expect(word(page, k)).to_have_text(text)
    expect(word(page, 4)).to_have_text("empty")
    expect(word(page, 5)).to_have_text("U+200B")
    expect(word(page, 7)).to_have_class(re.compile("glue"))
    x = page.get_by_test_id("corner-x").locator(".words")
    expect(x.locator('[data-mark="1"]')).to_have_text(NASTY[0])
    expect(x).to_contain_text("$x$ **x** <b>bold</b> empty U+200B")
    expect(page.get_by_test_id("corner-z").locator('[data-mark="2"]')).to_have_text("<b>new</b>")
    page.get_by_test_id("edge-xy").hover()
    expect(page.get_by_role("tooltip").filter(has_text=f"log p(<b>new</b>) − log p({NASTY[0]})")).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(FOREIGN) == []


@pytest.mark.parametrize("case", CASES)
def test_missing_and_wrong_fields_break_nothing(show: Show, case: str) -> None:
    page = show(f"case={case}")
    if "words" not in case:
        expect(page.get_by_test_id("delta")).to_have_text("delta = unknown")
        expect(page.get_by_test_id("edge-xy")).to_have_text("change word 1: unknown")
        expect(page.get_by_test_id("floor")).to_have_text("noise floor not measured")
        expect(page.get_by_test_id("verdict")).to_be_hidden()
    expect(page.locator('[role="alert"]')).to_have_count(0)
    press(page, "rerun")
    settled(page, 2)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("query", ["nasty=1&picked=0,3", "picked=none", "words=40&picked=3,30"])
def test_contrast(browser: Browser, run_app: Callable[..., str], scheme: Any, query: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{run_app(APP)}/?{query}")
    drawn(page)
    seen = []
    for name in ("word-picker", "rectangle"):
        expect(page.get_by_test_id(name)).to_have_attribute("data-theme", scheme)
        seen += contrasts(page.get_by_test_id(name))
    assert len(seen) > 12
    assert [(text, ratio) for text, ratio in seen if ratio < 4.5] == []
    page.get_by_test_id("word-picker").evaluate(
        "el => (el.style.color = '#777')"
    )  # 4.48 on white, 4.2 on the dark ground
    assert [ratio for _, ratio in contrasts(page.get_by_test_id("word-picker")) if ratio < 4.5]
    context.close()


@pytest.mark.parametrize("query", ["", "nasty=1&picked=0,6", "words=64&picked=20,50"])
def test_phone_reads_downwards_and_fits(browser: Browser, run_app: Callable[..., str], query: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(f"{run_app(APP)}/?{query}")
    drawn(page)
    assert page.evaluate(WIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    order = [["corner-x"], ["edge-xy", "edge-xw"], ["corner-y", "corner-w"], ["edge-yz", "edge-wz"], ["corner-z"]]
    floor = 0.0
    for row in [*order, ["delta"], ["verdict"], ["meaning"]]:
        boxes = [page.get_by_test_id(name).bounding_box() for name in row]
        tops = {round(box["y"]) for box in boxes if box}
        assert len(tops) == 1 and min(tops) >= floor - 1, row
        floor = max(box["y"] + box["height"] for box in boxes if box)
    size = page.get_by_test_id("corner-y").locator(".words").evaluate("el => parseFloat(getComputedStyle(el).fontSize)")
    assert size >= 16
    word(page, 3).tap()
    told(page, "'pos': 3")
    context.close()
