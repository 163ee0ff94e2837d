"""Test decks in Chromium: every chapter as a whole, and one lecture, without a network."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, Route

from bdl_teach import cli, widgets
from bdl_teach._cli import notebooks

NAMES = [path.stem for path in notebooks.chapters()]
SCREEN = {"width": 1366, "height": 768}
SMALL = {"width": 1024, "height": 768}
LOCAL = ("file:", "data:", "blob:", "about:")
# For each slide, by how many pixels its farthest letter, picture or equation is outside the
# window, or outside a box that hides it.
CUT_OFF = """() => {
  Reveal.configure({fragments: false, hash: false, slideNumber: false}); // show all at once
  const skipped = (e) => e.matches("aside, mjx-assistive-mml") || e.parentNode.closest("svg");
  const filter = (e) => skipped(e) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
  const hides = (e) => e.tagName !== "svg" && getComputedStyle(e).overflowY !== "visible"
    && getComputedStyle(e).display !== "inline";
  const shows = (e) => ["svg", "IMG"].includes(e.tagName)
    || [...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  return Reveal.getSlides().flatMap((slide) => {
    const {h, v} = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    let worst = [1, ""];
    const walk = document.createTreeWalker(slide, NodeFilter.SHOW_ELEMENT, filter);
    for (let e = walk.nextNode(); e; e = walk.nextNode()) {
      const inner = Math.max(e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth);
      const box = e.getBoundingClientRect();
      const out = [inner > 1 && e.clientHeight && hides(e) ? inner : 0];
      if (shows(e) && box.width && box.height)
        out.push(-box.left, -box.top, box.right - innerWidth, box.bottom - innerHeight);
      if (Math.max(...out) > worst[0]) worst = [Math.max(...out), e.textContent.slice(0, 60)];
    }
    return worst[0] > 1 ? [`${h}.${v || 0}: ${Math.round(worst[0])} px: ${worst[1]}`] : [];
  });
}"""
EQUATIONS = """() => ({
  there: document.querySelectorAll("section mjx-container svg").length,
  wrong: [...document.querySelectorAll("[data-mml-node=merror]")].map((e) => e.textContent),
  raw: [...document.querySelectorAll("section :is(p, li, td)")].map((e) => e.innerText)
    .filter((text) => text && /\\$\\$|\\\\(frac|mathbb|sigma)/.test(text)),
})"""
PICTURES = """() => [...document.images].filter((image) => image.naturalWidth < 100 || !image.alt)
  .map((image) => image.outerHTML.slice(0, 80))"""

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass
class Shown:
    """An open deck, its requests to hosts, and its errors."""

    page: Page
    asked: list[str]
    console: list[str]

    def ready(self) -> Shown:
        self.page.wait_for_function("() => window.Reveal && Reveal.isReady()")
        return self


def show(browser: Browser, path: Path) -> Shown:
    """Open a deck; refuse and record its requests to hosts."""
    context = browser.new_context(viewport=SCREEN)
    shown = Shown(context.new_page(), [], [])

    def refuse(route: Route) -> None:
        shown.asked.append(route.request.url)
        route.abort()

    context.route(lambda url: not url.startswith(LOCAL), refuse)
    shown.page.on("pageerror", lambda error: shown.console.append(str(error)))
    shown.page.on(
        "console", lambda said: shown.console.append(said.text) if said.type == "error" else None
    )
    shown.page.goto(path.as_uri(), wait_until="commit")
    return shown


@pytest.fixture(scope="module")
def decks(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Shown]:
    """Open the decks of all chapters; each is typeset while the next is made."""
    folder = tmp_path_factory.mktemp("decks")
    opened = {}
    for name in NAMES:
        assert cli.inside(["deck", "--all", "--folder", str(folder), name]) == 0
        opened[name] = show(browser, folder / f"{name}.html")
    return {name: shown.ready() for name, shown in opened.items()}


@pytest.mark.parametrize("name", NAMES)
def test_deck_shows_its_whole_chapter_without_a_network(decks: dict[str, Shown], name: str) -> None:
    shown, page = decks[name], decks[name].page
    assert page.evaluate(CUT_OFF) == []
    found = page.evaluate(EQUATIONS)
    assert found["there"] > 40
    assert found["wrong"] == found["raw"] == []
    cells = nbformat.read(notebooks.find(name), as_version=4).cells
    kept = [cell for cell in cells if cell.metadata.slideshow.slide_type != "skip"]
    outputs = [output for cell in kept for output in cell.get("outputs", [])]
    n_pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    assert page.evaluate("() => document.images.length") == n_pictures
    assert page.evaluate(PICTURES) == []
    assert page.locator("a[href$='.ipynb']").count() == 0, "a link to a notebook, not to a deck"
    assert shown.asked == shown.console == []


def test_no_slide_is_cut_off_on_a_small_screen(decks: dict[str, Shown]) -> None:
    page = decks["04_how_right_is_it"].page
    page.set_viewport_size(SMALL)
    assert page.evaluate(CUT_OFF) == []


LECTURE = "03_bayes_by_backprop"
# Of each slide: its words, the lowest edge of what it shows, and its notes.
SLIDES = """() => Reveal.getSlides().map((slide) => {
  Reveal.slide(Reveal.getIndices(slide).h);
  const shown = [...slide.querySelectorAll("h1, h2, h3, p, li, img, mjx-container > svg, iframe")]
    .filter((e) => !e.closest("aside"));
  return {
    words: slide.innerText.split(/\\s+/).filter(Boolean).length,
    lowest: Math.max(...shown.map((e) => e.getBoundingClientRect().bottom)) / innerHeight,
    notes: Reveal.getSlideNotes(slide),
  };
})"""


@pytest.fixture(scope="module")
def lecture(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a lecture with its PDF and its handout; return its file."""
    folder = tmp_path_factory.mktemp("lecture")
    assert cli.inside(["deck", "--pdf", "--notes", "--folder", str(folder), LECTURE]) == 0
    return folder / f"{LECTURE}.html"


def test_lecture_is_short_and_has_notes_on_each_slide(browser: Browser, lecture: Path) -> None:
    shown = show(browser, lecture).ready()
    assert shown.page.evaluate(CUT_OFF) == []
    slides = shown.page.evaluate(SLIDES)
    assert 19 <= len(slides) <= 30
    words = [slide["words"] for slide in slides]
    assert statistics.median(words) <= 60 and max(words) <= 120
    assert sum(slide["lowest"] < 0.5 for slide in slides) <= 0.2 * len(slides)
    assert all(slide["notes"] for slide in slides)
    assert "of 50" in slides[-1]["notes"]
    assert shown.page.evaluate(PICTURES) == []
    assert shown.asked == shown.console == []


def test_arrows_show_each_slide_once(browser: Browser, lecture: Path) -> None:
    page = show(browser, lecture).ready().page
    where = "() => Reveal.getIndices().h"
    last = page.evaluate("() => Reveal.getTotalSlides()") - 1
    for key, first, end in (("ArrowRight", 0, last), ("ArrowLeft", last, 0)):
        page.keyboard.press("Home" if key == "ArrowRight" else "End")
        seen = [page.evaluate(where)]
        for _ in range(last):
            page.keyboard.press(key)
            seen.append(page.evaluate(where))
        assert seen == list(range(first, end + (1 if first == 0 else -1), 1 if first == 0 else -1))
    page.keyboard.press("o")
    inside = """() => Reveal.getSlides().filter((slide) => {
      const {left, top, right, bottom, width} = slide.getBoundingClientRect();
      return width > 100 && left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    }).length"""
    assert page.evaluate(inside) == last + 1


def test_lecture_is_printed_a_page_for_each_slide_and_uncut(
    browser: Browser, lecture: Path
) -> None:
    page = show(browser, lecture).ready().page
    count = page.evaluate("() => Reveal.getTotalSlides()")
    for end, size in ((".pdf", (1344, 756)), (".handout.pdf", (1344, 1188))):
        found = lecture.with_suffix(end).read_bytes()
        boxes = re.findall(rb"/MediaBox ?\[([\d. ]+)\]", found)
        assert len(boxes) == count
        for box in boxes:
            assert [0.75 * side for side in size] == pytest.approx(
                [float(side) for side in box.split()[2:]], abs=1
            )
    cut = """() => [...document.querySelectorAll(".slides > section")].flatMap((slide, i) => {
      const box = slide.getBoundingClientRect();
      return [...slide.querySelectorAll("*")].some((e) => e.matches("p, li, img, svg, h2")
        && (e.getBoundingClientRect().bottom > box.bottom + 1
          || e.getBoundingClientRect().right > box.right + 1)) ? [i] : [];
    })"""
    page.emulate_media(media="print")
    assert page.evaluate(cut) == []
    page.evaluate("() => document.body.classList.add('handout')")
    assert page.evaluate(cut) == []


def test_print_pdf_repeats_no_step(decks: dict[str, Shown], tmp_path: Path) -> None:
    """Append ``?print-pdf``, reveal.js' own way, to the address of a deck with steps."""
    page = decks["04_how_right_is_it"].page
    count = page.evaluate("() => Reveal.getTotalSlides()")
    page.goto(page.url.partition("#")[0] + "?print-pdf", wait_until="commit")
    pages = "() => document.querySelectorAll('.pdf-page').length"
    page.wait_for_function(f"n => ({pages})() >= n", arg=count)
    hidden = "() => document.querySelectorAll('.pdf-page .fragment:not(.visible)').length"
    assert page.evaluate(pages) == count and page.evaluate(hidden) == 0


def test_speaker_window_shows_the_notes_of_the_slide(browser: Browser, lecture: Path) -> None:
    page = show(browser, lecture).ready().page
    page.evaluate("() => Reveal.slide(3)")
    (minutes,) = re.findall(r"Minutes \d+ to \d+ of 50", page.evaluate("Reveal.getSlideNotes()"))
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    window = opened.value
    window.wait_for_function("(one) => document.body.innerText.includes(one)", arg=minutes)
    window.close()


def test_pictures_are_written_with_captions_licence_and_source(tmp_path: Path) -> None:
    assert cli.inside(["deck", "1", "--figures", str(tmp_path)]) == 0
    (captions,) = tmp_path.glob("*.md")
    said = captions.read_text(encoding="utf-8")
    files = {path.name for path in tmp_path.iterdir()} - {captions.name}
    assert files == set(re.findall(r"^- `(.+?)` · .+\. .+", said, re.MULTILINE))
    assert "Apache License 2.0" in said and "01_from_mle_to_bayes.ipynb" in said
    of_presets = [name for name in files if "linearregressionexplorer" in name]
    assert len(of_presets) == len(widgets.LinearRegressionExplorer.PRESETS)
    for path in (tmp_path / name for name in of_presets):
        assert path.suffix == ".svg" and b"<svg" in path.read_bytes()


def planted() -> Any:
    """Make a notebook with a long table, list and output, and a wide equation."""
    rows = "".join(f"| row {i} | value |\n" for i in range(60))
    items = "".join(f"{i}. item {i}\n" for i in range(1, 41))
    wide = " + ".join(f"x_{{{i}}}" for i in range(80))
    lines = "".join(f"line {i} {'x' * 140}\n" for i in range(40))
    text = nbformat.v4.new_output("stream", name="stdout", text=lines)
    cells = [
        nbformat.v4.new_markdown_cell("# 3 · Planted\n\n| a | b |\n|---|---|\n" + rows),
        nbformat.v4.new_markdown_cell("## A list\n\n" + items + f"\n$$ {wide} $$"),
        nbformat.v4.new_code_cell(f"print(text)  # {'x' * 160}", execution_count=1, outputs=[text]),
    ]
    for cell in cells:
        cell.metadata.slideshow = {"slide_type": "slide"}
    return nbformat.v4.new_notebook(cells=cells)


def test_too_tall_section_continues_on_the_next_slide(browser: Browser, tmp_path: Path) -> None:
    nbformat.write(planted(), tmp_path / "planted.ipynb")
    cli.inside(["deck", "--all", "--folder", str(tmp_path), str(tmp_path / "planted.ipynb")])
    page = show(browser, tmp_path / "planted.html").ready().page
    assert page.evaluate(CUT_OFF) == []
    tables = page.locator("table").all()
    assert len(tables) > 1
    assert [table.locator("th").all_inner_texts() for table in tables] == [["a", "b"]] * len(tables)
    rows = page.locator("td:first-child").all_text_contents()
    assert rows == [f"row {i}" for i in range(60)]
    starts = page.evaluate(
        "() => [...document.querySelectorAll('ol')].map((list) => [list.start, +list"
        ".firstElementChild.textContent.split(' ')[1]])"
    )
    assert len(starts) > 1
    assert all(said == meant for said, meant in starts)
