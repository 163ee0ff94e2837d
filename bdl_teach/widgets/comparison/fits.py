"""What the comparison explorer fits: one problem, and the catalogue's methods on it."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.methods.catalogue import CATALOGUE, Fitted
from bdl_teach.problems import Problem, live_fits
from bdl_teach.widgets._engine import replay
from bdl_teach.widgets._engine.arrival import Arrival

if TYPE_CHECKING:
    from bdl_teach.predictive import Predictive

METHODS = {  # those that a tick fits
    name: method
    for name, method in CATALOGUE.items()
    if method.compared is not None and method.pace != "background"
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

    fitted = live_fits.fit(name, Problem(), 10)
    if isinstance(fitted, Variational):
        for k in range(2):  # one that trains on, and one that starts elsewhere
            Arrival(runs=k).after_one_more(fitted)


def chains(problem: Problem) -> dict[str, Any]:
    """Return what ``problem.sample`` is given."""
    return {**problem.repeated, **(CATALOGUE["nuts"].compared or {}), "seed": problem.seed}
