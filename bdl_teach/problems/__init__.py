"""The course's one-dimensional problems: data, prior, noise and network as one object.

Problems are hashable, so that they can be the keys of cached fits and chains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.problems import own_points

if TYPE_CHECKING:  # at run time this would load TensorFlow
    from bdl_teach.densities import Prior
    from bdl_teach.methods import bbb

GAP_GRID = np.linspace(-0.7, 0.7, 71)[:, None]  # test inputs of problems with a gap
WIDE_GRID = np.linspace(-1.5, 1.5, 121)[:, None]  # test inputs of problems without a gap
INSIDE = np.abs(WIDE_GRID[:, 0]) <= 0.5  # the part of WIDE_GRID where points are drawn
COST_DRAWS = 100  # networks that a free energy is averaged over: its standard error is 2 nats
ROOM = 32  # largest number of drawn points in a problem with a gap
MAX_WIDTH = 20  # largest number of units in a hidden layer
PRIOR_STD = 3.0
NOISE_SCALE = 5.0  # of the half-normal prior of a noise that is learnt
GROWTH = 2.0  # of log σ over a unit of x, where the noise grows
CENTRE = 0.25  # x in the middle of the gap, where the sine has its peak
N_CALIBRATION = 99  # points that calibrate a conformal band: each of 100 ranks is a percent
_OTHER = 10_000  # difference between the seeds of the calibration set and of the training data


@dataclass(frozen=True)
class Problem:
    """A data set (drawn from the sine, or the learner's own points) and a model of it."""

    n: int = ROOM  # number of drawn points
    noise_std: float = 1.0  # standard deviation of the noise, in the data; if told, in the model
    gap: float = 0.3  # width of the gap around x = ¼; 0 for none
    seed: int = 0  # seed of the data, the starting weights and the noise of the gradients
    own: own_points.Value | None = None  # the learner's points, used in place of drawn ones
    scales: tuple[float, ...] = (PRIOR_STD,)  # Gaussian prior: (σ_p,); mixture: (σ₁, σ₂, π)
    hidden_units: tuple[int, ...] = (MAX_WIDTH,)  # width of each hidden layer
    noise: str = "told"  # what the model knows of σ; "learnt": it is one number; "x": it is σ(x)
    growth: float = 0.0  # of log σ over a unit of x, in the data

    @classmethod
    def of(cls, values: Mapping[str, Any], layers: int = 1) -> Problem:
        """Make a problem with ``layers`` hidden layers from the values of an explorer's controls.

        ``values`` must have "n", "noise_std" and "seed"; names that a problem lacks are ignored.
        """
        of_prior = ("prior_std", "sigma1", "sigma2", "pi")
        scales = tuple(values[name] for name in of_prior if name in values)
        return cls(
            values["n"],
            values["noise_std"],
            values.get("gap", 0.0),
            values["seed"],
            values.get("data"),
            scales or (PRIOR_STD,),
            (values.get("width", MAX_WIDTH),) * layers,
            values.get("noise", "told"),
            GROWTH * values.get("grows", False),
        )

    @cached_property
    def data(self) -> datasets.Regression1D:
        """Return the training points; for a learner's table their ``truth`` returns NaN."""
        if self.own is None:
            return self._draw(self.n, self.seed)
        x, y = (column[:, None] for column in own_points.in_course(self.own))
        function = datasets.sinusoid().function if self.is_drawn else lambda x: np.nan * x
        return own_points.OwnPoints(x, y, self.noise_std, function, *self.own[2:])

    @property
    def calibration_set(self) -> datasets.Regression1D | None:
        """Return points to calibrate conformal bands, drawn like the data; ``None`` for a table."""
        return self._draw(N_CALIBRATION, self.seed + _OTHER) if self.is_drawn else None

    @property
    def is_drawn(self) -> bool:
        """Return whether the points (even if moved by hand) come from the sine, not a table."""
        return self.own is None or self.own[2] == own_points.COURSE

    def _draw(self, n: int, seed: int) -> datasets.Regression1D:
        ends = (CENTRE - self.gap / 2, CENTRE + self.gap / 2) if self.gap > 0 else None
        data = datasets.sinusoid(n, self.noise_std, seed, gap=ends)
        if not self.growth:
            return data
        clean = data.truth(data.x)
        return replace(data, y=clean + np.exp(self.growth * data.x) * (data.y - clean))

    def true_noise(self, x: Array) -> Array:
        """Return σ of the noise of drawn points at ``x`` [m]; NaN for a learner's table."""
        return (self.noise_std if self.is_drawn else np.nan) * np.exp(self.growth * x)

    def regions(self, x: Array) -> dict[str, Array]:
        """Return masks ``[m]`` of ``x`` [m]: "gap", "outside" (|x| > ½), and "data" (the rest)."""
        width = self.gap if self.is_drawn else 0.0
        gap = np.abs(x - CENTRE) < width / 2 - 1e-9
        outside = np.abs(x) > 0.5 + 1e-9
        return {"data": ~gap & ~outside, "gap": gap, "outside": outside}

    @property
    def prior(self) -> Prior:
        """Return the prior of each weight: a Gaussian or a scale mixture."""
        from bdl_teach.densities import Gaussian, ScaleMixture

        return Gaussian(*self.scales) if len(self.scales) == 1 else ScaleMixture(*self.scales)

    @property
    def settings(self) -> dict[str, Any]:
        """Return noise, prior, network and seed, as keyword arguments of a method's ``fit``."""
        from bdl_teach.densities import HalfNormal

        given: dict[str, Any] = {"noise_std": self.noise_std, "prior": self.prior}
        if self.noise == "learnt":
            given["noise_std"] = HalfNormal(NOISE_SCALE)
        if self.noise == "x":
            given["likelihood"] = "heteroscedastic"
        return {**given, "hidden_units": self.hidden_units, "seed": self.seed}

    @property
    def given(self) -> dict[str, Any]:
        """Return all that the posterior depends on (data, noise, prior, network) as keywords."""
        model = {name: value for name, value in self.settings.items() if name != "seed"}
        return {"x": self.data.x, "y": self.data.y, **model}

    def prior_functions(self, fit: bbb.Fit, x: Array) -> Array:
        """Draw weights of ``fit.network`` ten times from the prior; return outputs ``[10, m]``."""
        return fit.evaluate(self.prior.sample((10, fit.network.n_weights), self.seed), x)


# The problem of chapter 3 and of its article: the whole sine, a mixture, two hidden layers.
ARTICLE = Problem(gap=0.0, scales=(1.5, 0.1, 0.5), hidden_units=(MAX_WIDTH, MAX_WIDTH))


def truth(x: Array) -> Array:
    """Return the noise-free sine ``[m]`` at inputs ``x`` [m, 1]."""
    return datasets.sinusoid().truth(x)[:, 0]


def arrivals(n: int, noise_std: float, seed: int) -> datasets.Regression1D:
    """Shuffle the sinusoid's 32 points, in an order fixed by the seed; return the first ``n``."""
    data = datasets.sinusoid(ROOM, noise_std, seed)
    order = np.random.default_rng([seed, 0]).permutation(ROOM)[:n]
    return replace(data, x=data.x[order], y=data.y[order])
