"""The controls that explorers share: what each holds, says and does."""

from __future__ import annotations

import html

import ipywidgets
import pytest

from bdl_teach.widgets._engine import controls

MADE = {
    "slider": controls.slider("a σ", 0.5, 0.1, 2.0, 0.05, "what it is"),
    "count": controls.count_slider("a σ", 3, 1, 9, "what it is"),
    "log": controls.log_slider("a σ", 0.1, -3, 1, ".3f", "what it is"),
    "choice": controls.choice_slider("a σ", 4, (1, 4, 16), "what it is"),
    "toggle": controls.toggle("a σ", "what it is"),
    "button": controls.button("a σ", "what it is", lambda: None),
}


@pytest.mark.parametrize("kind", MADE)
def test_every_control_has_a_name_and_a_hint(kind: str) -> None:
    assert (MADE[kind].description, MADE[kind].tooltip) == ("a σ", "what it is")


@pytest.mark.parametrize("kind", ["slider", "count", "log", "choice"])
def test_every_movement_of_a_slider_counts_not_only_its_end(kind: str) -> None:
    assert MADE[kind].continuous_update is True


def test_a_slider_holds_its_value_its_ends_and_its_step() -> None:
    made = MADE["slider"]
    assert (made.value, made.min, made.max, made.step) == (0.5, 0.1, 2.0, 0.05)
    assert made.readout_format == ".2f", "a step of 0.05 is seen"
    made = MADE["count"]
    assert (made.value, made.min, made.max, made.step) == (3, 1, 9, 1)


def test_a_log_slider_goes_over_powers_of_ten_in_tenths_of_a_decade() -> None:
    made = controls.log_slider("KL weight", 0.1, -3, 1, ".3f", "")
    assert (made.base, made.min, made.max, made.step) == (10, -3, 1, 0.1)
    assert (made.value, made.readout_format) == (0.1, ".3f")
    made.value = 8.0  # from Python any value between the ends, such as a preset's
    assert made.value == 8.0
    for value, end in ((1e-9, 1e-3), (1e9, 10.0)):
        made.value = value
        assert made.value == pytest.approx(end)


def test_a_choice_slider_takes_the_given_values_in_their_order() -> None:
    made = MADE["choice"]
    assert (made.value, list(made.options)) == (4, [1, 4, 16])


def test_a_toggle_starts_up_and_stays_down() -> None:
    made = controls.toggle("compare", "")
    assert made.value is False
    made.value = True
    assert made.value is True


def test_each_preset_s_button_chooses_its_own_preset() -> None:
    chosen: list[str] = []
    presets = {"one": ("look left", {}), "two": ("look right", {}), "three": ("look up", {})}
    made = controls.preset_buttons(presets, chosen.append)
    assert [(b.description, b.tooltip) for b in made] == [
        (name, hint) for name, (hint, _) in presets.items()
    ]
    for button in made:
        button.click()
    assert chosen == ["one", "two", "three"]


def test_words_for_screen_readers_are_text_and_take_no_room() -> None:
    made = controls.for_screen_readers("σ < 1 & <b>more</b>")
    assert "<b>" not in made.value
    assert html.unescape(made.value).count("σ < 1 & <b>more</b>") == 1
    assert "display: none" not in made.value, "or nothing would read it out"
    assert (made.layout.height, made.layout.margin) == ("0", "0")


def test_a_grid_has_its_columns_and_a_row_wraps() -> None:
    parts = [controls.toggle(name, "") for name in "abcd"]
    assert list(controls.grid(parts, columns=3).children) == parts
    assert "repeat(3, " in controls.grid(parts, columns=3).layout.grid_template_columns
    assert "repeat(2, " in controls.grid(parts).layout.grid_template_columns
    row = controls.row(parts)
    assert list(row.children) == parts
    assert row.layout.flex_flow == "row wrap"


def test_the_label_of_toggle_buttons_keeps_away_from_them() -> None:
    choice = ipywidgets.ToggleButtons(options=["a", "b"], description="shares")
    controls.row([choice])
    assert choice.description == "shares\N{NO-BREAK SPACE}"
    assert choice.layout.display == "flex"
