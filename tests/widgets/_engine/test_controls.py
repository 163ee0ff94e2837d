"""The controls that explorers share: what each holds, says and does."""

from __future__ import annotations

import html

import pytest

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Control

POWERS = Control("powers", "KL weight", 1.0, [-3, 1], "", ".3f")


def test_powers_in_data_file_are_rounded_to_slider_steps() -> None:
    for written, held in ((0.126, 10**-0.9), (0.01, 0.01), (7.94, 10**0.9), (10, 10.0)):
        made = POWERS.make()
        made.value = POWERS.value(written)
        assert made.value == held, "the slider has no other"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ({"a": 0.1}, {"a": 10**-1.0 * (1 + 1e-12)}, True),
        ({"a": 0.1}, {"a": 0.1001}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
    ],
)
def test_states_are_the_same_but_for_what_a_page_rounds(
    one: controls.Values, other: controls.Values, alike: bool
) -> None:
    assert controls.same(one, other) is controls.same(other, one) is alike


def test_control_words_are_escaped() -> None:
    made = controls.words("σ < 1 & <b>more</b>", "one-name", "another")
    assert "<b>" not in made.value
    assert html.unescape(made.value) == "σ < 1 & <b>more</b>"
    assert made._dom_classes == ("one-name", "another")
