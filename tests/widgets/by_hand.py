"""Take the controls of an explorer in a page where they shall stand, as a hand would.

Sliders and points are moved by keys alone, so that what no key reaches is not reached here either.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets
from playwright.sync_api import ElementHandle, Locator

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.points import Points, Unseen

KEYS = {"x": ("ArrowRight", "ArrowLeft"), "y": ("ArrowUp", "ArrowDown")}
NEXT = 0.02  # of x: a point that is nearer stays; an arrow takes it 0.036 further


def button(box: Locator, label: str) -> Locator:
    """The button that says this and no more; what the style sheet sets before it is left out."""
    return box.locator("button").filter(has_text=re.compile(rf"^\s*{re.escape(label)}\s*$"))


def press_towards(box: Locator, off: Callable[[], float], up: str, down: str) -> None:
    """Press a key until nothing is nearer to where ``off`` is 0."""
    keyboard, now = box.page.keyboard, off()
    while now:
        there, back = (down, up) if now > 0 else (up, down)
        keyboard.press(there)
        last, now = now, off()
        if abs(now) >= abs(last):
            if now != last:  # else it is at its end
                keyboard.press(back)
            return


def slide(box: Locator, control: Any, value: Any) -> None:
    """Take a slider to what its readout then says; fail where no key leads there."""
    goal = controls.written(control, value)
    options = [controls.written(control, one) for one in getattr(control, "options", ())]
    handle = box.get_by_role("slider", name=control.description, exact=True)
    handle.focus()
    shown = partial(said_by, handle.element_handle())  # to find it anew costs more than a key

    def place(text: str) -> float:
        return float(options.index(text) if options else float(text.replace(",", "")))

    for up, down in (("PageUp", "PageDown"), ("ArrowRight", "ArrowLeft")):
        press_towards(box, lambda: place(shown()) - place(goal), up, down)
    assert shown() == goal, f"“{control.description}” comes to {shown()}, and not to {goal}"


def said_by(handle: Locator | ElementHandle) -> str:
    """What the handle of a slider says that it is at."""
    return (handle.get_attribute("aria-valuetext") or "").replace("−", "-")


class Dots:
    """The points of an explorer, by keys."""

    def __init__(self, box: Locator) -> None:
        self.box, self.keyboard = box, box.page.keyboard
        box.locator(".bdl-hand").focus()

    def count(self) -> int:
        return self.box.locator(".bdl-main .bdl-dot").count()

    def chosen(self) -> int:
        found = "d => [...d.parentNode.children].indexOf(d)"
        place: int = self.box.locator(".bdl-main .bdl-chosen").evaluate(found)
        return place

    def choose(self, i: int) -> None:
        for _ in range(2 * self.count()):
            if self.chosen() == i:
                return
            self.keyboard.press("PageDown")
        raise AssertionError(f"no key leads to point {i + 1}")

    def at(self, axis: str) -> float:
        """Where the chosen point is, as who hears the page is told."""
        said = self.box.locator(".bdl-said").inner_text()
        words = dict(part.split(" ") for part in said.split(": ")[1].split(", "))
        return float(words[axis])

    def bring(self, x: float, y: float) -> None:
        """Take the chosen point there, as near as arrows go."""
        for axis, goal in (("x", x), ("y", y)):
            if abs(self.at(axis) - goal) <= NEXT:
                continue
            for shift in ("Shift+", ""):
                up, down = (shift + key for key in KEYS[axis])
                press_towards(self.box, lambda a=axis, g=goal: self.at(a) - g, up, down)  # type: ignore[misc]

    def bring_all(self, x: tuple[float, ...], y: tuple[float, ...]) -> None:
        """Remove those that are too many, add those that are missing; else move each."""
        n = self.count()
        while self.count() > len(x):
            self.choose(0)
            self.keyboard.press("Delete")
        if n < len(x):  # those that are there are the first of them
            for place in zip(x[n:], y[n:], strict=True):
                self.keyboard.press("Insert")
                self.bring(*place)
        elif n == len(x):
            for i, place in enumerate(zip(x, y, strict=True)):
                self.choose(i)
                self.bring(*place)


def set_by_hand(box: Locator, control: Any, value: Any) -> None:
    """Take one control of the page to a value; ``control`` says what it is and how it is called."""
    if isinstance(control, Points):
        Dots(box).bring_all(*value[:2])
    elif isinstance(control, ipywidgets.Dropdown):
        box.get_by_role("combobox", name=control.description, exact=True).select_option(
            label=controls.written(control, value)
        )
    elif isinstance(control, ipywidgets.ToggleButtons):
        row = box.get_by_role("radiogroup", name=control.description, exact=True)
        button(row, controls.written(control, value)).click()
    elif isinstance(control, ipywidgets.ToggleButton):
        if stands_at(box, control) != controls.written(control, value):
            button(box, control.description).click()
    else:
        assert not isinstance(control, Unseen)
        slide(box, control, value)


def chosen(menu: Locator) -> str:
    """What a menu is at; ipywidgets holds the words of its options together."""
    label: str = menu.evaluate("menu => menu.selectedOptions[0].label")
    return label.replace("\N{NO-BREAK SPACE}", " ")


def stands_at(box: Locator, control: Any) -> str:
    """What the page says a control is at, in the words of ``controls.written``."""
    name = control.description
    if isinstance(control, ipywidgets.Dropdown):
        return chosen(box.get_by_role("combobox", name=name, exact=True))
    if isinstance(control, ipywidgets.ToggleButtons):
        row = box.get_by_role("radiogroup", name=name, exact=True)
        return row.locator("[aria-checked=true]").inner_text().strip()
    if isinstance(control, ipywidgets.ToggleButton):
        return "on" if button(box, name).get_attribute("aria-pressed") == "true" else "off"
    return said_by(box.get_by_role("slider", name=name, exact=True))


def go(box: Locator, known: dict[str, Any], way: Values, arrived: Callable[[int], object]) -> None:
    """Go a mission's way; NUTS last, so that it runs once and not for each place on the way.

    Args:
        box: The explorer in its page.
        known: Its controls by name, of another that is made beside it.
        way: Values of controls by name.
        arrived: Waits until so many points are in the page.
    """
    for name, value in sorted(way.items(), key=lambda item: item[0] == "nuts"):
        if name == "data" and "n" in way:
            arrived(way["n"])
        set_by_hand(box, known[name], value)
