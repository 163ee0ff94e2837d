"""The true posterior beside the sliders: HMC, a few milliseconds at a time, on the worker.

Another problem ends the run of the old one at the next window. A run that is over is kept. What a
preset of two hidden layers asks for came with the package (``stored_nuts.py``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.problems import MAX_WIDTH, ROOM, Problem, own_points
from bdl_teach.widgets._engine import background, stored_nuts
from bdl_teach.widgets._engine.missions import NotThere

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import mcmc
    from bdl_teach.predictive import Predictive

NAME = "true posterior (HMC)"
MIXED = 1.02  # largest R-hat of the function below which the chains are said to have mixed
FIRST, MOST = 800, 4000  # draws of each chain before the fit is improved, and at most
_ROWS = (ROOM, 2 * ROOM, own_points.MOST)  # points that programs are compiled for
# By the number of hidden layers: a window of each takes some ten milliseconds.
_STEPS = {1: (50, 100), 2: (10, 50)}  # transitions, and leapfrog steps of each
_JUDGED = 500  # draws of each chain that R-hat is computed of
_KEPT = 16  # results kept, over all explorers
_starting: ContextVar[bool] = ContextVar("_starting", default=True)


@contextmanager
def nothing_starts() -> Iterator[None]:
    """Within it, on this thread, no run is started or given up: what is not there, is not there.

    For values that are not those of the controls. Asking for a run of theirs would take the place
    of the one that is shown.
    """
    before = _starting.set(False)
    try:
        yield
    finally:
        _starting.reset(before)


@dataclass(frozen=True)
class Run:
    """A run that can be asked for.

    Attributes:
        x_grid: Where to predict ``[m, 1]``.
        problem: Whose posterior is sampled.
        stored: What ``exact.nuts`` was given for a run that may have come with the package.
    """

    x_grid: Array
    problem: Problem
    stored: Mapping[str, Any] | None = None

    @property
    def key(self) -> tuple[Problem, int]:
        """All that its predictive depends on."""
        return self.problem, len(self.x_grid)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, layers and parts of the prior: what its program is compiled for."""
        n, problem = len(self.problem.data.x), self.problem
        rows = next(rows for rows in _ROWS if n <= rows)
        return rows, len(problem.hidden_units), len(problem.scales)

    def begin(self, progress: Callable[[int, int], None] | None = None) -> mcmc.Fit:
        """Warm the chains up, and draw a window."""
        from bdl_teach.methods import mcmc

        rows, layers, _ = self.shape
        window, n_leapfrog = _STEPS[layers]
        return mcmc.hmc(
            **self.problem.given,
            n_samples=window,
            window=window,
            n_leapfrog=n_leapfrog,
            seed=self.problem.seed,
            capacity=mcmc.Capacity(rows, (MAX_WIDTH,) * layers, 1),
            progress=progress,
        )


@dataclass(frozen=True)
class GoldStandard:
    """What an explorer shows of the true posterior.

    Attributes:
        prediction: The predictive at the explorer's grid, of a stored run without its draws;
            ``None`` where there is none yet.
        report: How well it has mixed, or why there is none, as a sentence; "" if nobody asked.
    """

    prediction: Predictive | None = None
    report: str = ""


class _Moved(Exception):
    """The sliders moved on while the chains ran."""


class _Going(NamedTuple):
    """The run of the values that are shown, as far as it has come."""

    run: Run
    gold: GoldStandard
    over: bool = False
    fit: mcmc.Fit | None = None  # where the chains are; their draws are dropped
    outputs: Array | None = None  # [chains, s, m]


class Chains:
    """The chains of one explorer; all but ``prepare`` is called on its worker.

    Args:
        moved: Says whether the controls have moved on, or the explorer is closed.
        on_ready: Called when a program has been compiled that a run waits for.
    """

    _kept: dict[tuple[Problem, int], GoldStandard] = {}  # noqa: RUF012  (shared: a cache)
    _compiled: set[tuple[int, int, int]] = set()  # noqa: RUF012  (shared)
    _compiling = threading.Lock()

    def __init__(self, moved: Callable[[], bool], on_ready: Callable[[], object]) -> None:
        self._moved, self._on_ready = moved, on_ready
        self._going: _Going | None = None
        self._awaited: set[tuple[int, int, int]] = set()

    def ask(self, wanted: bool, run: Run) -> GoldStandard:
        """Return what there is of ``run``, if it is wanted; a run of anything else is given up.

        Raises:
            NotThere: It is wanted and not there, where ``nothing_starts``.
        """
        if not _starting.get():
            if wanted and (gold := self._find(run)) is None:
                raise NotThere
            return gold if wanted and gold else GoldStandard()
        if not wanted:
            self._going = None
            return GoldStandard()
        if self._going is None or self._going.run.key != run.key:
            found = self._find(run)
            gold = found or GoldStandard(report=f"The {NAME} is on its way.")
            self._going = _Going(run, gold, over=found is not None)
        return self._going.gold

    def _find(self, run: Run) -> GoldStandard | None:
        """A run that is over, here or in the package."""
        if run.stored is not None and (stored := stored_nuts.load_of(run.x_grid, run.stored)):
            return _as_shown(stored)
        return self._kept.get(run.key)

    def go_on(self, most: int = MOST) -> GoldStandard | None:
        """Draw on until there is something new to show; ``None`` when that is over, or must wait.

        Args:
            most: Draws of each chain after which it is over.
        """
        going = self._going
        if going is None or going.over or not self._is_compiled(going.run):
            return None
        if going.outputs is not None and going.outputs.shape[1] >= most:
            return None
        try:
            self._going = going = self._further(going)
        except _Moved:
            return None
        except Exception as error:  # a sentence in the status line, and no band
            gold = GoldStandard(report=f"The {NAME} failed: {error}.")
            self._going = going = _Going(going.run, gold, over=True)
        if going.over:
            self._kept[going.run.key] = going.gold
            while len(self._kept) > _KEPT:
                self._kept.pop(next(iter(self._kept)))
        return going.gold

    def _is_compiled(self, run: Run) -> bool:
        if run.shape in self._compiled:
            return True
        if run.shape not in self._awaited:
            self._awaited.add(run.shape)
            background.start(lambda: (self.prepare(run), self._on_ready()))
        return False

    @classmethod
    def prepare(cls, run: Run) -> None:
        """Compile the program that a run needs: on a thread that may wait, once."""
        with cls._compiling:
            if run.shape not in cls._compiled:
                with suppress(Exception):  # then the run itself says what is wrong
                    run.begin().outputs(run.x_grid)
                cls._compiled.add(run.shape)

    def _further(self, going: _Going) -> _Going:
        def progress(*_: int) -> None:
            if self._moved():
                raise _Moved

        run, problem, outputs = going.run, going.run.problem, going.outputs
        if going.fit is None or outputs is None:
            fit = run.begin(progress)
            outputs = fit.outputs(run.x_grid)
        else:
            window, n = _STEPS[len(problem.hidden_units)][0], outputs.shape[1]
            fit = going.fit.longer(min(n // window, 8) * window, progress)
            outputs = np.concatenate([outputs, fit.outputs(run.x_grid)], axis=1)
        mixed, report = _judge(outputs, problem.regions(run.x_grid[:, 0]))
        over = outputs.shape[1] >= (FIRST if mixed else MOST)
        gold = GoldStandard(_predictive(outputs, problem.noise_std), report)
        none = {name: getattr(fit, name)[:, :0] for name in ("weights", "log_density", "diverged")}
        return _Going(run, gold, over, replace(fit, **none), outputs)


def _judge(outputs: Array, regions: Mapping[str, Array]) -> tuple[bool, str]:
    """Say whether chains ``[chains, s, m]`` have mixed, and if not, where they stay apart."""
    from bdl_teach.methods import mcmc

    chains, n, _ = outputs.shape
    worst = float(np.nanmax(mcmc.r_hat(outputs[:, :: -(-n // _JUDGED)])))
    begin = f"The {NAME}, {chains} × {n} draws"
    if worst <= MIXED:
        return True, f"{begin}: mixed (R-hat {worst:.3f})."
    apart, words = outputs.mean(axis=1).std(axis=0), {"data": "among the data", "gap": "in the gap"}
    where = [
        f"{apart[mask].mean():.2f} {words.get(region, region)}"
        for region, mask in regions.items()
        if mask.any()
    ]
    yet = "yet " * (n < MOST)
    disagree = f"the means of its chains have an sd of {', '.join(where)}"
    return False, f"{begin}: not {yet}mixed (R-hat {worst:.2f}); {disagree}."


def _predictive(outputs: Array, noise_std: float) -> Predictive:
    from bdl_teach.predictive import Predictive

    return Predictive.from_samples(outputs.reshape(-1, outputs.shape[2]), noise_std)


def _as_shown(stored: stored_nuts.Stored) -> GoldStandard:
    from bdl_teach.predictive import Predictive

    mean, std = np.array(stored.mean), np.array(stored.epistemic_std)
    prediction = Predictive(mean, std, np.full(len(mean), stored.noise_std))
    return GoldStandard(prediction, f"The true posterior, a long run that is kept: {stored.report}")
