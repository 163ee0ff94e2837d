"""The regression methods of the catalogue, compared on 32 points with a gap (chapter 10)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bdl_teach import calibration, datasets
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.experiments.measured._measure import nuts_until_converged, rms, test_log_likelihood
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, mcmc
from bdl_teach.methods.catalogue import CATALOGUE, Fitted
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem, live_fits

GAP = (0.1, 0.4)  # without data
X = np.linspace(-0.7, 0.7, 141)[:, None]
REGIONS = Problem().regions(X[:, 0])  # masks: "data", "gap", "outside"
PERFECT = -0.5 * np.log(2 * np.pi * np.e)  # the best log score to expect, for noise of sd 1
METHODS = ("mle", "map", "bbb", "local", "lowest", "eb", "pbp")
THREE = ("map", "bbb", "pbp")
ROOM = bbb.Capacity(*live_fits.COMPARED)
CHAINS: dict[str, Any] = {"n_chains": 4, "n_samples": 400, "n_warmup": 300}
N = 32  # points for training, and as many for calibration
EXPLORED = (0.5, 0.75, 0.9, 0.95, 0.99)  # levels of the explorer's slider
N_SETS = 10  # data sets a world, for claims that one data set cannot show


def fitted(name: str, data: Regression1D, seed: int, room: bbb.Capacity | None = ROOM) -> Fitted:
    """Fit a method of the catalogue, with 20 hidden units and the prior N(0, 3²).

    "trained_on" is "bbb" after 1500 more steps. A program is compiled for sizes up to ``room``; if
    that is None, for the size of these data.
    """
    given = Problem(seed=seed).settings
    if name == "nuts":
        return nuts_until_converged(data.x, data.y, **given, **CHAINS)
    if name == "hmc":
        return mcmc.hmc(data.x, data.y, n_samples=2000, **given)
    if name == "trained_on":
        return bbb.fit(data.x, data.y, capacity=room, **given).refined()
    method = CATALOGUE[name]
    method = replace(method, options={**method.options, **(method.compared or {})})
    return method.fit(data.x, data.y, capacity=room, epochs=100, **given)


def scored(prediction: Predictive, data: Regression1D, seed: int) -> dict[str, float]:
    """Score a prediction in each region of the inputs: "data", "gap" and "outside".

    ``lost`` is the expected log score of the true density minus that of the prediction, in nats a
    point; ``covered`` the share of new points inside the 95 % interval; ``error`` the rms error of
    the mean; ``sd`` the mean epistemic sd.
    """
    truth = data.truth(X)[:, 0]
    log_p = test_log_likelihood(prediction, data, X, seed)
    inside = calibration.expected_coverage(truth, 1.0, *prediction.interval(0.95))
    figures = {}
    for region, mask in REGIONS.items():
        figures[f"{region}-lost"] = float(PERFECT - log_p[mask].mean())
        figures[f"{region}-covered"] = float(inside[mask].mean())
        figures[f"{region}-error"] = rms((prediction.mean - truth)[mask])
        figures[f"{region}-sd"] = float(prediction.epistemic_std[mask].mean())
    return figures


def fits(world: World, names: Sequence[str] = METHODS) -> dict[str, Fitted]:
    """Fit the named methods in one world."""
    data = Problem(seed=world.data_seed).data
    return {name: fitted(name, data, world.start_seed) for name in names}


def predictives(world: World, found: Mapping[str, Fitted]) -> dict[str, Predictive]:
    """Return the prediction of each fit on X."""
    seed = world.seed(2)
    return {name: fit.predict(X, n_samples=500, seed=seed) for name, fit in found.items()}


def compared(world: World) -> dict[str, float]:
    """Score the methods of ``METHODS`` in one world."""
    return scores(predictives(world, fits(world)), world)


def scores(told: Mapping[str, Predictive], world: World) -> dict[str, float]:
    """Return the results of ``scored`` and the mean noise sd, for each prediction in ``told``.

    ``told`` holds the predictions at the inputs ``X``, by name of the method.
    """
    data = Problem(seed=world.data_seed).data
    figures: dict[str, float] = {}
    for name, prediction in told.items():
        each = scored(prediction, data, world.seed(3))
        figures |= {f"{name}-{what}": value for what, value in each.items()}
        figures[f"{name}-noise"] = float(prediction.aleatoric_std.mean())
    return figures


def moved(world: World) -> dict[str, float]:
    """Measure coverage, bias and sds of the comparison explorer's fits, at some of its settings."""
    start, figures = Problem(seed=world.data_seed), dict[str, float]()
    places: dict[str, dict[str, Any]] = {"start": {}, "few": {"n": 8}, "loud": {"noise_std": 3.0}}
    for place, changes in {**places, "all-04": {"gap": 0.4}, "no-gap": {"gap": 0.0}}.items():
        for name in METHODS:
            one = replace(start, **changes)
            figures |= _measure_in_explorer(f"{place}-{name}", one, name, 100)
    for epochs in (10, 40, 400):
        figures |= _measure_in_explorer(f"{epochs}-pbp", start, "pbp", epochs)
    figures["start-most-covered"] = max(figures[f"start-{m}-gap-covered"] for m in METHODS)
    figures["loud-most-bias"] = max(figures[f"loud-{m}-gap-bias"] for m in THREE)
    figures["loud-most-covered"] = max(figures[f"loud-{m}-gap-covered"] for m in THREE)
    covered = [figures[f"all-04-{m}-gap-covered"] for m in METHODS]
    return {**figures, "all-04-mean-covered": float(np.mean(covered))}


def _measure_in_explorer(
    prefix: str, problem: Problem, method: str, epochs: int
) -> dict[str, float]:
    """Fit as the explorer does; return the noise sd, and coverage, bias and sd in each region."""
    own = {"epochs": epochs} if method == "pbp" else {}
    prediction = live_fits.fit(method, problem, live_fits.COMPARED, **own).predict(X, 200)
    truth, reach = problem.data.truth(X)[:, 0], 1.96 * prediction.total_std
    ends = prediction.mean - reach, prediction.mean + reach
    inside = calibration.expected_coverage(truth, problem.noise_std, *ends)
    figures = {f"{prefix}-noise": float(prediction.aleatoric_std.mean())}
    for region, mask in problem.regions(X[:, 0]).items():
        if mask.any():
            figures[f"{prefix}-{region}-covered"] = float(inside[mask].mean())
            figures[f"{prefix}-{region}-bias"] = float((prediction.mean - truth)[mask].mean())
            figures[f"{prefix}-{region}-sd"] = float(prediction.epistemic_std[mask].mean())
    return figures


def held(world: World) -> dict[str, float]:
    """Measure the coverage of conformal bands: 32 points train a fit, 32 others calibrate it."""
    data = datasets.sinusoid(n=2 * N, seed=world.data_seed, gap=GAP)
    halves = np.split(np.random.default_rng(world.seed(2)).permutation(2 * N), 2)
    learn, count = (replace(data, x=data.x[half], y=data.y[half]) for half in halves)
    return _in_bands(learn, count, (0.9, 0.95), world)


def held_on_99(world: World) -> dict[str, float]:
    """Measure the coverage of the explorer's conformal bands, calibrated on 99 more points."""
    count = datasets.sinusoid(n=99, seed=world.seed(2), gap=GAP)
    figures = _in_bands(Problem(seed=world.data_seed).data, count, EXPLORED, world)
    above = [figures[f"{m}-data-{100 * c:.0f}"] - c for m in THREE for c in EXPLORED]
    figures["mean-above-level"] = float(np.mean(above))
    return {**figures, "both-gap-99": (figures["bbb-gap-99"] + figures["pbp-gap-99"]) / 2}


def _in_bands(
    learn: Regression1D, count: Regression1D, levels: tuple[float, ...], world: World
) -> dict[str, float]:
    """Fit to ``learn``, calibrate on ``count``; return conformal bands' coverage at ``levels``."""
    truth, figures = count.truth(X)[:, 0], {}
    for name in THREE:
        fit = fitted(name, learn, world.start_seed)
        here, there = (fit.predict(x, n_samples=500, seed=1) for x in (count.x, X))
        scores = np.abs(count.y[:, 0] - here.mean) / here.total_std
        for level in levels:
            reach = calibration.conformal_factor(scores, level) * there.total_std
            ends = there.mean - reach, there.mean + reach
            inside = calibration.expected_coverage(truth, 1.0, *ends)
            for region, mask in REGIONS.items():
                figures[f"{name}-{region}-{100 * level:.0f}"] = float(inside[mask].mean())
    for level in (90, 95):
        figures[f"mean-data-{level}"] = sum(figures[f"{m}-data-{level}"] for m in THREE) / 3
        figures[f"most-gap-{level}"] = max(figures[f"{m}-gap-{level}"] for m in THREE)
    return figures


def ten(world: World) -> dict[str, float]:
    """Compare pairs of methods over ten data sets with a gap.

    ``ahead`` is the share of the data sets in which MAP scores higher than BBB among the data; the
    mean difference is not used, since a single extreme data set would decide it.
    """
    names = ("map", "bbb", "laplace", "dropout", "local", "eb")
    each = [scores(predictives(one, fits(one, names)), one) for one in world.parts(N_SETS)]
    covered = [f["map-gap-covered"] for f in each]
    gap = [f["bbb-gap-lost"] - f["map-gap-lost"] for f in each]
    return {
        "least-covered": min(covered),
        "most-covered": max(covered),
        "ahead": sum(f["map-data-lost"] < f["bbb-data-lost"] for f in each) / N_SETS,
        "ahead-in-the-gap": float(np.mean(np.array(gap) > 0)),
        "lead": float(np.median(gap)),
        "laplace": sum(f["map-gap-lost"] - f["laplace-gap-lost"] for f in each) / N_SETS,
        **{key: float(np.mean([f[key] for f in each])) for key in each[0] if "-outside-" in key},
    }
