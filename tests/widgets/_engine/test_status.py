"""Test how the sentence and the table write readings."""

import math
import re
from typing import Any

import numpy as np
import pytest

from bdl_teach.problems import Problem
from bdl_teach.widgets._engine import status
from bdl_teach.widgets._engine.status import Said, plain
from bdl_teach.widgets._engine.texts import Row

TABLE = Problem(own=((3.0, 17.0), (90.0, 110.0), (10.0, 14.0, 100.0, 2.0))).data


@pytest.mark.parametrize(
    ("line", "value", "written"),
    [
        ("evidence {f:.1f}", -10.64, "evidence −10.6"),
        ("{f:.0%} off", 0.506, "51% off"),
        ("sd {f:sd} in y", 2.5, "sd 5.0 in y"),
        ("at x = {f:at}", -1.0, "at x = −4"),
        ("F {f:.0f} {more}", 319.6, "F 320 (of 1)"),
    ],
)
def test_sentence_writes_readings_in_the_units_of_the_points(
    line: str, value: float, written: str
) -> None:
    more = {"more": "(of {g:.0f})"}
    assert str(Said(line, {"f": value, "g": 1.0}, more, TABLE)) == written


def test_table_has_a_row_for_each_reading_there_is_and_a_column_for_a() -> None:
    rows = {"f": Row("sd <of> y", "sd", "meant"), "g": Row("g"), "h": Row("h")}
    now, then = Said("", {"f": 2.5, "g": 1.0}, {}, TABLE), Said("", {"f": 1.0}, {}, TABLE)
    text = status.table(now, rows, then)
    assert re.findall(r"<td>(.*?)</td>", text) == ["5.0", "2.0", "1", ""]
    assert 'title="meant">sd &lt;of&gt; y' in text and ">h<" not in text
    assert len(re.findall("<td>", status.table(now, rows, None))) == 2


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


def test_column_names_with_braces_are_not_templates() -> None:
    words: dict[str, Any] = {"name": plain("{F} in {}")}
    assert str(Said("{name} = {F:.0f}", {"F": np.float64(3)}, words)) == "{F} in {} = 3"
