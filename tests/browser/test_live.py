"""The live page in a real browser, as a person uses it."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

WAIT = 20_000  # ms


@pytest.fixture
def live(page: Page, run_app: Callable[..., str]) -> Page:
    open_live(page, run_app("app.py"))
    return page


def open_live(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.get_by_test_id("tok-0-0")).to_be_visible(timeout=60_000)
    settled(page)


def settled(page: Page) -> None:
    """Until the page's script has run to its end."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_have_count(1, timeout=WAIT)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def words(page: Page, chain: int = 0) -> list[str]:
    return [t.strip() for t in page.locator(f"[data-testid^=tok-{chain}-] .text").all_inner_texts()]


def updates(page: Page) -> int:
    return int(page.get_by_test_id("stage").get_attribute("data-updates") or 0)


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option).first.click()
    settled(page)


def at_step(page: Page, step: int, chain: int = 0) -> None:
    """Until the strip has played up to a step."""
    expect(page.get_by_test_id(f"strip-{chain}")).to_have_attribute("data-step", str(step), timeout=WAIT)


def sweep(page: Page) -> None:
    """One sweep by the button, played to its end."""
    before = int(page.get_by_test_id("strip-0").get_attribute("data-step") or 0)
    button(page, "sweep").click()
    at_step(page, before + len(words(page)))
    settled(page)


def set_tau(page: Page, value: str) -> None:
    field = page.get_by_test_id("tau-field")
    field.fill(value)
    field.press("Enter")


def set_sentence(page: Page, text: str) -> None:
    field = page.get_by_label("sentence", exact=True)
    field.fill(text)
    field.press("Enter")
    settled(page)


def test_play_rewrites_the_sentence_and_pause_stops_it(live: Page) -> None:
    before = words(live)
    set_tau(live, "2")
    button(live, "play").click()
    expect(button(live, "pause")).to_be_visible(timeout=WAIT)
    expect(live.get_by_test_id("strip-0")).not_to_have_attribute("data-step", "0", timeout=WAIT)
    live.wait_for_timeout(3000)
    button(live, "pause").click()
    expect(button(live, "play")).to_be_visible(timeout=WAIT)
    settled(live)
    live.wait_for_timeout(1000)
    after = words(live)
    assert after != before and len(after) == len(before)
    live.wait_for_timeout(1200)
    assert words(live) == after


def test_nothing_jumps_while_playing(live: Page) -> None:
    boxes = []
    button(live, "play").click()
    expect(button(live, "pause")).to_be_visible(timeout=WAIT)
    for _ in range(8):
        live.wait_for_timeout(400)
        box = live.get_by_test_id("strip-0").bounding_box()
        assert box is not None
        boxes.append((round(box["x"]), round(box["y"])))
    assert len(set(boxes)) == 1


def test_tau_acts_on_a_playing_chain_without_restarting_it(live: Page) -> None:
    button(live, "play").click()
    expect(live.get_by_test_id("readout-0")).to_contain_text("tau 0.7", timeout=WAIT)
    step = int(live.get_by_test_id("strip-0").get_attribute("data-step") or 0)
    set_tau(live, "3.2")
    expect(live.get_by_test_id("readout-0")).to_contain_text("tau 3.2", timeout=WAIT)
    assert int(live.get_by_test_id("strip-0").get_attribute("data-step") or 0) >= step
    expect(live).to_have_url(re.compile("tau=3.2"), timeout=WAIT)


def test_click_shows_the_conditional_and_lock_edit_resample_act(live: Page) -> None:
    live.get_by_test_id("tok-0-1").click()
    expect(live.get_by_text("What the model would put at")).to_be_visible(timeout=WAIT)
    field = live.get_by_label("another word")
    expect(field).to_be_enabled(timeout=WAIT)
    field.fill("nurse")
    field.press("Enter")
    expect(live.get_by_test_id("tok-0-1").locator(".text")).to_have_text("nurse", timeout=WAIT)
    button(live, "lock").click()
    expect(live.get_by_test_id("tok-0-1")).to_have_class(re.compile("locked"), timeout=WAIT)
    set_tau(live, "4")
    settled(live)
    button(live, "sweep").click()
    at_step(live, 1 + 14)
    assert words(live)[1] == "nurse"
    assert words(live)[0:1] + words(live)[2:4] != ["the", "told", "the"]
    button(live, "unlock").click()
    expect(live.get_by_test_id("tok-0-1")).not_to_have_class(re.compile("locked"), timeout=WAIT)
    button(live, "resample").click()
    settled(live)


def test_choosing_a_bar_puts_the_word_there(live: Page) -> None:
    live.get_by_test_id("tok-0-1").click()
    row = live.get_by_test_id("cond-2")
    expect(row).to_be_visible(timeout=WAIT)
    row.click()
    expect(live.get_by_test_id("strip-0")).to_have_attribute("data-step", "1", timeout=WAIT)
    assert words(live)[1] != "doctor"


def test_rewind_shows_earlier_states_and_branch_leaves_them(live: Page) -> None:
    set_tau(live, "2")
    settled(live)
    start = words(live)
    sweep(live)
    end = words(live)
    thumb = live.get_by_role("slider", name="step", exact=True)
    thumb.focus()
    thumb.press("Home")
    expect(live.get_by_test_id("strip-0")).to_have_attribute("data-step", "0", timeout=WAIT)
    assert words(live) == start
    button(live, "branch").click()
    expect(live.get_by_test_id("tok-1-0")).to_be_visible(timeout=WAIT)
    button(live, "latest").click()
    expect(live.get_by_test_id("tok-0-0").locator(".text")).to_have_text(end[0], timeout=WAIT)
    assert words(live, 0) == end
    button(live, "reset").click()
    expect(live.get_by_test_id("tok-1-0")).to_have_count(0, timeout=WAIT)


def test_compare_two_temperatures(live: Page) -> None:
    button(live, "compare").click()
    button(live, "add chain").click()
    expect(live.get_by_test_id("tok-1-0")).to_be_visible(timeout=WAIT)
    live.keyboard.press("Escape")
    button(live, "sweep").click()
    expect(live.get_by_test_id("readout-1")).to_contain_text("tau 1", timeout=WAIT)
    expect(live.get_by_test_id("readout-0")).to_contain_text("tau 0.7", timeout=WAIT)


def test_exports_hold_every_step(live: Page) -> None:
    sweep(live)
    live.get_by_text("step log and export").click()
    settled(live)
    with live.expect_download() as waiting:
        button(live, "export JSON").click()
    data = json.loads(Path(waiting.value.path()).read_text())
    assert [row[0] for row in data["steps"]] == list(range(1, len(words(live)) + 1))
    with live.expect_download() as waiting:
        button(live, "export CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text())))
    assert [int(r["new_id"]) for r in rows] == [row[data["columns"].index("new")] for row in data["steps"]]


def test_a_copied_link_reopens_the_same_page(live: Page, browser: Browser) -> None:
    set_sentence(live, "the band played its oldest songs at night .")
    set_tau(live, "1.25")
    expect(live).to_have_url(re.compile("tau=1.25"), timeout=WAIT)
    settled(live)
    sweep(live)
    context = browser.new_context()
    other = context.new_page()
    open_live(other, live.url)
    assert words(other)[:3] == ["the", "band", "played"]
    sweep(other)
    assert words(other) == words(live)
    context.close()


@pytest.mark.parametrize(
    "text",
    [
        "<script>window.hit=1</script>",
        "<img src=x onerror=window.hit=1>",
        "$119.6 billion and $5",
        "**x** [a](javascript:window.hit=1)",
        ":smile: `code` \\alpha",
    ],
)
def test_what_is_typed_is_shown_literally_and_never_runs(live: Page, text: str) -> None:
    set_sentence(live, text)
    live.get_by_test_id("tok-0-0").hover()
    live.get_by_test_id("tok-0-0").click()
    settled(live)
    sweep(live)
    live.get_by_text("step log and export").click()
    settled(live)
    assert live.evaluate("window.hit") is None
    assert live.locator("[data-testid=stage] img, [data-testid=stage] script").count() == 0
    assert live.locator("[data-testid=stAlert] .katex, [data-testid=stAlert] strong").count() == 0
    assert live.get_by_label("sentence", exact=True).input_value() == text
    live.goto(live.url.split("?")[0] + "?text=" + quote(text))
    expect(live.get_by_test_id("tok-0-0")).to_be_visible(timeout=WAIT)
    assert live.evaluate("window.hit") is None


def test_bad_input_is_one_sentence_and_loses_nothing(live: Page) -> None:
    sweep(live)
    before = words(live)
    set_sentence(live, "   ")
    expect(live.get_by_text("There is no word to work with")).to_be_visible(timeout=WAIT)
    assert words(live) == before
    set_tau(live, "-1")
    expect(live.get_by_test_id("tau-error")).to_contain_text("0 to", timeout=WAIT)
    assert live.get_by_text("Traceback").count() == 0


def test_bad_links_fall_back_with_a_notice_and_a_clean_address(page: Page, run_app: Callable[..., str]) -> None:
    open_live(page, run_app("app.py") + "?tau=NaN&seed=x&model=../../etc&color=q")
    expect(page.get_by_text("link's temperature")).to_be_visible(timeout=WAIT)
    expect(page).to_have_url(re.compile("tau=0.7"), timeout=WAIT)
    assert "etc" not in page.url


def test_a_closed_tab_stops_its_chain(browser: Browser, run_app: Callable[..., str]) -> None:
    """No thread of ours runs on: a second visitor's conditional is answered as if alone, and the server is idle."""
    url = run_app("app.py")
    context = browser.new_context()
    tab = context.new_page()
    open_live(tab, url)
    button(tab, "play").click()
    expect(button(tab, "pause")).to_be_visible(timeout=WAIT)
    tab.wait_for_timeout(1500)
    context.close()
    time.sleep(2)
    other = browser.new_context().new_page()
    open_live(other, url)
    other.wait_for_timeout(1500)
    assert updates(other) == 0
    other.context.close()


def test_phone_width_has_no_sideways_scrolling(page: Page, run_app: Callable[..., str]) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_live(page, run_app("app.py"))
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390


def test_looking_into_a_menu_changes_nothing(live: Page) -> None:
    button(live, "play").click()
    expect(live.get_by_test_id("strip-0")).not_to_have_attribute("data-step", "0", timeout=WAIT)
    button(live, "pause").click()
    expect(button(live, "play")).to_be_visible(timeout=WAIT)
    button(live, "more").click()
    expect(live.get_by_role("combobox", name="speed")).to_have_value("12 steps a second", timeout=WAIT)
    settled(live)
    live.keyboard.press("Escape")
    button(live, "play").click()
    expect(live.get_by_test_id("scrubber")).to_contain_text("of 12 wanted", timeout=WAIT)


def test_a_word_that_cannot_be_put_is_explained_beside_it_and_kept(live: Page) -> None:
    live.get_by_test_id("tok-0-1").click()
    field = live.get_by_label("another word")
    expect(field).to_be_enabled(timeout=WAIT)
    field.fill("electroencephalogram")
    field.press("Enter")
    expect(live.locator(".say.hint")).to_contain_text("only a single token can go there", timeout=WAIT)
    expect(field).to_have_value("electroencephalogram")


def test_what_was_typed_stands_literally_in_messages(live: Page) -> None:
    text = ":material/home: -> www.example.com <b>x</b> &lt;i&gt;"
    field = live.get_by_role("combobox", name="model")
    field.fill(text)
    field.press("Enter")
    message = live.locator(".say.error")
    expect(message).to_contain_text("There is no model or folder", timeout=WAIT)
    assert text.split("&")[0] in message.inner_text()
    assert message.locator("a, b, i, span").count() == 0
