"""Pasted tables are read exactly, or refused in one sentence; none is misread without a note."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl_teach.datasets import read_points

NB, NNB = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"


class Case(NamedTuple):
    """A text that can be read, and the expected result."""

    text: str
    rows: str
    names: str
    notes: tuple[str, ...]
    zero: str
    options: dict[str, Any]


def read(
    text: str, rows: str, names: str = "|", *notes: str, zero: str = "", **options: Any
) -> Case:
    """Make a case: rows "x y, x y", "name|name", words of the notes, the date at x = 0."""
    return Case(text, rows, names or "|", notes, zero, options)


ROOMS = "rooms\trent\n1\t900\n2\t1,250\n3\t1,700"
READ = {
    # Separators, quotes, and lines above the table.
    "names": read(
        "year,co2 [ppm]\n2018,408.5\n2019,411.4", "2018 408.5, 2019 411.4", "year|co2 [ppm]"
    ),
    "BOM and CRLF": read("\ufeffx;y\r\n1;2\r\n3;4\r\n", "1 2, 3 4", "x|y"),
    "sep line": read("sep=;\na;b\n1,5;2\n3;4", "1.5 2, 3 4", "a|b"),
    "title": read(
        "Rents in Berlin\n\nsize;rent\n20;500,5\n30;700",
        "20 500.5, 30 700",
        "size|rent",
        "line 1 skipped: Rents in Berlin",
    ),
    "units row": read("time;speed\ns;m/s\n0;1,5\n1;2", "0 1.5, 1 2", "time [s]|speed [m/s]"),
    "comments": read(
        "# made by me\n# twice\nx,y\n1,2\n# here\n3,4",
        "1 2, 3 4",
        "x|y",
        "lines 1, 2 and 5: comment",
    ),
    "blanks between decimal commas": read("0,5 1,2\n0,6 1,3", "0.5 1.2, 0.6 1.3"),
    "quoted names with a line break": read(
        '"Year\n(AD)"\t"Rent"\n1\t2\n3\t4', "1 2, 3 4", "Year (AD)|Rent"
    ),
    "quoted separator": read('"x, in m";"y; in s"\n1;2\n3;4', "1 2, 3 4", "x, in m|y; in s"),
    "empty third column": read("x\ty\t\n1\t2\t\n3\t4\t", "1 2, 3 4", "x|y"),
    # R, pandas, Markdown, web pages, psql.
    "R write.table": read(
        '"year" "rent"\n"1" 2018 900\n"2" 2019 NA\n"3" 2020 950',
        "2018 900, 2020 950",
        "year|rent",
        "1 of 3 rows has no number: left out, line 3 (rent is NA)",
    ),
    "pandas frame shortened": read(
        "    x   y\n0   1 1.5\n1   2 2.5\n..  .. ...\n98 99 3.5\n\n[99 rows x 2 columns]",
        "1 1.5, 2 2.5, 99 3.5",
        "x|y",
        "not copied",
        "counts the rows",
    ),
    "pandas series": read("0    1.5\n1    2.5\nName: y, dtype: float64", "0 1.5, 1 2.5"),
    "pandas dates": read(
        "            price\ndate\n2020-01-31   10.5\n2020-02-02   11.5",
        "0 10.5, 2 11.5",
        "date|price",
        "days since 2020-01-31",
        zero="2020-01-31",
    ),
    "Markdown": read("| x | y |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |", "1 2, 3 4", "x|y"),
    "psql": read(" x | y\n---+---\n 1 | 2\n 3 | 4\n(2 rows)", "1 2, 3 4", "x|y"),
    "footnotes of a page": read(
        "1\t900[a]\n2\t1,250.5[12]", "1 900, 2 1250.5", "", "900[a] (line 1) is read as 900"
    ),
    "a column of text": read(
        "city\tsize\trent\nBonn\t1\t5\nUlm\t2\t6",
        "1 5, 2 6",
        "size|rent",
        "city has no number: left out",
    ),
    # Numbers.
    "rents, decided": read(
        "rooms\trent\n1\t900\n2\t1,250\n3\t1,700\n4\t2,100.50",
        "1 900, 2 1250, 3 1700, 4 2100.5",
        "rooms|rent",
    ),
    "decided by zero": read("1\t0,125\n2\t1,250", "1 0.125, 2 1.25"),
    "decided by the other column": read(
        "0,5\t1.250\n1,5\t2.500", "0.5 1250, 1.5 2500", "", "y: 1.250 is read as 1250"
    ),
    "decimals, told": read(
        "1.000;2.500\n2.000;3.500",
        "1 2.5, 2 3.5",
        "",
        "x: 1.000 is read as 1",
        "y: 2.500 is read as 2.5",
        decimal=".",
    ),
    "first row without numbers": read(
        "NA;NA\n1.234,5;2.345,6\n2.345,6;1,5",
        "1234.5 2345.6, 2345.6 1.5",
        "",
        "1 of 3 rows has no number: left out, line 1",
    ),
    "French with plain blanks": read("1 000;1 234 567,5\n2 000;3", "1000 1234567.5, 2000 3"),
    "Russian": read(
        f"год\tцена\n2018\t1{NB}234,50{NB}руб.\n2019\t2{NB}345,00{NB}руб.",
        "2018 1234.5, 2019 2345",
        "год|цена",
        "цена: “руб.” is left out",
    ),
    "Chinese": read("房间，租金\n１，９００\n２，１２５０", "1 900, 2 1250", "房间|租金"),
    "Chinese list": read("1、900\n2、1250.5", "1 900, 2 1250.5"),
    "Swiss": read("1;1'000.50\n2;1’250", "1 1000.5, 2 1250"),
    "minus of an accountant": read(
        "1\t(1,234.50)\n2\t20", "1 -1234.5, 2 20", "", "(1,234.50) (line 1) is read as −1,234.50"
    ),
    "per cent": read("1;10%\n2;12,5 %", "1 10, 2 12.5", "", "y: “%” is left out"),
    "euros": read("1;100,50 €\n2;90 €", "1 100.5, 2 90", "", "“€” is left out"),
    "units in the cells": read("1 km;5 min\n2 km;7 min", "1 5, 2 7", "", "“km”", "“min”"),
    "exponents": read("1E+03;1,5e-3\n2e3;2,5E3", "1000 0.0015, 2000 2500"),
    "signs and points": read("+.5,5.\n-0.25,6", "0.5 5, -0.25 6"),
    "one comma each below two names": read("x,y\n1,250\n2,300", "1 250, 2 300", "x|y"),
    "one comma each": read(
        "1,250\n2,300", "1 250, 2 300", "", "the comma in each line is taken to stand between"
    ),
    # Missing values.
    "missing": read(
        "x;y\n1;2\n3;\n;4\nNA;1\n5;#DIV/0!\n6;-\n7;NaN\n8;9",
        "1 2, 8 9",
        "x|y",
        "6 of 8 rows have no number: left out, lines 3, 4, 5, 6 …",
    ),
    "errors first in a line": read(
        "#N/A\t1\n#DIV/0!\t2\n#ДЕЛ/0!\t3\n1\t2\n2\t3", "1 2, 2 3", "", "3 of 5 rows have no number"
    ),
    # Columns.
    "columns by name": read("a;b;c\n1;2;3\n4;5;6", "3 1, 6 4", "c|a", columns=("c", "a")),
    "columns by place": read("1 2 3\n4 5 6", "1 3, 4 6", columns=(0, 2)),
    "missing in another column": read(
        "a;b;c\n1;2;NA\n4;5;6", "1 2, 4 5", "a|b", columns=("a", "b")
    ),
    "same names": read("v;v\n1;2\n3;4", "1 2, 3 4", "v|v", "both columns are called v"),
    # Dates and times.
    "ISO dates": read(
        "2018-01-31,1\n2018-02-02,2",
        "0 1, 2 2",
        "",
        "x is in days since 2018-01-31",
        zero="2018-01-31",
    ),
    "dates and times": read(
        "t,y\n2018-01-31 08:00,1\n2018-02-01T20:00Z,2",
        "0 1, 1.5 2",
        "t|y",
        "t is in days since 2018-01-31 08:00",
        zero="2018-01-31 08:00",
    ),
    "zones": read(
        "2018-01-31T08:00+02:00;1\n2018-01-31T08:00+00:00;2",
        "0 1, 0.08333333333333333 2",
        zero="2018-01-31 06:00",
    ),
    "compact dates": read(
        "20180131,1\n20180202,2",
        "0 1, 2 2",
        "",
        "x: 20180131 is read as 2018-01-31",
        zero="2018-01-31",
    ),
    "numbers of eight digits": read("20180131;1\n20189999;2", "20180131 1, 20189999 2"),
    "German dates": read("31.01.2018;1\n2.2.2018;2", "0 1, 2 2", zero="2018-01-31"),
    "American dates": read("1/31/2018\t1\n2/2/2018\t2", "0 1, 2 2", zero="2018-01-31"),
    "dates, told": read(
        "01/02/2018\t1\n02/02/2018\t2",
        "0 1, 1 2",
        "",
        "01/02/2018 is read as 01 February 2018",
        zero="2018-02-01",
        day_first=True,
    ),
    "Chinese dates": read("2018年1月31日\t1\n2018年2月2日\t2", "0 1, 2 2", zero="2018-01-31"),
    "named months": read(
        "Jan 31, 2018\t1\n2 Feb 2018\t2\n3 März 2018\t3", "0 1, 2 2, 31 3", zero="2018-01-31"
    ),
    "times": read(
        "08:00\t1\n09:30\t2", "0 1, 1.5 2", "", "x is in hours since 08:00", zero="08:00"
    ),
    "R tibble": read(
        "# A tibble: 2 × 2\n   year  rent\n  <dbl> <dbl>\n1  2018   900\n2  2019  1250",
        "2018 900, 2019 1250",
        "year|rent",
        "comment",
        "counts the rows",
    ),
    "months": read("2018-01;1\n2018-03;2", "0 1, 59 2", zero="2018-01-01"),
    "times of noon": read("11:30 AM 1\n1:00 PM 2", "0 1, 1.5 2", zero="11:30"),
    "rents, decided by millions": read("1\t1,250,000\n2\t1,250", "1 1250000, 2 1250"),
}
REFUSED = {
    "nothing": ("", "expected a table of two columns"),
    "one row": ("x,y\n1,2", "at least two rows of two numbers, got 1"),
    "one column": ("x\n1\n2", "line 2: expected two columns, got one: 1"),
    "one column of text": ("hello\nworld", "line 1: expected two numbers, got hello"),
    "rents": (
        ROOMS,
        "line 3: 1,250 in rent can be 1250 or 1.25; no other row says which: give decimal='.'",
    ),
    "one column of German amounts": (
        "1.250,50\n2.300,75",
        "line 1: 1.250,50 can be 1.250 and 50 or one number, 1250.5",
    ),
    "thousands of India": (
        "1,23,456;5\n2,34,567;6",
        "line 1: expected two numbers, got 1,23,456;5",
    ),
    "years for names": (
        "land;2019;2020\nDE;1;2\nFR;3;4",
        "line 1: 2019 and 2020 may be names of columns or values",
    ),
    "a comma and a blank": ("0,1 234\n1,1 234", "put a semicolon between the columns"),
    "mixed marks": (
        "1;0,5\n2;0.6\n3;0,7",
        "line 2: 0.6 in y has a decimal point, other rows have a decimal comma",
    ),
    "three columns": (
        "year,co2,temp\n1,2,3\n4,5,6",
        "expected two columns, got 3: year, co2, temp; choose two",
    ),
    "index that counts nothing": ("  co2 temp\n2018 1 2\n2019 3 4", "got 3: column 1, co2, temp"),
    "unquoted decimal commas": (
        "a,b\n1,5,2\n2,5,3\n3,5,4",
        "line 1: expected 3 names, one for each column, got 2",
    ),
    "long row": ("1,2\n3,4,5\n6,7\n8,9", "line 2: expected two columns, got 3: 3, 4, 5"),
    "word": ("1,2\n3,4\n5,six", "line 3: expected a number in y, got six"),
    "infinity": ("1,2\n3,inf\n4,5", "line 2: expected a number in y, got inf"),
    "too large": ("1,2\n3,1e400", "line 2: 1e400 in y is too large for a float"),
    "all x the same": ("1,2\n1,3\n1,4", "all x are 1: there is nothing to fit"),
    "two currencies": ("1\t$5\n2\t€6\n3\t€7", "line 1: $5 in y has $, other rows have €"),
    "a range": ("1\t5–7\n2\t6", "line 1: expected a number in y, got 5–7"),
    "a date among numbers": (
        "1;5\n2;6\n2018-01-31;7",
        "line 3: expected a number in x, got 2018-01-31",
    ),
    "no date": (
        "2018-02-28;5\n2018-02-30;6\n2018-03-01;7",
        "line 2: expected a date in x, got 2018-02-30",
    ),
    "January or February": (
        "01/02/2018\t1\n02/02/2018\t2",
        "01/02/2018 in x can be 01 February 2018 or 02 January 2018",
    ),
    "both orders of day and month": (
        "13/02/2018\t1\n02/13/2018\t2",
        "which has them the other way round",
    ),
    "R vector": ("[1] 1 2\n[3] 3 4", "line 1: expected a table, got a vector as R prints it"),
    "raised digits": ("1\t10³\n2\t6", "line 1: expected a number in y, got 10³"),
    "open quote": ('1,2\n"3,4\n5,6\n7,8\n9,1', "line 2: a quotation mark is opened and not closed"),
    "thousands next to a comma": ("1,1,250\n2,1,700", "expected two columns, got 3"),
}


@pytest.mark.parametrize("name", READ)
def test_pasted_table_is_read_and_omissions_are_noted(name: str) -> None:
    case = READ[name]
    points = read_points(case.text, **case.options)
    expected = [[float(number) for number in row.split()] for row in case.rows.split(",")]
    np.testing.assert_allclose(np.stack([points.x, points.y], axis=1), expected, rtol=1e-12)
    assert ("|".join(points.names), points.zeros) == (case.names, (case.zero, ""))
    for words in case.notes:
        assert any(words in note for note in points.notes), points.notes
    assert case.notes or case.zero or not points.notes


@pytest.mark.parametrize("name", REFUSED)
def test_ambiguous_or_invalid_table_is_refused_in_one_sentence(name: str) -> None:
    text, words = REFUSED[name]
    with pytest.raises(ValueError) as refused:
        read_points(text)
    assert words in str(refused.value) and "\n" not in str(refused.value)


@dataclass(frozen=True)
class Habit:
    """A local way to write numbers and tables."""

    decimal: str
    thousands: str
    separator: str
    minus: str
    quoted: bool
    named: bool
    grouped: bool
    places: int

    def number(self, value: int) -> str:
        """Write ``value`` / 10^places."""
        whole, fraction = divmod(abs(value), 10**self.places)
        said = f"{whole:,}".replace(",", self.thousands) if self.grouped else str(whole)
        if self.places:
            said += f"{self.decimal}{fraction:0{self.places}d}"
        return f"{self.minus}{said}" if value < 0 else said

    def table(self, rows: list[tuple[int, int]]) -> str:
        """Write rows, one per line."""
        mark = '"' if self.quoted else ""
        lines = [[self.number(value) for value in row] for row in rows]
        if self.named:
            lines.insert(0, ["size", "rent"])
        return "\n".join(
            self.separator.join(f"{mark}{cell}{mark}" for cell in line) for line in lines
        )


HABITS = st.tuples(
    st.sampled_from([(".", ","), (",", "."), (",", NNB), (",", NB), (",", " "), (".", "'")]),
    st.sampled_from("\t;,| ，"),
    st.sampled_from("-−"),
    *[st.booleans()] * 3,
    st.integers(0, 4),
).map(lambda part: Habit(*part[0], *part[1:]))
SMALL = st.integers(-9_999, 9_999)
ROWS = st.lists(st.tuples(SMALL | st.integers(), SMALL | st.integers(-(10**9), 10**9)), min_size=2)


@given(HABITS, ROWS)
@settings(max_examples=300, deadline=None)
def test_number_in_any_notation_is_read_exactly_or_refused(
    habit: Habit, rows: list[tuple[int, int]]
) -> None:
    if (habit.separator, habit.thousands, habit.grouped) == (" ", " ", True):
        return  # ambiguous
    try:
        points = read_points(habit.table(rows))
    except ValueError as refused:
        assert "\n" not in str(refused)
        return
    expected = [[float(f"{value}e-{habit.places}") for value in row] for row in rows]
    assert np.stack([points.x, points.y], axis=1).tolist() == expected
    assert points.names == (("size", "rent") if habit.named else ("", ""))
