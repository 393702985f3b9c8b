"""The slider over the steps of a run, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.app import events, press, settle, told

Show = Callable[..., Page]


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="step", exact=True)


def shows(page: Page, text: str) -> None:
    expect(page.get_by_test_id("scrubber").locator(".label")).to_have_text(text)


def at(page: Page, share: float) -> tuple[float, float]:
    """A point on the track."""
    box = slider(page).bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def test_cursor_length_and_note_are_shown_and_nothing_is_sent(show: Show) -> None:
    page = show("scrub=on")
    shows(page, "step 40 of 40")
    expect(slider(page)).to_have_value("40")
    expect(slider(page)).to_have_attribute("max", "40")
    expect(page.get_by_test_id("scrubber").locator(".note")).to_have_text("a <b>note</b>")
    assert events(page) == "events []"


def test_keys_send_the_step(show: Show) -> None:
    page = show("scrub=on")
    slider(page).focus()
    for key, step in (("ArrowLeft", 39), ("Home", 0), ("ArrowRight", 1), ("End", 40)):
        slider(page).press(key)
        told(page, f"('seek', {{'step': {step}}})]")
        shows(page, f"step {step} of 40")
        expect(slider(page)).to_be_focused()
    expect(slider(page)).to_have_value("40")


def test_a_drag_sends_on_its_way_and_at_its_end(show: Show) -> None:
    page = show("scrub=on")
    page.mouse.move(*at(page, 0.99))
    page.mouse.down()
    page.mouse.move(*at(page, 0.5), steps=4)
    told(page, "('seek', {'step': ")  # the button is still down
    shows(page, "step 20 of 40")
    told(page, "('seek', {'step': 20})]")
    expect(slider(page)).to_have_value("20")  # the page ran again meanwhile and left the thumb where it is held
    page.mouse.move(*at(page, 0.01), steps=4)
    page.mouse.up()
    told(page, "('seek', {'step': 0})]")
    shows(page, "step 0 of 40")


def test_a_click_on_the_track_sends_once(show: Show) -> None:
    page = show("scrub=on")
    page.mouse.click(*at(page, 0.5))
    told(page, "('seek', {'step': 20})]")
    settle(page, 40)
    assert events(page) == "events [('seek', {'step': 20})]"


def test_a_disabled_one_shows_and_sends_nothing(show: Show) -> None:
    page = show("scrub=off")
    expect(slider(page)).to_be_disabled()
    shows(page, "step 40 of 40")
    page.mouse.click(*at(page, 0.3))
    page.mouse.move(*at(page, 0.9))
    page.mouse.down()
    page.mouse.move(*at(page, 0.1), steps=4)
    page.mouse.up()
    press(page, "rerun")
    expect(page.get_by_text(re.compile("runs 2$"))).to_be_visible()
    shows(page, "step 40 of 40")
    assert events(page) == "events []"


def test_a_thumb_pressed_and_let_go_where_it_is_follows_the_run_again(show: Show) -> None:
    page = show("scrub=on")
    page.mouse.click(*at(page, 0.995))
    press(page, "advance")
    settle(page, 46)
    shows(page, "step 40 of 46")
    assert events(page) == "events []"


def test_a_longer_run_moves_the_end_and_sends_nothing(show: Show) -> None:
    page = show("scrub=on")
    press(page, "advance")
    settle(page, 46)
    shows(page, "step 40 of 46")
    expect(slider(page)).to_have_value("40")
    press(page, "restart")
    settle(page, 0)
    shows(page, "step 0")
    assert events(page) == "events []"
    press(page, "many")
    settle(page, 120)
    shows(page, "step 40 of 120")
    assert events(page) == "events []"
    slider(page).focus()
    slider(page).press("End")
    told(page, "events [('seek', {'step': 120})]")
