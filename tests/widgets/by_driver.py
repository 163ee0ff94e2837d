"""Move whatever an explorer has, in a page; what leaves the picture as it was is dead."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from browser_bench.page import ExplorerView, Notebook

PATIENCE_MS = 30_000.0
FIRST_TURN_MS = 5_000.0  # for a button that may have nothing to change yet
NUTS_MS = 180_000.0  # the explorers promise under a minute, on a machine with nothing else to do
TROUBLE = re.compile(r"(?<!calibration )error|failed|traceback|nan|diverged", re.IGNORECASE)
WARNING = re.compile(r"Traceback|Error\b|WARNING|Warning:")
ALLOWED_IN_CONSOLE = (
    # Extensions that ask the server for something that this one does not have, or not yet.
    re.compile(r"Failed to load resource: the server responded with a status of 40[34]"),
)
STILL = {  # acts that leave the picture as it is
    "full screen",
    "save picture",
    "share",
    "my data",
    "missions",
    "take me there",
    "pin A",  # until something moves
}


def complaints(notebook: Notebook) -> list[str]:
    """Errors in the page's console, and warnings below a cell."""
    allowed = ALLOWED_IN_CONSOLE
    said = [text for text in notebook.console if not any(a.search(text) for a in allowed)]
    return said + [text for text in notebook.stderr() if WARNING.search(text)]


@dataclass
class Mover:
    """One explorer of a notebook, each of whose controls is moved; a dead one has its picture.

    Attributes:
        notebook: The notebook in its page.
        view: The explorer.
        pictures: A folder for screenshots of what did not move.
        dead: What did not change the picture.
        statuses: The status line after each movement.
    """

    notebook: Notebook
    view: ExplorerView
    pictures: Path
    dead: list[str] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)

    def move_all(self) -> None:
        """Move all that there is."""
        self.notebook.patience_ms = PATIENCE_MS
        self.move_sliders()
        self.press_toggles()
        self.choose()
        self.click_buttons()

    def move_sliders(self) -> None:
        """Press an arrow on each slider, the other one if the first has nothing to change."""
        notebook, number = self.notebook, self.view.number
        for i, label in enumerate(self.view.sliders):
            assert notebook.focus(number, i), f"{label} does not take the keyboard"
            start = notebook.value(number, i)
            keys = ("ArrowRight", "ArrowLeft", "ArrowLeft")
            if not any(notebook.press(number, i, key).paints for key in keys):
                self._dead(label)
            self.statuses.append(notebook.status(number))
            notebook.restore(number, i, start)
            assert notebook.value(number, i) == start

    def press_toggles(self) -> None:
        """Press each toggle, and again to leave it as it was."""
        for i in self.view.toggles:
            if self.view.buttons[i] in STILL:
                continue
            self.notebook.patience_ms = NUTS_MS
            if not self._click(i, quiet=0.0):  # "play" never rests
                self._dead(self.view.buttons[i])
            self.notebook.patience_ms = 1000.0  # paused, it has nothing more to show
            assert self.notebook.click(self.view.number, i).moved
        self.notebook.patience_ms = PATIENCE_MS

    def choose(self) -> None:
        """In each row of which one is down, choose the others, and at last the first again."""
        for row in self.view.choices:
            (down,) = [i for i in row if self.notebook.is_down(self.view.number, i)]
            for i in [*(i for i in row if i != down), down]:
                if not self._click(i):
                    self._dead(self.view.buttons[i])

    def click_buttons(self) -> None:
        """Click each button; one that had nothing to change has another turn at the end.

        Before, a slider is moved: else "undo" has nothing to undo, and waits out all patience.
        """
        self._stray()
        stay_down = {*self.view.toggles, *chain.from_iterable(self.view.choices)}
        acts = [
            i
            for i, name in enumerate(self.view.buttons)
            if i not in stay_down and name not in STILL
        ]
        self.notebook.patience_ms = FIRST_TURN_MS
        unmoved = [i for i in acts if not self._click(i)]
        self.notebook.patience_ms = PATIENCE_MS
        if unmoved:  # a slider at its end may leave a button nothing to do
            for i in range(len(self.view.sliders)):
                self.notebook.focus(self.view.number, i)
                self.notebook.press(self.view.number, i, "ArrowLeft")
        for i in unmoved:
            if not self._click(i):
                self._dead(self.view.buttons[i])

    def _stray(self) -> None:
        """Leave a slider moved; the first may be the replay's, which is none of its own."""
        for i in reversed(range(len(self.view.sliders))):
            self.notebook.focus(self.view.number, i)
            for key in ("ArrowRight", "ArrowLeft"):
                if self.notebook.press(self.view.number, i, key).paints:
                    return

    def _click(self, i: int, **given: float) -> bool:
        """Click one button; says whether the picture changed."""
        effect = self.notebook.click(self.view.number, i, **given)
        self.statuses.append(self.notebook.status(self.view.number))
        return bool(effect.paints)

    def _dead(self, name: str) -> None:
        self.dead.append(name)
        path = self.pictures / f"{self.view.number}-{len(self.dead)}.png"
        self.notebook.page.screenshot(path=path)
