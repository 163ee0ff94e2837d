"""What the rivals' explorer fits: nine ways to a posterior of one network, each of them quickly.

All of them see the same data, the same noise and, but for what their own papers leave out, the same
prior N(0, σ_p²) of each weight of a network with one hidden layer: the model of the truth explorer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import replay
from bdl_teach.widgets.truth.fits import X_GRID, Model

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import infinite_width, laplace, point
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

N_FUNCTIONS = 20  # drawn functions of a panel, and most members
N_PREDICTIONS = 500
FROZEN_PRIOR_STD = 3.0  # of the network whose last layer is learnt anew
NIL = 1e-9  # share of a variance that is none
_FEWEST = 4  # draws of a chain that are shown in a replay
# Of Laplace in a replay, by how many layers have a posterior: no mode is there before the end.
_SO_FAR = {None: "round the weights so far", 1: "on the features so far"}
SGHMC_FIRST, SGHMC_MORE, SGHMC_MOST = 300, 1000, 6300  # steps of a tick, of a round, of all


class Options(NamedTuple):
    """What single methods are told.

    Attributes:
        members: Networks of an ensemble.
        rate: Probability that a draw of MC dropout leaves a unit out.
        structure: Of Laplace's covariance, as ``laplace.fit`` takes it.
        linearised: Whether Laplace predicts with the model that is linear in the weights.
        temperature: Of the posterior that SGHMC samples.
        rank: Columns of a covariance of low rank.
    """

    members: int = 10
    rate: float = 0.1
    structure: str = "full"
    linearised: bool = True
    temperature: float = 1.0
    rank: int = 8


class Shown(NamedTuple):
    """What a method says.

    Attributes:
        fit: The fit.
        prediction: Its predictive on ``X_GRID``.
        functions: Some of its functions there ``[s, m]``: members, or draws.
    """

    fit: Fitted
    prediction: Predictive
    functions: Array


@dataclass(frozen=True)
class Method:
    """A method that can be chosen.

    Attributes:
        label: Its name.
        fit: Fits it.
        heeds: Which of the options it is told.
    """

    label: str
    fit: Callable[[Model, Options], Shown]
    heeds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rival:
    """One of the two that are shown.

    Attributes:
        method: Its key in ``METHODS``.
        shown: What it says.
        seconds: What fitting and predicting took in this tick; 0 where it had been fitted before.
        remark: What a replay says beside its name; none at the end.
    """

    method: str
    shown: Shown
    seconds: float
    remark: str = ""

    @property
    def prediction(self) -> Predictive:
        """Its predictive on ``X_GRID``."""
        return self.shown.prediction


@dataclass(frozen=True)
class RivalsResult:
    """What one tick computed.

    Attributes:
        model: What was fitted.
        regions: Masks ``[m]`` of ``X_GRID``: ``"data"``, ``"gap"`` and ``"outside"``.
        rivals: The two methods, ``"first"`` and ``"second"``.
        nuts: The gold standard's predictive on ``X_GRID``, if it is shown and computed.
        nuts_report: R-hat and effective sample size as a sentence, or why there is none.
        distances: From each of the two to NUTS by region, in the units of y: see
            ``calibration.distance``; empty without NUTS.
    """

    model: Model
    regions: dict[str, Array]
    rivals: dict[str, Rival]
    nuts: Predictive | None = None
    nuts_report: str = ""
    distances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def fit(self) -> Fitted:
        """The first one's fit."""
        return self.rivals["first"].shown.fit

    @property
    def prediction(self) -> Predictive:
        """The first one's predictive."""
        return self.rivals["first"].prediction


def _given(model: Model) -> dict[str, Any]:
    """The problem and the prior, as every method takes them, and room for other sizes."""
    return {
        **model.problem.given,
        "prior": model.prior,
        "hidden_units": (model.width,),
        "seed": model.problem.seed,
        "capacity": model.capacity,
    }


def _of_draws(fit: Fitted) -> Shown:
    """Show a fit that predicts with draws."""
    prediction = fit.predict(X_GRID, N_PREDICTIONS)
    assert prediction.samples is not None
    return Shown(fit, prediction, prediction.samples[:N_FUNCTIONS])


def _ensemble(model: Model, options: Options) -> Shown:
    return _members(model, n_members=options.members)


def _anchored(model: Model, options: Options) -> Shown:
    return _members(model, n_members=options.members, anchored=True)


def _members(model: Model, **changes: Any) -> Shown:
    from bdl_teach.methods import ensemble

    return _of_draws(ensemble.fit(**_given(model), **changes))


def _dropout(model: Model, options: Options) -> Shown:
    from bdl_teach.methods import mc_dropout

    given = {**_given(model), "rate": options.rate}
    return _of_draws(mc_dropout.fit(**given))


def _laplace(model: Model, options: Options) -> Shown:
    from bdl_teach.methods import laplace

    if options.structure == "last_layer":
        fit = _frozen(replace(model, prior_std=FROZEN_PRIOR_STD)).with_prior(model.prior)
        linear = replace(fit, problem=fit.problem._replace(linearised=options.linearised))
        return _of_laplace(model, linear)
    data = model.problem.data
    around: dict[str, Any] = {"structure": options.structure, "linearised": options.linearised}
    return _of_laplace(
        model, laplace.around(_mode(model), data.x, data.y, prior=model.prior, **around)
    )


@lru_cache(maxsize=4)
def _frozen(model: Model) -> laplace.Fit:
    """A network that keeps its hidden layer, so that its last one can be learnt exactly."""
    from bdl_teach.methods import laplace

    data = model.problem.data
    mode = _mode(model)
    return laplace.around(mode, data.x, data.y, prior=model.prior, structure="last_layer")


def _mode(model: Model) -> point.Fit:
    """The mode by MAP: the one member of an ensemble, whose program has room for every problem."""
    from bdl_teach.methods import ensemble, laplace, point

    data = model.problem.data
    one = ensemble.fit(**_given(model), n_members=1)
    path = one.path and one.path._replace(parameters=[one.path.parameters[0][:, 0]])
    trained = point.Fit(one.weights[0], one.network, one.noise_std, one.history, path=path)
    return laplace.to_mode(trained, data.x, data.y, prior=model.prior)


def _of_laplace(model: Model, fit: laplace.Fit) -> Shown:
    """Predict as ``fit.predict`` does, in a program that has room for every width."""
    from bdl_teach.predictive import Predictive

    if fit.problem.linearised:
        return Shown(fit, fit.predict(X_GRID), fit.draw_linearised(X_GRID, N_FUNCTIONS))
    outputs = model.evaluate(fit.draw(N_PREDICTIONS), X_GRID)
    return Shown(fit, Predictive.from_samples(outputs, fit.noise_std), outputs[:N_FUNCTIONS])


def _sghmc(model: Model, options: Options) -> Shown:
    from bdl_teach.methods import sgmcmc

    given = {**_given(model), "temperature": options.temperature}
    return _of_draws(sgmcmc.fit(**given, steps=SGHMC_FIRST))


def _mean_field(model: Model, _: Options) -> Shown:
    return _of_draws(model.fit())


def _low_rank(model: Model, options: Options) -> Shown:
    from bdl_teach.methods import low_rank

    most = 3 * model.width + 1  # columns, where there are no more weights
    given = {**_given(model), "rank": min(options.rank, most)}
    return _of_draws(low_rank.fit(given.pop("x"), given.pop("y"), **given))


def _infinite(model: Model, _: Options) -> Shown:
    from bdl_teach.methods import infinite_width

    data = model.problem.data
    given: dict[str, Any] = {"prior": model.prior, "hidden_units": (model.width,)}
    fit = infinite_width.fit(data.x, data.y, noise_std=data.noise_std, **given)
    return Shown(fit, fit.predict(X_GRID), _draws_of_process(fit))


def _draws_of_process(fit: infinite_width.Fit) -> Array:
    """Functions drawn from the conditioned process, on ``X_GRID`` ``[s, m]``."""
    from scipy.linalg import cholesky, solve_triangular

    from bdl_teach.methods.infinite_width import kernel

    given: dict[str, Any] = {"prior": fit.prior, "hidden_units": fit.hidden_units}
    told = solve_triangular(fit.factor, kernel(fit.x, X_GRID, **given), lower=True)
    covariance = kernel(X_GRID, **given) - told.T @ told
    root = cholesky(covariance + NIL * np.trace(covariance) * np.eye(len(X_GRID)), lower=True)
    noise = np.random.default_rng(1).standard_normal((N_FUNCTIONS, len(X_GRID)))
    return np.asarray(fit.predict(X_GRID).mean + noise @ root.T)


def _map(model: Model, _: Options) -> Shown:
    return _members(model, n_members=1)


METHODS: Mapping[str, Method] = {
    "ensemble": Method("deep ensemble", _ensemble, ("members",)),
    "anchored": Method("anchored ensemble", _anchored, ("members",)),
    "dropout": Method("MC dropout", _dropout, ("rate",)),
    "laplace": Method("Laplace", _laplace, ("structure", "linearised")),
    "sghmc": Method("SGHMC", _sghmc, ("temperature",)),
    "mean_field": Method("mean field", _mean_field),
    "low_rank": Method("low rank", _low_rank, ("rank",)),
    "infinite": Method("infinite width", _infinite),
    "map": Method("MAP", _map),
}


def heeded(method: str, options: Options) -> tuple[object, ...]:
    """The options that a method is told: all that its fit depends on beside the model."""
    return tuple(getattr(options, name) for name in METHODS[method].heeds)


def fit(method: str, model: Model, options: Options) -> Rival:
    """Fit a method, and time it."""
    start = time.perf_counter()
    shown = METHODS[method].fit(model, options)
    return Rival(method, shown, time.perf_counter() - start)


def refined(rival: Rival) -> Rival | None:
    """Let the chains of SGHMC run on; ``None`` for all else, and when they have run for long."""
    from bdl_teach.methods import sgmcmc

    chains = rival.shown.fit
    if not isinstance(chains, sgmcmc.Fit) or chains.history["step"][-1] >= SGHMC_MOST:
        return None
    return replace(rival, shown=_of_draws(chains.longer(SGHMC_MORE)))


def steps_of(rival: Rival) -> Sequence[int]:
    """Steps taken at each frame of a method's training; () if it stands still in a replay.

    The chains' frames are their draws so far, from the first that is one. Laplace's are those of
    its mode; a limit has no steps.
    """
    from bdl_teach.methods import sgmcmc

    fit = rival.shown.fit
    if isinstance(fit, sgmcmc.Fit):
        return tuple(fit.history["step"].tolist())[_FEWEST - 1 :]
    return replay.steps_of(fit)


def at_share(rival: Rival, share: float, model: Model) -> Rival:
    """Return a method as it was after that share of its training, or as one that stands still."""
    from bdl_teach.methods import laplace

    steps = np.array(steps_of(rival))
    if not steps.any():
        return replace(rival, remark="which stands still")
    frame = int(np.abs(steps - share * steps[-1]).argmin())
    fit = _at(rival.shown.fit, frame)
    if not isinstance(fit, laplace.Fit):
        return replace(rival, shown=_of_draws(fit))
    remark = "" if frame == len(steps) - 1 else _SO_FAR[fit.problem.n_layers]
    return replace(rival, shown=_of_laplace(model, fit), remark=remark)


def _at(fit: Any, frame: int) -> Fitted:
    """A fit at a frame; of chains, what they had drawn by then."""
    from bdl_teach.methods import sgmcmc

    if not isinstance(fit, sgmcmc.Fit):
        return cast("Fitted", fit.at(frame))
    n = frame + _FEWEST
    return replace(fit, path=fit.path[:n], potential=fit.potential[:n])


def beside_nuts(result: RivalsResult, nuts: Predictive | None, report: str) -> RivalsResult:
    """Add the gold standard, if there is one, and the distances to it."""
    from bdl_teach import calibration

    distances = (
        {}
        if nuts is None
        else {
            name: {
                region: calibration.distance(rival.prediction, nuts, mask)
                for region, mask in result.regions.items()
            }
            for name, rival in result.rivals.items()
        }
    )
    return replace(result, nuts=nuts, nuts_report=report, distances=distances)
