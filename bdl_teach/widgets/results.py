"""The results of explorers whose problem is one of ``bdl_teach.problems``."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, Problem

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.predictive import Predictive


@dataclass(frozen=True)
class ProblemResult:
    """The base of explorers' results: a problem and, if shown, its true posterior."""

    x_grid: ClassVar[Array] = GAP_GRID  # test inputs [m, 1]
    problem: Problem
    _: KW_ONLY
    nuts: Predictive | None = None  # predictions of the true posterior, if shown and computed
    nuts_report: str = ""  # how well the chains have mixed, or why there are none; a sentence
    mixed: bool = False  # whether these chains have mixed (``mcmc.MIXED``)

    @property
    def posterior(self) -> Predictive | None:
        """Return ``nuts`` if its chains have mixed, else ``None``: what figures are drawn from."""
        return self.nuts if self.mixed else None

    @property
    def data(self) -> datasets.Regression1D:
        """Return the training points."""
        return self.problem.data

    @cached_property
    def regions(self) -> dict[str, Array]:
        """Return the masks ``[m]`` that ``Problem.regions`` gives for ``x_grid``."""
        return self.problem.regions(self.x_grid[:, 0])


@dataclass(frozen=True)
class Outcome(ProblemResult):
    """The base of explorers' results with one fit: a problem, the fit and its predictions."""

    fit: Any
    prediction: Predictive  # predictions of the fit on x_grid
    _: KW_ONLY
    prior_functions: Array | None = None  # functions drawn from the prior [s, m], if shown
