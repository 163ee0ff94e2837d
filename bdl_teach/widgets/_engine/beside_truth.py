"""The base of models that show a fit beside the true posterior, which HMC samples."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support.checks import Array
from bdl_teach.problems import MAX_WIDTH, ROOM, Problem, own_points
from bdl_teach.widgets._engine import background, controls, stored_nuts
from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.missions import Moved
from bdl_teach.widgets._engine.model import Host, Model, Result

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import mcmc
    from bdl_teach.predictive import Predictive

NAME = "true posterior (HMC)"
FIRST, MOST = 800, 4000  # draws of each chain before the fit is improved, and at the end
_ROWS = (ROOM, 2 * ROOM, own_points.MOST)  # points that programs are compiled for
# By the number of hidden layers: a window of each takes about ten milliseconds.
_STEPS = {1: (25, 100), 2: (10, 50)}  # transitions, and leapfrog steps of each
_KEPT = 16  # number of true posteriors that are cached for all explorers
_WHERE = {"data": "among the data", "gap": "in the gap"}

_NOISES = 1000  # draws of a learnt noise that a picture is made from, at most

# Rows, layers, parts of the prior, and what is known of the noise: what a program is compiled for.
_Shape = tuple[int, int, int, str]


@dataclass(frozen=True)
class GoldStandard:
    """The true posterior as an explorer shows it: predictions, and a sentence on the chains."""

    prediction: Predictive | None = None  # at the explorer's grid, once there is one
    report: str = ""  # a sentence on how well the chains have mixed, or why there are none
    mixed: bool = False  # only then is a distance to the prediction shown


class _Run(NamedTuple):
    """One HMC run: its problem, its draws so far, and what an explorer shows of these draws."""

    problem: Problem
    gold: GoldStandard
    over: bool = False
    fit: mcmc.Fit | None = None  # where the chains are; their draws are dropped
    outputs: Array = np.zeros((0, 0, 0))  # [chains, s, m]


class Chains(Owned):
    """The HMC chains of one explorer; only ``prepare`` may be called outside the worker thread.

    Args:
        x_grid: Inputs ``[m, 1]`` at which to predict.
        moved: Returns whether a control has moved or the explorer is closed; then sampling stops
            after the current window, which is a few transitions.
        on_ready: Called when the HMC program that the present run needs has been compiled.
    """

    _kept: ClassVar[dict[tuple[Problem, int], GoldStandard]] = {}  # shared
    _compiled: ClassVar[set[_Shape]] = set()  # shared
    _compiling = threading.Lock()

    def __init__(
        self, x_grid: Array, moved: Callable[[], bool], on_ready: Callable[[], object]
    ) -> None:
        self._x_grid, self._moved, self._on_ready = x_grid, moved, on_ready
        self._run: _Run | None = None
        self._awaited: set[_Shape] = set()

    def ask(self, problem: Problem | None) -> GoldStandard:
        """Sample ``problem`` from now on (``None``: stop sampling); return what is known so far."""
        if problem is None:
            self._run = None
            return GoldStandard()
        if self._run is None or self._run.problem != problem:
            self._run = self._found(problem)
        return self._run.gold

    def _found(self, problem: Problem) -> _Run:
        """Return the run of a problem that is cached or stored in the package, else a new run."""
        if (kept := self._kept.get((problem, len(self._x_grid)))) is not None:
            return _Run(problem, kept, over=True)
        stored = stored_nuts.read() if problem.noise == "told" else {}
        if (run := stored.get(stored_nuts.key(problem))) is not None:
            report = f"The true posterior (stored), {run.draws} draws: {_verdict(run.r_hat)}."
            gold = _gold(problem, run.mean, run.epistemic_std, report, run.r_hat)
            return _Run(problem, gold, over=True)
        return _Run(problem, GoldStandard(report=f"The {NAME} is on its way."))

    def go_on(self, most: int) -> GoldStandard | None:
        """Add draws if a chain has fewer than ``most``; return the new posterior, else ``None``."""
        run = self._run
        if run is None or run.over or run.outputs.shape[1] >= most or self.waits():
            return None
        try:
            run = self._further(run)
        except Moved:
            return None
        except Exception as error:  # a sentence in the status line, and no band
            failed = GoldStandard(report=f"The {NAME} failed: {error}.")
            run = _Run(run.problem, failed, over=True)
        self._run = run
        return run.gold

    def whole(self, problem: Problem) -> GoldStandard:
        """Return the posterior of a problem that is not shown; sample it if it is not cached.

        Raise ``Moved`` if a control moves meanwhile.
        """
        run = self._found(problem)
        while not run.over and (run.outputs.shape[1] < FIRST or not run.gold.mixed):
            run = self._further(run)
        return run.gold

    def waits(self) -> bool:
        """Return whether the run's program is not compiled yet; if so, have a thread compile it."""
        if self._run is None or self._run.over:
            return False
        problem = self._run.problem
        if (shape := _shape(problem)) in self._compiled:
            return False
        if shape not in self._awaited:
            self._awaited.add(shape)
            background.start(lambda: self.prepare(problem, self._on_ready))
        return True

    def prepare(self, problem: Problem, then: Callable[[], object] = bool) -> None:
        """Compile the HMC program for a problem, unless that is done; then call ``then``."""
        with self._compiling:
            if _shape(problem) not in self._compiled:
                with suppress(Exception):  # then the run itself says what is wrong
                    _begin(problem, None).outputs(self._x_grid)
                self._compiled.add(_shape(problem))
        then()

    def _further(self, run: _Run) -> _Run:
        """Return ``run`` with more draws and a new report; if that ends it, cache its posterior."""

        def progress(*_: int) -> None:
            if self._moved():
                raise Moved

        problem, outputs = run.problem, run.outputs
        if run.fit is None:
            fit = _begin(problem, progress)
            outputs = _outputs(fit, self._x_grid)
        else:
            window, n = _STEPS[len(problem.hidden_units)][0], outputs.shape[1]
            fit = run.fit.longer(min(n, 16 * window, MOST - n), progress)
            outputs = np.concatenate([outputs, _outputs(fit, self._x_grid)], axis=1)
        r_hat, report = _judge(outputs, problem.regions(self._x_grid[:, 0]), problem)
        f, log_std = np.split(outputs, [len(self._x_grid)], axis=-1)
        curves = f.mean(axis=(0, 1)), f.std(axis=(0, 1))
        noise = np.exp(log_std[:, :: -(-4 * log_std.shape[1] // _NOISES)]) if log_std.size else None
        gold = _gold(problem, *curves, report, r_hat, noise)
        over = outputs.shape[1] >= (FIRST if gold.mixed else MOST)
        if over:
            self._kept[problem, len(self._x_grid)] = gold
            while len(self._kept) > _KEPT:
                self._kept.pop(next(iter(self._kept)))
        names = ("weights", "log_density", "diverged", "noise_chains")
        kept = {name: getattr(fit, name) for name in names}
        none: dict[str, Any] = {
            n: part if part is None else part[:, :0] for n, part in kept.items()
        }
        return _Run(problem, gold, over, replace(fit, **none), outputs)


class ModelBesideTruth(Model[Result]):
    """A model with a toggle ``nuts``, which shows the true posterior at ``GRID`` ``[m, 1]``.

    The result has the fields ``nuts``, ``nuts_report`` and ``mixed``, which this class sets, not
    ``compute``.
    """

    GRID: ClassVar[Array]

    def __init__(self, host: Host | None = None) -> None:
        super().__init__(host)
        self._chains = Chains(self.GRID, self.host.moved, self.host.wake)

    @staticmethod
    def problem(values: Values) -> Problem:
        """Return the problem whose posterior is shown."""
        return Problem.of(values)

    def with_truth(self, result: Result, gold: GoldStandard) -> Result:
        """Return a result with what is known of the true posterior."""
        now: Any = result
        report = self.TEXTS.in_words(gold.report)
        beside: Result = replace(now, nuts=gold.prediction, nuts_report=report, mixed=gold.mixed)
        return beside

    def complete(self, values: Values, result: Result) -> Result:
        """Start or stop HMC, as the toggle ``nuts`` says; add what HMC has found so far."""
        gold = self._chains.ask(self.problem(values) if values["nuts"] else None)
        return self.with_truth(result, gold)

    def keeps(self, before: Values, values: Values) -> bool:
        moved = before.get("nuts") != values["nuts"]
        return moved and controls.same({**before, "nuts": values["nuts"]}, values)

    def unseen(self, values: Values) -> Result:
        gold = self._chains.whole(self.problem(values)) if values["nuts"] else GoldStandard()
        return self.with_truth(self.unseen_fit(values), gold)

    def unseen_fit(self, values: Values) -> Result:
        """Return the result for values that are not shown, without the true posterior."""
        return self.compute(values)

    def follow(self, result: Result, *, at_rest: bool) -> Result | None:
        gold = self._chains.go_on(MOST if at_rest else FIRST)
        return None if gold is None else self.with_truth(result, gold)

    def awaits(self) -> bool:
        return self._chains.waits()

    def chores(self) -> Iterator[Callable[[], object]]:
        yield lambda: self._chains.prepare(self.problem(self.TEXTS.defaults))


def _outputs(fit: mcmc.Fit, x: Array) -> Array:
    """Return for each draw what is shown, ``[chains, s, ...]``: f at m inputs, then log σ, if any.

    A learnt noise adds one number, a function σ(x) m of them.
    """
    f = fit.outputs(x)
    if fit.noise_chains is not None:
        return np.concatenate([f, np.log(fit.noise_chains[:, -f.shape[1] :, None])], axis=-1)
    return f if f.ndim == 3 else np.concatenate([f[..., 0], f[..., 1]], axis=-1)


def _gold(
    problem: Problem,
    mean: ArrayLike,
    std: ArrayLike,
    report: str,
    r_hat: float,
    noise: Array | None = None,
) -> GoldStandard:
    """Return a posterior to show; ``noise`` [chains, s, 1 or m] holds σ of draws, if learnt."""
    from bdl_teach.methods.mcmc import MIXED
    from bdl_teach.predictive import Predictive

    mean, std = np.asarray(mean), np.asarray(std)
    prediction = Predictive(mean, std, np.full(len(mean), problem.noise_std))
    if noise is not None:
        noise = noise.reshape(-1, noise.shape[-1])
        middle = np.broadcast_to(np.median(noise, axis=0), mean.shape)
        prediction = replace(prediction, aleatoric_std=middle, noise_draws=noise)
    return GoldStandard(prediction, report, mixed=r_hat <= MIXED)


def _shape(problem: Problem) -> _Shape:
    rows = next(rows for rows in _ROWS if len(problem.data.x) <= rows)
    return rows, len(problem.hidden_units), len(problem.scales), problem.noise


def _begin(problem: Problem, progress: Callable[[int, int], None] | None) -> mcmc.Fit:
    """Warm up HMC chains for a problem, and return a fit with their first draws."""
    from bdl_teach.methods import mcmc

    rows, layers, *_ = _shape(problem)
    window, n_leapfrog = _STEPS[layers]
    return mcmc.hmc(
        problem.data.x,
        problem.data.y,
        **problem.settings,
        n_samples=2 * window,
        window=window,
        n_leapfrog=n_leapfrog,
        capacity=mcmc.Capacity(rows, (MAX_WIDTH,) * layers, 1),
        progress=progress,
    )


def _judge(outputs: Array, regions: Mapping[str, Array], problem: Problem) -> tuple[float, str]:
    """Return the largest R-hat of ``outputs`` ``[chains, s, m]``, and a sentence on the chains.

    The outputs may have columns for log σ after those of the function. If they have
    not mixed, it says how far the chains' means differ in each region (mask ``[m]``).
    """
    from bdl_teach.methods import mcmc

    chains, n, _ = outputs.shape
    r_hat = mcmc.largest_r_hat(outputs)
    said = f"The {NAME}, {chains} × {n} draws: {_verdict(r_hat, 'yet ' * (n < MOST))}"
    if r_hat <= mcmc.MIXED:
        return r_hat, f"{said}."
    sd = outputs.mean(axis=1).std(axis=0)  # of the functions' inputs first
    sds = {r: sd[: len(m)][m].mean() for r, m in regions.items() if m.any()}
    where = [f"{own_points.sd(problem.data, sd)} {_WHERE.get(r, r)}" for r, sd in sds.items()]
    return r_hat, f"{said}; the means of its chains have an sd of {', '.join(where)}."


def _verdict(r_hat: float, yet: str = "") -> str:
    """Say whether chains with this R-hat have mixed."""
    from bdl_teach.methods.mcmc import MIXED

    if math.isinf(r_hat):
        return f"not {yet}mixed (a chain did not move)"
    return f"{'' if r_hat <= MIXED else f'not {yet}'}mixed (R-hat {r_hat:.3f})"
