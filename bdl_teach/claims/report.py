"""Findings as text and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from bdl_teach._support import report
from bdl_teach.claims import judge
from bdl_teach.claims.judge import Finding
from bdl_teach.reproduce.report import figure

HEADS = (
    "claim",
    "measure",
    "unit",
    "mean",
    "standard_error",
    "worlds_met",
    "worlds",
    "verdict",
    "asked",
    "sentence",
)


def effect(finding: Finding) -> str:
    """Mean and standard error with their unit: ``"37.1 ± 8.2 nats"``."""
    text = f"{figure(finding.mean, finding.error)} {finding.claim.unit}".rstrip()
    return text.replace("-", "−")


def as_text(findings: Sequence[Finding], *, chance: bool = False) -> str:
    """A table, one claim a line, and below it the sentences that may not be said.

    Args:
        findings: What came of the claims.
        chance: Whether to say, too, how often 20 worlds like these would not bear a claim out.
    """
    heads = ["claim", "effect ± SE", "asked for", "worlds", "verdict"]
    body = [
        [f.claim.id, effect(f), f.claim.rule.in_words(f.claim.unit), met(f), f.verdict]
        for f in findings
    ]
    if chance:
        heads.append("fails by chance")
        for row, finding in zip(body, findings, strict=True):
            row.append(f"{100 * judge.chance(finding):.1f} %")
    fallen = [f'{f.claim.id}, {f.verdict}: "{f.claim.sentence}"' for f in findings if f.falls]
    return "\n".join([report.table(heads, body), *([""] if fallen else []), *fallen])


def as_sentences(findings: Sequence[Finding]) -> str:
    """For a notebook: each sentence, and under it what was measured."""
    return "\n".join(
        f"{f.claim.sentence}\n    {f.claim.measure}: {effect(f)}; "
        f"asked for: {f.claim.rule.in_words(f.claim.unit)}; {met(f)} worlds; {f.verdict}"
        for f in findings
    )


def met(finding: Finding) -> str:
    """In how many of the worlds the effect lies where the rule wants it: ``"19 of 20"``."""
    return f"{finding.n_met} of {len(finding.effects)}"


def as_csv(findings: Sequence[Finding]) -> str:
    """The same with all digits, one claim a line."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(HEADS)
    for f in findings:
        numbers = (repr(f.mean), repr(f.error), f.n_met, len(f.effects))
        said = (f.verdict, f.claim.rule.in_words(f.claim.unit), f.claim.sentence)
        writer.writerow([f.claim.id, f.claim.measure, f.claim.unit, *numbers, *said])
    return out.getvalue()
