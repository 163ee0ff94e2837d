"""Test that slips in a data file are refused when it is read."""

import re

import pytest
from toy import TEXTS

from bdl_teach import widgets
from bdl_teach.widgets._engine import texts


@pytest.mark.parametrize(
    ("mover", "shown", "said"),
    [
        ("wdth", "curve", "expected names of controls, got wdth"),
        ("width", "curv", "show: expected one of curve, got curv"),
    ],
)
def test_context_panel_with_unknown_names_is_refused(mover: str, shown: str, said: str) -> None:
    panel = f'[context]\ncurve = ["curve", ["{mover}"]]\n'
    preset = f'[presets]\nlow = ["The bar", {{ width = 0.5, show = "{shown}" }}]\n'
    text = TEXTS.replace("[presets]\n", preset).replace("[readings]", f"{panel}[readings]")
    with pytest.raises(ValueError, match=said):
        texts.parse(text)


def test_preset_sets_the_values_that_its_words_name() -> None:
    named = 0
    for kind in (getattr(widgets, name) for name in widgets.__all__):
        for look, values in kind.PRESETS.values():
            for control, text in kind.TEXTS.controls.items():
                value = values.get(control, kind.DEFAULTS.get(control))
                for number in re.findall(rf"{text.label} (?:= |of )?([\d.]*\d)", look):
                    if text.label and isinstance(value, int | float):
                        assert value == pytest.approx(float(number), rel=0.01), (kind, look)
                        named += 1
    assert named > 5
