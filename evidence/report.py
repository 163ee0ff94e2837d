"""Lay out findings of claims and rows of papers' tables as text and CSV."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from bdl_teach._support import report
from evidence import judge
from evidence.judge import Finding
from evidence.store import as_csv
from evidence.table import Row


def figure(mean: float, standard_error: float) -> str:
    """Format a mean and its standard error, to two digits of the error: ``"3.01 ± 0.18"``."""
    if not math.isfinite(mean) or not math.isfinite(standard_error) or standard_error <= 0:
        return f"{mean:.4g}"
    digits = min(max(1 - math.floor(math.log10(standard_error)), 0), 6)
    return f"{mean:.{digits}f} ± {standard_error:.{digits}f}"


def rows_as_text(table: Any, rows: Sequence[Row]) -> str:
    """Return the rows of a paper's table as text; ``table`` is the table's module in ``papers``."""
    heads = ["", "quantity", table.COLUMNS, "ours ± SE", "n", "verdict"]
    body = [
        [r.label, r.quantity, r.published, figure(r.ours, r.standard_error), str(r.n), r.verdict]
        for r in rows
    ]
    remarks = textwrap.fill(getattr(table, "REMARKS", ""), 79)
    return "\n\n".join(filter(None, (table.TITLE, report.table(heads, body), remarks)))


def effect(finding: Finding) -> str:
    """Format a finding's mean and standard error with their unit: ``"37.1 ± 8.2 nats"``."""
    text = f"{figure(finding.mean, finding.error)} {finding.claim.unit}".rstrip()
    return text.replace("-", "−")


def asked(finding: Finding) -> str:
    """Return the limits of a finding's claim as text, such as ``"> 0 nats"``."""
    return finding.claim.rule.in_words(finding.claim.unit)


def as_text(findings: Sequence[Finding], *, chance: bool = False) -> str:
    """Return a table of findings, then the claims that do not hold or stay open after 20 worlds.

    ``chance`` adds a column with the probability that a claim fails by chance.
    """
    heads = ["claim", "effect ± SE", "asked for", "worlds", "verdict"]
    body = [
        [f.claim.id, effect(f), asked(f), f"{f.n_met} of {len(f.effects)}", f.verdict]
        for f in findings
    ]
    if chance:
        heads.append("fails by chance")
        for row, finding in zip(body, findings, strict=True):
            row.append(f"{100 * judge.chance(finding):.1f} %")
    fallen = [f'{f.claim.id}, {f.verdict}: "{f.claim.sentence}"' for f in findings if f.falls]
    return "\n".join([report.table(heads, body), *([""] if fallen else []), *fallen])


def as_sentences(findings: Sequence[Finding]) -> str:
    """Return findings as text for a notebook: each claim's sentence, its measured effect below."""
    return "\n".join(
        f"{f.claim.sentence}\n    {f.claim.measure}: {effect(f)}; "
        f"asked for: {asked(f)}; {f.n_met} of {len(f.effects)} worlds; {f.verdict}"
        for f in findings
    )


def findings_as_csv(findings: Sequence[Finding]) -> str:
    """Return findings as the text of a CSV file, one claim a line, with all digits."""
    heads = ["claim", "measure", "unit", "mean", "standard_error"]
    heads += ["worlds_met", "worlds", "verdict", "asked", "sentence"]
    lines: list[list[object]] = [
        [f.claim.id, f.claim.measure, f.claim.unit, f.mean, f.error]
        + [f.n_met, len(f.effects), f.verdict, asked(f), f.claim.sentence]
        for f in findings
    ]
    return as_csv([heads, *lines])
