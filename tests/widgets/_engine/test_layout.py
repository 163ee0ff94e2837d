"""The head of an explorer: which preset is shown, where to look, and where everything stands."""

from __future__ import annotations

import html

import pytest

from bdl_teach.widgets._engine.layout import OWN, PresetMenu

PRESETS = {
    "one": ("Look left, at σ < 1", {"x": 0.1, "n": 1}),
    "two": ("The right end", {"x": 10**-0.5, "n": 2}),
}


@pytest.fixture
def chosen() -> list[str]:
    return []


@pytest.fixture
def start(chosen: list[str]) -> PresetMenu:
    return PresetMenu(PRESETS, chosen.append)


def test_the_preset_that_is_shown_is_marked_and_its_sentence_says_where_to_look(
    start: PresetMenu, chosen: list[str]
) -> None:
    start.show({"x": 10**-0.5 * (1 + 1e-12), "n": 2})  # as a page rounds it
    assert start.menu.value == "two"
    assert start.look.value == "<b>Look:</b> The right end."
    start.show({"x": 0.1, "n": 1})
    assert start.menu.value == "one"
    assert html.unescape(start.look.value) == "<b>Look:</b> Look left, at σ < 1."
    assert "σ < 1" not in start.look.value, "text, and not markup"
    assert chosen == [], "nobody has chosen anything"


def test_choosing_in_the_menu_chooses_that_preset(start: PresetMenu, chosen: list[str]) -> None:
    start.menu.value = "two"
    start.show({"x": 10**-0.5, "n": 2})
    start.menu.value = "one"
    start.menu.value = OWN  # moves nothing
    assert chosen == ["two", "one"]
