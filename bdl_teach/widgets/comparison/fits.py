"""What the comparison explorer fits: one problem, and every method on it in one program each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array

ROOM = 32  # points that everything is compiled for
WIDTH = 20  # units of the one hidden layer
PRIOR_STD = 3.0
CENTRE = 0.25  # of the gap: where the sine has its peak
N_DRAWS, N_WARMUP = 400, 300  # of NUTS, a chain


@dataclass(frozen=True)
class GapProblem:
    """The sinusoid with a gap.

    Attributes:
        n: Number of points; 32 is a multiple of it.
        noise_std: Standard deviation of the noise.
        gap: Width of the gap around x = ¼.
        seed: Of the data, the starts and the noise of the gradients.
    """

    n: int = ROOM
    noise_std: float = 1.0
    gap: float = 0.3
    seed: int = 0

    @property
    def data(self) -> datasets.Regression1D:
        """The training points."""
        ends = (CENTRE - self.gap / 2, CENTRE + self.gap / 2) if self.gap > 0 else None
        return datasets.sinusoid(self.n, self.noise_std, self.seed, gap=ends)

    def regions(self, x: Array) -> dict[str, Array]:
        """Masks ``[m]`` of ``x`` [m]: among the data, in the gap, outside."""
        gap = np.abs(x - CENTRE) < self.gap / 2 - 1e-9
        outside = np.abs(x) > 0.5 + 1e-9
        return {"data": ~gap & ~outside, "gap": gap, "outside": outside}

    @property
    def repeated(self) -> dict[str, Any]:
        """The same posterior from 32 rows, whatever n is: each point r times, noise √r as loud.

        Methods without padding of their own then run in one program: Σ (y − f)²/2s² is the same.
        """
        data, times = self.data, ROOM // self.n
        return {
            "x": np.repeat(data.x, times, axis=0),
            "y": np.repeat(data.y, times, axis=0),
            "noise_std": self.noise_std * times**0.5,
            "hidden_units": (WIDTH,),
            "seed": self.seed,
        }

    @property
    def padded(self) -> dict[str, Any]:
        """What the variational methods are given."""
        from bdl_teach.methods import bbb

        return {
            "x": self.data.x,
            "y": self.data.y,
            "noise_std": self.noise_std,
            "hidden_units": (WIDTH,),
            "seed": self.seed,
            "capacity": bbb.Capacity(ROOM, (WIDTH,), 1),
        }


def _mle(problem: GapProblem, _epochs: int) -> Any:
    from bdl_teach.methods import point

    return replace(point.fit(**problem.repeated), noise_std=problem.noise_std)


def _map(problem: GapProblem, _epochs: int) -> Any:
    from bdl_teach.densities import Gaussian
    from bdl_teach.methods import point

    fit = point.fit(**problem.repeated, prior=Gaussian(PRIOR_STD))
    return replace(fit, noise_std=problem.noise_std)


def _bbb(problem: GapProblem, _epochs: int) -> Any:
    from bdl_teach.densities import Gaussian
    from bdl_teach.methods import bbb

    return bbb.fit(**problem.padded, prior=Gaussian(PRIOR_STD))


def _local(problem: GapProblem, _epochs: int) -> Any:
    from bdl_teach.densities import Gaussian
    from bdl_teach.methods import local_reparam

    return local_reparam.fit(**problem.padded, prior=Gaussian(PRIOR_STD))


def _empirical_bayes(problem: GapProblem, _epochs: int) -> Any:
    from bdl_teach.methods import empirical_bayes

    return empirical_bayes.fit(**problem.padded, tie="all")


def _pbp(problem: GapProblem, epochs: int) -> Any:
    from bdl_teach.methods.pbp import replay as pbp_replay

    data, steps = problem.data, epochs * (problem.n + 1)  # an epoch ends with a refinement
    trail = pbp_replay.Trail(data.x, data.y, hidden_units=(WIDTH,), seed=problem.seed)
    return trail.at(steps).fit


def sample(problem: GapProblem, progress: Callable[[int, int], None] | None = None) -> Any:
    """Sample the true posterior with NUTS."""
    from bdl_teach.densities import Gaussian
    from bdl_teach.methods import exact

    fit = exact.nuts(
        **problem.repeated,
        prior=Gaussian(PRIOR_STD),
        n_samples=N_DRAWS,
        n_warmup=N_WARMUP,
        progress=progress,
    )
    return replace(fit, noise_std=problem.noise_std)


class Method(NamedTuple):
    """One method: its name on the button, what the button says, how to fit it."""

    label: str
    hint: str
    fit: Callable[[GapProblem, int], Any]


METHODS = {
    "mle": Method("MLE", "one network, least squares", _mle),
    "map": Method("MAP", "one network, with the prior as weight decay", _map),
    "bbb": Method("BBB", "Bayes by Backprop: a Gaussian over each weight", _bbb),
    "local": Method("local", "the same, with local reparameterization", _local),
    "eb": Method("emp. Bayes", "the same, with the prior's width learnt", _empirical_bayes),
    "pbp": Method("PBP", "probabilistic backpropagation; learns the noise too", _pbp),
}
CHEAPEST_FIRST = ("mle", "map", "bbb", "local", "eb", "pbp")
