"""The browser components in a real browser, fed by components_app.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

from pages.ui.components import tau_color
from tests.browser.app import APP, drive, events, hold, press, settle, step, told, updates

NASTY = ["<img src=x onerror=window.hacked=1>", "$5", "**x**", "<b>bold</b>"]
EVERY_STEP = """
el => { window.steps = []; new MutationObserver(() => window.steps.push(Number(el.dataset.step)))
    .observe(el, { attributes: true, attributeFilter: ["data-step"] }) }
"""
FOREIGN = """
() => { const found = []; const walk = (root) => { for (const el of root.querySelectorAll("*")) {
    if (root !== document && ["IMG", "B", "SCRIPT"].includes(el.tagName)) found.push(el.outerHTML);
    if (el.shadowRoot) walk(el.shadowRoot); } }; walk(document); return found }
"""


def test_every_frame_is_drawn_on_its_own_and_none_is_missed(page: Page, show: Callable[..., Page]) -> None:
    page.clock.install()
    show("alone=1")
    hold(page)
    page.get_by_test_id("strip-0").evaluate(EVERY_STEP)
    count = updates(page)
    press(page, "advance")
    drive(page, lambda: step(page) == 46)  # at the frames' own pace
    press(page, "many")
    drive(page, lambda: step(page) == 166)  # hurried
    assert page.evaluate("window.steps") == list(range(41, 167))
    assert updates(page) - count == 126
    assert page.get_by_test_id("stage").get_attribute("data-missed") == "0"


def test_playing_misses_no_block_and_never_goes_back(show: Callable[..., Page]) -> None:
    page = show("play=1&alone=1")
    page.get_by_test_id("strip-0").evaluate(EVERY_STEP)
    page.wait_for_function("window.steps.length > 30")
    steps = page.evaluate("window.steps")
    assert all(b > a for a, b in zip(steps, steps[1:], strict=False))
    assert page.get_by_test_id("stage").get_attribute("data-missed") == "0"


def test_chains_of_a_block_stay_in_step_and_the_strip_never_gets_lower(show: Callable[..., Page]) -> None:
    page = show("play=1&alone=1&chains=4")
    heights = []
    for _ in range(12):
        page.wait_for_timeout(250)
        steps, height = page.evaluate(
            """() => { const root = [...document.querySelectorAll("*")].map(e => e.shadowRoot)
                .find(r => r?.querySelector(".stage")); return [[...root.querySelectorAll(".strip")]
                .map(e => e.dataset.step), root.querySelector(".stage").offsetHeight] }"""
        )
        assert len(steps) == 4 and len(set(steps)) == 1
        heights.append(height)
    assert heights == sorted(heights)


def test_text_is_shown_literally(show: Callable[..., Page]) -> None:
    page = show("nasty=1&chains=2&color=age")
    press(page, "restart")
    settle(page, 0)
    for k, text in enumerate(NASTY):
        expect(page.get_by_test_id(f"tok-0-{k}")).to_have_text(text)
        expect(page.get_by_test_id(f"cond-{k}").locator(".text")).to_have_text(text)
    expect(page.get_by_test_id("tok-0-4")).to_have_text("empty")
    expect(page.get_by_test_id("tok-0-5")).to_have_text("U+200B")
    page.get_by_test_id("tok-0-0").hover()
    expect(page.get_by_role("tooltip").filter(has_text=NASTY[0])).to_be_visible()
    expect(page.get_by_test_id("conditional")).to_contain_text("<b>patient</b>")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(FOREIGN) == []


def test_word_states_are_told_without_colour(show: Callable[..., Page]) -> None:
    page = show("nasty=1")
    press(page, "restart")
    settle(page, 0)
    expect(page.get_by_test_id("tok-0-1")).to_have_attribute("aria-label", "word 2: $5, locked")
    expect(page.get_by_test_id("tok-0-6")).to_have_attribute("aria-label", re.compile("outside the model's sampled"))
    page.get_by_test_id("tok-0-6").hover()
    expect(page.get_by_role("tooltip").filter(has_text="outside the model's sampled vocabulary")).to_be_visible()
    expect(page.get_by_test_id("badge-0")).to_have_attribute("data-kind", "perfect")
    page.get_by_test_id("badge-0").hover()
    expect(page.get_by_role("tooltip").filter(has_text="Every word is the best one.")).to_be_visible()


def test_click_and_keyboard_pick_a_word(show: Callable[..., Page]) -> None:
    page = show()
    page.get_by_test_id("tok-0-3").click()
    told(page, "('pick', {'chain': 'A', 'pos': 3, 'step': 40})")
    expect(page.get_by_test_id("tok-0-3")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    told(page, "('pick', {'chain': 'A', 'pos': 4, 'step': 40})")
    page.keyboard.press("Home")
    expect(page.get_by_test_id("tok-0-0")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_test_id("tok-0-0")).not_to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_test_id("tok-0-15")).to_be_focused()


def test_word_can_be_picked_while_the_chain_plays(show: Callable[..., Page]) -> None:
    page = show("play=1&alone=1")
    page.get_by_test_id("tok-0-4").click()
    told(page, "('pick', {'chain': 'A', 'pos': 4")
    expect(page.get_by_test_id("strip-0")).not_to_have_attribute("data-step", str(step(page)))


def test_click_and_keyboard_choose_a_word(show: Callable[..., Page]) -> None:
    page = show("far=1")
    page.get_by_test_id("cond-1").click()
    told(page, "('choose', {'id': 101})")
    page.get_by_test_id("cond-1").focus()
    page.keyboard.press("End")
    expect(page.get_by_test_id("cond-current")).to_be_focused()
    page.keyboard.press("Enter")
    told(page, "('choose', {'id': 7})")
    expect(page.get_by_test_id("cond-current").locator(".share")).to_have_text("<0.01 %")


def test_empty_panels_keep_their_room(show: Callable[..., Page]) -> None:
    page = show("empty=1")
    expect(page.get_by_text("Click a word to see what the model would put there.")).to_be_visible()
    expect(page.get_by_text(re.compile("^Press play"))).to_be_visible()
    names = ("conditional", "timelines")
    empty = [page.get_by_test_id(name).bounding_box() for name in names]
    page.get_by_test_id("timelines").locator("svg[tabindex]").click()
    assert events(page) == "events []"
    show()
    full = [page.get_by_test_id(name).bounding_box() for name in names]
    assert [box and box["height"] for box in empty] == [box and box["height"] for box in full]


def test_hover_reads_and_click_seeks(show: Callable[..., Page]) -> None:
    page = show("chains=2")
    chart = page.get_by_test_id("timelines").locator("svg[tabindex]")
    box = chart.bounding_box()
    assert box is not None
    chart.hover(position={"x": 50, "y": 60})
    tip = page.get_by_role("tooltip").filter(has_text="sweep")
    expect(tip).to_contain_text("chain B, seed 8: holding 0.500, expected stay 2 steps, first choice 8 of 16")
    # The plot runs from 44 to width - 14 pixels and shows 0 to 3 sweeps, of which 2.5 have passed.
    chart.click(position={"x": 44 + (box["width"] - 58) / 3, "y": 60})
    told(page, "('seek', {'sweep': ")
    sweep = float(events(page).rsplit(": ", 1)[1].strip("})]"))
    assert sweep == pytest.approx(1, abs=0.02)
    chart.click(position={"x": box["width"] - 2, "y": 60})
    told(page, "('seek', {'sweep': 2.5})")
    chart.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    told(page, "('seek', {'sweep': 1})")


def test_picture_is_saved_with_literal_text(show: Callable[..., Page], tmp_path: Path) -> None:
    page = show("chains=4")
    for kind in ("svg", "png"):
        with page.expect_download() as download:
            page.get_by_test_id(f"save-{kind}").click()
        download.value.save_as(tmp_path / download.value.suggested_filename)
    drawing = ElementTree.fromstring((tmp_path / "timelines.svg").read_text())
    texts = [el.text for el in drawing.iter() if el.tag.endswith("text")]
    assert "chain D <b>, $5" in texts and "changes per sweep" in texts
    assert (tmp_path / "timelines.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_slider_sends_during_the_drag_and_at_release(show: Callable[..., Page]) -> None:
    page = show()
    box = page.get_by_test_id("tau-slider").bounding_box()
    assert box is not None
    y = box["y"] + 16
    page.mouse.move(box["x"] + box["width"] * 0.245, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.35, y, steps=5)
    expect(page.get_by_text("tau 1.0, colour", exact=False)).to_be_visible()  # the button is still down
    page.mouse.move(box["x"] + box["width"] * 0.7, y, steps=3)
    page.mouse.up()
    expect(page.get_by_text("tau 2.0, colour", exact=False)).to_be_visible()
    expect(page.get_by_test_id("tau-field")).to_have_value("2")


@pytest.mark.parametrize("typed", ["-1", "abc", "NaN", "1e9", "inf", ""])
def test_bad_temperature_is_refused_in_one_sentence(show: Callable[..., Page], typed: str) -> None:
    page = show()
    field, slider = page.get_by_test_id("tau-field"), page.get_by_test_id("tau-slider")
    before = page.get_by_test_id("stage").bounding_box()
    field.fill(typed)
    field.press("Enter")
    expect(page.get_by_test_id("tau-error")).to_have_text("Type a number from 0 to 1000, for example 0.7.")
    press(page, "rerun")
    expect(page.get_by_text("runs 2")).to_be_visible()
    expect(page.get_by_text("tau 0.7, colour", exact=False)).to_be_visible()
    expect(field).to_have_value(typed)  # what is being typed is left alone
    assert page.get_by_test_id("stage").bounding_box() == before
    press(page, "preset")
    expect(slider).to_have_attribute("aria-valuenow", "1.5")
    expect(field).to_have_value(typed)
    field.press("Escape")
    expect(field).to_have_value("1.5")
    expect(page.get_by_test_id("tau-error")).to_have_text("")


def test_temperature_by_keyboard_by_typing_and_from_python(show: Callable[..., Page]) -> None:
    page = show()
    slider, field = page.get_by_test_id("tau-slider"), page.get_by_test_id("tau-field")
    root = page.locator(".tau")
    slider.focus()
    for key, value in [
        ("ArrowRight", 0.71),
        ("PageUp", 0.81),
        ("PageDown", 0.71),
        ("ArrowLeft", 0.7),
        ("End", 5.0),
        ("ArrowLeft", 4.95),
        ("Home", 0.0),
    ]:
        slider.press(key)
        expect(root).to_have_attribute("data-tau", f"{value:g}")
    expect(page.get_by_text("tau 0.0, colour", exact=False)).to_be_visible()
    for value in (0.33, 1.0, 1.73, 2.6, 4.4, 12.0, 1000.0):
        field.fill(f"{value:g}")
        field.press("Enter")
        expect(page.get_by_text(f"tau {value}, colour", exact=False)).to_be_visible()
        expect(root).to_have_attribute("data-color", tau_color(value))
    press(page, "preset")
    expect(field).to_have_value("1.5")
    expect(page.get_by_text("tau 1.5, colour", exact=False)).to_be_visible()


def test_rerun_replays_nothing(show: Callable[..., Page]) -> None:
    page = show()
    press(page, "advance")
    settle(page, 46)
    count = updates(page)
    press(page, "rerun")
    expect(page.get_by_text("runs 3")).to_be_visible()
    page.get_by_test_id("tok-0-2").click()  # the same block once more, in data that differ
    expect(page.get_by_test_id("tok-0-2")).to_have_attribute("aria-pressed", "true")
    page.wait_for_timeout(500)
    assert (updates(page), step(page)) == (count, 46)


def test_reset_drops_what_is_queued(page: Page, show: Callable[..., Page]) -> None:
    page.clock.install()
    show()
    hold(page)
    page.get_by_test_id("strip-0").evaluate(EVERY_STEP)
    press(page, "many")
    drive(page, lambda: step(page) > 43)
    press(page, "restart")
    drive(page, lambda: step(page) == 0, ms=1)  # 120 frames take three seconds of the page's time
    assert max(page.evaluate("window.steps")) < 160, "the reset came too late to drop anything"
    count = updates(page)
    page.clock.run_for(10_000)
    assert (updates(page), step(page)) == (count, 0)
    expect(page.get_by_test_id("tok-0-5")).to_have_text("to")


def test_colour_modes_have_a_legend_with_units(show: Callable[..., Page]) -> None:
    for color, words in [
        ("age", "changed just now"),
        ("probability", "probability of the word"),
        ("entropy", "nats"),
        ("margin", "nats"),
    ]:
        page = show(f"color={color}&alone=1")
        expect(page.locator(".legend")).to_contain_text(words)
    expect(page.locator(".tok.no-value").first).to_be_visible()  # step 40 of 16 words: some were never looked at


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_with_reduced_motion(browser: Browser, run_app: Callable[..., str], scheme: Any) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme=scheme, reduced_motion="reduce", has_touch=True
    )
    page = context.new_page()
    page.goto(f"{run_app(APP)}/?play=1&chains=4&nasty=1&color=entropy")
    expect(page.get_by_test_id("stage")).to_have_attribute("data-theme", scheme, timeout=30_000)
    page.wait_for_function(
        """() => [...document.querySelectorAll("*")].some(e =>
            Number(e.shadowRoot?.querySelector(".stage")?.dataset.updates) > 8)"""
    )
    assert page.get_by_test_id("tok-0-0").evaluate("el => el.getRootNode().getAnimations().length") == 0
    wide = page.evaluate(
        """() => [...document.querySelectorAll("*")].flatMap(e => e.shadowRoot ? [...e.shadowRoot.querySelectorAll("*")]
            : []).filter(e => !e.closest(".tip, svg, [hidden]") && e.getBoundingClientRect().right > innerWidth + 1)
            .map(e => e.className)"""
    )
    assert wide == []
    context.close()
