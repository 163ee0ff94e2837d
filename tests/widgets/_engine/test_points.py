"""The learner's own points: what is taken, in which units, and what is refused, with its place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach.widgets._engine import points
from bdl_teach.widgets._engine.points import COURSE, MOST, OwnPoints, Points

TABLE = ((10.0, 14.0, 30.0), (1.0, 2.0, 6.0))


def test_a_table_fills_the_middle_of_the_panel_whatever_its_units() -> None:
    for scale, shift in ((1.0, 0.0), (1e-6, 3.0), (4e5, -7.0)):
        x, y = (scale * np.array(column) + shift for column in TABLE)
        value = Points.normal((x, y))
        assert value is not None
        mine = points.in_course(value)
        assert [mine[0].min(), mine[0].max()] == pytest.approx([-0.5, 0.5], abs=1e-3)
        assert [mine[1].mean(), mine[1].std()] == pytest.approx([0.0, 5.0], abs=1e-2)


def test_each_column_keeps_a_millionth_of_its_own_unit() -> None:
    wide, narrow = np.linspace(0.0, 1000.0, 5), np.array([12e-5, 34e-5, 51e-5, 22e-5, 40e-5])
    for table in ((wide, narrow), (narrow, wide)):
        value = Points.normal(table)
        assert value is not None
        np.testing.assert_allclose(value[0], table[0], rtol=1e-4)
        np.testing.assert_allclose(value[1], table[1], rtol=1e-4)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0, 1e7])
def test_a_line_has_as_many_digits_as_a_picture_can_show(unit: float) -> None:
    third = np.array([-1.0, 0.0, 1.0, 4.0]) / 3.0
    value = Points.normal((unit * third, unit * third))
    assert value is not None
    np.testing.assert_allclose(points.in_course(value)[0], (third - 0.5) * 0.6, atol=1e-6)
    assert max(len(f"{number / unit:.9f}".rstrip("0")) for number in value[0]) <= 10


def test_a_value_keeps_its_units_and_is_a_value_again() -> None:
    value = Points.normal(TABLE)
    assert value is not None and value[:2] == TABLE
    assert value[2] == pytest.approx((20.0, 20.0, 3.0, np.std(TABLE[1]) / 5.0))
    assert Points.normal(value) == value
    x, y = points.in_course(value)
    assert points.from_course(x, y, value[2]) == value


def test_columns_may_be_arrays_of_one_column_each() -> None:
    assert Points.normal(tuple(np.array(c)[:, None] for c in TABLE)) == Points.normal(TABLE)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (3, "expected None or a pair (x, y), got 3"),
        ("xy", "expected numbers for x, got 'x'"),
        (((1.0, 2.0),), "expected None or a pair (x, y), got 1 columns"),
        (((1.0, 2.0), (1.0,)), "expected as many x as y, got 2 and 1"),
        (((1.0, np.nan), (1.0, 2.0)), "expected finite numbers, got nan in row 1 of x"),
        (((1.0, 2.0), (np.inf, 2.0)), "expected finite numbers, got inf in row 0 of y"),
        ((np.zeros((3, 2)), (1.0, 2.0, 3.0)), "expected x of shape [n] or [n, 1], got (3, 2)"),
        (((), ()), "expected x of shape [n] or [n, 1], got (0,)"),
        (((1.0, 1.0), (1.0, 2.0)), "expected x that differ, got 2 × 1.0"),
        (((1.0, 2.0), (3.0, 3.0)), "expected y that differ, got 2 × 3.0"),
        ((range(201), range(201)), "expected at most 200 points, got 201"),
        ((*TABLE, (0.0, 0.0, 0.0, 1.0)), "expected units (x₀, x₁ > 0, y₀, y₁ > 0), got (0.0,"),
        ((*TABLE, (0.0, 1.0, 0.0, 0.0)), "expected units (x₀, x₁ > 0, y₀, y₁ > 0), got (0.0,"),
        ("hello", "expected None or a pair (x, y), got 'hello'"),
        (((np.nan, np.nan), (1.0, 2.0)), "expected finite numbers, got nan in row 0 of x"),
        ((*TABLE, (0.0, 1.0)), "expected units (x₀, x₁ > 0, y₀, y₁ > 0), got (0.0, 1.0)"),
    ],
)
def test_what_is_no_table_is_refused_with_what_was_expected(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"data: {words}")):
        Points.normal(given)


@pytest.mark.parametrize(
    "text",
    [
        "1.5,2\n2.5,-3e1\n",
        "x,y\n1.5,2\n2.5,-3e1",
        "weight\tprice\n1.5\t2\n\n2.5\t-30\n",
        "1.5 2\n2.5    -30",
        "1,5;2\n2,5;-30",
        "1,5\t2\n2,5\t-30",
        "1.5;2\n  \n2.5;-30\n\t\n",
        '"a";"b"\n"1,5";"2"\n2,5;-30\r\n',
        "  1.5 , 2  \n 2.5 , -30 ",
    ],
)
def test_two_columns_are_read_however_they_are_separated(text: str) -> None:
    x, y = points.parse(text)
    assert (x.tolist(), y.tolist()) == ([1.5, 2.5], [2.0, -30.0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected at least two lines of two numbers, got 0"),
        ("x,y\n1,2", "expected at least two lines of two numbers, got 1"),
        ("1,2\n3\n", "line 2: expected two columns, x and y, got 1: 3"),
        ("1,2,3\n4,5,6", "line 1: expected two columns, x and y, got 3: 1, 2, 3"),
        ("9," * 60 + "9\n1,2", f"line 1: expected two columns, x and y, got 61: {'9, ' * 13}9"),
        ("1,2\n3,4\n5,six", "line 3: expected two numbers, got 5, six"),
        ("1,2\n\nnan,4", "line 3: expected two numbers, got nan, 4"),
        ("1,2\n3,inf", "line 2: expected two numbers, got 3, inf"),
        ("1,2\nx,y\n3,4", "line 2: expected two numbers, got x, y"),
        ("1,2\n" * 201, "expected at most 200 lines, got 201: paste a part of them"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        points.parse(text)


def test_a_table_of_200_lines_is_still_taken() -> None:
    table = points.parse("1,2\n3,5\n" * (MOST // 2))
    assert len(table[0]) == MOST and Points.normal(table) is not None


def test_where_an_explorer_has_room_for_fewer_more_are_refused() -> None:
    control = Points(3)
    assert control.read(TABLE) == Points.normal(TABLE)
    with pytest.raises(ValueError, match="^data: expected at most 3 points .* got 4$"):
        control.read(((1.0, 2.0, 3.0, 4.0), (1.0, 2.0, 3.0, 5.0)))


def test_what_is_no_table_is_named_in_a_line() -> None:
    with pytest.raises(ValueError, match="^.{1,130}$"):
        Points.normal("far too much of it " * 40)


def drawn() -> datasets.Regression1D:
    return datasets.sinusoid(8, 0.5, 3)


def test_without_own_points_the_drawn_ones_are_used() -> None:
    data = points.chosen(None, 0.5, drawn)
    assert np.array_equal(data.y, drawn().y) and points.count(data) == "8 points"
    assert points.units_of(data) == COURSE


def test_touched_points_keep_the_truth_and_a_table_has_none() -> None:
    d = drawn()
    mine = points.chosen(points.from_course(d.x[:, 0], d.y[:, 0]), 0.7, drawn)
    assert mine.noise_std == 0.7 and points.count(mine) == "8 points of your own"
    np.testing.assert_allclose(mine.x, d.x, rtol=1e-5)
    np.testing.assert_allclose(mine.y, d.y, rtol=1e-5)
    np.testing.assert_array_equal(mine.truth(d.x), d.truth(d.x))
    table = points.chosen(Points.normal(TABLE), 0.7, drawn)
    assert isinstance(table, OwnPoints) and table.units[0] == 20.0
    assert np.isnan(table.truth(d.x)).all()


def test_a_first_line_with_one_number_is_no_header() -> None:
    """It would be lost without a word."""
    with pytest.raises(ValueError, match="^line 1: expected two numbers, got 1, one"):
        points.parse("1,one\n2,3\n3,4")
