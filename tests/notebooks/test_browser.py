"""The notebooks in a real JupyterLab in Chromium: they run, and every explorer shows itself.

pytest runs all cells of all chapters by nbval, and `tests/widgets/test_page.py` has every explorer
in a page, as the chapters make it, and moves what can be moved. So here the first page runs whole,
and below it the cells of one chapter that show its explorers, some of them twice. Nothing here
looks at a time: `python3 -m bdl_teach bench browser` does.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from browser_bench.lab import Server, chromium
from browser_bench.page import ExplorerView, Notebook
from playwright.sync_api import Browser

from tests.chromium import TROUBLE, complaints, required

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
WHOLE, ALL, SAMPLE = "00_start_here.ipynb", "explorers.ipynb", "sample.ipynb"
TWO = "two.ipynb"
TALL = "tall.ipynb"
TWO_VIEWS = "from bdl_teach.widgets import GradientLab\n\nlab = GradientLab()\nlab", "lab"
SHOWN = "03_bayes_by_backprop.ipynb"
CHAPTERS = sorted(path.name for path in FOLDER.glob("*.ipynb") if path.name != WHOLE)
EXPLORERS = {
    "01": 2,
    "02": 3,
    "03": 3,
    "04": 2,
    "05": 2,
    "06": 2,
    "07": 2,
    "08": 2,
    "09": 2,
    "10": 2,
}
PATIENCE_S = 180.0  # for the first picture of the last explorer, on a busy machine
WIDGET = re.compile(r"\w+(Explorer|Lab|Stepper)\(\)")

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True)
class Visit:
    """What was seen in one notebook."""

    explorers: list[ExplorerView]
    cell_errors: list[str]
    hidden: list[int]
    statuses: list[str]
    complaints: list[str]
    log: str


@pytest.fixture(scope="module")
def path() -> str:
    return required()


@pytest.fixture(scope="module")
def browser(path: str) -> Iterator[Browser]:
    with chromium(path) as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab that has what the chapters show, and a sample to try the driver on."""
    folder = tmp_path_factory.mktemp("served")
    nbformat.write(shown(), folder / ALL)
    nbformat.write(planted(), folder / SAMPLE)
    nbformat.write(of_cells(*TWO_VIEWS), folder / TWO)
    nbformat.write(of_cells(TWO_VIEWS[0], *["# one line\n" * 40] * 3), folder / TALL)
    with Server(folder) as started:
        yield started


@pytest.fixture(scope="module")
def visit(browser: Browser, server: Server) -> Visit:
    """Run what the chapters show, and look round."""
    notebook = Notebook(browser, server, ALL)
    notebook.start_all()
    notebook.await_all()
    views = notebook.explorers()
    seen = Visit(
        explorers=views,
        cell_errors=notebook.cell_errors(),
        hidden=hidden(notebook, views),
        statuses=[notebook.status(view.number) for view in views],
        complaints=complaints(notebook),
        log=server.log(),
    )
    notebook.page.close()  # its pictures would be painted on beside the sample's
    return seen


def hidden(notebook: Notebook, views: list[ExplorerView]) -> list[int]:
    """The explorers that have shown no picture by the time that all of them might have."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        without = [view.number for view in views if not notebook.pictures(view.number)]
        if not without:
            break
        notebook.page.wait_for_timeout(500)
    return without


def shown() -> nbformat.NotebookNode:
    """The first page, and below it the cells of a chapter that show its explorers."""
    notebook = nbformat.read(FOLDER / WHOLE, as_version=4)
    for cell in explorers_alone(nbformat.read(FOLDER / SHOWN, as_version=4).cells):
        cell.id = f"{SHOWN[:2]}-{cell.id}"
        notebook.cells.append(cell)
    return notebook


def explorers_alone(cells: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """The cells that make an explorer, or end with its name."""
    kept, made = [], set()
    for cell in cells:
        body = ast.parse(cell.source).body if cell.cell_type == "code" else []
        calls = [line for line in body if isinstance(line, ast.Assign)]
        made |= {ast.unparse(c.targets[0]) for c in calls if WIDGET.fullmatch(ast.unparse(c.value))}
        if body and isinstance(body[-1], ast.Expr) and ast.unparse(body[-1]) in made:
            kept.append(cell)
    return kept


def test_no_cell_raises(visit: Visit) -> None:
    assert visit.cell_errors == []


def test_every_explorer_shows_its_picture(visit: Visit) -> None:
    assert visit.hidden == []


def test_no_status_line_speaks_of_trouble(visit: Visit) -> None:
    assert [text for text in visit.statuses if TROUBLE.search(text)] == []


def test_nothing_is_complained_of_in_the_page_or_below_a_cell(visit: Visit) -> None:
    assert visit.complaints == []


def test_the_kernel_logs_no_exception(visit: Visit) -> None:
    assert "Traceback" not in visit.log


def test_every_explorer_of_the_chapter_is_there(visit: Visit) -> None:
    assert len(visit.explorers) == EXPLORERS[SHOWN[:2]]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_shows_its_explorers(name: str) -> None:
    cells = explorers_alone(nbformat.read(FOLDER / name, as_version=4).cells)
    assert len(cells) == EXPLORERS[name[:2]]


TOP = """() => Math.round(document.querySelector(".bdl-explorer").getBoundingClientRect().top
    - document.querySelector(".jp-WindowedPanel-outer").getBoundingClientRect().top)"""


@pytest.mark.parametrize("key", ["Shift+Enter", "run all"])
def test_the_page_comes_back_to_the_first_explorer(
    browser: Browser, server: Server, key: str
) -> None:
    """JupyterLab scrolls to the next cell, or to the last one."""
    notebook = Notebook(browser, server, TALL)
    page = notebook.page
    page.locator(".jp-CodeCell .cm-content").first.click()
    if key == "run all":
        page.locator(".jp-CodeCell").last.scroll_into_view_if_needed()
        notebook.start_all()
    else:
        page.keyboard.press(key)
    notebook.first_picture_s()
    page.wait_for_function(f"() => Math.abs(({TOP})()) < 5")
    page.close()


def test_of_two_views_one_saves_the_picture(browser: Browser, server: Server) -> None:
    notebook, saved = Notebook(browser, server, TWO), list[str]()
    notebook.start_all()
    notebook.await_all()
    page = notebook.page
    page.on("download", lambda download: saved.append(download.suggested_filename))
    view = page.locator(".bdl-explorer").nth(1)
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
from bdl_teach.widgets._engine import controls, frame
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
    frame.head("sample", None, [button]),
    frame.body(image, {"ALL": [live, dead, toggle, row]}), status,
])
made.add_class("bdl-explorer")
made
"""


def planted() -> nbformat.NotebookNode:
    """A notebook with a live and a dead slider, a button, stderr, and a cell that raises."""
    return of_cells(WIDGETS, "import sys; sys.stderr.write('Warning: seen')", "1 / 0")


def of_cells(*sources: str) -> nbformat.NotebookNode:
    """A notebook of these cells."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})


@pytest.fixture(scope="module")
def sample(browser: Browser, server: Server) -> Notebook:
    """What is planted, run, in a page that waits no longer than it must."""
    notebook = Notebook(browser, server, SAMPLE)
    notebook.start_all()
    notebook.await_all()
    notebook.patience_ms = 1000.0
    return notebook


def test_the_driver_finds_the_explorer(sample: Notebook) -> None:
    (view,) = sample.explorers()
    assert view.sliders == ["live", "dead"]
    assert view.buttons == ["seven", "four", "zero", "one"]
    assert (view.toggles, view.choices) == ([1], [[2, 3]])
    assert TROUBLE.search(sample.status(0))
    assert sample.pictures(0) == 1


def test_the_driver_tells_a_live_slider_from_a_dead_one(sample: Notebook) -> None:
    for number, alive in enumerate((True, False)):
        assert sample.focus(0, number)
        start = sample.value(0, number)
        effect = sample.press(0, number, "ArrowRight")
        assert effect.moved
        assert bool(effect.paints) is alive
        assert sample.restore(0, number, start)
        assert not sample.press(0, number, "ArrowLeft").moved  # at the end of its range


def test_the_driver_sees_what_a_button_does(sample: Notebook) -> None:
    assert sample.click(0, 0).paints
    assert not sample.click(0, 0).paints  # the picture stays the same
    assert sample.restore(0, 0, "0.0|0.00")


def test_the_driver_presses_a_toggle_and_a_row_of_choices(sample: Notebook) -> None:
    for _ in range(2):  # down and up
        effect = sample.click(0, 1)
        assert effect.moved
        assert effect.paints
    assert [sample.is_down(0, i) for i in range(4)] == [False, False, True, False]
    dead = sample.click(0, 3)
    assert dead.moved
    assert not dead.paints
    assert [sample.is_down(0, i) for i in (2, 3)] == [False, True]


def test_the_driver_floods_a_slider(sample: Notebook) -> None:
    sample.focus(0, 0)
    flood = sample.flood(0, 0, seconds=2.0)
    assert 25 <= flood.sent <= 121, "60 a second, and fewer on a busy machine"
    assert flood.paints > 1
    assert sample.flood(0, 1, seconds=0.2).paints == 0


def test_the_driver_sees_errors_and_warnings(sample: Notebook) -> None:
    assert any("ZeroDivisionError" in text for text in sample.cell_errors())
    assert any("Warning: seen" in text for text in complaints(sample))


def test_a_server_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    with Server(tmp_path) as server:
        home = server.root.parent
        assert home.is_dir()
    time.sleep(0.1)
    assert not home.exists()
    assert server.kernels() == []
