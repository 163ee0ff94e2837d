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
_UNITS = "%‰$€£¥₽"
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
_DATES = tuple(  # the ways to write a date, and which of its readings they are
    (re.compile(pattern.replace("#", "[0-9]")), keys.split())
    for pattern, keys in (
        (r"(?P<y>[12]###)(?P<by>[-/.年])(?P<m>##?)(?:(?P=by)|月)(?P<d>##?)日?", "day month"),
        (r"(?P<y>[12]###)[-年](?P<m>##?)月?", "day month"),
        (r"(?P<d>##?)(?P<by>[-/.])(?P<m>##?)(?P=by)(?P<y>[12]###)", "day"),
        (r"(?P<m>##?)(?P<by>[-/])(?P<d>##?)(?P=by)(?P<y>[12]###)", "month"),
        (r"(?:(?P<d>##?)\.?[ -])?(?P<name>[^\W\d_]{3,})\.?[ -](?P<y>[12]###)", "day month"),
        (r"(?P<name>[^\W\d_]{3,})\.?[ -](?P<d>##?),? (?P<y>[12]###)", "day month"),
        (r"(?P<y>(?:19|20)##)(?P<m>##)(?P<d>##)", "compact"),
        (r"(?P<y>(?:19|20)##)[.,]?(?P<m>##)", "compact"),
        (r"(?P<m>##)[.,](?P<y>(?:19|20)##)", "compact"),
    )
)
_SEASON = re.compile("[12][0-9]([0-9][0-9])-([0-9][0-9])")  # 2008-09: September, or to 2009?
_TIMED = re.compile(
    r"(.+?)(?:T|,?\s)([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]+)?))?"
    r"(?:\s?(?:Z|UTC|\+00:?00))?"
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
    """Read a column without missing values: all cells by the same key of their readings.

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
    ways = [{**numbers(text), **dates(text)} for _, text in cells]
    key = usual_of([key for way in ways for key in way])
    units = [re.sub(f"[^{_UNITS}]", "", text) for _, text in cells]
    unit = usual_of(units)
    for cell, way, its_unit in zip(cells, ways, units, strict=True):
        if key not in way or its_unit != unit:
            raise mixed(*cell) if way else strange(*cell)
    if unit:
        notes.append(f"{name}: “{unit}” is left out of its numbers")
    answer = decimal if key in _MARKED else day_first
    for other in ways[0]:
        unlike = [i for i, way in enumerate(ways) if way.get(other) != way[key]]
        if unlike and all(other in way for way in ways):
            key = _decided(name, cells[unlike[0]], ways[unlike[0]], answer, notes)
            break
    values = [way[key] for way in ways]
    if key in _MARKED:
        return values, ""
    first = min(values)
    zero = f"{first:%Y-%m-%d %H:%M:%S}".removesuffix(":00").removesuffix(" 00:00")
    notes.append(f"{name} is in days since {zero}")
    return [(one - first) / timedelta(days=1) for one in values], zero


def _decided(
    name: str, cell: tuple[int, str], ways: Mapping[str, Any], answer: Any, notes: list[str]
) -> str:
    """Return the key by which an ambiguous cell is read, as ``decimal`` or ``day_first`` tells.

    Raises:
        ValueError: The cell may be a date written as a number, or a season.
        Ambiguous: ``answer`` is ``None``.
    """
    if "season" in ways:
        raise ValueError(either(*cell, f"{ways['day']:%Y-%m-%d}", ways["season"]))
    if "compact" in ways:
        raise ValueError(either(*cell, cell[1], f"{ways['compact']:%Y-%m-%d}"))
    keys: dict[Any, str] = {mark: mark for mark in _MARKED}
    argument, form = "decimal", ".15g"
    if "day" in ways:
        keys, argument, form = {True: "day", False: "month"}, "day_first", "%Y-%m-%d"
    readings = {one: format(ways[key], form) for one, key in keys.items()}
    if answer is None:
        raise Ambiguous(*cell, argument, readings)
    notes.append(f"{name}: {cell[1]} is read as {readings[answer]}")
    return keys[answer]


@lru_cache(maxsize=200_000)
def dates(cell: str) -> dict[str, Any]:
    """Return the dates that a cell can be: "day" if the day comes first, "month" if the month.

    A date that may be a number has the key "compact"; "season" is a text such as "2008/2009".
    """
    text, clock, found = cell, timedelta(0), dict[str, Any]()
    if timed := _TIMED.fullmatch(cell):
        text, (hours, minutes) = timed[1], map(int, timed.group(2, 3))
        clock = timedelta(hours=hours, minutes=minutes, seconds=float(timed[4] or 0))
    for pattern, keys in _DATES:
        if (match := pattern.fullmatch(text)) and not (timed and "compact" in keys):
            part = match.groupdict()
            number = month(part["name"]) if "name" in part else int(part["m"])
            with suppress(ValueError):  # there is no such day
                day = datetime(int(part["y"]), number, int(part.get("d") or 1)) + clock
                found.update(dict.fromkeys(keys, day))
    if found and (season := _SEASON.fullmatch(cell)) and int(season[2]) == int(season[1]) + 1:
        found["season"] = f"{cell[:4]}/{int(cell[:4]) + 1}"
    return found


def month(word: str) -> int:
    """Return the number of the month whose name begins with ``word``; 0 if there is none."""
    word = word.lower()
    found = {i for names in _MONTHS for i, name in enumerate(names, 1) if name.startswith(word)}
    return found.pop() if len(found) == 1 else 0
