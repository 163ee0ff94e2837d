"""Fit the catalogue's methods for explorers, with programs that serve every problem.

``fit`` gives a method of ``methods.catalogue`` any problem with a gap and one hidden layer;
``quick`` fits nine of them more quickly, with options of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.methods.catalogue import CATALOGUE, Fitted
from bdl_teach.problems import GAP_GRID as X_GRID
from bdl_teach.problems import MAX_WIDTH, PRIOR_STD, Problem, own_points

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import bbb, infinite_width, laplace, point
    from bdl_teach.methods._mean_field import Fit as MeanFieldFit
    from bdl_teach.predictive import Predictive

OWN_ROOM = 64  # points of the learner's own: what every method of the catalogue is compiled for
N_FUNCTIONS = 20  # drawn functions that are shown, and most members
N_PREDICTIONS = 500
NIL = 1e-9  # share of a variance that is none
SGHMC_FIRST = 300  # steps of a quick run
# What refits of two hidden layers are compiled for (``bbb.Capacity``, without loading TensorFlow):
# a small room for what most sliders ask for, and one for all the rest, which goes through draws and
# chunks of 32 points in a loop, so that few of them take less time. Each program is 30 MB of the
# kernel, and TensorFlow gives none back: a third room for 64 points saves a quarter of the time of
# a refit, a fourth one for a table of one's own nothing.
SMALL_ROOM = (32, (20, 20), 1)
LARGE_ROOM = (own_points.MOST, (20, 20), 10, 32)
MOST_DRAWN = 64  # points that a slider asks for: more are a table of one's own,
TABLE_STEPS = 900  # whose fit takes fewer steps, each of them longer
PRIOR_WIDTH = 30  # units of the one hidden layer whose prior is learnt, at most


def fit(name: str, problem: Problem, epochs: int) -> Fitted:
    """Fit a method of the catalogue, in a program that fits every problem.

    Args:
        name: Its key in the catalogue.
        problem: The problem to fit.
        epochs: Passes over the data, of a method that counts in them.
    """
    from bdl_teach.methods.bbb import Capacity

    method = CATALOGUE[name]
    asked = replace(method, options={**method.options, **(method.compared or {})})
    given = problem.repeated if method.repeats else problem.given
    room = Capacity(OWN_ROOM, (MAX_WIDTH,), 1)
    fitted: Any = asked.fit(**given, epochs=epochs, seed=problem.seed, capacity=room)
    if method.repeats:
        fitted = replace(fitted, noise_std=problem.noise_std)
    return cast(Fitted, fitted)


def backprop(problem: Problem, estimator: str = "quiet", **own: Any) -> bbb.Fit:
    """Fit a network of two hidden layers by Bayes by Backprop.

    Args:
        problem: The problem to fit.
        estimator: ``"quiet"``, ``"weights"`` (the paper's) or ``"article"``.
        **own: Other arguments of ``fit``, such as ``kl_weight``.
    """
    from bdl_teach.methods import bbb, local_reparam

    data, one_draw = problem.data, own.get("n_samples", 1) == 1
    n = len(data.x)
    room = SMALL_ROOM if n <= SMALL_ROOM[0] and one_draw else LARGE_ROOM
    given = {**problem.settings, "capacity": bbb.Capacity(*room), **own}
    if estimator == "quiet":
        if n > MOST_DRAWN and one_draw:
            given["steps"] = TABLE_STEPS
        return local_reparam.fit(data.x, data.y, **given, **local_reparam.QUIET)
    recipe = bbb.ARTICLE if estimator == "article" else {}
    return bbb.fit(data.x, data.y, **given, **recipe)


def with_prior(problem: Problem, tie: str = "") -> tuple[MeanFieldFit, Array]:
    """Fit one hidden layer under the problem's prior, or under a learnt one.

    Args:
        problem: The problem to fit.
        tie: Which weights share a learnt σ_p, as ``empirical_bayes.fit`` takes it; "" for none.

    Returns:
        The fit, and σ_p of each of its weights ``[n_weights]``.
    """
    from bdl_teach.methods import bbb, empirical_bayes, local_reparam

    data, given = problem.data, problem.settings
    most = MOST_DRAWN if len(data.x) <= MOST_DRAWN else own_points.MOST
    given["capacity"] = bbb.Capacity(most, (PRIOR_WIDTH,), 1)
    if tie:
        del given["prior"]
        learnt = empirical_bayes.fit(data.x, data.y, tie=tie, **empirical_bayes.QUIET, **given)
        return learnt, learnt.prior_std
    fixed = local_reparam.fit(data.x, data.y, **local_reparam.QUIET, **given)
    return fixed, np.full(len(fixed.mean), problem.scales[0])


class Quick(NamedTuple):
    """A method with a quick fit."""

    method: str  # its key in the catalogue
    heeds: tuple[str, ...] = ()  # which options of quick it is told
    always: Mapping[str, object] = {}  # arguments of its fit that never change

    @property
    def label(self) -> str:
        """Return the method's name."""
        method = CATALOGUE[self.method]
        return method.title or method.label


QUICK: Mapping[str, Quick] = {
    "ensemble": Quick("ensemble", ("members",)),
    "anchored": Quick("anchored", ("members",)),
    "dropout": Quick("dropout", ("rate",)),
    "laplace": Quick("laplace", ("structure", "linearised")),
    "sghmc": Quick("sgmcmc", ("temperature",), {"steps": SGHMC_FIRST}),
    "mean_field": Quick("local", (), CATALOGUE["local"].compared or {}),
    "low_rank": Quick("low_rank", ("rank",)),
    "infinite": Quick("infinite"),
    "map": Quick("map", (), {"n_members": 1}),  # an ensemble of one
}


def quick(name: str, problem: Problem, options: Mapping[str, Any]) -> Fitted:
    """Fit one of the methods of ``QUICK``.

    Args:
        name: Its key there.
        problem: The problem to fit.
        options: Those that it heeds, by the names of arguments of its ``fit``, and maybe others;
            ``members`` are an ensemble's ``n_members``.
    """
    method, heeds, always = QUICK[name]
    own = {option: options[option] for option in heeds if option in options}
    if name == "laplace":
        return _laplace(problem, **own)
    if "members" in own:
        own["n_members"] = own.pop("members")
    if "rank" in own:  # columns, where there are no more weights
        own["rank"] = min(own["rank"], 3 * problem.hidden_units[0] + 1)
    fitted: Fitted = _fit("ensemble" if name == "map" else method, problem, **always, **own)
    return fitted


def _fit(name: str, problem: Problem, **own: Any) -> Any:
    """Fit a method of the catalogue, in a program that fits problems of other sizes."""
    data, given = problem.data, {**problem.settings, "capacity": problem.capacity}
    return CATALOGUE[name].fit(data.x, data.y, **given, **own)


def _laplace(problem: Problem, structure: str = "full", linearised: bool = True) -> Fitted:
    from bdl_teach.methods import laplace

    if structure == "last_layer":
        fit = _frozen(replace(problem, scales=(PRIOR_STD,))).with_prior(problem.prior)
        return replace(fit, problem=fit.problem._replace(linearised=linearised))
    return laplace.around(
        _mode(problem), problem.data.x, problem.data.y, prior=problem.prior,
        structure=structure, linearised=linearised,
    )  # fmt: skip


@lru_cache(maxsize=4)
def _frozen(problem: Problem) -> laplace.Fit:
    """Return a network with a fixed hidden layer, so that its last layer has an exact posterior."""
    from bdl_teach.methods import laplace

    data, mode = problem.data, _mode(problem)
    return laplace.around(mode, data.x, data.y, prior=problem.prior, structure="last_layer")


def _mode(problem: Problem) -> point.Fit:
    """Fit the mode by MAP."""
    from bdl_teach.methods import laplace

    data, trained = problem.data, _fit("map", problem)
    return laplace.to_mode(trained, data.x, data.y, prior=problem.prior)


def shown(fit: Any) -> Predictive:
    """Predict with a quick fit on ``GAP_GRID``, with few of its functions as samples.

    This runs in programs that fit every width.
    """
    from bdl_teach.methods import infinite_width, laplace
    from bdl_teach.predictive import Predictive

    if isinstance(fit, infinite_width.Fit):
        functions, found = _draws_of_process(fit), fit.predict(X_GRID)
    elif not isinstance(fit, laplace.Fit):
        found = fit.predict(X_GRID, N_PREDICTIONS)
        functions = found.samples
    elif fit.problem.linearised:
        functions, found = fit.draw_linearised(X_GRID, N_FUNCTIONS), fit.predict(X_GRID)
    else:
        functions = fit.problem.mode.evaluate(fit.draw(N_PREDICTIONS), X_GRID)
        found = Predictive.from_samples(functions, fit.noise_std)
    return replace(found, samples=functions[:N_FUNCTIONS])


def _draws_of_process(fit: infinite_width.Fit) -> Array:
    """Draw functions from the conditioned Gaussian process, on ``GAP_GRID`` ``[s, m]``."""
    from scipy.linalg import cholesky, solve_triangular

    from bdl_teach.methods.infinite_width import kernel

    given: dict[str, Any] = {"prior": fit.prior, "hidden_units": fit.hidden_units}
    told = solve_triangular(fit.factor, kernel(fit.x, X_GRID, **given), lower=True)
    covariance = kernel(X_GRID, **given) - told.T @ told
    root = cholesky(covariance + NIL * np.trace(covariance) * np.eye(len(X_GRID)), lower=True)
    noise = np.random.default_rng(1).standard_normal((N_FUNCTIONS, len(X_GRID)))
    return np.asarray(fit.predict(X_GRID).mean + noise @ root.T)
