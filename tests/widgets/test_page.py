"""Explorers in a page, at the sizes of the rooms where they are shown: what only a browser shows.

One notebook with all of them, in one page that is resized. That each control changes the picture,
and that missions and presets say what is so, is told without a page: see ``test_contract.py``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import ipywidgets
import nbformat
import numpy as np
import pytest
from browser_bench.lab import Server, chromium
from browser_bench.page import Notebook
from nbconvert import HTMLExporter

from bdl_teach import widgets
from bdl_teach.widgets import gradient_lab
from bdl_teach.widgets._engine import background
from bdl_teach.widgets._engine.controls import written
from bdl_teach.widgets._engine.own_data import Unseen
from tests.chromium import complaints, required
from tests.widgets import by_hand
from tests.widgets.idle import idle_explorer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MEASURE = Path(__file__).with_name("measure.js").read_text(encoding="utf-8")
LAPTOP = (1366, 768, 1.0)  # with JupyterLab's file browser open, as it is at first
SIZES = {"a laptop": LAPTOP, "a tablet": (1024, 768, 1.0), "1280 at 150 %": (853, 480, 1.5)}
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
PATIENCE_MS = 240_000  # while other tests have the processor, and this kernel compiles
SETTLE_MS = 400  # the page lays out, and says how large its pictures are
NAMES = ("GradientLab", *sorted(set(widgets.__all__) - {"GradientLab"}))  # it trains nothing
ALL_AT_ONCE = """() => {  // or the page would hold the cells in view alone
    const { content } = window.jupyterapp.shell.currentWidget;
    content.notebookConfig = { ...content.notebookConfig, windowingMode: "none" };
}"""
KEPT = """() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells
    .flatMap((cell) => cell.outputs ?? []).filter((o) => o.data?.["image/png"]).length"""
# Programs that nothing here asks for take a minute, and longer trainings as long again.
QUICK = """from bdl_teach import widgets
from bdl_teach.widgets._engine import worker
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets import vae_trainer
Explorer._begin_chores = lambda *_, **__: None
vae_trainer.STEPS = 25
worker.REST = worker.SHARPEN
"""
CONTENT = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON()"
ALL_BOXES = ".jp-OutputArea .bdl-explorer"
UNNAMED = f"() => document.querySelectorAll('{ALL_BOXES} [role=slider]:not([aria-label])').length"
FOCUS = "() => document.activeElement.getAttribute('aria-label')"
ZOOMS = """box => ["head", "look", "question", "controls", "status"]
    .map((part) => getComputedStyle(box.querySelector(`.bdl-${part}`)).zoom)"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab that has a notebook with a cell for each explorer."""
    folder = tmp_path_factory.mktemp("page")
    sources = [QUICK, *(f"widgets.{name}()" for name in NAMES)]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    written = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": spec})
    nbformat.write(written, folder / "all.ipynb")
    with Server(folder) as started:
        yield started


@pytest.fixture(scope="module")
def notebook(server: Server) -> Iterator[Notebook]:
    """The notebook in a page, with all explorers on their way to a first picture."""
    with chromium(required()) as browser:
        made = Notebook(browser, server, "all.ipynb")
        made.page.evaluate(ALL_AT_ONCE)
        made.start_all()
        made.await_all()
        yield made


def resize(notebook: Notebook, width: int, height: int, ratio: float) -> None:
    """Give the page another size, and another number of device pixels to each of its own."""
    page = notebook.page
    size = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False}
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setDeviceMetricsOverride", size)
    page.wait_for_timeout(SETTLE_MS)


def boxed(notebook: Notebook, name: str) -> Any:
    """The box of an explorer, which is scrolled to."""
    box = notebook.page.locator(ALL_BOXES).nth(NAMES.index(name))
    box.evaluate("box => box.scrollIntoView({ block: 'start' })")
    return box


# First, while there is no picture yet, and all is folded.


def test_slider_keeps_keyboard_when_still_is_kept(notebook: Notebook) -> None:
    """It waits until nobody uses the explorer; saved meanwhile, the slider is focused anew."""
    page, box = notebook.page, boxed(notebook, "SinusoidExplorer")
    slider = box.get_by_role("slider", name="σ₁ wide part")
    slider.focus(timeout=PATIENCE_MS)
    others = f"() => ({KEPT})() === {len(NAMES) - 1}"
    page.wait_for_function(others, timeout=PATIENCE_MS)
    page.wait_for_function(
        "box => box.querySelector('img.bdl-picture').alt.includes('nats = ')",
        arg=box.element_handle(),
        timeout=PATIENCE_MS,
    )
    page.wait_for_timeout(SETTLE_MS)
    assert page.evaluate(others) and page.evaluate(FOCUS) == "σ₁ wide part"
    page.keyboard.press("Control+s")
    page.wait_for_function(f"() => ({KEPT})() === {len(NAMES)} && !({UNNAMED})()")
    page.wait_for_function(f"() => ({FOCUS})() === 'σ₁ wide part'")
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "1.55"
    page.keyboard.press("ArrowLeft")


def test_few_controls_are_unfolded_and_each_has_a_label(notebook: Notebook) -> None:
    """The others come with *more*, and stay when the cell is run again."""
    box = boxed(notebook, "SinusoidExplorer")
    pressed = ":is(.bdl-controls, .bdl-film) :is([role=slider], button, select)"
    names = box.locator(pressed).locator("visible=true")
    assert names.count() <= 8
    for label in box.locator(".bdl-controls .widget-label").locator("visible=true").all():
        assert any(len(word) > 3 for word in label.inner_text().split()), label.inner_text()
    box.locator(".bdl-more").click()
    box.get_by_role("slider", name="KL weight").focus()
    assert names.count() > 12
    run = "i => { const { content } = window.jupyterapp.shell.currentWidget;"
    run += "content.activeCellIndex = i; return window.jupyterapp.commands"
    run += ".execute('notebook:run-cell'); }"
    notebook.page.evaluate(run, NAMES.index("SinusoidExplorer") + 1)
    box.get_by_role("slider", name="KL weight").focus(timeout=PATIENCE_MS)
    box.locator(".bdl-more").click()
    assert names.count() <= 8


@pytest.fixture(scope="module")
def seen(notebook: Notebook) -> dict[str, dict[str, Any]]:
    """Every explorer measured at every size, unfolded: ``seen[size][explorer]``."""
    page = notebook.page
    for button in page.locator(".bdl-more").all():
        button.click()
    page.evaluate("() => document.activeElement.blur()")  # in use, it keeps no still
    page.wait_for_function(f"() => ({KEPT})() === {len(NAMES)}", timeout=PATIENCE_MS)
    page.wait_for_function(
        "([where, n]) => document.querySelectorAll(where).length === n",
        arg=[f"{ALL_BOXES} .bdl-status [aria-live]", len(NAMES)],
    )
    page.wait_for_function(f"() => !({UNNAMED})()")
    found: dict[str, dict[str, Any]] = {}
    for size, (width, height, ratio) in SIZES.items():
        resize(notebook, width, height, ratio)
        found[size] = {}
        for name in NAMES:
            box = boxed(notebook, name)
            page.wait_for_timeout(SETTLE_MS / 4)
            found[size][name] = box.evaluate(MEASURE)
    resize(notebook, *LAPTOP)
    return found


each = pytest.mark.parametrize("name", NAMES)


@each
def test_explorer_fits_its_room(seen: dict[str, Any], name: str) -> None:
    """Nothing is cut or lies on something else; a laptop's screen holds the whole explorer."""
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
    room = found["window"]["bottom"] - found["window"]["top"]
    first = found["parts"]["head"]["top"]  # a cell's top stands a little below the window's
    assert {"head", "stage", "controls", "status"} <= set(found["parts"])
    for part, place in found["parts"].items():
        assert first <= place["top"] and place["bottom"] - first <= room, (part, place, room)


@each
def test_every_control_says_its_name_and_its_value(seen: dict[str, Any], name: str) -> None:
    found = seen["a laptop"][name]
    assert found["nameless"] == [] == found["nulls"]
    for slider in found["sliders"]:
        assert slider["name"], slider
        assert slider["value"] == slider["shown"] != "", "0.100, and not the exponent −1"
        assert slider["stops"] == 1, slider
    assert all(right for _, right in found["toggles"])
    assert all(row == ["radiogroup", 1] for row in found["rows"])
    assert found["status"] == "polite"


def test_full_screen_has_larger_text(seen: dict[str, Any], notebook: Notebook) -> None:
    resize(notebook, 1920, 1080, 1.0)
    box = boxed(notebook, "GradientLab")
    assert box.evaluate(ZOOMS) == ["1"] * 5
    box.locator("button.bdl-full").click()
    notebook.page.wait_for_function("() => document.fullscreenElement")
    assert box.evaluate(ZOOMS) == ["1.4"] * 5
    notebook.page.evaluate("() => document.exitFullscreen()")
    notebook.page.wait_for_function("() => !document.fullscreenElement")


def test_picture_at_rest_uses_full_device_resolution(
    seen: dict[str, Any], notebook: Notebook
) -> None:
    resize(notebook, LAPTOP[0] - 1, LAPTOP[1], 2.0)  # a ratio alone draws no frame here
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


# A hand on the points, which pytest's other tests give to the kernel: here from the page.


class Hand:
    """A pointer, a finger and the keys on the points of an explorer, which is scrolled to."""

    def __init__(self, notebook: Notebook, name: str) -> None:
        self.page, self.number = notebook.page, NAMES.index(name)
        self.session = self.page.context.new_cdp_session(self.page)  # a touch is of one session
        self.box = boxed(notebook, name)
        self.page.wait_for_timeout(SETTLE_MS)

    def says(self, words: str) -> None:
        """Wait until the status line says it."""
        self.page.wait_for_function(
            "([where, i, words]) => document.querySelectorAll(where)[i]"
            "    .querySelector('.bdl-status').textContent.includes(words)",
            arg=[ALL_BOXES, self.number, words],
            timeout=PATIENCE_MS,
        )

    def stands(self, controls: dict[str, Any], asked: dict[str, str]) -> None:
        """Wait until the page has the controls where they were asked to be."""
        for _ in range(100):
            found = {name: by_hand.stands_at(self.box, controls[name]) for name in asked}
            if found == asked:
                return
            self.page.wait_for_timeout(100)
        assert found == asked

    def copied(self) -> str:
        """The line of Python that is shared, as the status line says it."""
        for _ in range(100):  # a picture that is still on its way says something else
            by_hand.button(self.box, "share").click()
            self.page.wait_for_timeout(SETTLE_MS / 2)
            said = self.box.locator(".bdl-status").inner_text()
            if found := re.search(r"Copied: (widgets\.\w+\(.*\))", said):
                return found[1]
        raise AssertionError(f"nothing is shared: {said}")

    def dots(self) -> list[tuple[float, float]]:
        """Where the points are, in the page's pixels, relative to the picture."""
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


CROSSES = """box => {  // how many handles lie on something dark
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
TOUCHED = "LinearRegressionExplorer"  # it refits in no time
OWN = "of your own"


@pytest.fixture
def hand(seen: dict[str, Any], notebook: Notebook) -> Iterator[Hand]:
    made = Hand(notebook, TOUCHED)
    made.says("8 points,")
    yield made
    made.box.get_by_role("button", name="reset", exact=True).click()
    made.says("8 points,")


def test_a_point_is_dragged_by_the_mouse_and_by_a_finger(hand: Hand) -> None:
    for drag in ("mouse", "finger"):
        before = hand.dots()
        i = max(range(8), key=lambda k: before[k][1])  # the lowest: there is room above it
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
        hand.page.wait_for_timeout(2 * SETTLE_MS)  # it says so of the drag before, too
        after = hand.dots()
        assert after[i] == pytest.approx((before[i][0] + 40, before[i][1] - 30), abs=1.5)
        for k in {*range(8)} - {i}:
            assert after[k] == pytest.approx(before[k], abs=1.5)
    assert hand.box.evaluate(CROSSES) == 8, "a handle lies on each cross"


def test_a_click_adds_a_point_and_shift_click_takes_it_away(hand: Hand) -> None:
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


def test_keys_alone_choose_move_add_and_remove_a_point(hand: Hand) -> None:
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
    assert np.hypot(*np.subtract(moved[left], before[left])) > 8
    others = [i for i in range(8) if i != left]
    (x0, y0), (x1, y1) = (np.array([where[i] for i in others]).T for where in (before, moved))
    assert x1 == pytest.approx(x0, abs=0.5)
    shift_and_stretch = np.polyfit(y0, y1, 1)  # the frame may follow the point that went up
    assert np.polyval(shift_and_stretch, y0) == pytest.approx(y1, abs=0.5)
    words = hand.box.locator(".bdl-said").inner_text()
    assert words.startswith(f"point {left + 1} of 8: x ")
    keys.press("Insert")
    keys.press("ArrowDown")  # for the point that has just come
    hand.says(f"9 points {OWN}")
    keys.press("Delete")
    hand.says(f"8 points {OWN}")


FRAMES_STAND_STILL = """() => {
    const [real, waiting] = [window.requestAnimationFrame, []];
    window.requestAnimationFrame = (call) => waiting.push(call);
    window.framesGoOn = () => {
        window.requestAnimationFrame = real;
        waiting.forEach(real);
    };
}"""


def test_moved_points_survive_late_frames(hand: Hand) -> None:
    """A hand is at the next point, and adds one, before a frame has come."""
    hand.box.locator(".bdl-hand").focus()
    keys, before = hand.page.keyboard, hand.dots()
    hand.page.evaluate(FRAMES_STAND_STILL)
    for key in ("Shift+ArrowUp", "PageDown", "Shift+ArrowUp", "PageDown", "Shift+ArrowUp"):
        keys.press(key)
    keys.press("Insert")
    hand.page.evaluate("() => window.framesGoOn()")
    hand.says(f"9 points {OWN}")
    hand.page.wait_for_timeout(2 * SETTLE_MS)  # the kernel's answer is in the page, too
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


def test_dialog_asks_for_columns_and_for_marks_and_says_what_it_did(hand: Hand) -> None:
    dialog = paste(hand, "1,2\n3\n")
    refused = dialog.get_by_role("alert").filter(has_text="line 2: expected two columns")
    refused.wait_for(timeout=10_000)
    dialog.get_by_role("button", name="cancel").click()
    dialog = paste(hand, "rooms\tsize\trent\n1\t20\t900\n2\t31\t1,250\n3\t50\t1,700\n4\t60\t")
    y = dialog.get_by_label("y:")
    y.select_option(label="rent", timeout=PATIENCE_MS)
    dialog.get_by_role("button", name="use it").click()
    dialog.get_by_role("button", name="1250", exact=True).click(timeout=PATIENCE_MS)
    hand.says(f"3 points {OWN}")
    hand.says(
        "1 of 4 rows has no number: left out, line 5 (rent is empty); rent: 1,250 is read as 1250"
    )
    assert not dialog.is_visible()
    slider = hand.box.get_by_role("slider", name="points N", exact=True)
    assert slider.get_attribute("aria-disabled") == "true"
    hand.page.keyboard.press("Control+z")
    hand.says("8 points,")
    assert slider.get_attribute("aria-disabled") is None


def test_a_click_chooses_the_weights_that_are_drawn(hand: Hand) -> None:
    ground = hand.box.locator(".bdl-ground").nth(1).bounding_box()
    assert ground is not None
    up = ground["y"] + 0.06 * ground["height"]
    for k in (0, 7):
        hand.page.mouse.click(ground["x"] + (k + 0.5) / 10 * ground["width"], up)
        hand.page.wait_for_timeout(SETTLE_MS)
    assert "pair=(0, 7)" in hand.copied()


def test_keys_go_on_from_a_click_on_a_slider_s_rail(hand: Hand) -> None:
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


def told(hand: Hand, words: str) -> Any:
    """Wait until it is said where the question stood."""
    line = hand.box.locator(".bdl-mission-words [aria-live=polite]").filter(has_text=words)
    line.wait_for(timeout=PATIENCE_MS)
    return line


def known_controls(name: str) -> dict[str, Any]:
    """The controls of an explorer, to know their kinds and labels: nothing is computed."""
    with idle_explorer(name) as made:
        found: dict[str, Any] = made._controls
    return found


def test_a_mission_is_done_by_keys_after_both_hints(
    seen: dict[str, Any], notebook: Notebook
) -> None:
    hand, missions = Hand(notebook, "GradientLab"), gradient_lab.GradientLab.MISSIONS
    by_hand.button(hand.box, "missions").click()
    told(hand, missions[0].text)
    told(hand, "Not yet: ")
    first, second = (by_hand.button(hand.box, f"hint {i}") for i in (1, 2))
    assert second.is_disabled()
    for hint, words in zip((first, second), missions[0].hints, strict=True):
        hint.focus()
        hand.page.keyboard.press("Enter")
        told(hand, words)
    known = known_controls("GradientLab")
    for name, value in missions[0].way.items():
        by_hand.slide(hand.box, known[name], value)
    told(hand, "✓ Done, also with seeds 1 and 2.")
    row = hand.box.get_by_role("radiogroup", name="mission").get_by_role("radio")
    assert row.all_inner_texts() == ["1 ✓", "2", "3"]
    row.first.focus()
    hand.page.keyboard.press("ArrowRight")
    told(hand, missions[1].text)
    by_hand.button(hand.box, "reset").click()
    by_hand.button(hand.box, "missions").click()


def length(mission: Any) -> int:
    return len(mission.text + "".join(mission.hints))


def longest(wide: bool) -> str:
    """The explorer with such a picture that has the longest mission."""
    kinds = [name for name in NAMES if bool(getattr(widgets, name).TEXTS.wide) is wide]
    return max(kinds, key=lambda k: max(map(length, getattr(widgets, k).MISSIONS), default=0))


@pytest.mark.parametrize("wide", [False, True])
def test_longest_mission_with_hints_fits_question_area(
    seen: dict[str, Any], notebook: Notebook, wide: bool
) -> None:
    hand, missions = Hand(notebook, longest(wide)), getattr(widgets, longest(wide)).MISSIONS
    tops = "box => [...box.querySelectorAll('.bdl-stage, .bdl-controls')].map((e) => e.offsetTop)"
    by_hand.button(hand.box, "missions").click()
    i = max(range(len(missions)), key=lambda k: length(missions[k]))
    row = hand.box.get_by_role("radiogroup", name="mission", exact=True)
    row.get_by_role("radio").nth(i).click()
    told(hand, missions[i].text)
    for k, words in enumerate(missions[i].hints, 1):
        by_hand.button(hand.box, f"hint {k}").click()
        told(hand, words)
    said = told(hand, "Not yet: ").bounding_box()  # it takes most of a line
    place = hand.box.locator(".bdl-missions").bounding_box()
    assert said["y"] >= place["y"] - 1, "nothing is to be scrolled to"
    assert said["y"] + said["height"] <= place["y"] + place["height"] + 1
    found = hand.box.evaluate(MEASURE)
    assert found["nameless"] == found["cut"] == []
    with_missions = hand.box.evaluate(tops)
    if wide:  # the only look at all of them, one with a mission
        assert_axe_finds_nothing_serious(hand.page)
    by_hand.button(hand.box, "missions").click()
    assert hand.box.evaluate(tops) == with_missions, "nothing moves"


def assert_axe_finds_nothing_serious(page: Any) -> None:
    """axe-core's rules, of what each explorer brings along; JupyterLab's own page is not ours.

    It makes each explorer's boxes anew when their still is kept, without names for a frame or two.
    """
    page.wait_for_function(f"() => !({UNNAMED})()")
    page.evaluate(AXE)
    found = page.evaluate("where => axe.run({ include: [where] })", ALL_BOXES)
    assert len(found["passes"]) > 10, "it has looked at something"
    serious = [
        (rule["id"], rule["help"], [node["html"][:160] for node in rule["nodes"][:3]])
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []


def shared(hand: Hand) -> dict[str, str]:
    """What the kernel has every control at, in the words of the page: from the line it shares."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "start", lambda _: None)
        made = eval(hand.copied(), {"widgets": widgets})
    at = {n: written(c, c.value) for n, c in made._controls.items() if not isinstance(c, Unseen)}
    made.close()
    return at


def elsewhere(hand: Hand, control: Any) -> None:
    """Move a control a step by keys, or to what else there is to choose."""
    before = by_hand.stands_at(hand.box, control)
    if isinstance(control, ipywidgets.ToggleButton):
        by_hand.button(hand.box, control.description).click()
    elif isinstance(control, ipywidgets.Dropdown | ipywidgets.ToggleButtons):
        values = [o[1] if isinstance(o, tuple) else o for o in control.options]
        by_hand.choose(hand.box, control, values[values.index(control.value) - 1])
    else:
        hand.box.get_by_role("slider", name=control.description, exact=True).focus()
        hand.page.keyboard.press("ArrowRight")
        if by_hand.stands_at(hand.box, control) == before:
            hand.page.keyboard.press("ArrowLeft")
    assert by_hand.stands_at(hand.box, control) != before, control.description


@pytest.mark.parametrize("name", ["SinusoidExplorer", "RivalsExplorer", "LocalReparamLab"])
def test_page_changes_reach_kernel_and_return(
    seen: dict[str, Any], notebook: Notebook, name: str
) -> None:
    """Every kind of control there is; a preset, the question, and the way back.

    That each of them changes the picture, and that presets and question say what is so, needs no
    page.
    """
    kind, hand, known = getattr(widgets, name), Hand(notebook, name), known_controls(name)
    controls = {n: c for n, c in known.items() if not isinstance(c, Unseen)}
    menu = hand.box.get_by_role("combobox", name="start from", exact=True)
    preset, (sentence, values) = list(kind.PRESETS.items())[-1]
    menu.select_option(label=preset)
    hand.box.locator(".bdl-look").filter(has_text=f"Look: {sentence}.").wait_for()
    asked = {n: written(c, values[n]) for n, c in controls.items() if n not in kind.TEXTS.stays}
    hand.stands(controls, asked)
    assert by_hand.chosen(menu) == preset
    by_hand.button(hand.box, "reset").click()
    start = {n: written(c, c.value) for n, c in controls.items() if n not in kind.TEXTS.stays}
    hand.stands(controls, start)

    question, said = kind.QUESTION, hand.box.locator(".bdl-asked")
    there = by_hand.button(hand.box, "take me there")
    assert there.is_disabled()
    hand.box.get_by_text(question.choices[question.answer], exact=True).click()
    assert question.text in said.inner_text() and question.because not in said.inner_text()
    there.click(timeout=PATIENCE_MS)
    said.filter(has_text=f"✓ As you said. {question.because}").wait_for(timeout=PATIENCE_MS)
    by_hand.button(hand.box, "reset").click()
    hand.stands(controls, start)

    moved = {n: c for n, c in controls.items() if not c.disabled and n not in ("nuts", "play")}
    choosing = ipywidgets.Dropdown | ipywidgets.ToggleButton | ipywidgets.ToggleButtons
    for control in sorted(moved.values(), key=lambda c: isinstance(c, choosing)):
        elsewhere(hand, control)  # first the sliders, which another choice may dim
    found = shared(hand)
    assert found == {n: by_hand.stands_at(hand.box, c) for n, c in controls.items()}
    assert {n for n, at in start.items() if at != found[n]} == set(moved)
    by_hand.button(hand.box, "reset").click()
    hand.stands(controls, start)


def test_vae_map_decodes_at_the_pointer(seen: dict[str, Any], notebook: Notebook) -> None:
    hand = Hand(notebook, "VAEExplorer")
    ground = hand.box.locator(".bdl-ground").bounding_box()
    assert ground is not None
    x, y = ground["x"] + ground["width"] / 2, ground["y"] + ground["height"] / 2
    hand.page.mouse.move(x, y)
    hand.page.mouse.down()
    hand.page.mouse.move(x + 50, y, steps=4)
    hand.page.mouse.up()
    z1 = round(50 / ground["width"] * 7.6, 1)
    handle = hand.box.locator("[role=slider][aria-label='z₁']")
    hand.page.wait_for_function(
        "([handle, z]) => Math.abs(parseFloat(handle.getAttribute('aria-valuetext')) - z) < 0.11",
        arg=[handle.element_handle(), z1],
        timeout=20_000,
    )


# The last: what all that has left, and nothing of the notebook is live afterwards.


def test_page_cells_and_kernel_show_no_errors(
    seen: dict[str, Any], notebook: Notebook, server: Server
) -> None:
    assert complaints(notebook) == []
    assert notebook.cell_errors() == []
    assert "Traceback" not in server.log()


def test_a_notebook_that_was_saved_shows_stills_without_its_kernel(
    seen: dict[str, Any], notebook: Notebook
) -> None:
    """Run all, save, close, open again; and the same file as a page of its own."""
    page, n = notebook.page, len(NAMES)
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
