"""Test how the status line writes numbers and their change since a pinned state."""

import math
from typing import Any

import numpy as np
import pytest

from bdl_teach.elbo import FreeEnergy
from bdl_teach.problems import Problem
from bdl_teach.widgets._engine import status
from bdl_teach.widgets._engine.status import Said, plain

TABLE = Problem(own=((3.0, 17.0), (90.0, 110.0), (10.0, 14.0, 100.0, 2.0))).data


@pytest.mark.parametrize(
    ("line", "then", "now", "marked"),
    [
        ("score {f:.2g}", 1.2, 1200.0, "score 1200 (+1200 from grey A)"),
        ("evidence {f:.1f}", -21.9, -10.6, "evidence −10.6 (+11.3 from grey A)"),
        ("it carries {f:.1f} % of it", 12.5, 50.2, "it carries 50.2 % (+37.7 from grey A) of it"),
        ("F {f:.0f}", 319.6, 404.4, "F 404 (+85 from grey A)"),
        ("F {f:.0f}", 319.4, 319.6, "F 320"),
        ("{f:.0%} off", 0.254, 0.506, "51% (+25 from grey A) off"),
        ("{f:.0f}/{g:.0f}%", 85, 91, "91 (+6 from grey A)/1%"),
        ("gap {f:.0f}%", math.nan, 5.0, "gap 5%"),
        ("sd {f:sd} in y", 1.0, 2.5, "sd 5.0 (+3.0 from grey A) in y"),
        ("at x = {f:at}", -2.0, -1.0, "at x = −4"),
    ],
)
def test_status_number_is_followed_by_its_change_in_brackets(
    line: str, then: float, now: float, marked: str
) -> None:
    before, after = (Said(line, {"f": f, "g": 1.0}, {}, TABLE) for f in (then, now))
    assert after.marked(before) == marked
    assert "grey A" not in str(after)


def test_status_line_shows_changes_of_readings_that_both_states_have() -> None:
    before = Said("{a:.0f}", {"a": 1.0, "b": 2.0})
    after = Said("{a:.0f}, {b:.0f} {more}", {"a": 2.0, "b": 3.0, "c": 4.0}, {"more": "{c:.0f}"})
    assert after.marked(before) == "2 (+1 from grey A), 3 (+1) 4"
    assert [number.name for number in after.numbers(before)] == ["a", "b"]


@pytest.mark.parametrize(
    ("form", "value", "written"),
    [
        (".1f", -0.04, "0.0"),
        (".1f", -0.06, "−0.1"),
        (".1f", math.nan, "–"),
        (".3g", -1234.0, "−1230"),
        (".2g", -1.23e-7, "−1.2 × 10⁻⁷"),
        ("sd", 0.0044, "0.0044"),
        ("sd3", 1e-9, "0"),
    ],
)
def test_number_in_a_sentence(form: str, value: float, written: str) -> None:
    assert str(Said(f"{{f:{form}}}", {"f": value})) == written


def test_total_is_the_sum_of_its_rounded_parts_and_its_change_is_not() -> None:
    before, after = (Said("{F:sum}", status.costs(FreeEnergy(c, 100.4))) for c in (50.4, 60.1))
    assert str(before) == "150" and after.marked(before) == "160 (+10 from grey A)"
    assert before.readings["F"] == pytest.approx(150.8)


def test_column_names_with_braces_are_not_templates() -> None:
    words: dict[str, Any] = {"name": plain("{F} in {}")}
    assert str(Said("{name} = {F:.0f}", {"F": np.float64(3)}, words)) == "{F} in {} = 3"
