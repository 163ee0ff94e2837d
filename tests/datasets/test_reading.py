"""Pasted tables are read exactly, or refused in one sentence; none is misread without a note."""

import datetime
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl_teach.datasets import Ambiguous, ChooseColumns, read_points

# Each has a text, and its rows "x y, x y" with "name|name" and "date at x = 0|date at y = 0", or
# words of the refusal ("choose": columns must be chosen). The page's tests run through them too.
CASES = json.loads(Path(__file__).with_name("tables.json").read_text(encoding="utf-8"))
NB, NNB = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"


def rows_of(case: dict[str, Any]) -> list[list[float]]:
    return [[float(number) for number in row.split()] for row in case["rows"].split(",")]


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_table_is_read_with_notes_or_refused(case: dict[str, Any]) -> None:
    try:
        points = read_points(case["text"], columns=case.get("columns"))
    except ValueError as error:
        said = f"choose: {error}" if isinstance(error, ChooseColumns) else str(error)
        assert case.get("refused", "read") in said and "\n" not in said
        return
    assert np.stack([points.x, points.y], axis=1).tolist() == rows_of(case)
    assert ["|".join(points.names), "|".join(points.zeros)] == [
        case.get("names", "|"),
        case.get("zeros", "|"),
    ]
    assert case.get("notes", "") in "; ".join(points.notes)


@pytest.mark.parametrize(
    ("text", "given", "rows", "note"),
    [
        ("1;1.250\n2;2.500", {"decimal": "."}, "1 1.25, 2 2.5", "1.250 is read as 1.25"),
        ("1;1.250\n2;2.500", {"decimal": ","}, "1 1250, 2 2500", "1.250 is read as 1250"),
        ("01/02/2018;1\n02/02/2018;2", {"day_first": True}, "0 1, 1 2", "read as 2018-02-01"),
        ("01/02/2018;1\n02/02/2018;2", {"day_first": False}, "0 1, 31 2", "read as 2018-01-02"),
    ],
)
def test_argument_decides_what_no_row_says(
    text: str, given: dict[str, Any], rows: str, note: str
) -> None:
    with pytest.raises(Ambiguous) as refused:
        read_points(text)
    assert refused.value.argument in given and len(refused.value.readings) == 2
    points = read_points(text, **given)
    assert np.stack([points.x, points.y], axis=1).tolist() == rows_of({"rows": rows})
    assert any(note in one for one in points.notes)


def test_columns_are_chosen_by_name() -> None:
    points = read_points("a;b;c\n1;2;3\n4;5;6", columns=("c", "a"))
    assert (points.names, points.x.tolist()) == (("c", "a"), [3, 6])
    for columns in (("a", "a"), ("a", "d"), ("a", 3), "ab"):
        with pytest.raises(ValueError, match="columns: expected"):
            read_points("a;b;c\n1;2;3\n4;5;6", columns=columns)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Habit:
    """A local way to write numbers and tables."""

    decimal: str
    thousands: str
    separator: str
    minus: str
    quoted: bool
    named: bool
    counted: bool
    unit: str
    grouped: bool
    places: int

    def number(self, value: int) -> str:
        """Write ``value`` / 10^places."""
        whole, fraction = divmod(abs(value), 10**self.places)
        said = f"{whole:,}".replace(",", self.thousands) if self.grouped else str(whole)
        if self.places:
            said += f"{self.decimal}{fraction:0{self.places}d}"
        return f"{self.minus}{said}" if value < 0 else said

    def table(self, rows: list[tuple[str, str]]) -> str:
        """Write rows, one per line."""
        mark = '"' if self.quoted else ""
        lines = [[x, y + self.unit] for x, y in rows]
        if self.counted:
            lines = [[str(i), *cells] for i, cells in enumerate(lines, 1)]
        if self.named:
            lines.insert(0, [*[""] * self.counted, "size", "rent"])
        return "\n".join(
            self.separator.join(f"{mark}{cell}{mark}" for cell in line) for line in lines
        )


HABITS = st.tuples(
    st.sampled_from([(".", ","), (",", "."), (",", NNB), (",", NB), (",", " "), (".", "'")]),
    st.sampled_from(["\t", ";", ",", "|", " ", "，", ", ", " | "]),
    st.sampled_from("-−"),
    *[st.booleans()] * 3,
    st.sampled_from(["", "", "%", " €"]),
    st.booleans(),
    st.integers(0, 4),
).map(lambda part: Habit(*part[0], *part[1:]))
SMALL = st.integers(-9_999, 9_999)
ROWS = st.lists(st.tuples(SMALL | st.integers(), SMALL | st.integers(-(10**9), 10**9)), min_size=2)
DAYS = st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31))
WRITTEN = ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d %B %Y", "%b %d, %Y", "%d-%b-%y"]


def assert_read(text: str, expected: list[list[float]]) -> None:
    """Check that a table is read exactly as expected, or refused in one line."""
    try:
        points = read_points(text)
    except ValueError as refused:
        assert "\n" not in str(refused)
        return
    assert np.stack([points.x, points.y], axis=1).tolist() == expected, text


@given(HABITS, ROWS)
@settings(max_examples=400, deadline=None)
def test_numbers_in_any_notation_are_read_exactly_or_refused(
    habit: Habit, rows: list[tuple[int, int]]
) -> None:
    written = [(habit.number(x), habit.number(y)) for x, y in rows]
    assert_read(
        habit.table(written),
        [[float(f"{value}e-{habit.places}") for value in row] for row in rows],
    )


@given(HABITS, st.lists(st.tuples(DAYS, SMALL), min_size=2), st.sampled_from(WRITTEN))
@settings(max_examples=200, deadline=None)
def test_dates_in_any_notation_are_read_exactly_or_refused(
    habit: Habit, rows: list[tuple[datetime.date, int]], way: str
) -> None:
    first = min(day for day, _ in rows)
    written = [(day.strftime(way), habit.number(value)) for day, value in rows]
    expected = [[(day - first).days, float(f"{y}e-{habit.places}")] for day, y in rows]
    assert_read(habit.table(written), expected)


NUMERIC = st.characters(categories=["Nd", "Nl", "No"])
SEEN = st.characters(exclude_categories=["C", "Z"], exclude_characters='";#')


@given(
    st.lists(st.tuples(st.text(SEEN, max_size=3), NUMERIC, st.text(SEEN, max_size=3)), min_size=2)
)
def test_numeric_column_is_read_or_asked_about_never_lost(cells: list[tuple[str, ...]]) -> None:
    rows = [f"{i};{i % 3};{''.join(cell)}" for i, cell in enumerate(cells)]
    with pytest.raises(ValueError) as refused:
        read_points("\n".join(["a;b;c", *rows]))
    if isinstance(refused.value, ChooseColumns):
        assert "c" in refused.value.names


@given(st.text(SEEN, max_size=3), NUMERIC, st.text(SEEN, max_size=3))
def test_row_below_names_is_read_or_refused_never_lost(before: str, digit: str, after: str) -> None:
    try:
        points = read_points(f"a;b\n{digit}{before};{digit}{after}\n1;2\n3;4")
    except ValueError:
        return
    assert len(points.x) == 3 or points.notes


@given(st.integers(), st.text(st.characters(categories=["L", "Sm", "No"]), min_size=1, max_size=4))
def test_number_with_letters_or_signs_is_refused(number: int, after: str) -> None:
    with pytest.raises(ValueError, match="line 1: expected a number or a date, got “"):
        read_points(f"1\t{number}{after}\n2\t{number}{after}")
