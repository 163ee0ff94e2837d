"""Operate a notebook in a page of Chromium: run it, press keys, and time the repaints."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from browser_bench.lab import LabError, Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

PROBE = Path(__file__).with_name("probe.js")
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
QUIET_MS, PATIENCE_MS = 150.0, 6000.0
KERNEL_IS_READY = """() => {
    const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
    const kernel = context?.session?.kernel;
    return context?.isReady && kernel?.connectionStatus === "connected" && kernel.status === "idle";
}"""
RUN_ALL = """() => {
    window.bdlDone = false;
    window.jupyterapp.commands.execute("notebook:run-all-cells")
        .finally(() => { window.bdlDone = true; });
}"""
CELLS = "() => window.jupyterapp.shell.currentWidget.context.model.toJSON().cells"
SCROLL_THROUGH = """async () => {
    for (const cell of document.querySelectorAll(".jp-NotebookPanel .jp-Cell")) {
        cell.scrollIntoView();
        await new Promise((resolve) => setTimeout(resolve, 60));
    }
}"""


@dataclass(frozen=True)
class Effect:
    """The effect of a key press or click.

    Attributes:
        moved: Whether the slider's value changed, or the button went down or up.
        paints: Times from the event to each repaint that changed pixels, in ms.
    """

    moved: bool
    paints: list[float]


@dataclass(frozen=True)
class Flood:
    """The effect of a drag with many events a second.

    Attributes:
        sent: Number of events.
        pictures_per_s: Repaints a second during the drag.
        last_ms: Time from the last change of the value to the last repaint; ``None`` without one.
        paints: Number of repaints.
    """

    sent: int
    pictures_per_s: float
    last_ms: float | None
    paints: int


@dataclass(frozen=True)
class ExplorerView:
    """An explorer as the page shows it.

    Attributes:
        number: Its number among the explorers of the notebook, from 0.
        sliders: Labels of its sliders.
        buttons: Labels of its buttons.
        toggles: Indices of the buttons that stay down until pressed again.
        choices: For each group of buttons of which only one is down, their indices.
    """

    number: int
    sliders: list[str] = field(default_factory=list)
    buttons: list[str] = field(default_factory=list)
    toggles: list[int] = field(default_factory=list)
    choices: list[list[int]] = field(default_factory=list)


class Notebook:
    """A notebook that is open in a page of its own.

    Attributes:
        page: The page.
        console: Errors that the page wrote to the console or did not catch.
        patience_ms: Longest time to wait for a picture to change.
    """

    def __init__(self, browser: Browser, server: Server, name: str) -> None:
        self.patience_ms = PATIENCE_MS
        self.console: list[str] = []
        self.page: Page = browser.new_page(viewport={"width": 1500, "height": 1100})
        self.page.add_init_script(PROBE.read_text(encoding="utf-8"))
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.console.append(f"uncaught: {error}"))
        self.page.goto(server.address(name), wait_until="domcontentloaded")
        open_panel = f"() => document.querySelector({PANEL + ' .jp-Cell'!r})"
        self._wait(open_panel, 60.0, "the notebook did not open")
        self._wait(KERNEL_IS_READY, 60.0, "the kernel did not get ready")

    def _wait(self, until: str, timeout_s: float, otherwise: str) -> None:
        from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

        try:
            self.page.wait_for_function(until, timeout=1000 * timeout_s)
        except PlaywrightTimeoutError:
            errors = "; ".join(self.console) or "none"
            sentence = f"Within {timeout_s:.0f} s {otherwise}. Errors in the console: {errors}."
            raise LabError(sentence) from None

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.console.append(f"{message.text} ({message.location.get('url', '')})")

    def start_all(self) -> None:
        """Run every cell, without waiting."""
        self.page.evaluate(RUN_ALL)

    def await_all(self, timeout_s: float = 600.0) -> None:
        """Wait until every cell has run, and scroll through the notebook to show all of it."""
        self._wait("() => window.bdlDone", timeout_s, "the cells did not finish")
        self.page.evaluate(SCROLL_THROUGH)

    def age_s(self) -> float:
        """Return the seconds since the browser began to open the page."""
        return float(self.page.evaluate("() => performance.now()")) / 1000

    def first_picture_s(self, timeout_s: float = 120.0) -> float:
        """Wait for an explorer's first picture; return the seconds since the page began to open."""
        self._wait("() => window.bdlProbe.paints.length", timeout_s, "no explorer showed a picture")
        return float(self.page.evaluate("() => window.bdlProbe.paints[0].time")) / 1000

    def show_all_controls(self) -> None:
        """Open what stands behind *more* in every explorer: a hidden slider takes no keys."""
        folded = self.page.locator(".bdl-more:not(.mod-active)")
        while folded.count():
            folded.first.click()

    def explorers(self) -> list[ExplorerView]:
        """Return the explorers of the notebook, from top to bottom."""
        return [ExplorerView(i, **view) for i, view in enumerate(self._probe("list"))]

    def distinct_explorers(self) -> list[ExplorerView]:
        """Return one view of each explorer, the first of those with equal sliders and buttons."""
        first: dict[tuple[str, ...], ExplorerView] = {}
        for view in self.explorers():
            first.setdefault((*view.sliders, *view.buttons), view)
        return list(first.values())

    def cell_errors(self) -> list[str]:
        """Return the errors that cells raised."""
        raised = [o for o in self._outputs() if o["output_type"] == "error"]
        return [f"{output['ename']}: {output['evalue']}" for output in raised]

    def stderr(self) -> list[str]:
        """Return the text that each cell and its threads wrote to standard error."""
        return ["".join(o["text"]) for o in self._outputs() if o.get("name") == "stderr"]

    def _outputs(self) -> list[dict[str, Any]]:
        """Return all outputs, from JupyterLab's model: the page may lack those out of view."""
        cells = self.page.evaluate(CELLS)
        return [output for cell in cells for output in cell.get("outputs", ())]

    def status(self, explorer: int) -> str:
        """Return the text of an explorer's status line."""
        return str(self._probe("status", explorer))

    def pictures(self, explorer: int) -> int:
        """Return the number of an explorer's pictures that are large enough to see."""
        return int(self._probe("pictures", explorer))

    def focus(self, explorer: int, slider: int) -> bool:
        """Move the keyboard focus to a slider."""
        return bool(self._probe("focus", explorer, slider))

    def value(self, explorer: int, slider: int) -> str:
        """Return the value of a slider, in a form that :meth:`restore` takes."""
        return str(self._probe("value", explorer, slider))

    def restore(self, explorer: int, slider: int, value: str) -> bool:
        """Move a slider to ``value`` and wait for the picture; return whether it has that value."""
        start = self._probe("clear")
        moved = value != self.value(explorer, slider)
        done = bool(self._probe("restore", explorer, slider, value))
        if moved:
            self._settled(explorer, start, self.patience_ms, quiet=500.0)
        return done

    def press(self, explorer: int, slider: int, key: str) -> Effect:
        """Press a key on the focused slider, and wait for the picture; return the effect."""
        before = self.value(explorer, slider)
        start = self._probe("clear")
        self.page.keyboard.press(key)
        moved = self.value(explorer, slider) != before
        paints = self._settled(explorer, start, self.patience_ms if moved else QUIET_MS)
        pressed: list[float] = self.page.evaluate("() => window.bdlProbe.keys")
        return Effect(moved, [time - pressed[0] for time in paints] if pressed else [])

    def click(self, explorer: int, button: int, quiet: float = QUIET_MS) -> Effect:
        """Click a button; wait until the picture has changed and then rested for ``quiet`` ms."""
        before = self.is_down(explorer, button)
        start = self._probe("clear")
        self._probe("click", explorer, button)
        paints = self._settled(explorer, start, self.patience_ms, quiet)
        moved = self.is_down(explorer, button) != before
        return Effect(moved, [time - start for time in paints])

    def is_down(self, explorer: int, button: int) -> bool:
        """Return whether a button is down."""
        return bool(self._probe("down", explorer, button))

    def flood(self, explorer: int, slider: int, seconds: float = 3.0, rate: float = 60.0) -> Flood:
        """Send ``rate`` keys per second to a slider, up and down its range; return the effect."""
        start = self._probe("clear")
        sent = self._probe("flood", explorer, slider, seconds, rate)
        spent_ms = sent["changed"] - sent["begin"]
        return self._flood(explorer, start, sent["changed"], sent["sent"], spent_ms)

    def drag_point(self, explorer: int, seconds: float = 3.0, rate: float = 60.0) -> Flood | None:
        """Drag a data point of an explorer about; return the effect, ``None`` without points."""
        place = self._probe("point", explorer)
        if place is None:
            return None
        mouse, start, sent = self.page.mouse, self._probe("clear"), 0
        mouse.move(*place)
        mouse.down()
        begin = time.monotonic()
        while (gone := time.monotonic() - begin) < seconds:
            mouse.move(place[0] + 25 * math.sin(7 * gone), place[1] - 40 * math.sin(5 * gone))
            sent += 1
            time.sleep(max(0.0, sent / rate - (time.monotonic() - begin)))
        moved = self.page.evaluate("() => performance.now()")
        mouse.up()
        return self._flood(explorer, start, moved, sent, 1000 * seconds)

    def _flood(self, explorer: int, start: float, end: float, sent: int, spent_ms: float) -> Flood:
        """Return the effect of a drag from ``start`` to its last change at ``end``."""
        paints = self._settled(explorer, end, 3000.0, quiet=800.0)
        every = self._probe("since", explorer, start)
        during = [at for at in every if at <= end]
        late = paints[-1] - end if paints else None
        return Flood(sent, len(during) / max(spent_ms / 1000, 0.1), late, len(every))

    def _settled(
        self, explorer: int, start: float, timeout: float, quiet: float = QUIET_MS
    ) -> list[float]:
        times: list[float] = self._probe("settled", explorer, start, quiet, timeout)
        return times

    def _probe(self, call: str, *arguments: Any) -> Any:
        return self.page.evaluate(f"given => window.bdlProbe.{call}(...given)", list(arguments))
