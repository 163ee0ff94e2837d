"""`bench replay`: measure the cost of storing the frames of a training, in pairs of fits."""

from __future__ import annotations

import argparse
import gc
import importlib
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
from bench.verdicts import Verdict, finish

LIMIT = 10.0  # percent of a fit without frames
_Programs = dict[ModuleType, Callable[..., Any]]


@dataclass(frozen=True)
class Row:
    """The cost of storing frames, for a method.

    Attributes:
        name: The method's name.
        fit_s: Mean processor time of a fit without frames.
        extra: Mean additional time of a fit with frames, as a share of ``fit_s``.
        error: Standard error of ``extra``.
    """

    name: str
    fit_s: float
    extra: float
    error: float

    @property
    def verdict(self) -> Verdict:
        """Return a verdict that compares the cost with its limit."""
        return Verdict(f"{self.name}, frames", 100 * self.extra, "%", LIMIT)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench replay`."""
    parser.add_argument("--pairs", type=int, default=60, help="number of pairs, at least 2")


def run(options: argparse.Namespace) -> int:
    """Measure the costs, print them, and compare them with the limit."""
    measured = (measure(way, options.pairs) for way in chosen())
    rows = [row for row in measured if row is not None]
    results = {"rows": [asdict(row) for row in rows]}
    return finish(options, results, as_text(rows), [row.verdict for row in rows])


def chosen() -> list[Way]:
    """Return all methods, and an ensemble of one member, which the course calls MAP."""
    from bdl_teach.densities import ScaleMixture
    from bdl_teach.methods import ensemble

    one = partial(ensemble.fit, prior=ScaleMixture(), n_members=1)
    return [*(way for way in ways() if way.repeated), Way("ensemble, one member", one)]


def measure(way: Way, pairs: int) -> Row | None:
    """Measure pairs of fits with and without frames; return None if the method stores no frames."""
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
            way.fit(data.x, data.y, seed=0)  # with another seed the first fit would draw noise
            return time.process_time() - start

    for kept in (True, False):
        seconds(kept)  # compiles
    times: dict[bool, list[float]] = {True: [], False: []}
    with _without_collections():
        for i in range(pairs):
            for kept in (True, False) if i % 2 else (False, True):
                times[kept].append(seconds(kept))
    return judge(way.name, times[True], times[False])


def judge(name: str, kept: Sequence[float], none: Sequence[float]) -> Row:
    """Return the mean cost of frames, from the times of fits with (`kept`) and without (`none`)."""
    fit_s = statistics.mean(none)
    extra = [(a - b) / fit_s for a, b in zip(kept, none, strict=True)]
    return Row(name, fit_s, statistics.mean(extra), statistics.stdev(extra) / len(extra) ** 0.5)


def _programs() -> _Programs:
    """Return new, uncompiled programs of all methods."""
    from bdl_teach.methods.catalogue import MODULES

    modules = [importlib.import_module(f"bdl_teach.methods.{name}") for name in MODULES]
    found = {module: getattr(module, "_program", None) for module in modules}
    return {m: lru_cache(program.__wrapped__) for m, program in found.items() if program}


@contextmanager
def _without_frames(own: _Programs) -> Iterator[None]:
    """Let methods use the programs `own` in a with-block, and store no frames."""
    from bdl_teach import optimise

    with ExitStack() as stack:
        stack.enter_context(patch.object(optimise, "MOST_NUMBERS", 0))
        for module, program in own.items():
            stack.enter_context(patch.object(module, "_program", program))
        yield


@contextmanager
def _without_collections() -> Iterator[None]:
    """Switch garbage collection off in a with-block, so that it slows no fit."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def as_text(rows: Sequence[Row]) -> list[str]:
    """Return the results as a list of texts: tables and sentences."""
    about = (
        "Processor time of fits that store the frames of their training, compared with the same\n"
        "fits without frames, on the 32 points of the sinusoid, own default settings."
    )
    numbers = [(1e3 * row.fit_s, 100 * row.extra, 100 * row.error) for row in rows]
    body = [
        [row.name, report.number(fit_ms), f"{extra:.1f}", f"{error:.1f}"]
        for row, (fit_ms, extra, error) in zip(rows, numbers, strict=True)
    ]
    return [about, report.table(["method", "fit ms", "frames add %", "± s.e."], body)]
