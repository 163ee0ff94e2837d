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
ALL, TALL = "explorers.ipynb", "tall.ipynb"
MADE = "from bdl_teach.widgets import GradientLab\n\nlab = GradientLab()\nlab"
PATIENCE_S = 180.0  # for the first picture of the last explorer, on a busy machine

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium(required()) as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab with what the chapters show; in the end nothing is left of it."""
    folder = tmp_path_factory.mktemp("served")
    nbformat.write(shown(), folder / ALL)
    nbformat.write(of_cells(MADE, *["# one line\n" * 40] * 3, "lab"), folder / TALL)
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


def test_chapter_runs_in_browser_and_shows_its_explorers(browser: Browser, server: Server) -> None:
    notebook = Notebook(browser, server, ALL)
    notebook.start_all()
    notebook.await_all()
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
    notebook.page.close()


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
