"""`bench ticks`: measure memory over 1000 ticks of the sinusoid explorer, without a browser."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypedDict

from bench.verdicts import Verdict, finish

if TYPE_CHECKING:
    from bdl_teach.widgets import SinusoidExplorer

RANGES: dict[str, tuple[float, float]] = {  # range of values by control
    "sigma1": (0.5, 3.0),
    "sigma2": (0.05, 0.5),
    "pi": (0.1, 0.9),
    "noise_std": (0.5, 2.0),
    "kl_weight": (0.1, 2.0),
}
GROWTH_MB = 20.0


class Run(TypedDict):
    """The result of a run: numbers of ticks and pictures, memory in MB, and exceptions."""

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
    parser.add_argument("--warm-up", type=int, default=50, help="ticks before memory is read")


def run(options: argparse.Namespace) -> int:
    """Measure memory, print it with its limit; return 1 after an exception or a lost value."""
    from bdl_teach.widgets import SinusoidExplorer

    seen = drive(SinusoidExplorer(), options.ticks, options.warm_up)
    text = [
        f"{seen['ticks']} ticks, {seen['pictures']} pictures: resident memory "
        f"{seen['before_mb']:.0f} -> {seen['after_mb']:.0f} MB.",
        f"Exceptions: {len(seen['exceptions'])}. "
        f"Last values kept: {'yes' if seen['last_value_kept'] else 'NO'}.",
        *seen["exceptions"][:10],
    ]
    verdict = Verdict("growth of resident memory", seen["growth_mb"], "MB", GROWTH_MB)
    code = finish(options, seen, text, [verdict])
    return 1 if seen["exceptions"] or not seen["last_value_kept"] else code


def drive(explorer: SinusoidExplorer, ticks: int, warm_up: int) -> Run:
    """Move one control after another, waiting for each picture; return what was measured."""
    from bench.live import resident_mb

    explorer.warm()  # programs compiled in the background are no leak
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
    """Move controls `ticks` times; return the last value of each control, and the exceptions."""
    wanted: dict[str, float] = {}
    exceptions: list[str] = []
    for i in range(ticks):
        name, value = next(values)
        wanted[name] = value
        try:
            explorer.set(**{name: value})
        except Exception as error:  # the next tick must work again
            exceptions.append(f"tick {i}, {name} = {value:g}: {error}")
    return wanted, exceptions


def moves(seed: int = 0) -> Iterator[tuple[str, float]]:
    """Yield, without end, the controls' names in turn, each with a random value in its range."""
    generator = random.Random(seed)
    while True:
        for name, (low, high) in RANGES.items():
            yield name, round(generator.uniform(low, high), 2)
