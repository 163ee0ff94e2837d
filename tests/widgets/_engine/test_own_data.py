"""Test the learner's own points: accepted tables, their units, and refused ones."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from bdl_teach.problems import Problem
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine.own_data import Points

TABLE = ((10.0, 14.0, 30.0), (1.0, 2.0, 6.0))


def normal(given: object) -> points.Value | None:
    """Return the points that a control holds for a table."""
    return points.read(given)[0]


def test_points_fill_the_middle_of_the_panel_and_keep_their_units() -> None:
    for scale, shift in ((1.0, 0.0), (1e-6, 3.0), (4e5, -7.0)):
        x, y = (scale * np.array(column) + shift for column in TABLE)
        value = normal((x, y))
        assert value is not None
        mine = points.in_course(value)
        assert [mine[0].min(), mine[0].max()] == pytest.approx([-0.5, 0.5], abs=1e-3)
        assert [mine[1].mean(), mine[1].std()] == pytest.approx([0.0, 5.0], abs=1e-2)
        assert normal(value) == value == points.from_course(*mine, value[2])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (3, "expected None, a pair (x, y), or a table of two columns, got 3"),
        (((1.0, "two"), (1.0, 2.0)), "expected numbers or dates for x, got (1.0, 'two')"),
        (((1.0, 2.0), (1.0,)), "expected as many x as y, got 2 and 1"),
        (((1.0, 2.0), (np.inf, 2.0)), "expected finite numbers, got inf in row 0 of y"),
        (((1.0, 1.0), (1.0, 2.0)), "all x are 1: there is nothing to fit"),
        (((-1e308, 1e308), (1.0, 5.0)), "expected x between 1e-100 and 1e100, got 1e+308"),
        ((np.array(["2018-01-01", "NaT"], "M8[D]"), (1.0, 5.0)), "expected dates in x, got NaT"),
    ],
)
def test_message_on_invalid_points_says_the_expected_form(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        normal(given)


class Frame:
    """The part of a pandas DataFrame that the package uses; pandas is not installed here."""

    columns = ("year", "co2")

    def __getitem__(self, name: str) -> list[float]:
        return [2018.0, 2020.0] if name == "year" else [408.5, 414.2]


DAYS = np.array(["2018-01-31", "2018-02-02", "2018-02-03"], "datetime64[D]")
HIDDEN = np.ma.array([1.0, -999.0, 5.0, 2.0], mask=[False, True, False, False])


@pytest.mark.parametrize(
    ("given", "x", "y", "labels", "notes"),
    [
        (np.array(TABLE).T, *TABLE, (), ""),
        (Frame(), (2018, 2020), (408.5, 414.2), (("year", "co2", "", ""),), ""),
        (((1, 2, 3, 4), HIDDEN), (1, 3, 4), (1, 5, 2), (), "1 of 4 rows are masked: left out"),
        ((DAYS, (1, 2, 4)), (0, 2, 3), (1, 2, 4), (("", "", "2018-01-31", ""),), ""),
        (
            "day;price €\n31.1.2018;1,5\n2.2.2018;2\n;3",
            (0, 2),
            (1.5, 2),
            (("day", "price €", "2018-01-31", ""),),
            "1 of 3 rows left out",
        ),
    ],
)
def test_points_from_python_keep_their_names_and_dates(
    given: Any, x: Any, y: Any, labels: Any, notes: str
) -> None:
    control = Points()
    value = control.value = control.read(given)
    np.testing.assert_allclose(value[0], x)
    np.testing.assert_allclose(value[1], y)
    assert value[3:] == labels and notes in control.notes(value)
    assert control.read(value) == value


def test_too_many_points_are_sampled_reproducibly() -> None:
    control = Points(200)
    x = np.random.default_rng(0).normal(size=10_000)
    value = control.value = control.read((x, 3 * x))
    assert len(value[0]) == 200
    assert np.abs(np.array(value[0])[:, None] - x).min(axis=1).max() < 1e-5
    assert "200 of 10,000 points are taken at random" in control.notes(value)
    assert control.read((x, 3 * x)) == value
    assert np.std(value[0]) == pytest.approx(1.0, abs=0.2)


def test_x_values_of_a_table_of_dates_are_written_as_dates() -> None:
    data = Problem(own=normal((DAYS[[0, 2]], (0.0, 1.0)))).data
    assert points.at(data, 0.0) == "2018-02-01 12:00"
    assert points.ends(data).startswith("x = 2018-01-28")
