"""`bench replay`: what it costs a fit to keep the frames of its training, in pairs."""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from types import ModuleType
from typing import Any
from unittest.mock import patch

from bdl_teach._support import report
from bench.methods import Way, ways
from bench.verdicts import Verdict

LIMIT = 10.0  # percent of a fit without frames
_Programs = dict[ModuleType, Callable[..., Any]]


@dataclass(frozen=True)
class Row:
    """What keeping the frames adds to the fits of one method.

    Attributes:
        name: Which method.
        fit_s: Processor time of a fit that keeps none, on average.
        extra: Share of it that a fit with frames takes longer, on average over the pairs.
        error: Standard error of ``extra``.
    """

    name: str
    fit_s: float
    extra: float
    error: float

    @property
    def verdict(self) -> Verdict:
        """The figure beside its limit."""
        return Verdict(f"{self.name}, frames", 100 * self.extra, "%", LIMIT)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench replay`."""
    parser.add_argument("--pairs", type=int, default=60, help="fits of each kind, 2 at least")


def run(options: argparse.Namespace) -> int:
    """Measure, print, and judge."""
    measured = (measure(way, options.pairs) for way in chosen())
    rows = [row for row in measured if row is not None]
    print(json.dumps(as_json(rows), indent=2) if options.json else as_text(rows))
    return 1 if options.strict and not all(row.verdict.ok for row in rows) else 0


def chosen() -> list[Way]:
    """Every method, and the single member that the rivals' explorer calls MAP."""
    from bdl_teach.densities import ScaleMixture
    from bdl_teach.methods import ensemble

    one = partial(ensemble.fit, prior=ScaleMixture(), n_members=1)
    return [*(way for way in ways() if way.repeated), Way("ensemble, one member", one)]


def measure(way: Way, pairs: int) -> Row | None:
    """Measure pairs of the same fit with frames and without; ``None`` if it keeps none anyway."""
    from bdl_teach import datasets
    from bdl_teach.widgets._engine import replay

    data, own = datasets.sinusoid(), _programs()
    if not replay.steps_of(way.fit(data.x, data.y, seed=0)):
        return None
    print(f"{way.name} ...", file=sys.stderr, flush=True)

    def seconds(kept: bool) -> float:
        with ExitStack() as stack:
            if not kept:
                stack.enter_context(_without_frames(own))
            start = time.process_time()
            way.fit(data.x, data.y, seed=0)  # of another one the first would draw the noise
            return time.process_time() - start

    for kept in (True, False):
        seconds(kept)  # which compiles
    times: dict[bool, list[float]] = {True: [], False: []}
    with _without_collections():
        for i in range(pairs):
            for kept in (True, False) if i % 2 else (False, True):
                times[kept].append(seconds(kept))
    return judge(way.name, times[True], times[False])


def judge(name: str, kept: Sequence[float], none: Sequence[float]) -> Row:
    """Lay the times of the pairs beside each other: with frames, and without."""
    fit_s = statistics.mean(none)
    extra = [(a - b) / fit_s for a, b in zip(kept, none, strict=True)]
    return Row(name, fit_s, statistics.mean(extra), statistics.stdev(extra) / len(extra) ** 0.5)


def _programs() -> _Programs:
    """The programs of all methods, none of them compiled yet."""
    from bdl_teach.methods.catalogue import MODULES

    modules = [importlib.import_module(f"bdl_teach.methods.{name}") for name in MODULES]
    found = {module: getattr(module, "_program", None) for module in modules}
    return {m: lru_cache(program.__wrapped__) for m, program in found.items() if program}


@contextmanager
def _without_frames(own: _Programs) -> Iterator[None]:
    """Have methods use programs of their own, which find the frames too large to be kept."""
    from bdl_teach import optimise

    with ExitStack() as stack:
        stack.enter_context(patch.object(optimise, "MOST_NUMBERS", 0))
        for module, program in own.items():
            stack.enter_context(patch.object(module, "_program", program))
        yield


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep Python from looking for garbage in some of the fits and not in others."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def as_json(rows: Sequence[Row]) -> dict[str, object]:
    """Everything, for a script."""
    return {
        "machine": report.machine(),
        "limit_percent": LIMIT,
        "rows": [{**asdict(row), "ok": row.verdict.ok} for row in rows],
    }


def as_text(rows: Sequence[Row]) -> str:
    """Everything, for a reader."""
    heads = ["method", "fit ms", "frames add %", "± s.e.", "asked for", ""]
    body = [
        [
            row.name,
            report.number(1e3 * row.fit_s),
            f"{100 * row.extra:.1f}",
            f"{100 * row.error:.1f}",
            *row.verdict.cells()[2:],
        ]
        for row in rows
    ]
    preamble = (
        "Processor time of a fit that keeps the frames of its training beside the same fit without"
        "\nthem, in pairs, on the 32 points of the sinusoid, own default settings."
        f"\n{report.machine_line()}"
    )
    return f"{preamble}\n\n{report.table(heads, body)}"
