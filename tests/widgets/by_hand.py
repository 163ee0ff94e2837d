"""Take the controls of an explorer in a page where they shall stand, as a hand would."""

from __future__ import annotations

import re
from typing import Any

import ipywidgets
from playwright.sync_api import Locator

from bdl_teach.widgets._engine import controls


def button(box: Locator, label: str) -> Locator:
    """The button that says this and no more; what the style sheet sets before it is left out."""
    return box.locator("button").filter(has_text=re.compile(rf"^\s*{re.escape(label)}\s*$"))


def slide(box: Locator, control: Any, value: float) -> None:
    """Take a slider by its arrow keys to what its readout then says."""
    handle = box.get_by_role("slider", name=control.description, exact=True)
    handle.focus()
    for _ in range(100):
        off = float(said_by(handle)) - float(controls.written(control, value))
        if not off:
            return
        box.page.keyboard.press("ArrowLeft" if off > 0 else "ArrowRight")
    raise AssertionError(f"no key takes “{control.description}” to {value}: {said_by(handle)}")


def said_by(handle: Locator) -> str:
    """What the handle of a slider says that it is at."""
    return (handle.get_attribute("aria-valuetext") or "").replace("−", "-")


def choose(box: Locator, control: Any, value: Any) -> None:
    """Take a menu or a row of buttons of the page to a value."""
    name, words = control.description, controls.written(control, value)
    if isinstance(control, ipywidgets.Dropdown):
        box.get_by_role("combobox", name=name, exact=True).select_option(label=words)
    else:
        button(box.get_by_role("radiogroup", name=name, exact=True), words).click()


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
