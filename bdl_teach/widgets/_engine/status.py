"""The sentence below the picture, a template filled with readings; and the table *numbers*.

A name in braces is a reading, such as ``{F:.0f}``, or a further template. Beside Python's formats,
``sd`` and ``sd3`` write a standard deviation of y with two or three significant digits, and ``at``
writes a value of x, in the units of the points.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.problems import own_points as points

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.elbo import FreeEnergy
    from bdl_teach.widgets._engine.texts import Row

Readings = Mapping[str, float]
_AMONG = 0.5  # largest |x| of the drawn points


@dataclass(frozen=True)
class Said:
    """A status line: a template, and the readings and texts that fill it."""

    line: str  # the template
    readings: Readings = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)  # further templates, by name
    data: Any = None  # the points, in whose units the line is written

    def __str__(self) -> str:
        return re.sub(" {2,}", " ", "".join(self._parts(self.line))).strip()

    def _parts(self, template: str) -> Iterator[str]:
        """Yield a template's texts, and its readings in their formats."""
        for literal, name, form, _ in Formatter().parse(template):
            yield literal
            if name is None:
                continue
            if name not in self.readings:
                yield from self._parts(self.words[name])
            elif form == "at":
                yield points.at(self.data, self.readings[name])
            else:
                yield self.write(name, form or "")

    def write(self, name: str, form: str) -> str:
        """Return a reading in the format ``form``."""
        value = self.readings[name]
        if form.startswith("sd"):
            return points.sd(self.data, value, int(form[2:] or 2))
        return points.figure(value, form)


def table(said: Said, rows: Mapping[str, Row], then: Said | None) -> str:
    """Return the readings as an HTML table, with a column for those of the pinned state ``then``.

    A reading's meaning is shown on hover and focus.
    """
    states = [said] if then is None else [said, then]
    head = "".join(f"<th>{one}</th>" for one in ("", "now", "A")[: 1 + len(states)])
    lines = []
    for name, row in rows.items():
        if name in said.readings:
            meant = f' tabindex="0" title="{html.escape(row.meaning)}"' if row.meaning else ""
            label = f'<th scope="row"{meant}>'
            label += f"{html.escape(row.words)}</th>"
            found = [one.write(name, row.form) if name in one.readings else "" for one in states]
            lines.append(label + "".join(f"<td>{html.escape(value)}</td>" for value in found))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def shown_if(**shown: bool) -> dict[str, str]:
    """Return ``{name: ""}`` for each name whose value is false: the status line then hides it."""
    return {name: "" for name, is_shown in shown.items() if not is_shown}


def plain(text: str) -> str:
    """Escape braces in text for a template, such as a learner's column names."""
    return text.replace("{", "{{").replace("}", "}}")


# Readings and words that several explorers have.


def costs(cost: FreeEnergy) -> dict[str, float]:
    """Return "F", "complexity" and "likelihood" in nats."""
    return {"F": cost.total, "complexity": cost.complexity, "likelihood": cost.likelihood}


def at(x_grid: Array, curve: Array, x: float) -> float:
    """Return the value of ``curve`` ``[m]`` where ``x_grid`` ``[m, 1]`` is nearest to ``x``."""
    return float(curve[np.abs(x_grid[:, 0] - x).argmin()])


def off_the_sine(x_grid: Array, mean: Array, mask: Array | None = None) -> float:
    """Return the rms distance of ``mean`` from the sine at ``mask``, by default where |x| ≤ ½."""
    where = np.abs(x_grid[:, 0]) <= _AMONG if mask is None else mask
    off = mean - datasets.sinusoid().truth(x_grid)[:, 0]
    return float(np.sqrt((off[where] ** 2).mean())) if where.any() else math.nan
