"""Test that slips in a data file are refused when it is read."""

import pytest
from toy import TEXTS

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
