"""`bench ticks`: 1000 ticks of the sinusoid explorer, without a browser."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypedDict

from bdl_teach._support import report
from bench.verdicts import Verdict

if TYPE_CHECKING:
    from bdl_teach.widgets import SinusoidExplorer

RANGES: dict[str, tuple[float, float]] = {  # control -> range that a drag sweeps
    "sigma1": (0.5, 3.0),
    "sigma2": (0.05, 0.5),
    "pi": (0.1, 0.9),
    "noise_std": (0.5, 2.0),
    "kl_weight": (0.1, 2.0),
}
GROWTH_MB = 20.0


class Figures(TypedDict):
    """What was seen of an explorer: memory in MB before and after, and each sentence of a fault."""

    ticks: int
    pictures: int
    before_mb: float
    after_mb: float
    growth_mb: float
    exceptions: list[str]
    last_value_kept: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench ticks`."""
    parser.add_argument("--ticks", type=int, default=1000)
    parser.add_argument("--warm-up", type=int, default=50, help="ticks before memory is noted")


def run(options: argparse.Namespace) -> int:
    """Measure, print, and judge; an exception or a lost value always fails."""
    from bdl_teach.widgets import SinusoidExplorer

    figures = drive(SinusoidExplorer(), options.ticks, options.warm_up)
    verdict = Verdict("growth of resident memory", figures["growth_mb"], "MB", GROWTH_MB)
    if options.json:
        print(json.dumps({"machine": report.machine(), **figures, "ok": verdict.ok}, indent=2))
    else:
        print(as_text(figures, verdict))
    broken = bool(figures["exceptions"]) or not figures["last_value_kept"]
    return 1 if broken or (options.strict and not verdict.ok) else 0


def drive(explorer: SinusoidExplorer, ticks: int, warm_up: int) -> Figures:
    """Move one control after another, waiting for each picture; return what was seen."""
    from bench.live import resident_mb

    explorer.warm()  # what is compiled in the background is no leak
    values = moves()
    wanted, exceptions = _take(explorer, values, warm_up)
    before = resident_mb()
    more, late = _take(explorer, values, ticks)
    after, state = resident_mb(), explorer.state()
    wanted.update(more)
    kept = all(abs(state[name] - value) < 1e-6 * abs(value) for name, value in wanted.items())
    pictures = explorer.ticks
    explorer.close()
    return {
        "ticks": ticks,
        "pictures": pictures,
        "before_mb": before,
        "after_mb": after,
        "growth_mb": after - before,
        "exceptions": exceptions + late,
        "last_value_kept": kept,
    }


def _take(
    explorer: SinusoidExplorer, values: Iterator[tuple[str, float]], ticks: int
) -> tuple[dict[str, float], list[str]]:
    """Make that many moves; return the last value of each control, and what was raised."""
    wanted: dict[str, float] = {}
    exceptions: list[str] = []
    for i in range(ticks):
        name, value = next(values)
        wanted[name] = value
        try:
            explorer.set(**{name: value})
        except Exception as error:  # counted, and the next tick has to work again
            exceptions.append(f"tick {i}, {name} = {value:g}: {error}")
    return wanted, exceptions


def moves(seed: int = 0) -> Iterator[tuple[str, float]]:
    """Endless moves of the controls in turn, each to somewhere in its range."""
    generator = random.Random(seed)
    while True:
        for name, (low, high) in RANGES.items():
            yield name, round(generator.uniform(low, high), 2)


def as_text(figures: Figures, verdict: Verdict) -> str:
    """Everything, for a reader."""
    lines = [
        report.machine_line(),
        f"{figures['ticks']} ticks, {figures['pictures']} pictures: resident memory "
        f"{figures['before_mb']:.0f} -> {figures['after_mb']:.0f} MB.",
        f"Exceptions: {len(figures['exceptions'])}. "
        f"Last values kept: {'yes' if figures['last_value_kept'] else 'NO'}.",
        *figures["exceptions"][:10],
    ]
    return "\n".join([*lines, report.table(["figure", "here", "asked for", ""], [verdict.cells()])])
