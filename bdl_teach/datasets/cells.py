"""Read the cells of one column as numbers, dates or times of day, in various notations.

A single cell can be ambiguous: "1,250" is 1250 or 1.25, "01/02/2020" a day of January or of
February. The other cells of the column decide; if they do not, :class:`Ambiguous` is raised.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Cells: TypeAlias = Sequence[tuple[int, str]]  # line of the text, and what stands there

_CURRENCY = r"(?:[A-Z]{0,3}[$€£¥₽₹₩₺฿]|[A-Z]{3}|руб\.?|Fr\.|kr\.?|zł|元)"
_NUMBER = re.compile(
    rf"(?P<sign>[-+]?)\s?(?P<before>{_CURRENCY}?)\s?(?P<sign2>[-+]?)"
    r"(?P<body>(?:\d[\d.,'\s]*(?<![\s,])|[.,]\d+))(?P<exponent>[eE][-+]?\d+)?"
    r"\s?(?P<after>(?:[^\W\d_]|[%‰°$€£¥₽₹₩₺฿])[^\s\d,+()'\"]{0,9})?"
)
_DASH = re.compile(r"^–(?=[\d.,])")  # which a word processor makes of a minus
_FOOTNOTE = re.compile(r"(?<=[\d%])\s?(?:\[\w{1,3}\]|[*†‡]{1,3})$")
_MISSING = re.compile(
    r"|na|n/a|<na>|#?n\.?v\.?|nan|nat|null|none|nil|n\.a\.|[-–—]{1,2}|\.{1,3}|[…:?/]|k\.\s?a\.|н/д|нет|无|缺失"
    r"|#[a-zа-яäöüé/0]+[!?]|#n/?a|#n/d|#н/д",
    re.IGNORECASE,
)
_CLOCK = r"(?P<h>\d{1,2})[:h](?P<m>\d\d)(?::(?P<s>\d\d(?:\.\d+)?))?\s?(?P<half>[ap]\.?m\.?)?"
_TIME = re.compile(_CLOCK, re.IGNORECASE)
_WITH_TIME = re.compile(
    rf"(?P<date>.+?)(?:T|,?\s){_CLOCK}\s?(?P<zone>Z|UTC|[-+]\d\d:?\d\d)?", re.IGNORECASE
)
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})|(\d{4})年(\d{1,2})月(?:(\d{1,2})日)?")
_COMPACT = re.compile(r"^((?:19|20)\d\d)(\d\d)(\d\d)$")
_YEAR_MONTH = re.compile(r"(\d{4})[-/](\d\d)")
_DAY_OR_MONTH_FIRST = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)")
_NAMED = re.compile(r"(?:(\d{1,2})\.?[ -])?([^\W\d_]{3,9})\.?[ -](?:(\d{1,2}),? )?(\d{4})")
_MONTHS = {
    name: number
    for names in (
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "jän feb mär apr mai juni juli aug sep okt nov dez",
        "janv fév mars avr mai juin juil août sept oct nov déc",
        "янв фев мар апр мая июн июл авг сен окт ноя дек",
        "янв фев мар апр май июн июл авг сен окт ноя дек",
    )
    for number, name in enumerate(names.split(), 1)
}


class Ambiguous(ValueError):
    """A cell can be read in two ways, and no other cell decides which.

    Attributes:
        question: What is to be decided, in words.
        argument: The argument of ``read_points`` that decides it.
        readings: Its values, and how the cell is then read.
    """

    def __init__(
        self, where: str, argument: str, readings: Mapping[str, str] | Mapping[bool, str]
    ) -> None:
        self.question = f"{where} can be {' or '.join(readings.values())}; no other row says which"
        self.argument, self.readings = argument, readings
        ways = " or ".join(f"{argument}={value!r}" for value in readings)
        super().__init__(f"{self.question}: give {ways}")


class Number(NamedTuple):
    """A number as it is written, before its decimal mark is known.

    Attributes:
        sign: "" or "-".
        body: Digits with at most one kind of mark whose meaning is open, or with the decimal one.
        exponent: Such as "e5".
        mark: The decimal mark, "" where nothing says which it is.
        open: Whether its one mark may be a decimal one or one between thousands.
        unit: The unit before or after it.
        stripped: Whether something other than a unit was removed.
    """

    sign: str
    body: str
    exponent: str
    mark: str
    open: bool
    unit: str
    stripped: bool

    def value(self, decimal: str) -> float:
        """Return the number, given the column's decimal mark."""
        thousands = "," if decimal == "." else "."
        body = self.body.replace(thousands, "").replace(decimal, ".")
        return float(f"{self.sign}{body}{self.exponent}")


@dataclass(frozen=True)
class Column:
    """The values of a column that has been read.

    Attributes:
        values: Its numbers.
        zero: The date or time of day that is 0; "" for numbers.
        notes: Sentences that say what was stripped or assumed.
    """

    values: list[float]
    zero: str = ""
    notes: list[str] = field(default_factory=list)


def is_missing(cell: str) -> bool:
    """Return whether a cell says that there is no value."""
    return _MISSING.fullmatch(cell.strip()) is not None


def is_value(cell: str, spaced: bool = True) -> bool:
    """Return whether a cell is a number, a date or a time.

    Args:
        cell: The text of the cell.
        spaced: Whether a plain space may stand between thousands.
    """
    kind = _kind(cell)
    if kind == "number" and not spaced and re.search(r"\d \d", cell):
        return False
    return bool(kind)


@lru_cache(maxsize=200_000)
def _kind(cell: str) -> str:
    if is_missing(cell):
        return ""
    if number(cell) is not None:
        return "number"
    if _TIME.fullmatch(cell.strip()):
        return "time of day"
    return "date" if _dates(cell) else ""


@lru_cache(maxsize=200_000)
def number(cell: str) -> Number | None:
    """Return what a cell says as a number, or ``None``."""
    written = _DASH.sub("-", cell.strip().replace("，", ","))
    text = _FOOTNOTE.sub("", written)
    stripped = text != written
    negative = text.startswith("(") and text.endswith(")")  # as accountants write it
    found = _NUMBER.fullmatch(text[1:-1].strip() if negative else text)
    if found is None or (found["sign"] and found["sign2"]):
        return None
    if (found["after"] or "%")[0].isnumeric():  # as in 10³
        return None
    sign = found["sign"] or found["sign2"]
    if negative and sign:
        return None
    units = [part for part in (found["before"], found["after"]) if part]
    marked = _marks(re.sub(r"\s", " ", found["body"]), bool(found["exponent"]))
    if marked is None or len(units) > 1:
        return None
    body, mark, is_open = marked
    minus = "-" if negative or sign == "-" else ""
    unit = units[0] if units else ""
    return Number(minus, body, found["exponent"] or "", mark, is_open, unit, stripped or negative)


def _marks(body: str, exponent: bool) -> tuple[str, str, bool] | None:
    """Return which mark in some digits is the decimal one, or that it may be either.

    Returns:
        The digits without spaces and apostrophes, the decimal mark or "", whether it is open.
    """
    grouped = re.fullmatch(r"(\d{1,3}(?:([ '])\d{3})(?:\2\d{3})*)([.,]\d*)?", body)
    if grouped:
        rest = grouped[3] or ""
        return re.sub("[ ']", "", grouped[1]) + rest, rest[:1], False
    if re.search("[ ']", body):
        return None
    marks = [char for char in body if char in ".,"]
    if not marks:
        return body, "", False
    last, before = marks[-1], marks[:-1]
    thousands = "," if last == "." else "."
    if not before:
        whole, fraction = body.split(last)
        either = re.fullmatch(r"[1-9]\d{0,2}", whole) and len(fraction) == 3 and not exponent
        return body, "" if either else last, bool(either)
    if set(before) == {thousands} and re.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+[.,]\d*", body):
        return body, last, False
    if set(before) == {last} and re.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+", body) and not exponent:
        return body, thousands, False  # thousands more than once
    return None


def decided(cells: Cells) -> set[str]:
    """Return the decimal marks that a column shows beyond doubt."""
    found = (number(cell) for _, cell in cells)
    return {one.mark for one in found if one is not None and one.mark}


def read(name: str, cells: Cells, decimal: str, day_first: bool | None) -> Column:
    """Read a column without missing values.

    Args:
        name: The column's name in messages.
        cells: Line and text of each cell.
        decimal: The mark for cells that can be read in two ways, "" if it is not known.
        day_first: Whether 01/02/2020 is in February, ``None`` if it is not known.

    Raises:
        ValueError: A cell is none of what the others are; the message has its line.
        Ambiguous: The column can be read in two ways.
    """
    kinds = Counter(_kind(cell) for _, cell in cells)
    kind = max((one for one in kinds if one), key=kinds.__getitem__, default="number")
    for line, cell in cells:
        if _kind(cell) != kind:
            raise ValueError(f"line {line}: expected a {kind} in {name}, got {cell.strip()[:40]}")
    if kind == "number":
        compact = [(line, _COMPACT.sub(r"\1-\2-\3", cell.strip())) for line, cell in cells]
        if not all(_dates(cell) for _, cell in compact):
            return _numbers(name, cells, decimal)
        days = _days(name, compact, day_first)
        days.notes.append(f"{name}: {cells[0][1].strip()} is read as {compact[0][1]}")
        return days
    return _days(name, cells, day_first) if kind == "date" else _hours(name, cells)


def _numbers(name: str, cells: Cells, decimal: str) -> Column:
    notes: list[str] = []
    found = [number(cell) for _, cell in cells]
    numbers = [one for one in found if one is not None]
    marks = Counter(one.mark for one in numbers if one.mark)
    if len(marks) > 1:
        odd = min(marks, key=marks.__getitem__)
        i = next(i for i, one in enumerate(numbers) if one.mark == odd)
        words = {".": "a decimal point", ",": "a decimal comma"}
        raise ValueError(
            f"line {cells[i][0]}: {cells[i][1].strip()} in {name} has {words[odd]}, other rows "
            f"have {words[next(m for m in marks if m != odd)]}"
        )
    first_open = next((i for i, one in enumerate(numbers) if one.open), None)
    mark = next(iter(marks), decimal)
    if first_open is not None:
        line, cell = cells[first_open]
        ways = {m: f"{numbers[first_open].value(m):g}" for m in ".,"}
        if not mark:
            raise Ambiguous(f"line {line}: {cell.strip()} in {name}", "decimal", ways)
        if not marks:
            notes.append(f"{name}: {cell.strip()} is read as {ways[mark]}")
    notes += _units(name, cells, numbers)
    values = []
    for (line, cell), one in zip(cells, numbers, strict=True):
        value = one.value(mark or ".")
        lost = value == 0.0 and re.search("[1-9]", one.body)
        if math.isinf(value) or lost:
            raise ValueError(f"line {line}: {cell.strip()[:40]} in {name} is beyond any float")
        values.append(value)
    return Column(values, "", notes)


def _units(name: str, cells: Cells, numbers: Sequence[Number]) -> list[str]:
    """Return sentences about units stripped from a column; refuse two units in one column."""
    units = Counter(one.unit for one in numbers)
    only = [unit for unit in units if unit]
    left_out = units[""] and only and not re.fullmatch(_CURRENCY, only[0])
    if len(only) > 1 or left_out:
        odd = min(units, key=units.__getitem__)
        i = next(i for i, one in enumerate(numbers) if one.unit == odd)
        most = max((unit for unit in units if unit != odd), key=units.__getitem__)
        has = odd or "no unit"
        raise ValueError(
            f"line {cells[i][0]}: {cells[i][1].strip()} in {name} has {has}, "
            f"other rows have {most or 'none'}"
        )
    notes = [f"{name}: “{unit}” is left out of its numbers" for unit in only]
    stripped = [cells[i] for i, one in enumerate(numbers) if one.stripped]
    if stripped:
        line, cell = stripped[0]
        sign, i = "−", cells.index(stripped[0])
        value = f"{sign if numbers[i].sign else ''}{numbers[i].body}"
        notes.append(f"{name}: {cell.strip()} (line {line}) is read as {value}")
    return notes


def _dates(cell: str) -> dict[bool, datetime]:
    """Return the possible dates of a cell, by whether the day comes before the month."""
    text, clock, zone = cell.strip(), timedelta(0), None
    with_time = _WITH_TIME.fullmatch(text)
    if with_time:
        hours = _clock(with_time)
        if hours is None:
            return {}
        text, clock, zone = with_time["date"].rstrip(","), timedelta(hours=hours), with_time["zone"]
    found = {}
    for day_first, (year, month, day) in _parts(text).items():
        try:
            date = datetime(year, month, day) + clock
        except ValueError:
            continue
        if zone and zone.upper() not in ("Z", "UTC"):
            ahead = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
            date = date - ahead if zone[0] == "+" else date + ahead
        found[day_first] = date
    return found


def _parts(text: str) -> dict[bool, tuple[int, int, int]]:
    """Return year, month and day of a date, by whether the day comes before the month."""
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day = found[1] or found[5], found[3] or found[6], found[4] or found[7] or "1"
        return dict.fromkeys((True, False), (int(year), int(month), int(day)))
    if found := _YEAR_MONTH.fullmatch(text):
        return dict.fromkeys((True, False), (int(found[1]), int(found[2]), 1))
    if found := _NAMED.fullmatch(text):
        name = found[2].lower()
        month = next((_MONTHS[name[:n]] for n in (4, 3) if name[:n] in _MONTHS), 0)
        if not month or (found[1] and found[3]):
            return {}
        day = int(found[1] or found[3] or 1)
        return dict.fromkeys((True, False), (int(found[4]), month, day))
    if found := _DAY_OR_MONTH_FIRST.fullmatch(text):
        one, other = int(found[1]), int(found[3])
        year = int(found[4]) + (0 if len(found[4]) == 4 else 2000 if int(found[4]) < 70 else 1900)
        ways = {True: (year, other, one), False: (year, one, other)}
        return {True: ways[True]} if found[2] == "." else ways
    return {}


def _clock(found: re.Match[str]) -> float | None:
    """Return a time of day in hours."""
    hour, minute, second = int(found["h"]), int(found["m"]), float(found["s"] or 0)
    if half := (found["half"] or "")[:1].lower():
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    if minute > 59 or second >= 60:
        return None
    return hour + minute / 60 + second / 3600


def _days(name: str, cells: Cells, day_first: bool | None) -> Column:
    ways = [_dates(cell) for _, cell in cells]
    possible = [first for first in (True, False) if all(first in way for way in ways)]
    if not possible:
        line, cell = next(c for c, way in zip(cells, ways, strict=True) if len(way) < 2)
        raise ValueError(f"line {line}: {cell.strip()} in {name} has day and month the other way")
    differ = [i for i, way in enumerate(ways) if len(way) > 1 and way[True] != way[False]]
    notes = []
    if len(possible) > 1 and differ:
        line, cell = cells[differ[0]]
        words = {first: f"{ways[differ[0]][first]:%d %B %Y}" for first in possible}
        if day_first is None:
            raise Ambiguous(f"line {line}: {cell.strip()} in {name}", "day_first", words)
        possible = [day_first]
        notes.append(f"{name}: {cell.strip()} is read as {words[day_first]}")
    dates = [way[possible[0]] for way in ways]
    first = min(dates)
    zero = f"{first:%Y-%m-%d %H:%M:%S}".removesuffix(":00").removesuffix(" 00:00")
    notes.append(f"{name} is in days since {zero}")
    return Column([(date - first) / timedelta(days=1) for date in dates], zero, notes)


def _hours(name: str, cells: Cells) -> Column:
    hours = []
    for line, cell in cells:
        found = _TIME.fullmatch(cell.strip())
        at = None if found is None else _clock(found)
        if at is None:
            raise ValueError(f"line {line}: expected a time of day in {name}, got {cell.strip()}")
        hours.append(at)
    start = min(hours)
    seconds = round(3600 * start)
    zero = f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}" + (
        f":{seconds % 60:02d}" if seconds % 60 else ""
    )
    return Column([at - start for at in hours], zero, [f"{name} is in hours since {zero}"])
