"""The status line: how its figures are written, and what is said of their change."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bdl_teach.problems import Problem
from bdl_teach.widgets._engine.status import Said, plain

TABLE = Problem(own=((3.0, 17.0), (90.0, 110.0), (10.0, 14.0, 100.0, 2.0))).data


@pytest.mark.parametrize(
    ("line", "then", "now", "marked"),
    [
        ("F {f:.1f} nats.", 319.4, 404.0, "F 404.0 (+84.6 from grey A) nats."),
        ("F {f:.0f} nats.", 319.4, 319.1, "F 319 nats."),
        ("rate {f:.2g} now", 0.5, 0.25, "rate 0.25 (−0.25 from grey A) now"),
        ("score {f:.2g}", 1.2, 1200.0, "score 1.2e+03 (+1.2e+03 from grey A)"),
        ("rate {f:.0e}", 3e-5, 1e-5, "rate 1e-05 (−2e-05 from grey A)"),
        ("evidence {f:.1f}", -21.9, -10.6, "evidence −10.6 (+11.3 from grey A)"),
        ("likelihood {f:,.0f}", 1200, 3450, "likelihood 3,450 (+2,250 from grey A)"),
        ("{f:.0%} off", 0.52, 0.61, "61% (+9 from grey A) off"),
        ("it carries {f:.1f} % of it", 12.5, 50.2, "it carries 50.2 % (+37.7 from grey A) of it"),
        ("{f:.0f}/{g:.0f}%", 85, 91, "91 (+6 from grey A)/1%"),
        ("gap {f:.0f}%", math.nan, 5.0, "gap 5%"),
        ("sd {f:sd} in y", 1.0, 2.5, "sd 5 (+3 from grey A) in y"),
        ("at x = {f:at}", -2.0, -1.0, "at x = −4"),
    ],
)
def test_a_figure_has_its_change_in_brackets(
    line: str, then: float, now: float, marked: str
) -> None:
    before, after = (Said(line, {"f": f, "g": 1.0}, {}, TABLE) for f in (then, now))
    assert after.marked(before) == marked
    assert "grey A" not in str(after)


def test_shared_figures_are_compared_and_a_named_once() -> None:
    before = Said("{a:.0f}", {"a": 1.0, "b": 2.0})
    after = Said("{a:.0f}, {b:.0f} {more}", {"a": 2.0, "b": 3.0, "c": 4.0}, {"more": "{c:.0f}"})
    assert after.marked(before) == "2 (+1 from grey A), 3 (+1) 4"
    assert [number.name for number in after.numbers(before)] == ["a", "b"]


@pytest.mark.parametrize(("value", "written"), [(-0.04, "0.0"), (-0.06, "−0.1"), (math.nan, "–")])
def test_zero_has_no_minus_sign(value: float, written: str) -> None:
    assert str(Said("{f:.1f}", {"f": value})) == written


def test_column_names_with_braces_are_not_templates() -> None:
    words: dict[str, Any] = {"name": plain("{F} in {}")}
    assert str(Said("{name} = {F:.0f}", {"F": np.float64(3)}, words)) == "{F} in {} = 3"
