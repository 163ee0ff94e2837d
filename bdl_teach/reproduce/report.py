"""A reproduced table as text and as CSV."""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections.abc import Sequence

from bdl_teach._support import report
from bdl_teach.reproduce.table import Row, Table

HEADS = ("table", "label", "quantity", "published", "ours", "standard_error", "n", "verdict")


def figure(mean: float, standard_error: float) -> str:
    """A mean with its standard error, to two digits of the error: ``"3.01 ± 0.18"``."""
    if not math.isfinite(mean) or not math.isfinite(standard_error) or standard_error <= 0:
        return f"{mean:.4g}"
    digits = min(max(1 - math.floor(math.log10(standard_error)), 0), 6)
    return f"{mean:.{digits}f} ± {standard_error:.{digits}f}"


def as_text(table: Table, rows: Sequence[Row]) -> str:
    """The table for a reader."""
    heads = ["", "quantity", table.columns, "ours ± SE", "n", "verdict"]
    body = [
        [r.label, r.quantity, r.published, figure(r.ours, r.standard_error), str(r.n), r.verdict]
        for r in rows
    ]
    parts = table.title, report.table(heads, body), textwrap.fill(table.remarks, 79)
    return "\n\n".join(filter(None, parts))


def as_csv(table: Table, rows: Sequence[Row]) -> str:
    """The same figures, all their digits, one row a line."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADS)
    for r in rows:
        numbers = (repr(r.ours), repr(r.standard_error), r.n)
        writer.writerow([table.name, r.label, r.quantity, r.published, *numbers, r.verdict])
    return out.getvalue()
