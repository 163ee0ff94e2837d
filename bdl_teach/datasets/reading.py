"""Read two columns from a text that was copied from a spreadsheet, a web page or a program.

The page reads by the same rules, under the same names: docs/playground/points.js. Both pass the
cases of tests/datasets/tables.json.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.datasets import cells as reader
from bdl_teach.datasets.cells import either, is_missing, is_value, mixed, numbers, strange

Rows: TypeAlias = list[tuple[int, list[str]]]  # of each row the number of its line, and its cells

_SEPARATORS = "\t;|，, "  # of equally good ones the first is taken
_ODD, _USUAL = "、\u3000￥−‐‑’‘ʼ´`\u202f\u2009\u2007\u2008", "， ¥---'''''\u00a0\u00a0\u00a0\u00a0"
_INSIDE, _HIDDEN = "\t\n;,，| ", "\ue001\ue002\ue003\ue004\ue005\ue006\ue007"
_QUOTED = "\ue000"  # stands before what was quoted
_RULE = re.compile(r"[\s|:+=-]*(?:[=-]{3}|--\s*\||:-|-:)[\s|:+=-]*")  # a line drawn in a table
_PRINTED = re.compile(r"\[\d+ rows x \d+ columns]|(?:.*, )?dtype: \S+|\(\d+ rows?\)|\"?sep=.\"?")
_COMMENT = re.compile(r"#{1,2} |#[^#0-9\s]|//")


@one_line
@dataclass(frozen=True)
class Points:
    """Points that were read from a table.

    Attributes:
        x: Inputs ``[n]``. Dates are in days since the earliest one.
        y: Targets ``[n]``.
        names: Names of the two columns, with their units; "" for a column without a name.
        notes: Sentences that say what was skipped, stripped or assumed.
        zeros: The date ("2018-01-31") at x = 0 and at y = 0; "" for columns of numbers.
    """

    x: Array
    y: Array
    names: tuple[str, str] = ("", "")
    notes: tuple[str, ...] = ()
    zeros: tuple[str, str] = ("", "")


class ChooseColumns(ValueError):
    """The error for a table with more than two columns, of which two must be chosen.

    Attributes:
        names: The names of all columns, from left to right.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        listed = ", ".join(names[:12]) + " …" * (len(names) > 12)
        super().__init__(
            f"expected two columns, got {len(names)}: {listed}; "
            f"choose two, such as columns=(0, {len(names) - 1})"
        )


def read_points(
    text: str,
    *,
    columns: tuple[str | int, str | int] | None = None,
    decimal: str | None = None,
    day_first: bool | None = None,
) -> Points:
    """Read two columns of numbers or dates.

    Columns may be separated by tabs, semicolons, bars, commas or blanks; cells may be quoted; names
    and other lines of text may stand above the numbers. Decimal points and commas, thousands, signs
    such as % and €, and missing values are understood; a row that lacks x or y is left out.
    Any other cell is refused, and never read in part. If a cell can be read in two ways, the other
    rows decide; if they do not, an error says so.

    Args:
        text: The table.
        columns: Names of the columns of x and y, or their numbers from 0 (columns of row numbers
            or of words are not counted); needed if the table has more than two columns.
        decimal: The decimal mark, "." or ","; needed if no row shows it: 1,250 may be 1250 or 1.25.
        day_first: Whether 01/02/2020 is 1 February; needed if no row shows it, as 25/02/2020 does.

    Returns:
        All rows that have two values, with notes on what was skipped, stripped or assumed.

    Raises:
        ChooseColumns: There are more than two columns, and ``columns`` is not given.
        Ambiguous: Numbers or dates can be read in two ways.
        ValueError: The text is not such a table; the message names the line and what is wrong.
    """
    if not isinstance(text, str):
        raise ValueError(f"text: expected a str, got {type(text).__name__}")
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal: expected '.' or ',', got {decimal!r}")
    notes: list[str] = []
    rows, names = _table(_lines(text, notes), notes)
    two = _chosen(names, columns)
    rows = _whole(rows, two, notes)
    if len(rows) < 2:
        raise ValueError(f"expected at least two rows of two numbers, got {len(rows)}")
    called = [names[i] or axis for i, axis in zip(two, "xy", strict=True)]
    both = [[(line, cells[i]) for line, cells in rows] for i in two]
    marks = [decimal or reader.decimal_mark(cells) for cells in both]
    (x, x_zero), (y, y_zero) = (  # the mark of one column holds for a column that shows none
        reader.read(name, cells, mark or other, day_first, notes)
        for name, cells, mark, other in zip(called, both, marks, marks[::-1], strict=True)
    )
    if min(x) == max(x):
        raise ValueError(f"all {called[0]} are {both[0][0][1]}: there is nothing to fit")
    named = (names[two[0]], names[two[1]])
    return Points(np.array(x), np.array(y), named, tuple(notes), (x_zero, y_zero))


def _swapped(text: str, these: str, those: str) -> str:
    return text.translate(str.maketrans(these, those))


def _clean(text: str) -> str:
    """Return a text with one kind of line ends, digits, blanks and signs.

    What could separate cells or lines inside quotes becomes a character of no other use.
    """
    text = _swapped(unicodedata.normalize("NFC", text), _ODD, _USUAL)
    text = re.sub("\r\n?", "\n", re.sub("[\ufeff\u200b\u200e\u200f\u2060]", "", text))
    wide = "[\uff01-\uff0b\uff0d-\uff5e]"
    text = re.sub(wide, lambda found: chr(ord(found[0]) - 0xFEE0), text)
    quoted = '(^|[\t\n;,，| ])"((?:[^"]|"")*)"(?=[\t\n;,，| ]|$)'
    return re.sub(quoted, lambda m: m[1] + _QUOTED + _swapped(m[2], _INSIDE, _HIDDEN), text)


def _shown(cell: str) -> str:
    """Return a cell with what :func:`_clean` hid, and without blanks at its ends."""
    cell = _swapped(cell.replace(_QUOTED, ""), _HIDDEN, _INSIDE)
    return cell.replace('""', '"').replace("\n", " ").strip()


def _lines(text: str, notes: list[str]) -> list[tuple[int, str]]:
    """Return the lines of data with their numbers; add the skipped ones to ``notes``."""
    lines, skipped, line_number = [], [], 1
    for line in _clean(text).split("\n"):
        bare = line.strip()
        if _COMMENT.match(bare) and not is_missing(re.split("[\t;|,， ]", bare)[0]):
            skipped.append(line_number)
        elif bare and not _RULE.fullmatch(bare) and not _PRINTED.fullmatch(bare):
            lines.append((line_number, line))
        line_number += 1 + line.count(_HIDDEN[1])
    if skipped:
        notes.append(f"{_places(skipped)}: comment, skipped")
    return lines


def _split(line: str, separator: str) -> list[str]:
    """Split a line into cells at a separator; a date and its time stay together."""
    if separator == " ":
        glued = re.sub(r"([0-9]{4}|-[0-9]{2}) ([0-9]{1,2}:[0-9]{2})", r"\1T\2", line.strip(" "))
        return [_shown(cell) for cell in re.split(" +", glued)]
    if separator == "|":
        line = re.sub(r"^\s*\||\|\s*$", "", line)
    elif separator == ",":
        line = line.replace("，", ",")
    return [_shown(cell) for cell in line.split(separator)]


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Return the most frequent number of cells in a row that holds a value; 0 if there is none."""
    return reader.usual_of([len(cells) for cells in rows if any(map(is_value, cells))]) or 0


def _separator(lines: Sequence[tuple[int, str]]) -> str:
    """Return the separator that makes most rows of values alone, of these most of one width."""
    scores, lines = {}, lines[:300]
    for separator in _SEPARATORS:
        rows = [_split(line, separator) for _, line in lines]
        width = _width(rows)
        fitting = [cells for cells in rows if len(cells) == width > 1]
        words = [[c for c in cells if not is_value(c) and not is_missing(c)] for cells in fitting]
        if fitting:
            scores[separator] = (words.count([]), len(fitting))
    best = max(scores, key=scores.__getitem__, default=",")
    if best in ", " and scores.get(best, (0,))[0] and scores.get(",") == scores.get(" "):
        of, line = next(one for one in lines if any(map(is_value, _split(one[1], best))))
        raise ValueError(either(of, line, *(" | ".join(_split(line, way)) for way in ", ")))
    return best


def _table(lines: list[tuple[int, str]], notes: list[str]) -> tuple[Rows, list[str]]:
    """Return the rows of a table, each with the number of its line, and the column names."""
    separator = _separator(lines)
    rows = [(line, _split(text, separator)) for line, text in lines]
    width = _width([cells for _, cells in rows])
    if not width:
        raise ValueError("expected at least two rows of two numbers, got 0")
    head = _head([cells for _, cells in rows])
    names, rows = _names(lines[:head], separator, width, notes), rows[head:]
    for line, cells in rows:
        while len(cells) > width and not cells[-1]:
            del cells[-1]
        if len(cells) != width or width < 2:
            raise ValueError(f"line {line}: expected {max(width, 2)} columns, got {len(cells)}")
    if not any(names):
        _look_at_first_row(rows)
        if separator in ", " and width == 2:
            _look_at_whole_lines(lines[head:], separator, head, notes)
    return _leave_out_columns(rows, names, separator, notes)


def _head(rows: Sequence[list[str]]) -> int:
    """Return how many rows stand above the first with a number: names, and other text."""
    head = 0
    for i, cells in enumerate(rows):
        numbered = cells == ["", *map(str, range(len(cells) - 1))]  # by pandas, without names
        if any(map(is_value, cells)) and not (i == 0 and numbered):
            break
        if head and len(cells) > 1 and any(_has_digit(cell[:1]) for cell in cells):
            break  # such as "5 km" below names
        if numbered or any(map(str.isalpha, "".join(c for c in cells if not is_missing(c)))):
            head = i + 1
        elif not all(map(is_missing, cells)):
            break
    return head


def _has_digit(text: str) -> bool:
    """Return whether a text has a digit of any script, or a character such as ½."""
    return any(unicodedata.category(letter).startswith("N") for letter in text)


def _names(above: list[tuple[int, str]], separator: str, width: int, notes: list[str]) -> list[str]:
    """Return the column names from the lines ``above`` the values; add the others to ``notes``."""
    names: list[str] = []
    unused: list[tuple[int, list[str]]] = []
    for line, text in above:
        cells = _split(text, separator)
        if all(re.fullmatch(r"<[a-z]+>", cell) for cell in cells):  # column types, as R prints them
            continue
        short = len(cells) == width - 1
        if short and ((separator == "\t" and width > 2) or text[0] in f" {_QUOTED}"):
            cells = ["", *cells]  # a column of row numbers has no name
        elif names and separator == " " and len(cells) == 1:
            cells += [""] * (width - 1)  # the name of the index, which pandas prints below
        if len(cells) != width:
            unused.append((line, cells))
        elif names:
            names = [" ".join(both).strip() for both in zip(names, cells, strict=True)]
        else:
            names = cells
    for line, cells in unused:
        if not names and len(cells) > 1:
            raise ValueError(f"line {line}: expected {width} columns, got {len(cells)}")
        notes.append(f"line {line} skipped: {', '.join(cells)[:60]}")
    return names or [""] * width


def _look_at_first_row(rows: Rows) -> None:
    """Raise an error if the first row of a table without names may hold names: words or years."""
    for cell in rows[0][1]:
        if not is_value(cell) and not is_missing(cell):
            raise strange(rows[0][0], cell)
    years = [all(re.fullmatch("(?:19|20)[0-9]{2}", cell) for cell in cells) for _, cells in rows]
    if years[0] and not any(years[1:]):
        raise mixed(rows[0][0], " | ".join(rows[0][1]))


def _look_at_whole_lines(
    lines: Sequence[tuple[int, str]], separator: str, head: int, notes: list[str]
) -> None:
    """Add a note, or raise an error, if each line, such as "1,250", can be read as one number.

    The error is raised if a name stands above (``head`` > 0) or a line has another mark as well.
    """
    texts = [text.strip() for _, text in lines]
    if all(map(numbers, texts)):
        two = " | ".join(_split(texts[0], separator))
        if head or (separator == "," and re.search("[. '\u00a0]", "".join(texts))):
            one = [*numbers(texts[0]).values()][-1]
            raise ValueError(either(lines[0][0], texts[0], two, f"{one:.15g}"))
        notes.append(f"x, y: {texts[0]} is read as {two}")


def _leave_out_columns(
    rows: Rows, names: list[str], separator: str, notes: list[str]
) -> tuple[Rows, list[str]]:
    """Remove columns without values; then a first column of row numbers, if two others are left.

    A column with digits of any script or names of months stays: it may be numbers or dates.
    """
    left_out = set()
    valued = sum(any(is_value(cells[i]) for _, cells in rows) for i in range(len(names)))
    for i, name in enumerate(names):
        cells = [(line, cells[i]) for line, cells in rows if not is_missing(cells[i])]
        if not any(is_value(cell) for _, cell in cells):
            words = any(names) and not any(_has_digit(c) or reader.month(c) for _, c in cells)
            if valued > 1 and (not cells or (words and separator != " ")):
                left_out.add(i)
                notes += [f"{name} has no number: left out"] * bool(name)
    first = [cells[0] for _, cells in rows]
    counted = [[str(i + start) for i in range(len(rows))] for start in (0, 1)]
    if len(names) - len(left_out) > 2 and any(names) and not names[0] and first in counted:
        notes.append("the first column counts the rows: left out")
        left_out.add(0)
    kept = [i for i in range(len(names)) if i not in left_out]
    return [(line, [cells[i] for i in kept]) for line, cells in rows], [names[i] for i in kept]


def _chosen(names: Sequence[str], columns: Sequence[str | int] | None) -> tuple[int, int]:
    """Return the places of the columns of x and y."""
    called = [name or f"column {i}" for i, name in enumerate(names, 1)]
    if columns is None:
        if len(names) > 2:
            raise ChooseColumns(called)
        return 0, 1
    keys = [*range(len(called)), *called]
    two = [keys.index(one) % len(called) for one in columns if keys.count(one) == 1]
    if isinstance(columns, str) or len(columns) != 2 or len(set(two)) != 2:
        raise ValueError(f"columns: expected two of {keys}, got {columns!r}")
    return two[0], two[1]


def _whole(rows: Rows, two: tuple[int, int], notes: list[str]) -> Rows:
    """Return the rows that have x and y; note the others."""
    lost = {line for line, cells in rows if any(is_missing(cells[i]) for i in two)}
    if lost:
        notes.append(
            f"{len(lost)} of {len(rows)} rows left out, {_places(sorted(lost))}: no number"
        )
    return [row for row in rows if row[0] not in lost]


def _places(lines: Sequence[int]) -> str:
    """Return line numbers as text: "line 3" or "lines 3, 4, 9 …"; at most four."""
    few = ", ".join(map(str, lines[:4])) + " …" * (len(lines) > 4)
    return f"line{'s' * (len(lines) > 1)} {few}"
