"""Read two columns from a text that was copied from a spreadsheet, a web page or a program."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.datasets import cells as reader
from bdl_teach.datasets.cells import Ambiguous, is_missing, is_value

_SEPARATORS = "\t;|，, "  # of equally good ones the first is taken
_AS_ASCII: dict[int, int | str | None] = {
    code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if code != 0xFF0C
}
_AS_ASCII |= str.maketrans(
    "、\u3000￥−‐‑’‘ʼ´`\u202f\u2009\u2007\u2008", "， ¥---'''''\u00a0\u00a0\u00a0\u00a0"
)
_AS_ASCII |= dict.fromkeys(map(ord, "\ufeff\u200b\u200e\u200f\u2060"))
_COMMENT = re.compile(r"\s*(?:#(?!(?:[A-ZА-ЯÄÖÜÉ/0]+[!?]|N/?A\b|NV\b|N/D\b|Н/Д\b))|//)")
_RULE = re.compile(r"[\s|:+=-]*(?:[=-]{3}|--\s*\||:-|-:)[\s|:+=-]*")  # a line drawn in a table
_PRINTED = re.compile(
    r"\[\d+ rows x \d+ columns\]|(?:Name: .*, )?(?:Length: \d+, )?dtype: \w+|\(\d+ rows?\)"
)
_PIECE = re.compile(r"[\d.,;|'\"\s$€%+-]+")
_SAMPLE = 300  # lines in which the separator is looked for
_HEAD = 20  # lines that may stand above the numbers


@one_line
@dataclass(frozen=True)
class Points:
    """Points that were read from a table.

    Attributes:
        x: Inputs ``[n]``. Dates are in days, times of day in hours, since the earliest one.
        y: Targets ``[n]``.
        names: Names of the two columns, with their units; "" for a column without a name.
        notes: Sentences that say what was skipped, stripped or assumed.
        zeros: The date ("2018-01-31") or time of day ("08:00") at x = 0 and at y = 0; "" for
            columns of numbers.
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
        super().__init__(
            f"expected two columns, got {len(names)}: {_listed(names)}; "
            f"choose two, such as columns=(0, {len(names) - 1})"
        )


class _Row(NamedTuple):
    """One line of a table, split into cells."""

    line: int  # its number in the text, from 1
    cells: list[str]
    kinds: str  # one letter a cell: v value, m missing, p piece of a number, w words

    @property
    def complete(self) -> bool:
        """Return whether the row has at least two values, or one value and a missing one.

        The row is not complete if a cell has digits and signs that form no value, such as "1;2".
        """
        values, missing = map(self.kinds.count, "vm")
        return values >= 1 and values + missing >= 2 and "p" not in self.kinds


@dataclass
class _Table:
    """A table with its column names, and notes on what was skipped."""

    rows: list[_Row]  # each has as many cells as there are names
    names: list[str]
    notes: list[str]

    def column(self, i: int) -> list[tuple[int, str]]:
        """Return the line number and the text of each cell of a column."""
        return [(row.line, row.cells[i]) for row in self.rows]

    def called(self, i: int) -> str:
        """Return a column's name, or "column 1" and so on if it has none."""
        return self.names[i] or f"column {i + 1}"

    def remove(self, i: int) -> None:
        self.rows = [_Row(n, c[:i] + c[i + 1 :], k[:i] + k[i + 1 :]) for n, c, k in self.rows]
        del self.names[i]


def read_points(
    text: str,
    *,
    columns: tuple[str | int, str | int] | None = None,
    decimal: str | None = None,
    day_first: bool | None = None,
) -> Points:
    """Read two columns of numbers, dates or times of day.

    Columns may be separated by tabs, semicolons, bars, commas or blanks; cells may be quoted; names
    and other lines of text may stand above the numbers. Decimal points and commas, thousands,
    currencies, per cent and missing values are understood; a row that lacks x or y is left out.
    If a cell can be read in two ways, the other rows decide; if they do not, an error says which
    argument must be given.

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
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal: expected '.' or ',', got {decimal!r}")
    lines, notes, separator = _lines(text)
    table = _table(lines, separator, notes, decimal)
    two = _chosen(table, columns)
    names = (table.names[two[0]], table.names[two[1]])
    called = [name or axis for name, axis in zip(names, "xy", strict=True)]
    if called[0] == called[1]:
        table.notes.append(f"both columns are called {called[0]}")
        called = [f"{name} ({axis})" for name, axis in zip(called, "xy", strict=True)]
    lost = _leave_out_missing(table, two, called)
    if len(table.rows) < 2:
        why = f": {table.notes[-1]}" if lost else ""
        raise ValueError(f"expected at least two rows of two numbers, got {len(table.rows)}{why}")
    both = [table.column(i) for i in two]
    marks = [decimal or reader.decimal_mark(cells) for cells in both]
    x, y = (  # the mark of one column holds for a column that shows none
        reader.read(name, cells, mark or other, day_first)
        for name, cells, mark, other in zip(called, both, marks, marks[::-1], strict=True)
    )
    if min(x.values) == max(x.values):
        first = table.rows[0].cells[two[0]].strip()
        raise ValueError(f"all {called[0]} are {first}: there is nothing to fit")
    found = (*table.notes, *x.notes, *y.notes)
    return Points(np.array(x.values), np.array(y.values), names, found, (x.zero, y.zero))


def _lines(text: str) -> tuple[list[tuple[int, str]], list[str], str]:
    """Return the lines of data with their numbers, notes on skipped lines, and the separator.

    The separator is the character that a first line such as "sep=;" names, or "" without one.
    """
    if not isinstance(text, str):
        raise ValueError(f"text: expected a str, got {type(text).__name__}")
    separator, comments, shortened, lines = "", [], [], []
    for number, line in enumerate(text.translate(_AS_ASCII).splitlines(), 1):
        if number == 1 and (named := re.fullmatch(r'"?sep=(.)"?', line.strip())):
            separator = named[1]
        elif not line.strip() or _RULE.fullmatch(line) or _PRINTED.fullmatch(line.strip()):
            continue
        elif _COMMENT.match(line):
            comments.append(number)
        elif re.fullmatch(r"[\s|;,.…]*(?:\.{3}|…)[\s|;,.…]*", line):
            shortened.append(number)
        else:
            lines.append((number, line))
    notes = [f"{_places(comments)}: comment, skipped"] if comments else []
    if shortened:
        notes.append(f"{_places(shortened)}: “…” stands for rows that were not copied")
    if not lines:
        raise ValueError("expected a table of two columns of numbers, got no line of data")
    return lines, notes, separator


def _split(lines: Sequence[tuple[int, str]], separator: str) -> list[_Row]:
    """Split lines into rows of cells at a separator, but not inside quotes."""
    # Whether thousands may be grouped by blanks.
    spaced = separator not in ", " or (separator == "," and all('"' in line for _, line in lines))
    if separator == " ":
        words = ((n, re.findall(r'"[^"]*"|[^ \t]+', _joined(line))) for n, line in lines)
        return [_row(n, [cell.strip('"') for cell in cells], spaced) for n, cells in words]
    texts = [f"{line}\n" for _, line in lines]
    if separator == "|":
        texts = [line.strip(" \n").strip("|") + "\n" for line in texts]
    elif separator == ",":
        texts = [line.replace("，", ",") for line in texts]
    rows, before = [], 0
    read = csv.reader(texts, delimiter=separator, skipinitialspace=True)
    for cells in read:
        rows.append(_row(lines[before][0], [cell.strip() for cell in cells], spaced))
        before = read.line_num
    return rows


def _row(line: int, cells: list[str], spaced: bool) -> _Row:
    def kind(cell: str) -> str:
        if is_missing(cell):
            return "m"
        return "v" if is_value(cell, spaced) else "p" if _PIECE.fullmatch(cell) else "w"

    return _Row(line, cells, "".join(map(kind, cells)))


def _joined(line: str) -> str:
    """Remove the blank between a date and its time, and between a time and AM or PM."""
    line = re.sub(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d)", r"\1T\2", line)
    return re.sub(r"(\d:\d\d) ([AaPp]\.?[Mm]\b)", r"\1\2", line)


def _table(
    lines: list[tuple[int, str]], named: str, notes: list[str], decimal: str | None
) -> _Table:
    """Make a table from numbered lines; ``named`` is the separator, or "" if it must be guessed."""
    separator = named or _separator(lines)
    rows = _split(lines, separator)
    width = _width(rows)
    if width < 2:
        raise ValueError(_no_table(lines))
    head = _head(rows, width)
    above, rows = rows[:head], rows[head:]
    names = _names(above, width, separator, dict(lines), notes)
    table = _Table([_with_width(row, width) for row in rows], names, notes)
    below = [line for line in lines if line[0] >= rows[0].line]
    if separator == "," and not any(names) and not any('"' in line for _, line in below):
        _look_at_commas(below, notes, decimal, one_name=len(above) == 1 == len(above[0].cells))
    _leave_out_columns(table)
    return table


def _width(rows: Sequence[_Row]) -> int:
    """Return the most frequent number of cells in a complete row; 0 if no row is complete."""
    widths = Counter(len(row.cells) for row in rows if row.complete)
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _separator(lines: list[tuple[int, str]]) -> str:
    """Return the separator with which most lines become complete rows of the same width."""
    lines = lines[:_SAMPLE]
    best, found = (0, 0), ","
    for separator in _SEPARATORS:
        alike = "，," if separator == "," else separator
        if not any(char in line for _, line in lines for char in alike):
            continue
        rows = [row for row in _split(lines, separator) if row.complete]
        width = _width(rows)
        rows = [row for row in rows if len(row.cells) == width]
        score = len(rows), -sum(row.kinds.count("w") for row in rows)
        if score > best:
            best, found = score, separator
    if found == " " and best[1] == 0:
        _look_at_blanks(lines)
    return found


def _look_at_blanks(lines: list[tuple[int, str]]) -> None:
    """Raise ``ValueError`` if lines such as "0,1 234" may mean 0.1 and 234, or 0 and 1234."""
    rows = [row for row in _split(lines, ",") if any(map(is_value, row.cells))]
    if rows and all(len(row.cells) == 2 and all(map(is_value, row.cells)) for row in rows):
        x, y = rows[0].cells
        raise ValueError(
            f"line {rows[0].line}: it is unclear whether the comma or the blank separates {x} and "
            f"{y}: put a semicolon between the columns"
        )


def _no_table(lines: list[tuple[int, str]]) -> str:
    numbers = [line for line in lines if is_value(line[1].strip())]
    if len(numbers) * 2 >= len(lines):
        number, line = numbers[0]
        return f"line {number}: expected two columns, got one: {line.strip()[:40]}"
    number, line = next((one for one in lines if re.search(r"\d", one[1])), lines[0])
    return f"line {number}: expected two numbers, got {line.strip()[:40]}"


def _head(rows: Sequence[_Row], width: int) -> int:
    """Return how many rows the head has; it ends with the last row of text above the values."""
    head = 0
    for i, row in enumerate(rows[:_HEAD]):
        if len(row.cells) == width and row.complete:
            break
        if set(row.kinds) & set("wp") and not any(map(is_value, row.cells)):
            head = i + 1
    return head


def _names(
    above: list[_Row], width: int, separator: str, lines: dict[int, str], notes: list[str]
) -> list[str]:
    """Return the column names from the rows ``above`` the values; add skipped rows to ``notes``."""
    kept: list[tuple[int, list[str]]] = []  # number of the line, its names
    for row in above:
        cells = row.cells
        if separator == " " and len(cells) not in (width - 1, width):  # names of several words
            cells = [cell.strip(' "') for cell in re.split(r" {2,}|\t", lines[row.line].strip())]
        if all(re.fullmatch(r"<\w+>", cell) for cell in cells):  # column types, as R prints them
            continue
        indented = separator == " " and lines[row.line].startswith(" ")
        if len(cells) == width - 1 and separator in " \t" and (width > 2 or indented):
            cells = ["", *cells]  # a column of row numbers has no name
        kept.append((row.line, cells))
    full = [  # rows that name more than the first column
        i
        for i, (_, cells) in enumerate(kept)
        if len(cells) == width and sum(map(bool, cells)) >= (1 if width == 2 and cells[1] else 2)
    ]
    names = list(kept[full[-1]][1]) if full else [""] * width
    used = set(full[-1:])
    over = kept[full[-2]][1] if len(full) > 1 and full[-1] == full[-2] + 1 else ["1"]
    units = all(re.fullmatch(r"[\[(].*[\])]|\S{0,6}", name) for name in names)
    if units and not any(map(is_value, over)):
        used = set(full[-2:])
        names = [_with_unit(*both) for both in zip(kept[full[-2]][1], names, strict=True)]
    for i, (line, cells) in enumerate(kept):
        words = [cell for cell in cells if cell]
        if i not in used and full and i > full[-1] and len(words) == 1 and not names[0]:
            names[0] = words[0]  # the name of the index, which pandas prints below the others
        elif i not in used:
            notes.append(f"line {line} skipped: {', '.join(words)[:60]}")
            if separator == "," and len(words) > 1 and not full:
                raise ValueError(
                    f"line {line}: expected {width} names, one for each column, got {len(words)}"
                )
    return [" ".join(name.split()) for name in names]


def _with_unit(name: str, unit: str) -> str:
    bare = unit.strip("[]()")
    return f"{name} [{bare}]" if bare not in ("", "-", "–") else name


def _look_at_commas(
    lines: Sequence[tuple[int, str]], notes: list[str], decimal: str | None, *, one_name: bool
) -> None:
    """Add a note, or raise an error, if each line, such as "1,250", can be read as one number.

    The note says that the comma is taken to separate x and y. The error is raised instead if there
    is only one column name (``one_name``) or a line has a point, unless ``decimal`` is ".".
    """
    whole = [reader.number(line) for _, line in lines]
    if not all(whole):
        return
    for (number, line), one in zip(lines, whole, strict=True):
        if one and decimal != "." and (one_name or "." in line):  # 1.250,50
            if decimal == ",":
                raise ValueError(f"line {number}: expected two columns, got one: {line.strip()}")
            x, _, y = line.strip().partition(",")
            ways = {".": f"{x} and {y}", ",": f"one number, {one.value(',')}"}
            raise Ambiguous(f"line {number}: {line.strip()}", "decimal", ways)
    notes.append("the comma in each line is taken to stand between x and y")


def _with_width(row: _Row, width: int) -> _Row:
    """Cut a row to ``width`` cells; raise an error if it has fewer or a cut cell is not empty."""
    if not any(row.cells[width:]):
        row = _Row(row.line, row.cells[:width], row.kinds[:width])
    cells = row.cells
    if any("\n" in cell for cell in cells):
        raise ValueError(f"line {row.line}: a quotation mark is opened and not closed")
    if len(cells) != width:
        columns = {2: "two", 3: "three", 4: "four"}.get(width, width)
        expected = "two numbers" if "v" not in row.kinds and width == 2 else f"{columns} columns"
        raise ValueError(
            f"line {row.line}: expected {expected}, got {len(cells)}: {', '.join(cells)[:40]}"
        )
    return row


def _leave_out_columns(table: _Table) -> None:
    """Remove columns without values; then a first column of row numbers, if two others are left."""
    width, line = len(table.names), table.rows[0].line
    valued = {i for i in range(width) if any(row.kinds[i] == "v" for row in table.rows)}
    for i in sorted(set(range(width)) - valued, reverse=True):
        texts = [cell for _, cell in table.column(i)]
        if re.fullmatch(r"\[\d+\]", texts[0]):
            raise ValueError(f"line {line}: expected a table, got a vector as R prints it")
        if len(valued) >= 2:
            years = [cell for cell in table.rows[0].cells if re.fullmatch("[12]\\d{3}", cell)]
            if not any(table.names) and len(years) >= 2:  # "country;2019;2020"
                raise ValueError(
                    f"line {line}: {' and '.join(years[:2])} may be names of columns or values: "
                    f"for names, write a letter before each (y{years[0]}); for values, add a line "
                    "of column names above"
                )
            if table.names[i] or not all(map(is_missing, texts)):
                table.notes.append(f"{table.called(i)} has no number: left out")
            table.remove(i)
    if len(table.names) > 2 and not table.names[0] and any(table.names):
        counted = [cell for _, cell in table.column(0)]
        if counted[0] in ("0", "1") and _counts_up(counted, table.notes):
            table.notes.append("the first column counts the rows: left out")
            table.remove(0)


def _counts_up(cells: Sequence[str], notes: Sequence[str]) -> bool:
    """Return whether cells count up by 1; allow one jump if ``notes`` say that rows are missing."""
    if not all(re.fullmatch(r"\d+", cell) for cell in cells):
        return False
    steps = np.diff([int(cell) for cell in cells])
    shortened = any("not copied" in note for note in notes)
    return bool((steps == 1).all() or (shortened and (steps > 0).all() and (steps > 1).sum() == 1))


def _chosen(table: _Table, columns: tuple[str | int, str | int] | None) -> tuple[int, int]:
    names = [table.called(i) for i in range(len(table.names))]
    if columns is None:
        if len(names) != 2:
            raise ChooseColumns(names)
        return 0, 1
    if isinstance(columns, str) or len(columns) != 2:
        raise ValueError(f"columns: expected two names, or two numbers from 0, got {columns!r}")
    first, second = (_place(names, column) for column in columns)
    if first == second:
        raise ValueError(f"columns: expected two different columns, got {columns!r}")
    return first, second


def _place(names: Sequence[str], column: str | int) -> int:
    if isinstance(column, str):
        places = [i for i, name in enumerate(names) if name == column]
        if len(places) > 1:
            raise ValueError(
                f"columns: {len(places)} columns are called {column}: give numbers from 0"
            )
        if places:
            return places[0]
    elif not isinstance(column, bool) and 0 <= column < len(names):
        return column
    raise ValueError(
        f"columns: expected names among {_listed(names)}, or numbers from 0, got {column!r}"
    )


def _leave_out_missing(table: _Table, two: tuple[int, int], called: Sequence[str]) -> bool:
    """Remove the rows that lack x or y, and note them; return whether there were any."""
    lost: dict[int, list[str]] = {}  # by the number of the line, what is missing
    for row in table.rows:
        cells = [(name, row.cells[i].strip()) for i, name in zip(two, called, strict=True)]
        if empty := [f"{name} is {cell or 'empty'}" for name, cell in cells if is_missing(cell)]:
            lost[row.line] = empty
    if lost:
        many = f"{len(lost)} of {len(table.rows)} rows {'have' if len(lost) > 1 else 'has'}"
        what = f" ({' and '.join(*lost.values())})" if len(lost) == 1 else ""
        table.notes.append(f"{many} no number: left out, {_places(list(lost))}{what}")
        table.rows = [row for row in table.rows if row.line not in lost]
    return bool(lost)


def _listed(names: Sequence[str]) -> str:
    most = 12
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _places(lines: Sequence[int]) -> str:
    """Return line numbers as text: "line 3", "lines 3, 4 and 9"; at most five."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    if len(lines) > 5:
        return f"lines {', '.join(map(str, lines[:4]))} …"
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
