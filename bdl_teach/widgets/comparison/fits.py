"""What the comparison explorer fits: one problem, and the catalogue's methods on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.methods.catalogue import CATALOGUE, Fitted, Method
from bdl_teach.widgets._engine import points, replay
from bdl_teach.widgets._engine.arrival import Arrival

if TYPE_CHECKING:
    from bdl_teach.methods.exact import NutsFit
    from bdl_teach.predictive import Predictive

ROOM = 32  # points of the problem, at most
OWN_ROOM = 64  # and of the learner's own: what everything is compiled for
WIDTH = 20  # units of the one hidden layer
PRIOR_STD = 3.0
CENTRE = 0.25  # of the gap: where the sine has its peak
COUNTED = 99  # points that conformal bands are counted on: of 100 ranks each is a percent
_OTHER = 10_000  # between the seeds of the data and of the points that are kept apart
METHODS = {  # those that a tick fits
    name: method
    for name, method in CATALOGUE.items()
    if method.compared is not None and method.pace != "background"
}


@dataclass(frozen=True)
class GapProblem:
    """The sinusoid with a gap.

    Attributes:
        n: Number of points; 32 is a multiple of it.
        noise_std: Standard deviation of the noise.
        gap: Width of the gap around x = ¼.
        seed: Of the data, the starts and the noise of the gradients.
        own: The learner's points instead, as a value of ``points.Points``.
    """

    n: int = ROOM
    noise_std: float = 1.0
    gap: float = 0.3
    seed: int = 0
    own: points.Value | None = None

    @property
    def data(self) -> datasets.Regression1D:
        """The training points."""
        return points.chosen(self.own, self.noise_std, self._drawn)

    @property
    def kept_apart(self) -> datasets.Regression1D | None:
        """Points like the data, none in the gap, that no method sees; a table has no others."""
        if self.own is not None and self.own[2] != points.COURSE:
            return None
        return self._draw(COUNTED, self.seed + _OTHER)

    def _drawn(self) -> datasets.Regression1D:
        return self._draw(self.n, self.seed)

    def _draw(self, n: int, seed: int) -> datasets.Regression1D:
        ends = (CENTRE - self.gap / 2, CENTRE + self.gap / 2) if self.gap > 0 else None
        return datasets.sinusoid(n, self.noise_std, seed, gap=ends)

    def regions(self, x: Array) -> dict[str, Array]:
        """Masks ``[m]`` of ``x`` [m]: among the data, in the gap, outside."""
        width = self.gap if self.own is None or self.own[2] == points.COURSE else 0.0
        gap = np.abs(x - CENTRE) < width / 2 - 1e-9
        outside = np.abs(x) > 0.5 + 1e-9
        return {"data": ~gap & ~outside, "gap": gap, "outside": outside}

    @property
    def given(self) -> dict[str, Array | float]:
        """The points and their noise, as they are."""
        return {"x": self.data.x, "y": self.data.y, "noise_std": self.noise_std}

    @property
    def repeated(self) -> dict[str, Array | float]:
        """The same posterior from 32 rows, whatever n is: each point r times, noise √r as loud.

        The learner's own points, of any number, stay as they are.

        Methods without padding of their own then run in one program: Σ (y − f)²/2s² is the same.
        """
        data, times = self.data, 1 if self.own else ROOM // self.n
        return {
            "x": np.repeat(data.x, times, axis=0),
            "y": np.repeat(data.y, times, axis=0),
            "noise_std": self.noise_std * times**0.5,
        }


class Interval(NamedTuple):
    """How far an interval reaches to both sides of a method's mean.

    Attributes:
        level: The share of new points that it shall hold.
        kept_apart: Points on which it is counted how far that is (a conformal band); ``None``
            takes the method at its word: a Gaussian of its mean and total sd.
    """

    level: float = 0.95
    kept_apart: datasets.Regression1D | None = None

    def factor(self, x: Array, prediction: Predictive) -> float:
        """In how many total sds of a predictive on ``x`` [m], straight between, it ends."""
        from bdl_teach import calibration

        if self.kept_apart is None:
            return NormalDist().inv_cdf((1 + self.level) / 2)
        at, y = self.kept_apart.x[:, 0], self.kept_apart.y[:, 0]
        mean, sd = (np.interp(at, x, of) for of in (prediction.mean, prediction.total_std))
        return calibration.conformal_factor(np.abs(y - mean) / sd, self.level)


def fit(name: str, problem: GapProblem, epochs: int, **own: object) -> Fitted:
    """Fit a method of the catalogue, in a program that has room for every problem.

    Args:
        name: Its key in the catalogue.
        problem: What to fit it to.
        epochs: Passes over the data, of a method that counts in them.
        **own: Arguments of this method alone.
    """
    method, common = _asked(name, problem, epochs, own)
    fitted: Any = method.fit(**common)
    if method.repeats:
        fitted = replace(fitted, noise_std=problem.noise_std)
    return cast(Fitted, fitted)


def _asked(
    name: str, problem: GapProblem, epochs: int, own: Mapping[str, object]
) -> tuple[Method, dict[str, Any]]:
    """A method with its options here, and the arguments that all are offered."""
    from bdl_teach.densities import Gaussian
    from bdl_teach.methods import bbb

    method = CATALOGUE[name]
    options = {**method.options, **(method.compared or {}), **own}
    common = {
        **(problem.repeated if method.repeats else problem.given),
        "prior": Gaussian(PRIOR_STD),
        "hidden_units": (WIDTH,),
        "epochs": epochs,
        "seed": problem.seed,
        "capacity": bbb.Capacity(OWN_ROOM, (WIDTH,), 1),
    }
    return replace(method, module=method.live or method.module, options=options), common


class Kept(NamedTuple):
    """A fit that was shown, for when the sliders come back.

    Attributes:
        fit: The fit.
        prediction: Its predictive on the explorer's grid.
        arrival: Whether it has converged; ``None`` where no free energy is minimised.
    """

    fit: Fitted
    prediction: Predictive
    arrival: Arrival | None


def kept(fit: Fitted, prediction: Predictive) -> Kept:
    """Keep a fit of which no longer run has been made."""
    from bdl_teach.methods._variational import Variational

    return Kept(fit, prediction, Arrival() if isinstance(fit, Variational) else None)


def at_share(fit: Fitted, share: float) -> Fitted:
    """Return a fit as it was after that share of its training; itself, if it has kept no frames."""
    steps = np.array(replay.steps_of(fit))
    if not steps.any():
        return fit
    frame = int(np.abs(steps / steps[-1] - share).argmin())
    return _at(fit, frame)


def _at(fit: Any, frame: int) -> Fitted:
    """A fit at a frame; of Laplace with the noise of the rows that it was told, repeated or not."""
    from bdl_teach.methods import laplace

    if not isinstance(fit, laplace.Fit):
        return cast("Fitted", fit.at(frame))
    told = replace(fit, noise_std=fit.problem.mode.noise_std)
    return replace(told.at(frame), noise_std=fit.noise_std)


def warm(name: str) -> None:
    """Compile a method, and what its longer runs take."""
    from bdl_teach.methods._variational import Variational

    fitted = fit(name, GapProblem(), 10)
    if isinstance(fitted, Variational):
        for k in range(2):  # one that trains on, and one that starts elsewhere
            Arrival(runs=k).after_one_more(fitted)


def chains(problem: GapProblem) -> dict[str, object]:
    """What ``sample`` gives to ``exact.nuts``."""
    method, common = _asked("nuts", problem, 0, {})
    return method.given(**common)


def sample(problem: GapProblem, progress: Callable[[int, int], None] | None = None) -> NutsFit:
    """Sample the true posterior with NUTS."""
    return cast("NutsFit", fit("nuts", problem, 0, progress=progress))
