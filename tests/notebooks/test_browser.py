"""The notebooks in a real JupyterLab in Chromium: they run, and whatever can be moved moves.

pytest runs all cells of all chapters by nbval: here the first page runs whole, and of the chapters
the cells that show an explorer, all in one notebook: a kernel and a page for each would cost more
than what is done in them. Nothing here looks at a time: `python3 -m bdl_teach bench
browser` does.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import nbformat
import pytest
from browser_bench.lab import Server, chromium
from browser_bench.page import ExplorerView, Notebook
from playwright.sync_api import Browser

from tests.chromium import required

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
WHOLE, ALL, SAMPLE = "00_start_here.ipynb", "explorers.ipynb", "sample.ipynb"
TWO = "two.ipynb"
TWO_VIEWS = "from bdl_teach.widgets import GradientLab\n\nlab = GradientLab()\nlab", "lab"
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
PATIENCE_MS = 30_000.0
NUTS_MS = 180_000.0  # the explorers promise under a minute, on a machine with nothing else to do
WIDGET = re.compile(r"\w+(Explorer|Lab|Stepper)\(\)")
TROUBLE = re.compile(r"(?<!calibration )error|failed|traceback|nan|diverged", re.IGNORECASE)
STILL = {
    "full screen",
    "save picture",
    "share",
    "my data",
    "missions",
}  # acts that leave the picture as it is
THERE = "take me there"
WARNING = re.compile(r"Traceback|Error\b|WARNING|Warning:")
ANSWERED = re.compile("As you said|You said otherwise")
ALLOWED_IN_CONSOLE = (
    # Extensions that ask the server for something that this one does not have, or not yet.
    re.compile(r"Failed to load resource: the server responded with a status of 40[34]"),
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass
class Visit:
    """What was seen in one notebook; what did not move has its picture in ``pictures``."""

    pictures: Path
    explorers: list[ExplorerView]
    cell_errors: list[str]
    hidden: list[int] = field(default_factory=list)
    dead_sliders: list[str] = field(default_factory=list)
    dead_buttons: list[str] = field(default_factory=list)
    dead_presets: list[str] = field(default_factory=list)
    locked_answers: list[str] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)
    log: str = ""


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
    with Server(folder) as started:
        yield started


@pytest.fixture(scope="module")
def visit(browser: Browser, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Visit:
    """Run what the chapters show, move all there is, and look round."""
    notebook = Notebook(browser, server, ALL)
    notebook.patience_ms = PATIENCE_MS
    notebook.start_all()
    notebook.await_all()
    server.await_calm()  # what one explorer compiles keeps the others waiting
    folder = tmp_path_factory.mktemp("dead")
    seen = Visit(folder, notebook.explorers(), notebook.cell_errors())
    views = notebook.distinct_explorers()
    for view in views:
        move_sliders(notebook, view, seen)
        press_toggles(notebook, view, seen)
        choose(notebook, view, seen)
        choose_presets(notebook, view, seen)
        click_buttons(notebook, view, seen)
    for view in views:  # last: it may set NUTS going
        go_and_see(notebook, view, seen)
    seen.hidden = [v.number for v in seen.explorers if not notebook.pictures(v.number)]
    seen.cell_errors = notebook.cell_errors()
    seen.console, seen.stderr = notebook.console, notebook.stderr()
    seen.log = server.log()
    notebook.page.close()  # its pictures would be painted on beside the sample's
    return seen


def shown() -> nbformat.NotebookNode:
    """The first page, and below it the cells of all chapters that show an explorer."""
    notebook = nbformat.read(FOLDER / WHOLE, as_version=4)
    for name in CHAPTERS:
        for cell in explorers_alone(nbformat.read(FOLDER / name, as_version=4).cells):
            cell.id = f"{name[:2]}-{cell.id}"
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


def move_sliders(notebook: Notebook, view: ExplorerView, seen: Visit) -> None:
    """Press an arrow on each slider, the other one if the first has nothing to change."""
    for i, label in enumerate(view.sliders):
        assert notebook.focus(view.number, i), f"{label} does not take the keyboard"
        start = notebook.value(view.number, i)
        keys = ("ArrowRight", "ArrowLeft", "ArrowLeft")
        if not any(notebook.press(view.number, i, key).paints for key in keys):
            notebook.page.screenshot(path=seen.pictures / f"{view.number}-slider-{i}.png")
            seen.dead_sliders.append(label)
        seen.statuses.append(notebook.status(view.number))
        notebook.restore(view.number, i, start)
        assert notebook.value(view.number, i) == start


def click_buttons(notebook: Notebook, view: ExplorerView, seen: Visit) -> None:
    """Click each button; one that had nothing to change has another turn at the end."""
    stay_down = {*view.toggles, *chain.from_iterable(view.choices)}
    buttons = [
        i
        for i, name in enumerate(view.buttons)
        if i not in stay_down and name not in {*STILL, THERE}
    ]
    unmoved = [i for i in buttons if not click(notebook, view, i, seen)]
    seen.dead_buttons += [view.buttons[i] for i in unmoved if not click(notebook, view, i, seen)]


def stray(notebook: Notebook, view: ExplorerView) -> None:
    """Leave a slider moved: the preset that is shown would wait out all patience for no change.

    From the last on: the first may be the replay's, which is none of the state's.
    """
    for i in reversed(range(len(view.sliders))):
        notebook.focus(view.number, i)
        if any(notebook.press(view.number, i, key).paints for key in ("ArrowRight", "ArrowLeft")):
            return


def choose_presets(notebook: Notebook, view: ExplorerView, seen: Visit) -> None:
    """Choose each preset in the menu; one that was there already has another turn at the end."""

    def choose(i: int) -> bool:
        effect = notebook.choose_preset(view.number, i)
        seen.statuses.append(notebook.status(view.number))
        if not effect.paints:
            notebook.page.screenshot(path=seen.pictures / f"{view.number}-preset-{i}.png")
        return bool(effect.paints) and notebook.look(view.number).startswith("Look: ")

    stray(notebook, view)
    unmoved = [i for i in range(len(view.presets)) if not choose(i)]
    seen.dead_presets += [view.presets[i] for i in unmoved if not choose(i)]


def go_and_see(notebook: Notebook, view: ExplorerView, seen: Visit) -> None:
    """Answer the question, have the control taken to where it asks, and read the verdict."""
    if notebook.answer(view.number, 0):
        notebook.click(view.number, view.buttons.index(THERE))
        if not ANSWERED.search(notebook.question(view.number)):
            seen.locked_answers.append(notebook.question(view.number))


def press_toggles(notebook: Notebook, view: ExplorerView, seen: Visit) -> None:
    """Press each toggle, and again to leave it as it was."""
    for i in view.toggles:
        if view.buttons[i] in STILL:
            continue
        notebook.patience_ms = NUTS_MS
        if not click(notebook, view, i, seen, quiet=0.0):  # "play" never rests
            seen.dead_buttons.append(view.buttons[i])
        notebook.patience_ms = 1000.0  # paused, it has nothing more to show
        assert notebook.click(view.number, i).moved
    notebook.patience_ms = PATIENCE_MS


def choose(notebook: Notebook, view: ExplorerView, seen: Visit) -> None:
    """In each row of which one button is down, choose the others, and at last the first again."""
    for row in view.choices:
        (down,) = [i for i in row if notebook.is_down(view.number, i)]
        for i in [*(i for i in row if i != down), down]:
            if not click(notebook, view, i, seen):
                seen.dead_buttons.append(view.buttons[i])


def click(notebook: Notebook, view: ExplorerView, i: int, seen: Visit, **given: float) -> bool:
    """Click one button; says whether the picture changed."""
    effect = notebook.click(view.number, i, **given)
    seen.statuses.append(notebook.status(view.number))
    if not effect.paints:
        notebook.page.screenshot(path=seen.pictures / f"{view.number}-button-{i}.png")
    return bool(effect.paints)


def test_no_cell_raises(visit: Visit) -> None:
    assert visit.cell_errors == []


def test_every_explorer_shows_its_picture(visit: Visit) -> None:
    assert visit.hidden == []


def test_every_slider_changes_the_picture_by_keyboard(visit: Visit) -> None:
    assert visit.dead_sliders == []


def test_every_button_changes_the_picture(visit: Visit) -> None:
    assert visit.dead_buttons == []


def test_every_preset_in_the_menu_changes_the_picture_and_says_where_to_look(visit: Visit) -> None:
    assert visit.dead_presets == []


def test_a_choice_and_the_way_there_unlock_every_answer(visit: Visit) -> None:
    assert visit.locked_answers == []


def test_no_status_line_speaks_of_trouble(visit: Visit) -> None:
    assert [text for text in visit.statuses if TROUBLE.search(text)] == []


def test_the_page_console_has_no_errors(visit: Visit) -> None:
    allowed = ALLOWED_IN_CONSOLE
    assert [text for text in visit.console if not any(a.search(text) for a in allowed)] == []


def test_nothing_is_warned_of_below_a_cell(visit: Visit) -> None:
    assert [text for text in visit.stderr if WARNING.search(text)] == []


def test_the_kernel_logs_no_exception(visit: Visit) -> None:
    assert "Traceback" not in visit.log


def test_every_explorer_of_the_chapters_is_there(visit: Visit) -> None:
    assert len(visit.explorers) == sum(EXPLORERS.values())


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_shows_its_explorers(name: str) -> None:
    cells = explorers_alone(nbformat.read(FOLDER / name, as_version=4).cells)
    assert len(cells) == EXPLORERS[name[:2]]


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
presets = {"two": ("here", {"live": 2}), "three": ("there", {"live": 3})}

def choose(name):
    live.value = presets[name][1]["live"]
    start.show(presets[name][1])

start = frame.Start(presets, choose)
status = controls.words("an error, to be seen", "bdl-status")
toggle = ipywidgets.ToggleButton(description="four")
toggle.observe(lambda change: setattr(live, "value", 4 * change["new"]), names="value")
row = ipywidgets.ToggleButtons(options=["zero", "one"])
choices, said = ipywidgets.RadioButtons(options=["yes", "no"], value=None), ipywidgets.HTML("?")
choices.observe(lambda change: setattr(said, "value", f"chosen: {change['new']}"), names="value")
made = ipywidgets.VBox([
    frame.head("sample", start, [button]), start.look,
    controls.box("bdl-question", [said, choices]),
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
    assert view.presets == ["two", "three"]
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


def test_the_driver_chooses_a_preset_in_the_menu(sample: Notebook) -> None:
    assert sample.look(0) == ""
    for i, where in enumerate(("here", "there")):
        effect = sample.choose_preset(0, i)
        assert effect.moved and effect.paints
        assert sample.look(0) == f"Look: {where}."
    assert not sample.choose_preset(0, 1).paints  # it is there already
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


def test_the_driver_answers_a_question(sample: Notebook) -> None:
    assert sample.question(0) == "?"
    assert sample.answer(0, 1)
    assert not sample.answer(0, 2)  # there are two
    sample.page.wait_for_function("() => window.bdlProbe.question(0) === 'chosen: no'")
    assert sample.status(0) == "an error, to be seen"


def test_the_driver_floods_a_slider(sample: Notebook) -> None:
    sample.focus(0, 0)
    flood = sample.flood(0, 0, seconds=0.5)
    assert flood.sent >= 25
    assert flood.paints > 1
    assert sample.flood(0, 1, seconds=0.2).paints == 0


def test_the_driver_sees_errors_and_warnings(sample: Notebook) -> None:
    assert any("ZeroDivisionError" in text for text in sample.cell_errors())
    assert any(WARNING.search(text) for text in sample.stderr())


def test_a_server_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    with Server(tmp_path) as server:
        home = server.root.parent
        assert home.is_dir()
    time.sleep(0.1)
    assert not home.exists()
    assert server.kernels() == []
