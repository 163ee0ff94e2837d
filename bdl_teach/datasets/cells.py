"""Read the cells of one column as numbers, dates or times of day, in various notations.

A single cell can be ambiguous: "1,250" is 1250 or 1.25, "01/02/2020" a day of January or of
February. The other cells of the column decide; if they do not, :class:`Ambiguous` is raised.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

Cells: TypeAlias = Sequence[tuple[int, str]]  # of each cell the number of its line, and its text

_CURRENCY = r"(?:[A-Z]{0,3}[$€£¥₽₹₩₺฿]|[A-Z]{3}|руб\.?|Fr\.|kr\.?|zł|元)"
_NUMBER = re.compile(
    rf"(?P<sign>[-+]?)\s?(?P<before>{_CURRENCY}?)\s?(?P<sign2>[-+]?)"
    r"(?P<body>(?:\d[\d.,'\s]*(?<![\s,])|[.,]\d+))(?P<exponent>[eE][-+]?\d+)?"
    r"\s?(?P<after>(?:[^\W\d_]|[%‰°$€£¥₽₹₩₺฿])[^\s\d,+()'\"]{0,9})?"
)
_DASH = re.compile(r"^–(?=[\d.,])")  # a minus sign, as word processors write it
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
_YEAR_FIRST = re.compile(
    r"\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{4}年\d{1,2}月(?:\d{1,2}日)?|\d{4}[-/]\d\d"
)
_COMPACT = re.compile(r"^((?:19|20)\d\d)(\d\d)(\d\d)$")
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
    """The error for a cell that can be read in two ways, if no other cell tells which is meant.

    Attributes:
        question: A sentence that names the cell and the two ways to read it.
        argument: The argument of ``read_points`` that tells which is meant, such as ``decimal``.
        readings: For each value of that argument, how the cell is read.
    """

    def __init__(self, where: str, argument: str, readings: Mapping[Any, str]) -> None:
        self.question = f"{where} can be {' or '.join(readings.values())}; no other row says which"
        self.argument, self.readings = argument, readings
        ways = " or ".join(f"{argument}={value!r}" for value in readings)
        super().__init__(f"{self.question}: give {ways}")


class Number(NamedTuple):
    """The parts of a number in a cell; the decimal mark of some, such as 1,250, is unknown."""

    sign: str  # "" or "-"
    body: str  # its digits with "." and ","
    mark: str  # the decimal mark; "" if the cell does not tell
    open: bool  # whether "." or "," may be a decimal mark or separate thousands, as in 1,250
    exponent: str  # such as "e5"
    unit: str
    stripped: bool  # whether a footnote, parentheses or the like were removed

    def value(self, decimal: str) -> float:
        """Convert the number to a float, given the decimal mark of its column."""
        thousands = "," if decimal == "." else "."
        body = self.body.replace(thousands, "").replace(decimal, ".")
        return float(f"{self.sign}{body}{self.exponent}")


@dataclass(frozen=True)
class Column:
    """The values of a column as numbers, with notes on how its cells were read."""

    values: list[float]
    notes: list[str]  # sentences that say what was stripped or assumed
    zero: str = ""  # the date or time of day whose value is 0


def is_missing(cell: str) -> bool:
    """Return whether a cell is empty or says, as NA does, that there is no value."""
    return _MISSING.fullmatch(cell.strip()) is not None


def is_value(cell: str, spaced: bool = True) -> bool:
    """Return whether a cell is a number, date or time; "1 234" is a number only if ``spaced``."""
    kind = _kind(cell)
    return bool(kind) and (kind != "number" or spaced or not re.search(r"\d \d", cell))


@lru_cache(maxsize=200_000)
def _kind(cell: str) -> str:
    """Return "number", "date" or "time of day"; "" for any other cell."""
    if is_missing(cell):
        return ""
    if number(cell) is not None:
        return "number"
    if _TIME.fullmatch(cell.strip()):
        return "time of day"
    return "date" if _dates(cell) else ""


@lru_cache(maxsize=200_000)
def number(cell: str) -> Number | None:
    """Return the number in a cell, or ``None`` if the cell is no number."""
    written = _DASH.sub("-", cell.strip().replace("，", ","))
    text = _FOOTNOTE.sub("", written)
    negative = text.startswith("(") and text.endswith(")")  # as accountants write it
    found = _NUMBER.fullmatch(text[1:-1].strip() if negative else text)
    if found is None or (found["after"] or "%")[0].isnumeric():  # such as 10³
        return None
    signs = [sign for sign in (found["sign"], found["sign2"], "-" if negative else "") if sign]
    units = [unit for unit in (found["before"], found["after"]) if unit]
    exponent = found["exponent"] or ""
    marked = _marks(re.sub(r"\s", " ", found["body"]), bool(exponent))
    if marked is None or len(signs) > 1 or len(units) > 1:
        return None
    minus = "-" if "-" in signs else ""
    return Number(minus, *marked, exponent, "".join(units), negative or text != written)


def _marks(body: str, exponent: bool) -> tuple[str, str, bool] | None:
    """Return the parts of text such as "1,250.5"; ``None`` if it is not a number.

    They are the digits with their points and commas, the decimal mark ("" if the text does not tell
    it), and whether the text can be read with "." and with "," as decimal mark.
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
        return body, thousands, False  # the mark occurs twice, so it separates thousands
    return None


def decimal_mark(cells: Cells) -> str:
    """Return the decimal mark of a column, "." or ","; "" if no cell shows one, or cells differ."""
    marks = {one.mark for _, cell in cells if (one := number(cell)) and one.mark}
    return marks.pop() if len(marks) == 1 else ""


def read(name: str, cells: Cells, decimal: str, day_first: bool | None) -> Column:
    """Read a column without missing values.

    Args:
        name: The column's name in messages.
        cells: The cells, with their line numbers.
        decimal: The decimal mark, used if no cell shows it; "" if unknown.
        day_first: Whether 01/02/2020 is 1 February, used if no cell shows it; ``None`` if unknown.

    Raises:
        ValueError: A cell is invalid, or kinds, units or notations differ; the error names a line.
        Ambiguous: The column can be read in two ways, and the argument that decides is unknown.
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
    numbers = [one for _, cell in cells if (one := number(cell))]
    marks = {one.mark for one in numbers if one.mark}
    if len(marks) > 1:
        words = {".": "a decimal point", ",": "a decimal comma"}
        each = [words.get(one.mark, "") for one in numbers]
        raise _mixed(name, [pair for pair in zip(cells, each, strict=True) if pair[1]])
    mark = next(iter(marks), decimal)
    opened = next((i for i, one in enumerate(numbers) if one.open), None)
    if opened is not None:
        line, cell = cells[opened]
        ways = {m: f"{numbers[opened].value(m):g}" for m in ".,"}
        if not mark:
            raise Ambiguous(f"line {line}: {cell.strip()} in {name}", "decimal", ways)
        if not marks:
            notes.append(f"{name}: {cell.strip()} is read as {ways[mark]}")
    notes += _units(name, cells, numbers)
    values = [one.value(mark or ".") for one in numbers]
    for (line, cell), value, one in zip(cells, values, numbers, strict=True):
        if math.isinf(value) or (value == 0.0 and re.search("[1-9]", one.body)):
            raise ValueError(f"line {line}: {cell.strip()[:40]} in {name} is too large for a float")
    return Column(values, notes)


def _mixed(name: str, kinds: Sequence[tuple[tuple[int, str], str]]) -> ValueError:
    """Return the error for a column of mixed formats; it names a cell of the rarest format."""
    counts = Counter(kind for _, kind in kinds)
    odd = min(counts, key=counts.__getitem__)
    most = max((kind for kind in counts if kind != odd), key=counts.__getitem__)
    line, cell = next(where for where, kind in kinds if kind == odd)
    has = f"{cell.strip()} in {name} has {odd or 'no unit'}"
    return ValueError(f"line {line}: {has}, other rows have {most or 'none'}")


def _units(name: str, cells: Cells, numbers: Sequence[Number]) -> list[str]:
    """Return notes on units and other text left out of numbers; raise an error if units differ."""
    units = [one.unit for one in numbers]
    only = list(dict.fromkeys(filter(None, units)))
    left_out = "" in units and only and not re.fullmatch(_CURRENCY, only[0])
    if len(only) > 1 or left_out:
        raise _mixed(name, list(zip(cells, units, strict=True)))
    notes = [f"{name}: “{unit}” is left out of its numbers" for unit in only]
    for (line, cell), one in zip(cells, numbers, strict=True):
        if one.stripped:
            sign = "−" if one.sign else ""
            notes.append(f"{name}: {cell.strip()} (line {line}) is read as {sign}{one.body}")
            break
    return notes


def _dates(cell: str) -> dict[bool, datetime]:
    """Return a cell's possible dates: key True if the day comes first, False if the month."""
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
    """Return a date's possible (year, month, day): key True if the day comes first, else False."""
    if found := _DAY_OR_MONTH_FIRST.fullmatch(text):
        one, other = int(found[1]), int(found[3])
        year = int(found[4]) + (0 if len(found[4]) == 4 else 2000 if int(found[4]) < 70 else 1900)
        ways = {True: (year, other, one), False: (year, one, other)}
        return {True: ways[True]} if found[2] == "." else ways
    if _YEAR_FIRST.fullmatch(text):
        year, month, day = map(int, [*re.findall(r"\d+", text), "1"][:3])
    elif (found := _NAMED.fullmatch(text)) and not (found[1] and found[3]):
        name = found[2].lower()
        month = next((_MONTHS[name[:n]] for n in (4, 3) if name[:n] in _MONTHS), 0)
        year, day = int(found[4]), int(found[1] or found[3] or 1)
    else:
        return {}
    return dict.fromkeys((True, False), (year, month, day))


def _clock(found: re.Match[str]) -> float | None:
    """Return the hours since midnight of a matched time; ``None`` if there is no such time."""
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
        raise ValueError(
            f"line {line}: expected day and month in the same order in all rows of {name}, got "
            f"{cell.strip()}, which has them the other way round"
        )
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
    return Column([(date - first) / timedelta(days=1) for date in dates], notes, zero)


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
    zero = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    zero = zero.removesuffix(":00")
    return Column([at - start for at in hours], [f"{name} is in hours since {zero}"], zero)
