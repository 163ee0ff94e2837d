"""The status line: a template filled with readings, and their changes since an earlier line.

A name in braces is a reading, such as ``{F:.0f}``, or a further template. Beside Python's formats,
``sd`` and ``sd3`` write a standard deviation of y with two or three significant digits, and ``at``
writes a value of x, in the units of the points. ``sum`` writes a total as the sum of its rounded
parts, which for ``{F:sum}`` is the reading ``F_sum``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.problems import own_points as points

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.elbo import FreeEnergy

Readings = Mapping[str, float]
_LITTLE = 0.5  # nats that are not announced
_AMONG = 0.5  # largest |x| of the drawn points


class Number(NamedTuple):
    """A reading's value as text, at present (``now``) and in an earlier status line (``then``)."""

    name: str
    now: str
    then: str | None
    unit: str  # "%" or ""
    difference: str  # the signed change, rounded by itself; "" if there is none

    def __str__(self) -> str:
        """Return the number: "319 → 404 (+85)", or "32" if it has not changed."""
        if self.then == self.now:
            return f"{self.now}{self.unit}"
        change = f" ({self.difference})" if self.difference else ""
        return f"{self.then} → {self.now}{self.unit}{change}"


@dataclass(frozen=True)
class Said:
    """A status line: a template, and the readings and texts that fill it."""

    line: str  # the template
    readings: Readings = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)  # further templates, by name
    data: Any = None  # the points, in whose units the line is written

    def __str__(self) -> str:
        return self.marked(None)

    def marked(self, then: Said | None) -> str:
        """Return the status line, with each reading's change since ``then`` in brackets."""
        text, since = "", " from grey A"  # written once, after the first change
        for part in self._parts(self.line, then):
            text += part if isinstance(part, str) else f"{part.now}{part.unit}"
            if isinstance(part, Number) and part.difference:
                text, since = f"{text} ({part.difference}{since})", ""
        return re.sub(" {2,}", " ", text).strip()

    def numbers(self, then: Said) -> list[Number]:
        """Return the readings that the earlier line ``then`` also has, in this line's order."""
        parts = self._parts(self.line, then)
        return [part for part in parts if isinstance(part, Number) and part.then is not None]

    def _parts(self, template: str, then: Said | None) -> Iterator[str | Number]:
        """Yield a template's texts and readings; each reading also has its value in ``then``."""
        pieces = list(Formatter().parse(template))
        for i, (literal, name, form, _) in enumerate(pieces):
            yield _PER_CENT.sub("", literal) if i and pieces[i - 1][1] else literal
            if name is None:
                continue
            if name not in self.readings:
                yield from self._parts(self.words[name], then)
            elif form == "at":  # a place is not compared: it may be a date
                yield points.at(self.data, self.readings[name])
            else:
                before, change, now = None, "", self.write(name, form or "")
                if then is not None and name in then.readings:
                    before = then.write(name, form or "")
                    change = self._change(then, name, form or "") if before != now else ""
                following = _PER_CENT.match(pieces[i + 1][0]) if i + 1 < len(pieces) else None
                yield Number(name, now, before, following[0] if following else "", change)

    def write(self, name: str, form: str) -> str:
        """Return a reading in the format ``form``."""
        name, form = (f"{name}_sum", ".0f") if form == "sum" else (name, form)
        return self._format(self.readings[name], form)

    def _format(self, value: float, form: str) -> str:
        if form.startswith("sd"):
            return points.sd(self.data, value, int(form[2:] or 2))
        return points.figure(value, form)

    def _change(self, then: Said, name: str, form: str) -> str:
        """Return the signed change of a reading; "" if it is 0 or unknown, or the units differ."""
        form = "sd" if (is_sd := form.startswith("sd")) else form.replace("sum", ".0f")
        if is_sd and points.units_of(self.data) != points.units_of(then.data):
            return ""
        text = self._format(self.readings[name] - then.readings[name], form).rstrip("%")
        return text if text[0] == "−" else f"+{text}" if text.strip("–0.") else ""


def shown_if(**shown: bool) -> dict[str, str]:
    """Return ``{name: ""}`` for each name whose value is false: the status line then hides it."""
    return {name: "" for name, is_shown in shown.items() if not is_shown}


def plain(text: str) -> str:
    """Escape braces in text for a template, such as a learner's column names."""
    return text.replace("{", "{{").replace("}", "}}")


_PER_CENT = re.compile(r"^ ?%")


# Readings and words that several explorers have.


def costs(cost: FreeEnergy) -> dict[str, float]:
    """Return "F", "complexity" and "likelihood" in nats, and "F_sum", the sum as it is shown."""
    digits = 0 if cost.kl_weight == 1 else 1  # a KL weight magnifies rounding errors
    total = float(f"{cost.kl_weight:.4g}") * round(cost.complexity, digits)
    total += round(cost.likelihood, 0)
    parts = {"complexity": cost.complexity, "likelihood": cost.likelihood}
    return {"F": cost.total, "F_sum": total, **parts}


def cost_words(cost: FreeEnergy) -> dict[str, str]:
    """Return what the texts of a status line insert for a KL weight other than 1; {} for 1."""
    return {} if cost.kl_weight == 1 else {"cost": "{weighted}", "factor": f"{cost.kl_weight:.4g}"}


def lower(below: float) -> str:
    """Announce that F is ``below`` nats lower than that of the fit shown before; "" up to ½."""
    return f" (a lower F was found: −{below:.0f} nats)" if below > _LITTLE else ""


def at(x_grid: Array, curve: Array, x: float) -> float:
    """Return the value of ``curve`` ``[m]`` where ``x_grid`` ``[m, 1]`` is nearest to ``x``."""
    return float(curve[np.abs(x_grid[:, 0] - x).argmin()])


def off_the_sine(x_grid: Array, mean: Array, mask: Array | None = None) -> float:
    """Return the rms distance of ``mean`` from the sine at ``mask``, by default where |x| ≤ ½."""
    where = np.abs(x_grid[:, 0]) <= _AMONG if mask is None else mask
    off = mean - datasets.sinusoid().truth(x_grid)[:, 0]
    return float(np.sqrt((off[where] ** 2).mean())) if where.any() else math.nan
