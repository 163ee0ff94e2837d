"""Test in Chromium what only a page shows: layout, keyboard, touch, dialogs, saving.

Some explorers, or with `--all` all of them, are in one notebook, in one page that is resized. Tests
without a page are in ``test_contract.py``.
"""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import nbformat
import pytest
from browser_bench.lab import Server
from browser_bench.page import Notebook
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Locator
from waiting import until

from bdl_teach import widgets
from tests.chromium import TROUBLE, complaints

pytestmark = pytest.mark.browser

MEASURE = Path(__file__).with_name("measure.js").read_text(encoding="utf-8")
LAPTOP = (1366, 768, 1.0)  # with JupyterLab's file browser open, as it is at first
SIZES = {"a laptop": LAPTOP, "a tablet": (1024, 768, 1.0), "1280 at 150 %": (853, 480, 1.5)}
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
PATIENCE_MS = 600_000  # other tests and compiling use the processor, too
SETTLE_MS = 400  # for the page to lay out and to send the size of its pictures
FEW = ("GradientLab", "LinearRegressionExplorer", "SinusoidExplorer")  # two of them train nothing
NAMES = (*FEW, *sorted(set(widgets.__all__) - {*FEW}))
NO_WINDOWING = """() => {  // else the page holds the visible cells only
    const { content } = window.jupyterapp.shell.currentWidget;
    content.notebookConfig = { ...content.notebookConfig, windowingMode: "none" };
}"""
KEPT = """() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells
    .flatMap((cell) => cell.outputs ?? []).filter((o) => o.data?.["image/png"]).length"""
# Without unused programs, and with short trainings: they would take two minutes.
QUICK = """from bdl_teach import widgets
from bdl_teach.widgets._engine import worker
from bdl_teach.widgets._engine.improving import Chores
from bdl_teach.widgets import vae_trainer
from bdl_teach.problems import strange_pictures
Chores.on_warm = lambda *_, **__: None
vae_trainer.STEPS = 25
strange_pictures.MEMBERS = 2
worker.REST = worker.SHARPEN
"""
CONTENT = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON()"
ALL_BOXES = ".jp-OutputArea .bdl-explorer"
UNNAMED = f"() => document.querySelectorAll('{ALL_BOXES} [role=slider]:not([aria-label])').length"
FOCUS = "() => document.activeElement.getAttribute('aria-label')"
# Whether the picture was drawn for the size that it has now; a point's place depends on that.
DRAWN_FOR_ITS_PLACE = """box => {
    const image = box.querySelector("img.bdl-picture");
    return Math.abs(image.naturalWidth - devicePixelRatio * image.clientWidth) < 3;
}"""
# The height of the capitals of each sentence, label and value that shows, in px, and its text.
CAPITALS = """box => [...box.querySelectorAll(
    ".bdl-head button, .bdl-look, .bdl-status, .bdl-asked, .bdl-answers label, .bdl-tabs button, "
    + ".bdl-mission-words, .widget-label, .widget-readout, .bdl-readings td, .bdl-readings th")]
    .filter((one) => one.textContent.trim() && one.checkVisibility())
    .map((one) => (one.querySelector(".widget-html-content") ?? one))
    .map((one) => [0.72 * parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom,
                   one.textContent.trim()])"""
SLEEP = """seconds => void window.jupyterapp.shell.currentWidget.sessionContext.session.kernel
    .requestExecute({ code: `import time; time.sleep(${seconds})` })"""
RUN_CELL = """async (number) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    content.activeCellIndex = number;
    window.jupyterapp.commands.execute("notebook:run-cell");
}"""


@pytest.fixture(scope="module")
def shown(pytestconfig: pytest.Config) -> tuple[str, ...]:
    """Return the names of the explorers in the page, in their order."""
    return NAMES if pytestconfig.option.all else FEW


@pytest.fixture(scope="module")
def server(shown: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder, made = tmp_path_factory.mktemp("page"), "widgets.GradientLab()"
    show = f"from bdl_teach import widgets\nlab = {made}\nlab"
    tall = ("# what is missing", show, *["# one line\n" * 40] * 3, "lab")
    every = (QUICK, *(f"widgets.{name}()" for name in shown))
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for name, sources in {"all": every, "tall": tall}.items():
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        written = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})
        nbformat.write(written, folder / f"{name}.ipynb")
    with Server(folder) as started:
        yield started


@pytest.fixture(scope="module")
def notebook(server: Server, browser: Browser) -> Notebook:
    """Open the notebook and start all its cells."""
    made = Notebook(browser, server, "all.ipynb")
    made.page.evaluate(NO_WINDOWING)
    made.start_all()
    made.await_all()
    return made


def resize(notebook: Notebook, width: int, height: int, ratio: float) -> None:
    page = notebook.page
    size = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False}
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setDeviceMetricsOverride", size)
    page.wait_for_timeout(SETTLE_MS)


def boxed(notebook: Notebook, name: str) -> Any:
    box = notebook.page.locator(ALL_BOXES).nth(NAMES.index(name))
    box.evaluate("box => box.scrollIntoView({ block: 'start' })")
    return box


# These run first, while the pictures are on their way and the groups are folded.


def test_slider_keeps_the_focus_when_a_still_picture_is_stored(
    notebook: Notebook, shown: tuple[str, ...]
) -> None:
    """A still is stored when nobody uses the explorer, or when the notebook is saved."""
    page, box = notebook.page, boxed(notebook, "SinusoidExplorer")
    slider = box.get_by_role("slider", name="σ₁ wide part")
    slider.focus(timeout=PATIENCE_MS)
    others = f"() => ({KEPT})() === {len(shown) - 1}"
    page.wait_for_function(others, timeout=PATIENCE_MS)
    page.wait_for_function(
        "box => box.querySelector('img.bdl-picture').alt.includes('networks differ')",
        arg=box.element_handle(),
        timeout=PATIENCE_MS,
    )
    page.wait_for_timeout(SETTLE_MS)
    assert page.evaluate(others) and page.evaluate(FOCUS) == "σ₁ wide part"
    page.keyboard.press("Control+s")
    page.wait_for_function(f"() => ({KEPT})() === {len(shown)} && !({UNNAMED})()")
    page.wait_for_function(f"() => ({FOCUS})() === 'σ₁ wide part'")
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "1.55"
    page.keyboard.press("ArrowLeft")


def test_few_controls_show_at_first_and_more_after_a_click(notebook: Notebook) -> None:
    """Controls that *more* has shown stay when the cell is run again."""
    box = boxed(notebook, "SinusoidExplorer")
    pressed = (
        ":is(.bdl-head, .bdl-tabs, .bdl-controls, .bdl-later) :is([role=slider], button, select)"
    )
    names = box.locator(pressed).locator("visible=true")
    links, tabs = 2, len(widgets.SinusoidExplorer.TEXTS.context)
    few = 10 + links + tabs - 1  # a row of tabs counts as one
    assert names.count() <= few
    for label in box.locator(".bdl-controls .widget-label").locator("visible=true").all():
        assert any(len(word) > 3 for word in label.inner_text().split()), label.inner_text()
    box.locator(".bdl-more").click()
    box.get_by_role("slider", name="KL weight").focus()
    assert names.count() > few + 8
    run = "i => { const { content } = window.jupyterapp.shell.currentWidget;"
    run += "content.activeCellIndex = i; return window.jupyterapp.commands"
    run += ".execute('notebook:run-cell'); }"
    notebook.page.evaluate(run, NAMES.index("SinusoidExplorer") + 1)
    box.get_by_role("slider", name="KL weight").focus(timeout=PATIENCE_MS)
    box.locator(".bdl-more").click()
    assert names.count() <= few


@pytest.fixture(scope="module")
def seen(notebook: Notebook, shown: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Measure every explorer at every size, with all controls shown: ``seen[size][explorer]``."""
    page = notebook.page
    notebook.show_all_controls()
    sliders = [(v.number, i) for v in notebook.explorers() for i in range(len(v.sliders))]
    assert all(notebook.focus(*slider) for slider in sliders)
    page.evaluate("() => document.activeElement.blur()")  # an explorer in use stores no still
    page.wait_for_function(f"() => ({KEPT})() === {len(shown)}", timeout=PATIENCE_MS)
    page.wait_for_function(
        "([where, n]) => document.querySelectorAll(where).length === n",
        arg=[f"{ALL_BOXES} .bdl-status [aria-live]", len(shown)],
    )
    page.wait_for_function(f"() => !({UNNAMED})()")
    found: dict[str, dict[str, Any]] = {}
    for size, (width, height, ratio) in SIZES.items():
        resize(notebook, width, height, ratio)
        found[size] = {}
        for name in shown:
            box = boxed(notebook, name)
            page.wait_for_timeout(SETTLE_MS / 4)
            found[size][name] = box.evaluate(MEASURE)
    resize(notebook, *LAPTOP)
    return found


slow = pytest.mark.slow
each = pytest.mark.parametrize(
    "name", [*FEW, *(pytest.param(n, marks=slow) for n in NAMES[len(FEW) :])]
)


@each
def test_explorer_fits_the_page_without_overlaps(seen: dict[str, Any], name: str) -> None:
    for size in SIZES:
        found = seen[size][name]
        parts, controls = found["parts"], found["controls"]
        assert found["tracks"] and min(found["tracks"]) >= 120, (size, "short sliders")
        assert found["cut"] == [] == found["beyond"], size
        left, right = found["box"]["left"], found["box"]["right"]
        assert right <= found["window"]["right"] + 1, size
        for place in [*controls, *parts.values()]:
            assert left - 1 <= place["left"] and place["right"] <= right + 1, (size, place)
        assert len(controls) > 2
        for one, other in itertools.combinations(controls, 2):
            apart = (
                one["right"] <= other["left"] + 1
                or other["right"] <= one["left"] + 1
                or one["bottom"] <= other["top"] + 1
                or other["bottom"] <= one["top"] + 1
            )
            assert apart, (size, one, other)
    found = seen["a laptop"][name]
    height = found["window"]["bottom"] - found["window"]["top"]  # the laptop holds all of it
    first = found["parts"]["head"]["top"]
    assert {"head", "stage", "controls", "status"} <= set(found["parts"])
    for part, place in found["parts"].items():
        assert first <= place["top"] and place["bottom"] - first <= height, (part, place, height)


@each
def test_every_control_has_an_accessible_name_and_value(seen: dict[str, Any], name: str) -> None:
    found = seen["a laptop"][name]
    assert found["nameless"] == [] == found["nulls"]
    for slider in found["sliders"]:
        assert slider["name"], slider
        assert slider["value"] == slider["shown"] != "", slider  # 0.100, not the exponent −1
        assert slider["stops"] == 1 - slider["dimmed"], slider
    assert all(right for _, right in found["toggles"])
    assert all(row == ["radiogroup", 1] for row in found["rows"])
    assert found["status"] == "polite"


@pytest.mark.parametrize("link", ["", "predict first", "missions", "numbers"])
def test_sentences_and_values_in_full_screen_can_be_read_from_afar(
    seen: dict[str, Any], notebook: Notebook, link: str
) -> None:
    page = notebook.page
    resize(notebook, 1920, 1080, 1.0)
    box = boxed(notebook, "SinusoidExplorer")
    box.locator("button.bdl-full").click()
    page.wait_for_function("() => document.fullscreenElement")
    box.locator(".bdl-later").wait_for(state="hidden")
    for key in ("ArrowRight", "ArrowLeft", "Space"):
        page.keyboard.press(key)
        page.wait_for_timeout(100)
    assert page.evaluate("() => !!document.fullscreenElement")
    if link:
        button(box, link).click()
    else:  # a clicker's arrow chooses no further preset
        menu = box.locator(".bdl-head select")
        for preset in ("calm\u00a0gradients", "article"):
            menu.focus()
            menu.select_option(label=preset)
            page.keyboard.press("ArrowDown")
            page.wait_for_timeout(100)
            assert menu.evaluate("(m) => m.selectedOptions[0].label") == preset
    small = [text for high, text in box.evaluate(CAPITALS) if high < 20.0]
    assert small == []
    if link:
        button(box, link).click()
    page.evaluate("() => document.exitFullscreen()")  # a script's Escape does not reach the browser
    page.wait_for_function("() => !document.fullscreenElement")
    box.locator(".bdl-more").click()  # as the other tests want it


def test_picture_at_rest_uses_full_device_resolution(
    seen: dict[str, Any], notebook: Notebook
) -> None:
    resize(notebook, LAPTOP[0] - 1, LAPTOP[1], 2.0)  # a new ratio alone draws no frame
    boxed(notebook, "GradientLab")
    notebook.page.wait_for_function(
        """where => {
            const image = document.querySelector(where).querySelector("img.bdl-picture");
            return image.naturalWidth >= 2 * image.getBoundingClientRect().width - 2;
        }""",
        arg=ALL_BOXES,
        timeout=PATIENCE_MS,
    )
    resize(notebook, *LAPTOP)


def button(box: Locator, label: str) -> Locator:
    """Return the button with exactly this label."""
    return box.locator("button").filter(has_text=re.compile(rf"^\s*{re.escape(label)}\s*$"))


class Hand:
    """Mouse, finger and keys on an explorer, which is scrolled into view."""

    def __init__(self, notebook: Notebook, name: str) -> None:
        self.page, self.number = notebook.page, NAMES.index(name)
        self.session = self.page.context.new_cdp_session(self.page)  # touches share a session
        self.box = boxed(notebook, name)
        before: Any = None
        while before != (before := self.dots()) or not self.box.evaluate(DRAWN_FOR_ITS_PLACE):
            self.page.wait_for_timeout(SETTLE_MS)

    def says(self, words: str) -> None:
        """Wait until the status line contains these words."""
        self.page.wait_for_function(
            "([where, i, words]) => document.querySelectorAll(where)[i]"
            "    .querySelector('.bdl-status').textContent.includes(words)",
            arg=[ALL_BOXES, self.number, words],
            timeout=PATIENCE_MS,
        )

    def copied(self) -> str:
        """Press *share*; return the line of Python that the status line shows."""
        button(self.box, "share").click()
        self.says("Copied: ")
        said = self.box.locator(".bdl-status").inner_text()
        found = re.search(r"Copied: (widgets\.\w+\(.*\))", said)
        assert found is not None, said
        return found[1]

    def dots(self) -> list[tuple[float, float]]:
        """Return the points' handles, in pixels of the page from the picture's corner."""
        read = "dots => dots.map((d) => [+d.getAttribute('cx'), +d.getAttribute('cy')])"
        found = self.box.locator(".bdl-dot").evaluate_all(read)
        return [(x, y) for x, y in found]

    def on_page(self, x: float, y: float) -> tuple[float, float]:
        place = self.box.locator(".bdl-hand").bounding_box()
        assert place is not None
        return place["x"] + x, place["y"] + y

    def finger(self, kind: str, *at: float) -> None:
        touches = [{"x": at[0], "y": at[1]}] if at else []
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})


CROSSES = """box => {  // counts the handles that lie on dark pixels
    const image = box.querySelector("img.bdl-picture");
    const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const scale = image.naturalWidth / box.querySelector(".bdl-hand").getBoundingClientRect().width;
    const isDark = (dot) => {
        const [x, y] = ["cx", "cy"].map((name) => Math.round(+dot.getAttribute(name) * scale));
        return Math.max(...context.getImageData(x, y, 1, 1).data.slice(0, 3)) < 110;
    };
    return [...box.querySelectorAll(".bdl-main .bdl-dot")].filter(isDark).length;
}"""
TOUCHED = "LinearRegressionExplorer"  # its refits take no time
OWN = "of your own"


@pytest.fixture
def hand(seen: dict[str, Any], notebook: Notebook) -> Iterator[Hand]:
    made = Hand(notebook, TOUCHED)
    made.says("8 points:")
    yield made
    made.box.get_by_role("button", name="reset", exact=True).click()
    made.says("8 points:")


def test_mouse_and_finger_drag_one_point(hand: Hand) -> None:
    for drag in ("mouse", "finger"):
        before = hand.dots()
        i = max(range(8), key=lambda k: before[k][1])  # the lowest
        x, y = hand.on_page(*before[i])
        if drag == "mouse":
            hand.page.mouse.move(x, y)
            hand.page.mouse.down()
            hand.page.mouse.move(x + 20, y - 10, steps=3)
            hand.page.mouse.move(x + 40, y - 30, steps=3)
            hand.page.mouse.up()
        else:
            hand.finger("touchStart", x, y)
            for k in range(1, 5):
                hand.finger("touchMove", x + 10 * k, y - 7.5 * k)
            hand.finger("touchEnd")
        hand.says(f"8 points {OWN}")
        hand.page.wait_for_timeout(2 * SETTLE_MS)  # the words may be those of the drag before
        after = hand.dots()
        assert after[i] == pytest.approx((before[i][0] + 40, before[i][1] - 30), abs=1.5)
        for k in {*range(8)} - {i}:
            assert after[k] == pytest.approx(before[k], abs=1.5)
    hand.page.wait_for_function(  # else a handle is beside its point
        f"box => ({CROSSES})(box) === 8", arg=hand.box.element_handle(), timeout=20_000
    )


def test_click_adds_a_point_and_shift_click_removes_it(hand: Hand) -> None:
    ground = hand.box.locator(".bdl-ground").first.bounding_box()
    assert ground is not None
    at = ground["x"] + 0.93 * ground["width"], ground["y"] + 0.2 * ground["height"]
    hand.page.mouse.click(*at)
    hand.says(f"9 points {OWN}")
    assert hand.on_page(*hand.dots()[-1]) == pytest.approx(at, abs=1.5)
    hand.page.keyboard.down("Shift")
    hand.page.mouse.click(*at)
    hand.page.keyboard.up("Shift")
    hand.says(f"8 points {OWN}")
    hand.page.keyboard.press("Control+z")
    hand.says(f"9 points {OWN}")


def test_keys_choose_move_add_and_remove_a_point(hand: Hand) -> None:
    hand.box.locator(".bdl-hand").focus()
    before, keys = hand.dots(), hand.page.keyboard
    left = min(range(len(before)), key=lambda i: before[i][0])
    chosen = ".bdl-chosen"
    while hand.box.locator(chosen).evaluate("d => [...d.parentNode.children].indexOf(d)") != left:
        keys.press("PageDown")
    for key in ("ArrowUp", "ArrowRight", "Shift+ArrowUp"):
        keys.press(key)
    hand.says(f"8 points {OWN}")
    moved = hand.dots()
    assert moved[left][0] > before[left][0] and moved[left][1] < before[left][1]
    stay = [(before[i][0], moved[i][0]) for i in range(8) if i != left]
    assert all(abs(x1 - x0) < 0.5 for x0, x1 in stay), "another point moved"
    words = hand.box.locator(".bdl-said").inner_text()
    assert words.startswith(f"point {left + 1} of 8: x ")
    keys.press("Insert")
    keys.press("ArrowDown")  # moves the new point
    hand.says(f"9 points {OWN}")
    keys.press("Delete")
    hand.says(f"8 points {OWN}")


TIMERS_STAND_STILL = """() => {
    const [real, waiting] = [window.setTimeout, []];
    window.setTimeout = (call, ms) => waiting.push([call, ms]);
    window.timersGoOn = () => {
        window.setTimeout = real;
        for (const [call, ms] of waiting) real(call, ms);
    };
}"""


def test_points_moved_before_the_page_reports_a_place_stay_moved(hand: Hand) -> None:
    """Three points are moved and one is added before the page reports any place by itself."""
    hand.box.locator(".bdl-hand").focus()
    keys, before = hand.page.keyboard, hand.dots()
    hand.page.evaluate(TIMERS_STAND_STILL)
    for key in ("Shift+ArrowUp", "PageDown", "Shift+ArrowUp", "PageDown", "Shift+ArrowUp"):
        keys.press(key)
    keys.press("Insert")
    hand.page.evaluate("() => window.timersGoOn()")
    hand.says(f"9 points {OWN}")
    hand.page.wait_for_timeout(2 * SETTLE_MS)  # for the kernel's answer
    after = hand.dots()
    higher = [y1 < y0 - 5 for (_, y0), (_, y1) in zip(before, after, strict=False)]
    assert sum(higher) == 3, (before, after)


def paste(hand: Hand, text: str) -> Any:
    """Paste a table into the dialog and press "use it"; returns the dialog."""
    hand.box.get_by_role("button", name="my data").click()
    dialog = hand.box.locator("dialog.bdl-table")
    dialog.locator("textarea").fill(text)
    dialog.get_by_role("button", name="use it").click()
    return dialog


def test_table_dialog_asks_for_columns_and_thousands_separator_and_reports_omissions(
    hand: Hand,
) -> None:
    dialog = paste(hand, "1,2\n3\n")
    refused = dialog.get_by_role("alert").filter(has_text="line 2: expected 2 columns")
    refused.wait_for(timeout=10_000)
    dialog.get_by_role("button", name="cancel").click()
    dialog = paste(hand, "rooms\tsize\trent\n1\t20\t900\n2\t31\t1,250\n3\t50\t1,700\n4\t60\t")
    y = dialog.get_by_label("y:")
    y.select_option(label="rent", timeout=PATIENCE_MS)
    dialog.get_by_role("button", name="use it").click()
    dialog.get_by_role("button", name="1250", exact=True).click(timeout=PATIENCE_MS)
    hand.says(f"3 points {OWN}")
    hand.says("1 of 4 rows left out, line 5: no number; rent: 1,250 is read as 1250")
    dialog.wait_for(state="hidden", timeout=PATIENCE_MS)
    slider = hand.box.get_by_role("slider", name="points N", exact=True)
    until(lambda: slider.get_attribute("aria-disabled") == "true", "a slider at rest")
    hand.page.keyboard.press("Control+z")
    hand.says("8 points:")
    until(lambda: slider.get_attribute("aria-disabled") is None, "a slider in use")


def test_arrow_keys_continue_from_a_click_on_a_slider(hand: Hand) -> None:
    handle = hand.box.get_by_role("slider", name="noise σ", exact=True)
    named = hand.page.get_by_role("slider", name="noise σ", exact=True)
    rail = hand.box.locator(".noUi-target").filter(has=named)
    place = rail.bounding_box()
    assert place is not None
    hand.page.mouse.click(place["x"] + 0.8 * place["width"], place["y"] + place["height"] / 2)
    hand.page.wait_for_timeout(SETTLE_MS)
    clicked = handle.get_attribute("aria-valuenow")
    hand.page.keyboard.press("ArrowLeft")
    hand.page.wait_for_timeout(SETTLE_MS)
    stepped = handle.get_attribute("aria-valuenow")
    assert clicked and stepped and float(stepped) < float(clicked)


KEYS_OUTSIDE = """() => {
    window.outside = [];
    document.addEventListener("keydown", (event) => window.outside.push(event.key));
}"""
INSIDE = "box => box.contains(document.activeElement) && document.activeElement !== box"
DIMMED = "() => !!document.activeElement.closest('.bdl-idle, :disabled')"


@pytest.mark.parametrize(
    "name",
    [
        "SinusoidExplorer",
        pytest.param("RivalsExplorer", marks=slow),
    ],
)
def test_tab_skips_dimmed_controls_and_no_arrow_reaches_the_notebook(
    seen: dict[str, Any], notebook: Notebook, name: str
) -> None:
    hand = Hand(notebook, name)
    keys, box = hand.page.keyboard, hand.box
    if name == "SinusoidExplorer":
        box.get_by_role("slider", name="π wide share", exact=True).focus()
        keys.press("End")
        box.locator(".bdl-idle", has_text="σ₂ narrow part").wait_for(timeout=PATIENCE_MS)
    hand.page.evaluate(KEYS_OUTSIDE)
    box.locator(".bdl-head select").focus()
    stops = 0
    while box.evaluate(INSIDE):
        assert not hand.page.evaluate(DIMMED), hand.page.evaluate(FOCUS)
        for key in ("ArrowLeft", "ArrowDown", "ArrowRight", "ArrowUp", "d"):
            keys.press(key)
        if not stops:  # the menu of presets: the worker sets what goes with the last one
            hand.page.wait_for_timeout(SETTLE_MS)
        stops += 1
        keys.press("Tab")
    hand.page.wait_for_timeout(SETTLE_MS)  # a worker that is late is said to be busy by then
    box.locator(".bdl-busy").wait_for(state="hidden", timeout=PATIENCE_MS)
    for place in box.locator(".bdl-idle .widget-label, .bdl-title").locator("visible=true").all():
        place.click()
        keys.press("ArrowLeft")
    assert hand.page.evaluate("() => window.outside") == [] and stops > 10
    button(box, "reset").click()


def told(hand: Hand, words: str) -> Any:
    line = hand.box.locator(".bdl-mission-words [aria-live=polite]").filter(has_text=words)
    line.wait_for(timeout=PATIENCE_MS)
    return line


def length(mission: Any) -> int:
    return len(mission.text + "".join(mission.hints))


@slow
def test_longest_mission_with_hints_is_shown_in_full(
    seen: dict[str, Any], notebook: Notebook
) -> None:
    found = {name: getattr(widgets, name).MISSIONS for name in NAMES}
    name = max(found, key=lambda k: max(map(length, found[k]), default=0))
    hand, missions = Hand(notebook, name), found[name]
    button(hand.box, "missions").click()
    i = max(range(len(missions)), key=lambda k: length(missions[k]))
    row = hand.box.get_by_role("radiogroup", name="mission", exact=True)
    row.get_by_role("radio").nth(i).click()
    told(hand, missions[i].text)
    for k, words in enumerate(missions[i].hints, 1):
        button(hand.box, f"hint {k}").click()
        told(hand, words)
    said = told(hand, "Not yet: ").bounding_box()
    place = hand.box.locator(".bdl-missions").bounding_box()
    assert said["y"] >= place["y"] - 1, "the mission must be scrolled"
    assert said["y"] + said["height"] <= place["y"] + place["height"] + 1
    seen_now = hand.box.evaluate(MEASURE)
    assert seen_now["nameless"] == seen_now["cut"] == []
    assert_axe_finds_nothing_serious(hand.page)
    button(hand.box, "missions").click()


def assert_axe_finds_nothing_serious(page: Any) -> None:
    """Run axe-core on the explorers, without JupyterLab's own parts."""
    page.wait_for_function(f"() => !({UNNAMED})()")  # views are made anew after a still is stored
    page.evaluate(AXE)
    found = page.evaluate("where => axe.run({ include: [where] })", ALL_BOXES)
    assert len(found["passes"]) > 10, "axe found no explorer"
    serious = [
        (rule["id"], rule["help"], [node["html"][:160] for node in rule["nodes"][:3]])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_controls_of_the_page_reach_the_kernel_and_its_replies_the_page(
    seen: dict[str, Any], notebook: Notebook
) -> None:
    """Try a preset, one control of each kind, reset, and the question."""
    kind, hand = widgets.SinusoidExplorer, Hand(notebook, "SinusoidExplorer")
    preset, (sentence, values) = list(kind.PRESETS.items())[-1]
    menu = hand.box.get_by_role("combobox", name="start from", exact=True)
    menu.select_option(label=preset)
    hand.box.locator(".bdl-look").filter(has_text=f"Look: {sentence}.").wait_for()
    noise = hand.box.get_by_role("slider", name="noise σ", exact=True)
    noise.focus()
    hand.page.keyboard.press("ArrowRight")
    hand.box.get_by_role("combobox", name="fit", exact=True).select_option(index=2)
    button(hand.box, "prior functions").click()
    moved = f"noise_std={values['noise_std'] + 0.1:.1f}", "estimator='article'", "prior_functions"
    until(lambda: all(part in hand.copied() for part in moved), "the changed controls")
    button(hand.box, "reset").click()
    until(lambda: not any(part in hand.copied() for part in moved), "the reset controls")
    default = kind.DEFAULTS["noise_std"]
    until(lambda: float(noise.get_attribute("aria-valuetext")) == default, f"noise σ = {default}")

    button(hand.box, "predict first").click()
    question, said = kind.QUESTION, hand.box.locator(".bdl-asked")
    there = button(hand.box, "take me there")
    assert there.is_disabled()
    hand.box.get_by_text(question.choices[question.answer], exact=True).click()
    assert question.text in said.inner_text() and question.because not in said.inner_text()
    there.click(timeout=PATIENCE_MS)
    said.filter(has_text=f"✓ As you said. {question.because}").wait_for(timeout=PATIENCE_MS)
    button(hand.box, "reset").click()
    row = Hand(notebook, "GradientLab")
    row.box.get_by_role("radiogroup", name="by", exact=True).get_by_role("radio").last.click()
    until(lambda: "parameter='σ'" in row.copied(), "the choice in the row")
    button(row.box, "reset").click()


@slow
def test_drag_in_the_vae_map_moves_the_latent_point(
    seen: dict[str, Any], notebook: Notebook
) -> None:
    hand = Hand(notebook, "VAEExplorer")
    map_ = hand.box.locator(".bdl-ground")
    map_.hover()  # waits until it rests: sentences of explorers above may change height
    ground = map_.bounding_box()
    assert ground is not None
    x, y = ground["width"] / 2, ground["height"] / 2
    map_.hover(position={"x": x, "y": y})
    hand.page.mouse.down()
    map_.hover(position={"x": x + 50, "y": y})
    hand.page.mouse.up()
    z1 = round(50 / ground["width"] * 7.6, 1)
    handle = hand.box.locator("[role=slider][aria-label='z₁']")
    hand.page.wait_for_function(
        "([handle, z]) => Math.abs(parseFloat(handle.getAttribute('aria-valuetext')) - z) < 0.11",
        arg=[handle.element_handle(), z1],
        timeout=20_000,
    )


TOP = """() => Math.round(document.querySelector(".bdl-explorer").getBoundingClientRect().top
    - document.querySelector(".jp-WindowedPanel-outer").getBoundingClientRect().top)"""
COMES_BACK = f"() => document.querySelector('.bdl-explorer') && Math.abs(({TOP})()) < 5"


@slow
def test_running_scrolls_to_explorer_and_button_downloads_svg_and_png(
    browser: Browser, server: Server
) -> None:
    """The button is *save picture*. JupyterLab itself scrolls to the next cell, or the last one."""
    notebook, saved = Notebook(browser, server, "tall.ipynb"), list[str]()
    page = notebook.page
    page.locator(".jp-CodeCell .cm-content").nth(1).click()
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
    view.locator(".bdl-more").click()
    with page.expect_download(
        lambda download: download.suggested_filename.endswith("png"), timeout=PATIENCE_MS
    ):
        view.get_by_role("button", name="save picture").click()
    page.wait_for_timeout(1000)
    assert sorted(saved) == ["GradientLab.png", "GradientLab.svg"]
    page.close()


@slow
def test_busy_kernel_is_said_and_a_preset_chosen_meanwhile_is_kept(
    seen: dict[str, Any], notebook: Notebook, shown: tuple[str, ...]
) -> None:
    """Also if its cell is run again before the kernel hears of the preset."""
    page, at = notebook.page, shown.index("SinusoidExplorer")
    for again, preset in ((False, "few points"), (True, "many points")):
        box = boxed(notebook, "SinusoidExplorer")
        sign, menu = box.locator(".bdl-busy"), box.locator(".bdl-head select")
        sign.wait_for(state="hidden", timeout=PATIENCE_MS)
        page.evaluate(SLEEP, 5)
        menu.select_option(label=preset.replace(" ", "\u00a0"))
        sign.wait_for(timeout=3000)
        if again:
            page.evaluate(RUN_CELL, 1 + at)
        page.wait_for_function(
            """([at, preset]) => {
                const box = document.querySelectorAll(".jp-OutputArea .bdl-explorer")[at];
                const menu = box?.querySelector(".bdl-head select");
                return menu?.value.replaceAll("\u00a0", " ") === preset
                    && box.querySelector(".bdl-busy").hidden;
            }""",
            arg=[at, preset],
            timeout=PATIENCE_MS,
        )
        assert notebook.status(at).startswith({"few points": "6 p", "many points": "64 p"}[preset])
    page.evaluate("() => document.activeElement.blur()")  # the new still waits for that
    page.wait_for_function(f"() => ({KEPT})() === {len(shown)}", timeout=PATIENCE_MS)


# These run last: they look at what the others have left, and end the kernel.


def test_page_cells_and_kernel_show_no_errors(
    seen: dict[str, Any], notebook: Notebook, server: Server, shown: tuple[str, ...]
) -> None:
    assert complaints(notebook) == [] == notebook.cell_errors()
    assert not [i for i in range(len(shown)) if TROUBLE.search(notebook.status(i))]
    assert "Traceback" not in server.log()


def test_restarted_kernel_is_said_over_the_picture_and_moves_nothing(
    seen: dict[str, Any], notebook: Notebook
) -> None:
    hand = Hand(notebook, "SinusoidExplorer")
    parts = [hand.box.locator(f".bdl-{part}") for part in ("title", "status", "picture")]
    before = [part.bounding_box() for part in parts]
    hand.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    hand.box.get_by_text("The kernel was restarted").wait_for(timeout=5000)
    assert [part.bounding_box() for part in parts] == before
    assert hand.box.evaluate(
        "box => !box.querySelector(':is([role=slider], button, select):not([inert] *)')"
    )


@slow
def test_saved_notebook_shows_stills_without_a_kernel(
    seen: dict[str, Any], notebook: Notebook, shown: tuple[str, ...]
) -> None:
    """In JupyterLab, and as a web page by nbconvert."""
    page, n = notebook.page, len(shown)
    page.wait_for_function(f"() => ({KEPT})() === {n}", timeout=PATIENCE_MS)
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    saved = page.evaluate(CONTENT)
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.goto(page.url, wait_until="domcontentloaded")
    page.wait_for_function(
        "n => [...document.querySelectorAll('.jp-OutputArea img')]"
        "    .filter((image) => image.naturalWidth > 900).length === n",
        arg=n,
    )
    assert page.locator(".bdl-explorer").count() == 0
    assert "model not found" not in page.locator(".jp-Notebook").inner_text()
    html, _ = HTMLExporter().from_notebook_node(nbformat.from_dict(saved))
    assert html.count('src="data:image/png') == n
