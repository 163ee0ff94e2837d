"""The sinusoid explorer as it first comes into a page: few controls, and a keyboard that stays."""

from __future__ import annotations

from collections.abc import Iterator

import nbformat
import pytest
from browser_bench.lab import Server, chromium
from browser_bench.page import Notebook

from tests.chromium import required

pytestmark = [pytest.mark.browser, pytest.mark.slow]

BOX = ".jp-OutputArea .bdl-explorer"
PRESSED = f"{BOX} :is(.bdl-controls, .bdl-film) :is([role=slider], button, select)"
CODE = """from bdl_teach import widgets
from bdl_teach.widgets._engine.live import Explorer
Explorer._begin_chores = lambda *_, **__: None
widgets.SinusoidExplorer()"""
RESTED = f"() => document.querySelector('{BOX} img.bdl-picture')?.alt.includes('nats = ')"
STILLS = """() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells
    .flatMap((cell) => cell.outputs ?? []).filter((o) => o.data?.["image/png"]).length"""
FOCUS = "() => document.activeElement.getAttribute('aria-label')"
UNNAMED = f"() => document.querySelectorAll('{BOX} [role=slider]:not([aria-label])').length"
ZOOMS = """parts => parts.map((part) =>
    getComputedStyle(document.querySelector(`.bdl-explorer .bdl-${part}`)).zoom)"""
PARTS = ["head", "look", "question", "controls", "status"]
PATIENCE_MS = 240_000


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """A notebook of one cell, which has been started."""
    folder = tmp_path_factory.mktemp("look")
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [nbformat.v4.new_code_cell(CODE)]
    written = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})
    nbformat.write(written, folder / "one.ipynb")
    with Server(folder) as server, chromium(required()) as browser:
        made = Notebook(browser, server, "one.ipynb")
        made.start_all()
        yield made


def test_slider_keeps_keyboard_when_still_is_kept(notebook: Notebook) -> None:
    """It waits until nobody uses the explorer; saved meanwhile, the slider is focused anew."""
    page, slider = notebook.page, notebook.page.get_by_role("slider", name="σ₁ wide part")
    slider.focus(timeout=PATIENCE_MS)
    page.wait_for_function(RESTED, timeout=PATIENCE_MS)
    page.wait_for_timeout(3000)
    assert page.evaluate(STILLS) == 0 and page.evaluate(FOCUS) == "σ₁ wide part"
    page.keyboard.press("Control+s")
    page.wait_for_function(f"() => ({STILLS})() === 1 && !({UNNAMED})()", timeout=PATIENCE_MS)
    page.wait_for_function(f"() => ({FOCUS})() === 'σ₁ wide part'")
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "1.55"


def test_few_controls_are_open_and_each_has_a_word(notebook: Notebook) -> None:
    """The others come with *more*, and stay when the cell is run again."""
    page = notebook.page
    names = page.locator(PRESSED).locator("visible=true")
    assert names.count() <= 8
    for label in page.locator(f"{BOX} .bdl-controls .widget-label").locator("visible=true").all():
        assert any(len(word) > 3 for word in label.inner_text().split()), label.inner_text()
    page.locator(".bdl-more").click()
    page.get_by_role("slider", name="KL weight").focus()
    assert names.count() > 12
    notebook.start_all()
    notebook.await_all()
    page.get_by_role("slider", name="KL weight").focus(timeout=PATIENCE_MS)
    page.locator(".bdl-more").click()
    page.wait_for_function(f"() => !({UNNAMED})()")
    assert names.count() <= 8


def test_lecture_room_has_larger_words_and_a_page_has_not(notebook: Notebook) -> None:
    page = notebook.page
    page.set_viewport_size({"width": 1920, "height": 1080})
    assert page.evaluate(ZOOMS, PARTS) == ["1"] * len(PARTS)
    page.locator("button.bdl-full").click()
    page.wait_for_function("() => document.fullscreenElement")
    assert page.evaluate(ZOOMS, PARTS) == ["1.4"] * len(PARTS)
    page.evaluate("() => document.exitFullscreen()")
