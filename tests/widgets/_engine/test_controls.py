"""The controls that explorers share: what each holds, says and does."""

from __future__ import annotations

import html

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


@pytest.mark.parametrize("kind", ["slider", "count", "log", "choice"])
def test_every_movement_of_a_slider_counts_not_only_its_end(kind: str) -> None:
    assert MADE[kind].continuous_update is True


def test_a_log_slider_goes_over_powers_of_ten_in_tenths_of_a_decade() -> None:
    made = controls.log_slider("KL weight", 0.1, -3, 1, ".3f", "")
    assert (made.base, made.min, made.max, made.step) == (10, -3, 1, 0.1)
    assert (made.value, made.readout_format) == (0.1, ".3f")
    made.value = 8.0  # from Python any value between the ends, such as a preset's
    assert made.value == 8.0
    for value, end in ((1e-9, 1e-3), (1e9, 10.0)):
        made.value = value
        assert made.value == pytest.approx(end)


def test_a_log_slider_of_counts_steps_further_where_a_tenth_is_less_than_one() -> None:
    made = controls.log_slider("draws", 10.0, 0, 3, ".0f", "", step=0.2)
    assert (made.min, made.max, made.step) == (0, 3, 0.2)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ({"a": 0.1}, {"a": 10**-1.0 * (1 + 1e-12)}, True),
        ({"a": 0.1}, {"a": 0.1001}, False),
        ({"a": 3}, {"a": 4}, False),
        ({"a": "x"}, {"a": "x"}, True),
        ({"a": True}, {"a": False}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
    ],
)
def test_states_are_the_same_but_for_what_a_page_rounds(
    one: controls.Values, other: controls.Values, alike: bool
) -> None:
    assert controls.same(one, other) is controls.same(other, one) is alike


def test_words_are_text_and_not_markup() -> None:
    made = controls.words("σ < 1 & <b>more</b>", "one-name", "another")
    assert "<b>" not in made.value
    assert html.unescape(made.value) == "σ < 1 & <b>more</b>"
    assert made._dom_classes == ("one-name", "another")
