"""Fits of the catalogue's methods as the explorers that compare methods show and improve them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, PRIOR_STD, Problem, live_fits
from bdl_teach.widgets._engine.convergence import Convergence
from bdl_teach.widgets.truth_search import Search

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import infinite_width, laplace
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

N_FUNCTIONS = 20  # largest number of drawn functions or ensemble members in a picture
N_PREDICTIONS = 500  # draws for a prediction of the explorer of two methods
JITTER = 1e-9  # added to a covariance, as a share of its trace, so that Cholesky succeeds
SGHMC_FIRST, SGHMC_MOST = 300, 6300  # steps before the first picture, and at rest
Key = tuple[str, Problem, tuple[Any, ...]]  # method, problem and (name, value) of its options


@dataclass(frozen=True)
class MethodFit:
    """The fit and the predictions of one method."""

    key: Key
    fit: Fitted
    prediction: Predictive  # on GAP_GRID
    convergence: Convergence | None = None  # of a variational fit, where it is judged
    search: Search | None = None  # of mean field, for the fit of lowest free energy
    trained: bool = True  # whether this is to be shown, after a quick fit
    remark: str = ""  # for the status line, on points that are not scaled

    @property
    def method(self) -> str:
        """Return the method's key in the catalogue."""
        return self.key[0]

    def improved(
        self, predict: Callable[[Any], Predictive], *, at_rest: bool = True
    ) -> MethodFit | None:
        """Return this fit after one more step of its improvement; ``None`` if it is over.

        Chains of SGHMC continue, mean field's lowest F is searched for further, and other
        variational fits make a longer run, to see whether they have converged. Without ``at_rest``,
        only what is not ``trained`` is improved. ``predict`` returns the predictive of a fit.
        """
        if self.trained and not at_rest:
            return None
        if goes_on(self.fit):
            fit: Any = self.fit
            longer = fit.longer(SGHMC_MOST - fit.history["step"][-1])
            return replace(self, fit=longer, prediction=predict(longer), trained=True)
        if self.search is not None and (search := self.search.improved()) is not None:
            better = replace(self, search=search, trained=search.trained)
            if search.fit is self.fit:
                return better
            return replace(better, fit=search.fit, prediction=predict(search.fit))
        if at_rest and self.convergence is not None and not self.convergence.over:
            found = self.convergence.after_one_more(cast(Any, self.fit))
            return replace(self, convergence=found)
        return None


def quick(name: str, problem: Problem, options: Mapping[str, Any]) -> Fitted:
    """Fit a method of the explorer of two methods to a problem with one hidden layer.

    ``options`` are arguments of the method's ``fit``.
    """
    own = dict(options)
    if own.get("structure") == "last_layer":
        fit = _frozen(replace(problem, scales=(PRIOR_STD,))).with_prior(problem.prior)
        return replace(fit, problem=fit.problem._replace(linearised=own.get("linearised", True)))
    if "rank" in own:  # at most the number of weights
        own["rank"] = min(own["rank"], 3 * problem.hidden_units[0] + 1)
    if name == "sgmcmc":
        own["steps"] = SGHMC_FIRST
    fitted: Fitted = live_fits.fit(name, problem, **own)
    return fitted


@lru_cache(maxsize=4)
def _frozen(problem: Problem) -> laplace.Fit:
    """Return a last-layer Laplace fit; :func:`quick` replaces its prior without training again."""
    fit: laplace.Fit = live_fits.fit("laplace", problem, structure="last_layer")
    return fit


def shown(fit: Any) -> Predictive:
    """Return the predictive of a fit by ``quick`` at ``GAP_GRID``, with at most 20 ``samples``."""
    from bdl_teach.methods import infinite_width, laplace
    from bdl_teach.predictive import Predictive

    if isinstance(fit, infinite_width.Fit):
        functions, found = _draws_of_process(fit), fit.predict(GAP_GRID)
    elif not isinstance(fit, laplace.Fit):
        found = fit.predict(GAP_GRID, N_PREDICTIONS)
        functions = found.samples
    elif fit.problem.linearised:
        functions, found = fit.draw_linearised(GAP_GRID, N_FUNCTIONS), fit.predict(GAP_GRID)
    else:
        functions = fit.problem.mode.evaluate(fit.draw(N_PREDICTIONS), GAP_GRID)
        found = Predictive.from_samples(functions, fit.noise_std)
    return replace(found, samples=functions[:N_FUNCTIONS])


def _draws_of_process(fit: infinite_width.Fit) -> Array:
    """Draw functions ``[s, m]`` at ``GAP_GRID`` from the Gaussian process given the data."""
    from scipy.linalg import cholesky, solve_triangular

    from bdl_teach.methods.infinite_width import kernel

    given: dict[str, Any] = {"prior": fit.prior, "hidden_units": fit.hidden_units}
    explained = solve_triangular(fit.factor, kernel(fit.x, GAP_GRID, **given), lower=True)
    covariance = kernel(GAP_GRID, **given) - explained.T @ explained
    root = cholesky(covariance + JITTER * np.trace(covariance) * np.eye(len(GAP_GRID)), lower=True)
    noise = np.random.default_rng(1).standard_normal((N_FUNCTIONS, len(GAP_GRID)))
    return np.asarray(fit.predict(GAP_GRID).mean + noise @ root.T)


def goes_on(fit: Any) -> bool:
    """Return whether a fit is one of SGHMC with fewer than ``SGHMC_MOST`` steps."""
    from bdl_teach.methods import sgmcmc

    return isinstance(fit, sgmcmc.Fit) and bool(fit.history["step"][-1] < SGHMC_MOST)
