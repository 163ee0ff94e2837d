"""The course's one-dimensional problems: data, prior, noise and network as one object.

``Problem.of(values)`` makes one from the values of an explorer's controls. Refits, NUTS, stored
runs, caches and experiments take it; equal problems are equal keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.problems import own_points

if TYPE_CHECKING:  # TensorFlow is loaded by who fits
    from bdl_teach.densities import Prior
    from bdl_teach.methods import bbb
    from bdl_teach.predictive import Predictive

GAP_GRID = np.linspace(-0.7, 0.7, 71)[:, None]  # where the problems with a gap are predicted
WIDE_GRID = np.linspace(-1.5, 1.5, 121)[:, None]  # and those of the whole sine
INSIDE = np.abs(WIDE_GRID[:, 0]) <= 0.5
COST_DRAWS = 100  # networks that a free energy is averaged over: 2 nats of standard error
ROOM = 32  # points of the problems with a gap, at most
MAX_WIDTH = 20  # units of a hidden layer, at most
PRIOR_STD = 3.0
CENTRE = 0.25  # of the gap: where the sine has its peak
COUNTED = 99  # points that conformal bands are counted on: of 100 ranks each is a percent
_OTHER = 10_000  # between the seeds of the data and of the points that are kept apart


@dataclass(frozen=True)
class Problem:
    """A data set, the sinusoid or the learner's own points, and the model of it.

    Attributes:
        n: Number of points.
        noise_std: Standard deviation of the noise, in the data and in the model.
        gap: Width of the gap around x = ¼; 0 for none.
        seed: Seed of the data, the starts and the noise of the gradients.
        own: The learner's points instead, as ``own_points.Value``.
        scales: The prior of each weight: (σ_p,) of a Gaussian, (σ₁, σ₂, π) of a mixture.
        hidden_units: Width of each hidden layer.
    """

    n: int = ROOM
    noise_std: float = 1.0
    gap: float = 0.3
    seed: int = 0
    own: own_points.Value | None = None
    scales: tuple[float, ...] = (PRIOR_STD,)
    hidden_units: tuple[int, ...] = (MAX_WIDTH,)

    @classmethod
    def of(cls, values: Mapping[str, Any], layers: int = 1) -> Problem:
        """Return the problem that these values of controls ask for.

        Args:
            values: By the names of the controls: ``n``, ``noise_std`` and ``seed``; where an
                explorer has them ``gap``, ``width``, ``data``, and ``prior_std`` or ``sigma1``,
                ``sigma2`` and ``pi``. Others are not looked at.
            layers: Hidden layers of the network.
        """
        mixture = "sigma1" in values
        scales = [values[name] for name in ("sigma1", "sigma2", "pi")] if mixture else []
        return cls(
            values["n"],
            values["noise_std"],
            values.get("gap", 0.0),
            values["seed"],
            values.get("data"),
            tuple(scales) or (values.get("prior_std", PRIOR_STD),),
            (values.get("width", MAX_WIDTH),) * layers,
        )

    @cached_property
    def data(self) -> datasets.Regression1D:
        """Return the training points: the learner's own, or drawn ones.

        The truth behind a table is unknown, and NaN.
        """
        if self.own is None:
            return self._draw(self.n, self.seed)
        x, y = (column[:, None] for column in own_points.in_course(self.own))
        function = datasets.sinusoid().function if self.is_drawn else _unknown
        return own_points.OwnPoints(x, y, self.noise_std, function, *self.own[2:])

    @property
    def kept_apart(self) -> datasets.Regression1D | None:
        """Return test points drawn like the data, none in the gap; ``None`` for a table."""
        return self._draw(COUNTED, self.seed + _OTHER) if self.is_drawn else None

    @property
    def is_drawn(self) -> bool:
        """Return whether the points are those of the sine, moved or not, rather than a table's."""
        return self.own is None or self.own[2] == own_points.COURSE

    def _draw(self, n: int, seed: int) -> datasets.Regression1D:
        ends = (CENTRE - self.gap / 2, CENTRE + self.gap / 2) if self.gap > 0 else None
        return datasets.sinusoid(n, self.noise_std, seed, gap=ends)

    def regions(self, x: Array) -> dict[str, Array]:
        """Return masks ``[m]`` of ``x`` [m]: among the data, in the gap, outside."""
        width = self.gap if self.is_drawn else 0.0
        gap = np.abs(x - CENTRE) < width / 2 - 1e-9
        outside = np.abs(x) > 0.5 + 1e-9
        return {"data": ~gap & ~outside, "gap": gap, "outside": outside}

    @property
    def prior(self) -> Prior:
        """Return the prior of each weight."""
        from bdl_teach.densities import Gaussian, ScaleMixture

        return Gaussian(*self.scales) if len(self.scales) == 1 else ScaleMixture(*self.scales)

    @property
    def capacity(self) -> bbb.Capacity:
        """Return the sizes to compile for: enough for every problem with a gap, or any table."""
        from bdl_teach.methods import bbb

        n = len(self.data.x)
        return bbb.Capacity(ROOM if n <= ROOM else own_points.MOST, (MAX_WIDTH,), 1)

    @property
    def settings(self) -> dict[str, Any]:
        """Return noise, prior, network and seed, as arguments of a method's ``fit``."""
        given = {"noise_std": self.noise_std, "prior": self.prior}
        return {**given, "hidden_units": self.hidden_units, "seed": self.seed}

    @property
    def given(self) -> dict[str, Any]:
        """Return all that the posterior depends on: points, noise, prior and network."""
        model = {name: value for name, value in self.settings.items() if name != "seed"}
        return {"x": self.data.x, "y": self.data.y, **model}

    @property
    def repeated(self) -> dict[str, Any]:
        """Return the points r times, 32 rows in all, with noise √r as large: the same posterior.

        Σ (y − f)²/2s² is the same, so that methods without padding also run in one program for
        every n. The learner's own points stay as they are, whatever their number.
        """
        times = 1 if self.own else ROOM // self.n
        x, y = (np.repeat(column, times, axis=0) for column in (self.data.x, self.data.y))
        return {**self.given, "x": x, "y": y, "noise_std": self.noise_std * times**0.5}

    def prior_functions(self, fit: bbb.Fit, x: Array) -> Array:
        """Return ten networks of a fit's kind, drawn from the prior, at ``x`` [m, 1]: ``[10, m]``.

        They depend on the seed.
        """
        return fit.evaluate(self.prior.sample((10, fit.network.n_weights), self.seed), x)


@dataclass(frozen=True)
class Outcome:
    """What is shown of a fit to a problem.

    Attributes:
        problem: What was fitted.
        fit: The fit.
        prediction: Its predictive on ``x_grid`` [m, 1].
        prior_functions: Functions drawn from the prior ``[s, m]``, if they are shown.
        nuts: The true posterior's predictive, if it is shown and computed.
        nuts_report: How well its chains have mixed, or why there are none, as a sentence.
    """

    x_grid: ClassVar[Array]
    problem: Problem
    fit: Any
    prediction: Predictive
    _: KW_ONLY
    prior_functions: Array | None = None
    nuts: Predictive | None = None
    nuts_report: str = ""

    @property
    def data(self) -> datasets.Regression1D:
        """Return the training points."""
        return self.problem.data

    @cached_property
    def regions(self) -> dict[str, Array]:
        """Return masks ``[m]`` of ``x_grid``: ``"data"``, ``"gap"`` and ``"outside"``."""
        return self.problem.regions(self.x_grid[:, 0])


# Of chapter 3 and of the article that it follows: the whole sine, a mixture, two hidden layers.
ARTICLE = Problem(gap=0.0, scales=(1.5, 0.1, 0.5), hidden_units=(MAX_WIDTH, MAX_WIDTH))


def _unknown(x: Array) -> Array:
    return np.full(np.shape(x), np.nan)


def truth(x: Array) -> Array:
    """Return the sine of the problems at ``x`` [m, 1], ``[m]``."""
    return datasets.sinusoid().truth(x)[:, 0]


def arrivals(n: int, noise_std: float, seed: int) -> datasets.Regression1D:
    """Return the first ``n`` of the sinusoid's 32 points, in a random order fixed by the seed."""
    data = datasets.sinusoid(ROOM, noise_std, seed)
    order = np.random.default_rng([seed, 0]).permutation(ROOM)[:n]
    return replace(data, x=data.x[order], y=data.y[order])
