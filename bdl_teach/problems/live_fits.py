"""Fit the catalogue's methods for explorers, with programs that serve every problem.

``fit`` gives a method of ``methods.catalogue`` any problem with a gap and one hidden layer;
``shown`` fits nine of them more quickly, with options of their own, and draws functions of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.methods.catalogue import CATALOGUE, Fitted
from bdl_teach.problems import GAP_GRID as X_GRID
from bdl_teach.problems import MAX_WIDTH, PRIOR_STD, Problem, own_points, truth_search

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


def fit(name: str, problem: Problem, epochs: int, **own: object) -> Fitted:
    """Fit a method of the catalogue, in a program that fits every problem.

    Args:
        name: Its key in the catalogue.
        problem: The problem to fit.
        epochs: Passes over the data, of a method that counts in them.
        **own: Arguments of this method alone.
    """
    from bdl_teach.methods.bbb import Capacity

    method = CATALOGUE[name]
    options = {**method.options, **(method.compared or {}), **own}
    asked = replace(method, options=options)
    given = problem.repeated if method.repeats else problem.given
    room = Capacity(OWN_ROOM, (MAX_WIDTH,), 1)
    fitted: Any = asked.fit(**given, epochs=epochs, seed=problem.seed, capacity=room)
    if method.repeats:
        fitted = replace(fitted, noise_std=problem.noise_std)
    return cast(Fitted, fitted)


def room(n: int, n_samples: int = 1) -> tuple[Any, ...]:
    """Return the sizes that a fit of this many points and draws is compiled for."""
    return SMALL_ROOM if n <= SMALL_ROOM[0] and n_samples == 1 else LARGE_ROOM


def backprop(
    problem: Problem, estimator: str = "quiet", kl_weight: float = 1.0, n_samples: int = 1
) -> bbb.Fit:
    """Fit a network of two hidden layers by Bayes by Backprop.

    Args:
        problem: The problem to fit.
        estimator: ``"quiet"``, ``"weights"`` (the paper's) or ``"article"``.
        kl_weight: Factor on the complexity cost.
        n_samples: Weight draws in each gradient.
    """
    from bdl_teach.methods import bbb, local_reparam

    data, given = problem.data, problem.settings
    n = len(data.x)
    given |= {"kl_weight": kl_weight, "n_samples": n_samples}
    given["capacity"] = bbb.Capacity(*room(n, n_samples))
    if estimator == "quiet":
        if n > MOST_DRAWN and n_samples == 1:
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


class Options(NamedTuple):
    """Options of single methods.

    Attributes:
        members: Networks of an ensemble.
        rate: Probability that a draw of MC dropout leaves a unit out.
        structure: Structure of Laplace's covariance, as ``laplace.fit`` takes it.
        linearised: Whether Laplace predicts with the model that is linear in the weights.
        temperature: Temperature of the posterior that SGHMC samples.
        rank: Columns of a covariance of low rank.
    """

    members: int = 10
    rate: float = 0.1
    structure: str = "full"
    linearised: bool = True
    temperature: float = 1.0
    rank: int = 8


class Shown(NamedTuple):
    """The predictive of a method, and functions drawn from it.

    Attributes:
        fit: The fit.
        prediction: Its predictive on ``GAP_GRID``.
        functions: Some of its functions there ``[s, m]``: members, or draws.
    """

    fit: Fitted
    prediction: Predictive
    functions: Array


def quick(name: str, problem: Problem, options: Options) -> Shown:
    """Fit one of the methods of ``QUICK``, and predict."""
    return shown_of(QUICK[name].fit(problem, options), problem)


def shown_of(fit: Any, problem: Problem) -> Shown:
    """Predict with a quick fit, in programs that fit every width."""
    from bdl_teach.methods import infinite_width, laplace
    from bdl_teach.predictive import Predictive

    if isinstance(fit, infinite_width.Fit):
        return Shown(fit, fit.predict(X_GRID), _draws_of_process(fit))
    if not isinstance(fit, laplace.Fit):
        prediction = fit.predict(X_GRID, N_PREDICTIONS)
        return Shown(fit, prediction, prediction.samples[:N_FUNCTIONS])
    if fit.problem.linearised:
        return Shown(fit, fit.predict(X_GRID), fit.draw_linearised(X_GRID, N_FUNCTIONS))
    outputs = problem.evaluate(fit.draw(N_PREDICTIONS), X_GRID)
    return Shown(fit, Predictive.from_samples(outputs, fit.noise_std), outputs[:N_FUNCTIONS])


def _fit(name: str, problem: Problem, **own: Any) -> Any:
    """Fit a method of the catalogue, in a program that fits problems of other sizes."""
    data, given = problem.data, {**problem.settings, "capacity": problem.capacity}
    return CATALOGUE[name].fit(data.x, data.y, **given, **own)


def _laplace(problem: Problem, options: Options) -> Fitted:
    from bdl_teach.methods import laplace

    if options.structure == "last_layer":
        fit = _frozen(replace(problem, scales=(PRIOR_STD,))).with_prior(problem.prior)
        return replace(fit, problem=fit.problem._replace(linearised=options.linearised))
    data = problem.data
    around: dict[str, Any] = {"structure": options.structure, "linearised": options.linearised}
    return laplace.around(_mode(problem), data.x, data.y, prior=problem.prior, **around)


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


class Quick(NamedTuple):
    """A method with a quick fit.

    Attributes:
        method: Its key in the catalogue.
        fit: Fits it.
        heeds: Which of the options it is told.
    """

    method: str
    fit: Callable[[Problem, Options], Fitted]
    heeds: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return the method's name."""
        method = CATALOGUE[self.method]
        return method.title or method.label


def _low_rank(problem: Problem, options: Options) -> Fitted:
    most = 3 * problem.hidden_units[0] + 1  # columns, where there are no more weights
    return cast(Fitted, _fit("low_rank", problem, rank=min(options.rank, most)))


QUICK: Mapping[str, Quick] = {
    "ensemble": Quick(
        "ensemble", lambda p, o: _fit("ensemble", p, n_members=o.members), ("members",)
    ),
    "anchored": Quick(
        "anchored", lambda p, o: _fit("anchored", p, n_members=o.members), ("members",)
    ),
    "dropout": Quick("dropout", lambda p, o: _fit("dropout", p, rate=o.rate), ("rate",)),
    "laplace": Quick("laplace", _laplace, ("structure", "linearised")),
    "sghmc": Quick(
        "sgmcmc",
        lambda p, o: _fit("sgmcmc", p, temperature=o.temperature, steps=SGHMC_FIRST),
        ("temperature",),
    ),
    "mean_field": Quick("local", lambda p, _: truth_search.mean_field(p)),
    "low_rank": Quick("low_rank", _low_rank, ("rank",)),
    "infinite": Quick("infinite", lambda p, _: _fit("infinite", p)),
    "map": Quick("map", lambda p, _: _fit("ensemble", p, n_members=1)),
}
