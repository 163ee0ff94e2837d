"""Read the cells of one column as numbers or dates, in the notations of several languages.

A single cell can be ambiguous: "1,250" is 1250 or 1.25, "01/02/2020" a day of January or of
February. The other cells of the column decide; if they do not, :class:`Ambiguous` is raised.
The page reads by the same rules, under the same names: docs/playground/points.js.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, TypeAlias

Cells: TypeAlias = Sequence[tuple[int, str]]  # of each cell the number of its line, and its text

_LARGEST = 1e100  # largest number; one over it is the smallest
_MISSING = re.compile(
    r"|<?na>?|#?n/a|#?nv|n\.a\.|nan|nat|null|none|k\.\s?a\.|[-–—]{1,3}|\.{1,3}|[…?]"
    r"|#?н/д|нет|无|缺失|#[a-zа-яäöüé0-9/]+[!?]",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"([-+]?)\s?([$€£¥₽]?)\s?([-+]?)([0-9.,' \u00a0]*[0-9.])([eE][-+]?[0-9]+)?\s?([%‰$€£¥₽]?)"
)
_MARKED = {  # digits by their decimal mark; thousands may be grouped by the other mark or blanks
    ".": re.compile(
        r"(?:[1-9]\d{0,2}([,' \u00a0])\d{3}(?:\1\d{3})*|\d+)(?:\.\d*)?|\.\d+", re.ASCII
    ),
    ",": re.compile(r"(?:[1-9]\d{0,2}([.' \u00a0])\d{3}(?:\1\d{3})*|\d+)(?:,\d*)?|,\d+", re.ASCII),
}
_MAY_BE_DATES = (  # a date written as a number, and how to write it
    (re.compile(r"((?:19|20)[0-9]{2})(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])"), r"\1-\2-\3"),
    (re.compile(r"((?:19|20)[0-9]{2})[.,]?(0[1-9]|1[0-2])"), r"\1-\2"),
    (re.compile(r"(0[1-9]|1[0-2])[.,]((?:19|20)[0-9]{2})"), r"\2-\1"),
)
_TIMED = re.compile(
    r"(.+?)(?:T|,?\s)([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]+)?))?"
    r"(?:\s?(?:Z|UTC|\+00:?00))?"
)
_YEAR_FIRST = re.compile(r"([12][0-9]{3})([-/.年])([0-9]{1,2})(?:\2|月)([0-9]{1,2})日?")
_YEAR_MONTH = re.compile(r"([12][0-9]{3})[-年]([0-9]{1,2})月?")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([12][0-9]{3})")
_NAMED = re.compile(
    r"(?:([0-9]{1,2})\.?[ -])?([^\W\d_]{3,})\.?[ -](?:([0-9]{1,2}),? )?([12][0-9]{3})"
)
_MONTHS = [
    names.split()
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    )
]


class Ambiguous(ValueError):
    """The error for a cell that can be read in two ways, if no other cell tells which is meant.

    Attributes:
        question: A sentence that names the cell and the two ways to read it.
        argument: The argument of ``read_points`` that tells which is meant, such as ``decimal``.
        readings: For each value of that argument, how the cell is read.
    """

    def __init__(self, line: int, text: str, argument: str, readings: Mapping[Any, str]) -> None:
        self.question = either(line, text, *readings.values())
        self.argument, self.readings = argument, readings
        ways = " or ".join(f"{argument}={value!r}" for value in readings)
        super().__init__(f"{self.question}, or give {ways}")


def either(line: int, text: str, one: str, other: str) -> str:
    """Return the sentence for a cell or a line that can be read in two ways."""
    which = f"“{text}” can be {one} or {other}; no other row says which"
    return f"line {line}: {which}: write it so that it can be only one"


def strange(line: int, text: str) -> ValueError:
    """Return the error for a cell that is neither a number nor a date."""
    got = f"line {line}: expected a number or a date, got “{text[:40]}”"
    return ValueError(f"{got}: write them as 22.5 and 2026-09-01")


def mixed(line: int, text: str) -> ValueError:
    """Return the error for a cell or a row that is written in another way than the others."""
    return ValueError(f"line {line}: expected all rows written alike, got “{text}”")


def usual_of(values: Sequence[Any]) -> Any:
    """Return what occurs most often, of equally frequent ones the first; ``None`` of nothing."""
    return max(dict.fromkeys(values), key=values.count, default=None)


def is_missing(cell: str) -> bool:
    """Return whether a cell is empty or says, as NA does, that there is no value."""
    return _MISSING.fullmatch(cell) is not None


def is_value(cell: str) -> bool:
    """Return whether a cell is a number or a date."""
    return bool(numbers(cell) or dates(cell)) and not is_missing(cell)


@lru_cache(maxsize=200_000)
def numbers(cell: str) -> dict[str, float]:
    """Return the numbers that a cell can be, by their decimal mark: "." or ","; often both."""
    found, ways = _NUMBER.fullmatch(re.sub("^–(?=[0-9.,])", "-", cell)), {}
    if found and not (found[1] and found[3]) and not (found[2] and found[6]):
        exponent = found[5] or ""
        for mark, pattern in _MARKED.items():
            body = pattern.fullmatch(found[4])
            if body and not (exponent and body[1]):
                digits = re.sub(f"[^0-9{mark}]", "", found[4]).replace(mark, ".")
                value = float(found[1] + found[3] + digits + exponent)
                if 1 / _LARGEST <= abs(value) <= _LARGEST or not re.search("[1-9]", digits):
                    ways[mark] = value
    return ways


def decimal_mark(cells: Cells) -> str | None:
    """Return the decimal mark of a column, "." or ","; ``None`` if both can be, or none."""
    marks = [mark for mark in _MARKED if all(mark in numbers(cell) for _, cell in cells)]
    return marks[0] if len(marks) == 1 else None


def read(
    name: str, cells: Cells, decimal: str | None, day_first: bool | None, notes: list[str]
) -> tuple[list[float], str]:
    """Read a column without missing values.

    Args:
        name: The column's name in notes.
        cells: The cells, with their line numbers.
        decimal: The decimal mark, used if no cell shows it; ``None`` if unknown.
        day_first: Whether 01/02/2020 is 1 February, used if no cell shows it; ``None`` if unknown.
        notes: Sentences that say what was stripped or assumed are added to it.

    Returns:
        The values, and the date whose value is 0, "" for numbers.

    Raises:
        ValueError: A cell is invalid, or kinds, signs or notations differ; the error names a line.
        Ambiguous: The column can be read in two ways, and the argument that decides is unknown.
    """
    all_ways = [(numbers(cell), dates(cell)) for _, cell in cells]
    dated = sum(bool(day) for _, day in all_ways) > sum(bool(number) for number, _ in all_ways)
    for cell, ways in zip(cells, all_ways, strict=True):
        if not ways[dated]:
            raise mixed(*cell) if ways[not dated] else strange(*cell)
    if dated:
        return _days(name, cells, day_first, notes)
    return _numbers(name, cells, decimal, notes), ""


def _settled(
    name: str, cells: Cells, ways: Sequence[Mapping[Any, Any]], told: Any, notes: list[str]
) -> list[Any]:
    """Return the values of cells that are all read by the same key of two.

    ``ways`` are the readings of the cells by these keys. ``told`` is the key of cells that can all
    be read by both; if it is ``None`` and the readings differ, :class:`Ambiguous` is raised.
    """
    usual = usual_of([key for way in ways for key in way])
    for cell, way in zip(cells, ways, strict=True):
        if usual not in way:
            raise mixed(*cell)
    i = next((i for i, way in enumerate(ways) if len(set(way.values())) == 2), None)
    if i is not None and all(len(way) == 2 for way in ways):
        words = {k: f"{v:.15g}" if k in _MARKED else f"{v:%Y-%m-%d}" for k, v in ways[i].items()}
        if told is None:
            raise Ambiguous(*cells[i], "decimal" if usual in _MARKED else "day_first", words)
        usual = told
        notes.append(f"{name}: {cells[i][1]} is read as {words[told]}")
    return [way[usual] for way in ways]


def _numbers(name: str, cells: Cells, decimal: str | None, notes: list[str]) -> list[float]:
    for pattern, by in _MAY_BE_DATES:
        if all(pattern.fullmatch(text) for _, text in cells):
            line, text = cells[0]
            raise ValueError(either(line, text, text, pattern.sub(by, text)))
    units = [re.sub("[^%‰$€£¥₽]", "", text) for _, text in cells]
    usual = usual_of(units)
    for cell, unit in zip(cells, units, strict=True):
        if unit != usual:
            raise mixed(*cell)
    if usual:
        notes.append(f"{name}: “{usual}” is left out of its numbers")
    return _settled(name, cells, [numbers(text) for _, text in cells], decimal, notes)


@lru_cache(maxsize=200_000)
def dates(cell: str) -> dict[bool, datetime]:
    """Return a cell's possible dates: key True if the day comes first, False if the month."""
    text, clock, found = cell, timedelta(0), {}
    if timed := _TIMED.fullmatch(cell):
        text, (hours, minutes) = timed[1], map(int, timed.group(2, 3))
        clock = timedelta(hours=hours, minutes=minutes, seconds=float(timed[4] or 0))
    for day_first, day in _parts(text).items():
        with suppress(ValueError):
            found[day_first] = datetime(*day) + clock
    return found


def _parts(text: str) -> dict[bool, tuple[int, int, int]]:
    """Return a date's possible (year, month, day): key True if the day comes first, else False."""
    if found := _YEAR_LAST.fullmatch(text):
        one, other, year = int(found[1]), int(found[3]), int(found[4])
        ways = {True: (year, other, one), False: (year, one, other)}
        return {True: ways[True]} if found[2] == "." else ways
    if found := _YEAR_FIRST.fullmatch(text):
        day = int(found[1]), int(found[3]), int(found[4])
    elif found := _YEAR_MONTH.fullmatch(text):
        day = int(found[1]), int(found[2]), 1
    elif (found := _NAMED.fullmatch(text)) and not (found[1] and found[3]):
        day = int(found[4]), month(found[2]), int(found[1] or found[3] or 1)
    else:
        return {}
    return {True: day, False: day}


def month(word: str) -> int:
    """Return the number of the month whose name begins with ``word``; 0 if there is none."""
    word = word.lower()
    found = {i for names in _MONTHS for i, name in enumerate(names, 1) if name.startswith(word)}
    return found.pop() if len(found) == 1 else 0


def _days(
    name: str, cells: Cells, day_first: bool | None, notes: list[str]
) -> tuple[list[float], str]:
    seasons = [_YEAR_MONTH.fullmatch(text) for _, text in cells]
    if all(found and (int(found[1]) + 1 - int(found[2])) % 100 == 0 for found in seasons):
        season = f"{cells[0][1][:4]}/{int(cells[0][1][:4]) + 1}"
        raise ValueError(either(*cells[0], f"{cells[0][1]}-01", season))
    at = _settled(name, cells, [dates(text) for _, text in cells], day_first, notes)
    first = min(at)
    zero = f"{first:%Y-%m-%d %H:%M:%S}".removesuffix(":00").removesuffix(" 00:00")
    notes.append(f"{name} is in days since {zero}")
    return [(one - first) / timedelta(days=1) for one in at], zero
