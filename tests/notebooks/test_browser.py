"""The notebooks in a real JupyterLab in Chromium: they run, and every explorer shows itself.

pytest runs all cells of all chapters by nbval, and `tests/widgets/test_page.py` has every explorer
in a page, as the chapters make it, and moves what can be moved. So here the first page runs whole,
and below it the cells of one chapter that show its explorers, some of them twice. Nothing here
looks at a time: `python3 -m bdl_teach bench browser` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from browser_bench.lab import Server, chromium
from browser_bench.page import Notebook
from playwright.sync_api import Browser

from tests.chromium import TROUBLE, complaints, required
from tests.waiting import until

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
WHOLE, SHOWN = "00_start_here.ipynb", "03_bayes_by_backprop.ipynb"
ALL, TALL, SAMPLE = "explorers.ipynb", "tall.ipynb", "sample.ipynb"
MADE = "from bdl_teach.widgets import GradientLab\n\nlab = GradientLab()\nlab"
PATIENCE_S = 180.0  # for the first picture of the last explorer, on a busy machine

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium(required()) as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab with what the chapters show, and a sample; in the end nothing is left of it."""
    folder = tmp_path_factory.mktemp("served")
    nbformat.write(shown(), folder / ALL)
    nbformat.write(of_cells(MADE, *["# one line\n" * 40] * 3, "lab"), folder / TALL)
    nbformat.write(planted(), folder / SAMPLE)
    with Server(folder) as started:
        yield started
    until(lambda: not started.root.parent.exists(), "the end of its folder")


def shown() -> nbformat.NotebookNode:
    """The first page, and below it the cells of a chapter that show its explorers."""
    notebook = nbformat.read(FOLDER / WHOLE, as_version=4)
    notebook.cells += explorers(nbformat.read(FOLDER / SHOWN, as_version=4))
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


def explorers(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """The cells that make an explorer, or show it again."""
    return [cell for cell in notebook.cells if "explorer" in cell.metadata.get("tags", [])]


def of_cells(*sources: str) -> nbformat.NotebookNode:
    """A notebook of these cells."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})


def opened(browser: Browser, server: Server, name: str) -> Notebook:
    """A notebook of which all cells have run."""
    notebook = Notebook(browser, server, name)
    notebook.start_all()
    notebook.await_all()
    return notebook


def test_chapter_runs_in_browser_and_shows_its_explorers(browser: Browser, server: Server) -> None:
    notebook = opened(browser, server, ALL)
    views = notebook.explorers()
    assert len(views) == len(explorers(nbformat.read(FOLDER / SHOWN, as_version=4)))
    for view in views:
        until(
            lambda number=view.number: notebook.pictures(number),
            f"the picture of explorer {view.number}",
            seconds=PATIENCE_S,
        )
        assert not TROUBLE.search(notebook.status(view.number))
    assert notebook.cell_errors() == complaints(notebook) == []
    assert "Traceback" not in server.log()
    notebook.page.close()  # its pictures would be painted on beside the sample's


TOP = """() => Math.round(document.querySelector(".bdl-explorer").getBoundingClientRect().top
    - document.querySelector(".jp-WindowedPanel-outer").getBoundingClientRect().top)"""
COMES_BACK = f"() => document.querySelector('.bdl-explorer') && Math.abs(({TOP})()) < 5"


def test_page_scrolls_back_to_first_explorer_and_one_view_saves_picture(
    browser: Browser, server: Server
) -> None:
    """JupyterLab scrolls to the next cell, or to the last one."""
    notebook, saved = Notebook(browser, server, TALL), list[str]()
    page = notebook.page
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    notebook.first_picture_s()
    page.wait_for_function(COMES_BACK)
    page.locator(".jp-CodeCell").last.scroll_into_view_if_needed()
    notebook.start_all()
    page.wait_for_function(COMES_BACK)
    notebook.await_all()
    page.on("download", lambda download: saved.append(download.suggested_filename))
    view = page.locator(".jp-CodeCell").last
    view.scroll_into_view_if_needed()
    with page.expect_download(lambda download: download.suggested_filename.endswith("png")):
        view.get_by_role("button", name="save picture").click()
    page.wait_for_timeout(1000)
    assert sorted(saved) == ["GradientLab.png", "GradientLab.svg"]
    page.close()


# The driver itself: it must see what is wrong, or the tests above prove nothing.

WIDGETS = """
import base64, io
import ipywidgets
from PIL import Image
from bdl_teach.widgets._engine import controls, layout
from bdl_teach.widgets._engine.picture import Picture

def picture(value):
    out = io.BytesIO()
    Image.new("RGB", (400, 300), (int(20 * value), 0, 0)).save(out, "PNG")
    return b"data:image/png;base64," + base64.b64encode(out.getvalue())

image = Picture(value=picture(0))
live = ipywidgets.FloatSlider(description="live", min=0, max=10, step=1)
dead = ipywidgets.FloatSlider(description="dead", min=0, max=10, step=1)
button = controls.button("seven", "", lambda: setattr(live, "value", 7))
live.observe(lambda change: setattr(image, "value", picture(change["new"])), names="value")
status = controls.words("an error, to be seen", "bdl-status")
toggle = ipywidgets.ToggleButton(description="four")
toggle.observe(lambda change: setattr(live, "value", 4 * change["new"]), names="value")
row = ipywidgets.ToggleButtons(options=["zero", "one"])
made = ipywidgets.VBox([
    layout.head("sample", None, [button]),
    layout.body(image, {"ALL": [live, dead, toggle, row]}), status,
])
made.add_class("bdl-explorer")
made
"""


def planted() -> nbformat.NotebookNode:
    """A notebook with a live and a dead slider, a button, stderr, and a cell that raises."""
    return of_cells(WIDGETS, "import sys; sys.stderr.write('Warning: seen')", "1 / 0")


def test_browser_driver_recognises_live_views_stills_and_errors(
    browser: Browser, server: Server
) -> None:
    sample = opened(browser, server, SAMPLE)
    sample.patience_ms = 1000.0
    (view,) = sample.explorers()
    assert view.sliders == ["live", "dead"]
    assert view.buttons == ["seven", "four", "zero", "one"]
    assert (view.toggles, view.choices) == ([1], [[2, 3]])
    assert TROUBLE.search(sample.status(0))
    for number, alive in enumerate((True, False)):
        assert sample.focus(0, number)
        start = sample.value(0, number)
        effect = sample.press(0, number, "ArrowRight")
        assert effect.moved and bool(effect.paints) is alive
        assert sample.restore(0, number, start)
        assert not sample.press(0, number, "ArrowLeft").moved  # at the end of its range
    for paints in (True, False):  # the second time the picture stays the same
        assert bool(sample.click(0, 0).paints) is paints
    for number, paints in ((1, True), (3, False)):  # a toggle, and one of a row of choices
        effect = sample.click(0, number)
        assert effect.moved and bool(effect.paints) is paints
    assert [sample.is_down(0, i) for i in range(4)] == [False, True, False, True]
    sample.focus(0, 0)
    assert sample.flood(0, 0, seconds=2.0).paints > 1
    assert sample.flood(0, 1, seconds=0.2).paints == 0
    assert any("ZeroDivisionError" in text for text in sample.cell_errors())
    assert any("Warning: seen" in text for text in complaints(sample))
