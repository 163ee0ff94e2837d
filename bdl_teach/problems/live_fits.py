"""Fit the catalogue's methods to a ``Problem``, fast enough for explorers.

Each fit runs in a program that is compiled once for many sizes of the problem. Problems must have
one hidden layer, except for ``backprop`` (two) and for ``fit_method`` with ``sizes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.methods.catalogue import CATALOGUE, Fitted
from bdl_teach.problems import GAP_GRID, MAX_WIDTH, PRIOR_STD, ROOM, Problem, own_points

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import bbb, infinite_width, laplace
    from bdl_teach.methods._mean_field import Fit as MeanFieldFit
    from bdl_teach.predictive import Predictive

OWN_ROOM = 64  # largest number of points that ``fit`` can be given
N_FUNCTIONS = 20  # largest number of drawn functions or ensemble members in a picture
N_PREDICTIONS = 500
JITTER = 1e-9  # added to a covariance, as a share of its trace, so that Cholesky succeeds
SGHMC_FIRST = 300  # steps of SGHMC before the first picture
# Arguments of ``bbb.Capacity``, the sizes that a program for two hidden layers is compiled for. The
# small program serves up to 32 points and one draw. The large one loops over draws and over chunks
# of 32 points. A program takes 30 MB, which TensorFlow never frees: a third one, for 64 points,
# would save a quarter of the time of a refit, and a fourth one, for tables, nothing.
SMALL = (32, (20, 20), 1)
LARGE = (own_points.MOST, (20, 20), 10, 32)
MOST_DRAWN = 64  # largest number of points on a slider; more points come from a table
TABLE_STEPS = 900  # steps of a fit to a table: fewer than usual, since each takes longer
PRIOR_WIDTH = 30  # largest number of hidden units where the prior may be learnt


def fit_method(name: str, problem: Problem, sizes: tuple[Any, ...] = (), **own: Any) -> Any:
    """Fit a method, a key of ``CATALOGUE``, to a problem.

    ``own`` are further arguments of the method's ``fit``, such as its number of epochs. ``sizes``
    are the arguments of ``bbb.Capacity``, which the program is compiled for. By default they allow
    one hidden layer and ``ROOM`` points; ``own_points.MOST`` points if the problem has more.
    """
    from bdl_teach.methods.bbb import Capacity

    method, data = CATALOGUE[name], problem.data
    rows = ROOM if len(data.x) <= ROOM else own_points.MOST
    capacity = Capacity(*(sizes or (rows, (MAX_WIDTH,), 1)))
    options = {**method.options, **(method.compared or {}), **own}
    common = {**problem.settings, "capacity": capacity}  # a method may ignore some of them
    return replace(method, options=options).fit(data.x, data.y, **common)


def fit(name: str, problem: Problem, epochs: int) -> Fitted:
    """Fit a method, a key of ``CATALOGUE``, to a problem with at most ``OWN_ROOM`` points.

    Methods that do not train in epochs ignore ``epochs``.
    """
    own = {"epochs": epochs} if "epochs" in CATALOGUE[name].takes else {}
    fitted: Fitted = fit_method(name, problem, (OWN_ROOM, (MAX_WIDTH,), 1), **own)
    return fitted


def backprop(problem: Problem, estimator: str = "quiet", **own: Any) -> bbb.Fit:
    """Fit two hidden layers by Bayes by Backprop; ``own`` are further arguments of ``bbb.fit``.

    The ``estimator`` is "quiet" (a variant of local reparameterization), "weights" (weights are
    drawn, as by Blundell et al. 2015) or "article" (as "weights", but with the start and the
    learning-rate schedule of ``bbb.ARTICLE``).
    """
    from bdl_teach.methods import bbb

    n, one_draw = len(problem.data.x), own.get("n_samples", 1) == 1
    sizes = SMALL if n <= SMALL[0] and one_draw else LARGE
    if n > MOST_DRAWN and one_draw and estimator == "quiet":
        own["steps"] = TABLE_STEPS
    if estimator == "article":
        own |= bbb.ARTICLE
    fitted: bbb.Fit = fit_method("local" if estimator == "quiet" else "bbb", problem, sizes, **own)
    return fitted


def with_prior(problem: Problem, tie: str = "") -> tuple[MeanFieldFit, Array]:
    """Fit one hidden layer by mean field; return the fit and the weights' prior sd ``[n_weights]``.

    ``tie`` says which weights share one learnt prior sd, as in ``empirical_bayes.fit``; with ""
    every weight keeps the prior sd of the problem.
    """
    most = MOST_DRAWN if len(problem.data.x) <= MOST_DRAWN else own_points.MOST
    sizes = (most, (PRIOR_WIDTH,), 1)
    if tie:
        learnt = fit_method("eb", problem, sizes, tie=tie)
        return learnt, learnt.prior_std
    fixed = fit_method("local", problem, sizes)
    return fixed, np.full(len(fixed.mean), problem.scales[0])


class Quick(NamedTuple):
    """A method that ``quick`` can fit, and the options that affect its fit."""

    method: str  # key in the catalogue
    heeds: tuple[str, ...] = ()  # names of the options that affect the fit

    @property
    def label(self) -> str:
        """Return the method's name in menus and titles."""
        method = CATALOGUE[self.method]
        return method.title or method.label


QUICK: Mapping[str, Quick] = {
    "ensemble": Quick("ensemble", ("members",)),
    "anchored": Quick("anchored", ("members",)),
    "dropout": Quick("dropout", ("rate",)),
    "laplace": Quick("laplace", ("structure", "linearised")),
    "sghmc": Quick("sgmcmc", ("temperature",)),
    "mean_field": Quick("local"),
    "low_rank": Quick("low_rank", ("rank",)),
    "infinite": Quick("infinite"),
    "map": Quick("map"),
}


def quick(name: str, problem: Problem, options: Mapping[str, Any]) -> Fitted:
    """Fit a method, a key of ``QUICK``, to a problem with one hidden layer.

    ``options`` are arguments of the method's ``fit`` by name, except that ``members`` stands for
    ``n_members``. Options that are not among the method's ``heeds`` are ignored.
    """
    method, heeds = QUICK[name]
    own = {option: options[option] for option in heeds if option in options}
    if own.get("structure") == "last_layer":
        fit = _frozen(replace(problem, scales=(PRIOR_STD,))).with_prior(problem.prior)
        return replace(fit, problem=fit.problem._replace(linearised=own.get("linearised", True)))
    if "members" in own:
        own["n_members"] = own.pop("members")
    if "rank" in own:  # at most the number of weights
        own["rank"] = min(own["rank"], 3 * problem.hidden_units[0] + 1)
    if name == "sghmc":
        own["steps"] = SGHMC_FIRST
    fitted: Fitted = fit_method(method, problem, **own)
    return fitted


@lru_cache(maxsize=4)
def _frozen(problem: Problem) -> laplace.Fit:
    """Return a last-layer Laplace fit; :func:`quick` replaces its prior without training again."""
    fit: laplace.Fit = fit_method("laplace", problem, structure="last_layer")
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
    told = solve_triangular(fit.factor, kernel(fit.x, GAP_GRID, **given), lower=True)
    covariance = kernel(GAP_GRID, **given) - told.T @ told
    root = cholesky(covariance + JITTER * np.trace(covariance) * np.eye(len(GAP_GRID)), lower=True)
    noise = np.random.default_rng(1).standard_normal((N_FUNCTIONS, len(GAP_GRID)))
    return np.asarray(fit.predict(GAP_GRID).mean + noise @ root.T)
