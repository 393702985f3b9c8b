"""The rectangle page in a real browser, as a person uses it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from glauber_core.models import load
from glauber_core.rectangle import rectangle

WAIT = 30_000  # ms
TEXT = "the king and the queen lived in a castle ."


@pytest.fixture
def base(run_app: Callable[..., str]) -> str:
    return run_app("app.py")


def settled(page: Page) -> None:
    """Until the page's script has run to its end."""
    expect(page.locator("[data-test-script-state=notRunning]")).to_have_count(1, timeout=WAIT)


def open_page(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.get_by_role("heading", name="Rectangle test")).to_be_visible(timeout=60_000)
    settled(page)


def field(page: Page) -> Locator:
    return page.get_by_placeholder("Type or paste a sentence")


def paste(page: Page, text: str) -> None:
    field(page).fill(text)
    field(page).press("Control+Enter")


def pick(page: Page, position: int, mark: str) -> None:
    word = page.get_by_test_id(f"word-{position}")
    word.click()
    expect(word).to_have_attribute("data-mark", mark, timeout=WAIT)
    settled(page)


def delta(page: Page) -> float:
    return float(page.get_by_test_id("delta").get_attribute("data-value") or "nan")


def replace(page: Page, number: int, word: str) -> None:
    """Type a replacement of word 1 or 2 and take it."""
    box = page.get_by_role("combobox", name=f"replace word {number}")
    box.click()
    box.fill(word)
    box.press("Enter")
    settled(page)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def test_the_first_visitor_may_follow_a_link(page: Page, run_app: Callable[..., str]) -> None:
    fresh = run_app("app.py", {"GLAUBER_TEST_SERVER": "rectangle"})  # a server that nobody has visited
    open_page(page, f"{fresh}/rectangle?text=we+ate+bread+.&i=1&j=2&a=2057&b=2833")
    expect(page.get_by_role("link", name="Live chain")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("link", name="Rectangle test")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_test_id("corner-x")).to_contain_text("bread", timeout=WAIT)


def test_paste_pick_and_read_delta(page: Page, base: str) -> None:
    model = load("glauber-mini")
    words = model.vocabulary
    ids = words.encode(TEXT).ids
    open_page(page, f"{base}/rectangle")
    paste(page, TEXT)
    expect(page.get_by_test_id("corner-x")).to_contain_text("castle", timeout=WAIT)
    settled(page)
    pick(page, 1, "1")  # takes the place of the page's own choice of word 1
    pick(page, 4, "2")
    replace(page, 1, "prince")
    expect(page.get_by_test_id("corner-y")).to_contain_text("prince", timeout=WAIT)
    replace(page, 2, "princess")
    expect(page.get_by_test_id("corner-z")).to_contain_text("princess", timeout=WAIT)
    settled(page)
    want = rectangle(model, ids, 1, 4, words.word_id("prince", False), words.word_id("princess", False))
    assert delta(page) == pytest.approx(want.delta, abs=1e-6)
    for name, value in (("l1", want.l1), ("l2", want.l2), ("edge-xy", want.ratios[0]), ("edge-wz", want.ratios[3])):
        shown = float(page.get_by_test_id(name).get_attribute("data-value") or "nan")
        assert shown == pytest.approx(value, abs=1e-6)
    expect(page.get_by_test_id("verdict")).to_contain_text("contradiction", timeout=60_000)
    # One from the list: the second likeliest, whatever it is.
    page.get_by_role("combobox", name="replace word 2").click()
    option = page.get_by_role("option").nth(1)
    other = option.inner_text().split("(")[0].strip()
    option.click()
    expect(page.get_by_test_id("corner-z").locator('[data-mark="2"]')).to_have_text(other, timeout=WAIT)
    settled(page)
    want = rectangle(model, ids, 1, 4, words.word_id("prince", False), words.word_id(other, False))
    assert delta(page) == pytest.approx(want.delta, abs=1e-6)
    # A refused word changes nothing and is explained.
    before = delta(page)
    replace(page, 1, "unbelievablyness")
    expect(page.get_by_text("only a single token can go there")).to_be_visible(timeout=WAIT)
    assert delta(page) == before
    # The address bar brings all of it back.
    page.goto(page.url)
    expect(page.get_by_test_id("corner-z").locator('[data-mark="1"]')).to_have_text("prince", timeout=60_000)
    settled(page)
    assert delta(page) == pytest.approx(before, abs=1e-9)


def test_a_whole_sentence_and_its_worst_rectangle(page: Page, base: str, tmp_path: Path) -> None:
    open_page(page, f"{base}/rectangle?text=we+ate+bread+and+butter+.&view=test&alternatives=1")
    button(page, "test this sentence").click()
    expect(page.get_by_test_id("stProgress")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("Median delta").first).to_be_visible(timeout=120_000)
    settled(page)
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=WAIT)
    with page.expect_download() as download:
        button(page, "export JSON").click()
    path = tmp_path / "all.json"
    download.value.save_as(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    at = document["columns"].index("delta_nats")
    deltas = [row[at] for row in document["rectangles"]]
    assert len(deltas) == 15 and document["model"] == "glauber-mini"
    table = page.get_by_test_id("stDataFrame")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 20, box["y"] + 55)  # the first row's mark; the table is drawn on a canvas
    expect(page.get_by_test_id("delta")).to_be_visible(timeout=WAIT)
    settled(page)
    assert delta(page) == pytest.approx(max(deltas), abs=1e-4)  # another batch shape than the survey's


def test_a_long_test_can_be_cancelled(page: Page, base: str) -> None:
    open_page(page, f"{base}/rectangle?view=test&alternatives=12")
    button(page, "test this sentence").click()
    expect(page.get_by_test_id("stProgress")).to_be_visible(timeout=WAIT)
    button(page, "cancel").click()
    expect(page.get_by_text("Cancelled before anything was complete.")).to_be_visible(timeout=WAIT)
    expect(button(page, "test this sentence")).to_be_enabled(timeout=WAIT)


def test_files(page: Page, base: str, tmp_path: Path) -> None:
    table, image, picture = tmp_path / "passages.tsv", tmp_path / "image.txt", tmp_path / "picture.png"
    table.write_text("17\tthe cat sat on the mat .\n18\twe drank cold water .\n", encoding="utf-8")
    for file in (image, picture):
        file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    open_page(page, f"{base}/rectangle")
    button(page, "open a file").click()
    page.locator("input[type=file]").set_input_files(table)
    expect(field(page)).to_have_value("the cat sat on the mat .\nwe drank cold water .", timeout=WAIT)
    expect(page.get_by_test_id("corner-x")).to_contain_text("mat", timeout=WAIT)
    settled(page)
    page.locator("input[type=file]").set_input_files(image)
    expect(page.get_by_role("alert")).to_contain_text("not a text file", timeout=WAIT)
    settled(page)
    page.locator("input[type=file]").set_input_files(picture)
    expect(page.get_by_role("alert")).to_contain_text("does not end in .txt, .csv or .tsv", timeout=WAIT)
    expect(field(page)).to_have_value("the cat sat on the mat .\nwe drank cold water .")


def test_the_other_page_and_back(page: Page, base: str) -> None:
    open_page(page, f"{base}/rectangle")
    paste(page, TEXT)
    expect(page.get_by_test_id("corner-x")).to_contain_text("castle", timeout=WAIT)
    settled(page)
    before = delta(page)
    paste(page, "   ")
    expect(page.get_by_role("alert")).to_contain_text("stays in use", timeout=WAIT)
    expect(field(page)).to_have_value("   ")
    settled(page)
    page.get_by_role("link", name="Live chain").click()
    expect(page.get_by_test_id("tok-0-0")).to_be_visible(timeout=WAIT)
    settled(page)
    page.get_by_role("link", name="Rectangle test").click()
    expect(page.get_by_test_id("corner-x")).to_contain_text("castle", timeout=WAIT)
    expect(field(page)).to_have_value(TEXT, timeout=WAIT)
    settled(page)
    assert delta(page) == before
    expect(page.get_by_role("alert")).to_have_count(0)  # the field holds the text in use again


def test_a_click_on_the_heat_map_shows_the_pair_s_largest_delta(page: Page, base: str) -> None:
    open_page(page, f"{base}/rectangle?text=we+ate+bread+and+butter+.&view=test&alternatives=1")
    button(page, "test this sentence").click()
    expect(page.get_by_text("Median delta").first).to_be_visible(timeout=120_000)
    settled(page)
    cells = page.locator(".js-plotly-plot").first.locator(".scatterlayer .point")
    expect(cells).to_have_count(30, timeout=WAIT)
    cell = cells.nth(2 * 5 + 3)  # row 3, "bread": its columns are 1, 2, 4, 5, 6, so the fourth is "butter"
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator(".hoverlayer").first).to_contain_text("3 bread / 5 butter", timeout=WAIT)
    page.mouse.down()  # not on the cell itself: the plot's own layer lies over it
    page.mouse.up()
    corner = page.get_by_test_id("corner-x")
    expect(corner.locator('[data-mark="1"]')).to_have_text("bread", timeout=WAIT)
    expect(corner.locator('[data-mark="2"]')).to_have_text("butter", timeout=WAIT)
    expect(page.get_by_test_id("delta")).to_have_attribute("data-value", re.compile(r"\d"), timeout=WAIT)


@pytest.mark.parametrize("text", ["<img src=x onerror=window.hit=1> and <b>bold</b>", "$x$ **y** :smile: `z` [a](b)"])
def test_what_is_typed_is_shown_literally_and_never_runs(page: Page, base: str, text: str) -> None:
    open_page(page, f"{base}/rectangle?view=test&alternatives=1&positions=adjacent&text={quote(text)}")
    button(page, "test this sentence").click()
    expect(page.get_by_text("Median delta").first).to_be_visible(timeout=120_000)
    settled(page)
    labels = page.locator(".js-plotly-plot").first.locator(".ytick text")
    expect(labels.first).to_have_text("1 " + ("<" if text.startswith("<") else "$\u200b"), timeout=WAIT)
    page.get_by_text("one rectangle", exact=True).click()
    expect(page.get_by_test_id("corner-x")).to_be_visible(timeout=WAIT)
    settled(page)
    paste(page, f"{text}\n{'<b>x</b> ' * 60}")
    expect(page.locator(".say.note")).to_contain_text("<b>x</b> <b>x</b>", timeout=WAIT)
    settled(page)
    assert page.evaluate("window.hit") is None
    assert page.locator(".say img, .say b, .say .katex, .say a, .say strong").count() == 0
    assert page.locator("[data-testid=stWidgetLabel] .katex, [data-testid=stWidgetLabel] strong").count() == 0


def test_phone_width_has_no_sideways_scrolling(page: Page, base: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_page(page, f"{base}/rectangle?text=we+ate+bread+and+butter+.&alternatives=1")
    expect(page.get_by_test_id("corner-z")).to_be_visible(timeout=WAIT)
    for view in ("one rectangle", "all words", "models"):
        page.get_by_text(view, exact=True).click()
        settled(page)
        if view == "all words":
            button(page, "test this sentence").click()
            expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=120_000)
            settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_bad_links_say_so_until_the_visitor_acts(page: Page, base: str) -> None:
    open_page(page, f"{base}/rectangle?view=x&i=-1&a=999999999&alternatives=0&seed=NaN&model=../../etc&pairs=9999")
    notices = page.locator(".say.notice")
    expect(notices).to_have_count(6, timeout=WAIT)
    expect(page.get_by_text("noise floor being measured")).to_have_count(0, timeout=60_000)
    settled(page)
    expect(notices).to_have_count(6)
    assert "etc" not in page.url and "NaN" not in page.url and "view=one" in page.url
    page.get_by_test_id("word-0").click()
    expect(notices).to_have_count(0, timeout=WAIT)
