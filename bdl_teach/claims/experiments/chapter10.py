"""All methods on one network, beside NUTS and beside each other (chapter 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from bdl_teach import calibration, datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Claim, Experiment, Figures, World, above, below, within
from bdl_teach.claims.experiments import _measure
from bdl_teach.methods import bbb, empirical_bayes, exact, local_reparam, pbp, point
from bdl_teach.methods.catalogue import Fitted
from bdl_teach.predictive import Predictive
from bdl_teach.widgets.comparison import fits as comparison

GAP = (0.1, 0.4)  # nobody measured here
X = np.linspace(-0.7, 0.7, 141)[:, None]
PERFECT = -0.5 * np.log(2 * np.pi * np.e)  # the best log score to expect, with noise of sd 1
METHODS = ("mle", "map", "bbb", "local", "eb", "pbp")
CHAINS: dict[str, Any] = {"n_chains": 4, "n_samples": 400, "n_warmup": 300}


def regions() -> dict[str, Array]:
    """Give the masks ``[m]`` of X: among the data, in the gap, outside."""
    x = X[:, 0]
    gap = (x > GAP[0] + 1e-9) & (x < GAP[1] - 1e-9)
    outside = np.abs(x) > 0.5 + 1e-9
    return {"data": ~gap & ~outside, "gap": gap, "outside": outside}


def problem(world: World) -> datasets.Regression1D:
    """The sinusoid with a gap: 32 points, noise of sd 1."""
    return datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed, gap=GAP)


def fitted(name: str, data: datasets.Regression1D, seed: int) -> Fitted:
    """A method's fit of 20 hidden units under the prior N(0, 3²)."""
    given: dict[str, Any] = {"noise_std": 1.0, "hidden_units": (20,), "seed": seed}
    prior = densities.Gaussian(3.0)
    fits: dict[str, Any] = {
        "mle": partial(point.fit, **given),
        "map": partial(point.fit, prior=prior, **given),
        "bbb": partial(bbb.fit, prior=prior, **given),
        "local": partial(local_reparam.fit, prior=prior, **given, **local_reparam.QUIET),
        "eb": partial(empirical_bayes.fit, tie="all", **given, **empirical_bayes.QUIET),
        "pbp": partial(pbp.fit, hidden_units=(20,), epochs=100, seed=seed),
    }
    found: Fitted = fits[name](data.x, data.y)
    return found


def exact_fit(world: World, seed: int) -> exact.NutsFit:
    """NUTS on the problem of one world, under the same prior."""
    data, prior = problem(world), densities.Gaussian(3.0)
    settings: dict[str, Any] = {"noise_std": 1.0, "hidden_units": (20,)}
    return exact.nuts(data.x, data.y, prior=prior, seed=seed, **settings, **CHAINS)


def scored(prediction: Predictive, data: datasets.Regression1D, seed: int) -> dict[str, float]:
    """What a predictive on X is worth in each region.

    ``lost`` are nats a new point below the best that can be expected; ``covered`` the share of
    new points in its 95 % interval; ``error`` the rms distance of its mean from the truth; ``sd``
    the mean epistemic standard deviation.
    """
    truth = data.truth(X)[:, 0]
    log_p = _measure.test_log_likelihood(prediction, data, X, seed)
    inside = calibration.expected_coverage(truth, 1.0, *prediction.interval(0.95))
    figures = {}
    for region, mask in regions().items():
        figures[f"{region}-lost"] = float(PERFECT - log_p[mask].mean())
        figures[f"{region}-covered"] = float(inside[mask].mean())
        figures[f"{region}-error"] = float(np.sqrt(np.mean((prediction.mean - truth)[mask] ** 2)))
        figures[f"{region}-sd"] = float(prediction.epistemic_std[mask].mean())
    return figures


def predictives(world: World, names: Sequence[str] = METHODS) -> dict[str, Predictive]:
    """What methods say on X of the problem of one world, by method."""
    data, seed = problem(world), world.seed(2)
    fits = {name: fitted(name, data, world.start_seed) for name in names}
    return {name: fit.predict(X, n_samples=500, seed=seed) for name, fit in fits.items()}


@lru_cache(maxsize=32)  # the chapter shows its claims in the worlds of which it has a table
def compared(world: World) -> dict[str, float]:
    """Every method but NUTS on the problem of one world: what ``scored`` says, by method."""
    return _scores(predictives(world), world)


def _scores(told: Mapping[str, Predictive], world: World) -> dict[str, float]:
    data = problem(world)
    figures: dict[str, float] = {}
    for name, prediction in told.items():
        each = scored(prediction, data, world.seed(3))
        figures |= {f"{name}-{what}": value for what, value in each.items()}
        figures[f"{name}-noise"] = float(prediction.aleatoric_std.mean())
    return figures


def beside_nuts(world: World) -> dict[str, float]:
    """The same with NUTS, and how far from it the others and a second run of it are (eq. 10.1)."""
    gold, again = (exact_fit(world, seed) for seed in (world.start_seed, world.seed(4)))
    told = {**predictives(world), "nuts": gold.predict(X)}
    figures = _scores(told, world)
    for region, mask in regions().items():
        for name, prediction in {**told, "again": again.predict(X)}.items():
            figures[f"{name}-{region}"] = calibration.distance(prediction, told["nuts"], mask)
    return figures


def moved(world: World) -> dict[str, float]:
    """What the comparison explorer shows where its presets and its question lead."""
    figures: dict[str, float] = {}
    places: dict[str, dict[str, Any]] = {
        "start": {},
        "all-04": {"gap": 0.4},
        "no-gap": {"gap": 0.0},
        "few": {"n": 8},
        "loud": {"noise_std": 3.0},
    }
    for place, values in places.items():
        one = comparison.GapProblem(seed=world.data_seed, **values)
        for name in METHODS:
            figures |= _seen(f"{place}-{name}", one, name, 100)
    for epochs in (10, 40, 400):
        one = comparison.GapProblem(seed=world.data_seed)
        figures |= _seen(f"{epochs}-pbp", one, "pbp", epochs)
    return figures


def _seen(key: str, one: comparison.GapProblem, name: str, epochs: int) -> dict[str, float]:
    """Coverage, bias, noise and mean epistemic sd of a method in the explorer, by region."""
    prediction = comparison.fit(name, one, epochs).predict(X, 200)
    truth, reach = one.data.truth(X)[:, 0], 1.96 * prediction.total_std
    ends = prediction.mean - reach, prediction.mean + reach
    inside = calibration.expected_coverage(truth, one.noise_std, *ends)
    figures = {f"{key}-noise": float(prediction.aleatoric_std.mean())}
    for region, mask in one.regions(X[:, 0]).items():
        if mask.any():
            figures[f"{key}-{region}-covered"] = float(inside[mask].mean())
            figures[f"{key}-{region}-bias"] = float((prediction.mean - truth)[mask].mean())
            figures[f"{key}-{region}-sd"] = float(prediction.epistemic_std[mask].mean())
    return figures


def lead(better: str, worse: str, region: str) -> Callable[[Figures], float]:
    """How many nats a new point one method scores higher than another in a region."""
    return lambda f: f[f"{worse}-{region}-lost"] - f[f"{better}-{region}-lost"]


def share_beaten(f: Figures, region: str) -> float:
    """Share of the six methods that score lower than NUTS in a region."""
    return float(np.mean([f[f"{m}-{region}-lost"] > f[f"nuts-{region}-lost"] for m in METHODS]))


def widening(name: str) -> Callable[[Figures], float]:
    """How many times as wide a method's epistemic band is in the gap as among the data."""
    return lambda f: f[f"{name}-gap-sd"] / f[f"{name}-data-sd"]


COMPARED = Experiment(
    "compared",
    compared,
    (
        Claim(
            "bbb-misses-the-gap",
            "In a gap from 0.1 to 0.4, the 95 % interval of Bayes by Backprop holds on average "
            "fewer than two fifths of the new points.",
            "share of new points in the gap inside BBB's 95 % interval",
            "",
            below(0.4, share=0.8),
            lambda f: f["bbb-gap-covered"],
        ),
        Claim(
            "pbp-misses-the-gap",
            "In a gap from 0.1 to 0.4, the interval of PBP holds on average fewer than two fifths "
            "of the new points.",
            "share of new points in the gap inside PBP's 95 % interval",
            "",
            below(0.4, share=0.8),
            lambda f: f["pbp-gap-covered"],
        ),
        Claim(
            "pbp-covers-too-much-among-the-data",
            "Among the data, the 95 % interval of PBP after 100 epochs holds 96 % and more.",
            "share of new points among the data inside PBP's 95 % interval",
            "",
            above(0.96, share=0.8),
            lambda f: f["pbp-data-covered"],
        ),
        Claim(
            "pbp-takes-the-noise-for-louder",
            "After 100 epochs PBP takes the noise for one and a half times as loud as it is, and "
            "more.",
            "sd of the noise that PBP has learnt (it is 1)",
            "",
            above(1.5, share=0.8),
            lambda f: f["pbp-noise"],
        ),
        Claim(
            "map-leads-bbb-among-the-data",
            "Among the data, the one MAP network scores higher than Bayes by Backprop.",
            "log score among the data, MAP − BBB",
            "nats a point",
            above(0.0, share=0.6),
            lead("map", "bbb", "data"),
        ),
        Claim(
            "eb-gains-nothing-among-the-data",
            "Among the data, empirical Bayes, which learns the width of the prior, scores on "
            "average less than 0.15 nats a point above the quiet fit, which was given one.",
            "log score among the data, emp. Bayes − local, quiet",
            "nats a point",
            below(0.15),
            lead("eb", "local", "data"),
        ),
        Claim(
            "mle-trails-outside",
            "Outside the data, one network of least squares loses on average more than five nats a "
            "point against Bayes by Backprop.",
            "log score outside, MLE − BBB",
            "nats a point",
            below(-5.0, share=0.5),
            lead("mle", "bbb", "outside"),
        ),
    ),
    seconds=0.4,
)
BESIDE_NUTS = Experiment(
    "beside-nuts",
    beside_nuts,
    (
        Claim(
            "nuts-covers-the-gap",
            "With the prior N(0, 3²), the 95 % interval of NUTS holds on average more than eight "
            "tenths of the new points in the gap.",
            "share of new points in the gap inside the 95 % interval of NUTS",
            "",
            above(0.8, share=0.7),
            lambda f: f["nuts-gap-covered"],
        ),
        Claim(
            "nuts-covers-the-data",
            "Among the data, the interval of NUTS holds 95 %, give or take three.",
            "share of new points among the data inside the 95 % interval of NUTS",
            "",
            within(0.92, 0.98),
            lambda f: f["nuts-data-covered"],
        ),
        Claim(
            "nuts-widens-in-the-gap",
            "The epistemic band of NUTS is on average more than two and a half times as wide in "
            "the gap as among the data.",
            "mean epistemic sd of NUTS, in the gap over among the data",
            "",
            above(2.5, share=0.8),
            widening("nuts"),
        ),
        Claim(
            "bbb-does-not-widen-in-the-gap",
            "The band of Bayes by Backprop is on average less than one and a half times as wide in "
            "the gap as among the data.",
            "mean epistemic sd of BBB, in the gap over among the data",
            "",
            below(1.5, share=0.8),
            widening("bbb"),
        ),
        Claim(
            "each-is-further-from-nuts-in-the-gap",
            "Every method is further from NUTS in the gap than among the data: even the one whose "
            "distance grows least by half and more.",
            "distance to NUTS, in the gap over among the data, least of six methods",
            "",
            above(1.5, share=0.8),
            lambda f: min(f[f"{m}-gap"] / f[f"{m}-data"] for m in METHODS),
        ),
        Claim(
            "each-is-further-than-chance",
            "In the gap even the nearest of the six methods is more than five times as far from "
            "NUTS as another run of NUTS.",
            "distance to NUTS in the gap, nearest of six methods over another run of NUTS",
            "",
            above(5.0, share=0.8),
            lambda f: min(f[f"{m}-gap"] for m in METHODS) / f["again-gap"],
        ),
        Claim(
            "nuts-leads-bbb-a-little-among-the-data",
            "Among the data, NUTS scores higher than Bayes by Backprop, on average by less than "
            "half a nat a point.",
            "log score among the data, NUTS − BBB",
            "nats a point",
            within(0.0, 0.5),
            lead("nuts", "bbb", "data"),
        ),
        Claim(
            "nuts-leads-bbb-in-the-gap",
            "In the gap, NUTS scores higher than Bayes by Backprop by more than two nats a point.",
            "log score in the gap, NUTS − BBB",
            "nats a point",
            above(2.0, share=0.8),
            lead("nuts", "bbb", "gap"),
        ),
        Claim(
            "nuts-leads-pbp-in-the-gap",
            "In the gap, NUTS scores higher than PBP by more than two nats a point.",
            "log score in the gap, NUTS − PBP",
            "nats a point",
            above(2.0, share=0.7),
            lead("nuts", "pbp", "gap"),
        ),
        Claim(
            "nuts-leads-bbb-outside",
            "Outside the data, NUTS scores higher than Bayes by Backprop by more than one and a "
            "half nats a point.",
            "log score outside, NUTS − BBB",
            "nats a point",
            above(1.5, share=0.8),
            lead("nuts", "bbb", "outside"),
        ),
        Claim(
            "nuts-leads-pbp-outside",
            "Outside the data, NUTS scores higher than PBP by more than one and a half nats a "
            "point.",
            "log score outside, NUTS − PBP",
            "nats a point",
            above(1.5, share=0.8),
            lead("nuts", "pbp", "outside"),
        ),
        Claim(
            "nuts-beats-most-in-the-gap",
            "In the gap, NUTS scores higher than another method in more than eight of ten pairs of "
            "a method and a world.",
            "share of six methods that NUTS beats in the gap",
            "",
            above(0.8),
            partial(share_beaten, region="gap"),
        ),
        Claim(
            "nuts-beats-most-outside",
            "Outside the data, NUTS scores higher than another method in more than nine of ten "
            "pairs of a method and a world.",
            "share of six methods that NUTS beats outside",
            "",
            above(0.9),
            partial(share_beaten, region="outside"),
        ),
    ),
    seconds=6.0,
)
THREE = ("map", "bbb", "pbp")
MOVED = Experiment(
    "comparison-explorer",
    moved,
    (
        Claim(
            "all-six-fall-short-in-the-gap",
            "In the comparison explorer each of the six methods falls short of its 95 % in the "
            "gap.",
            "largest share of the gap that one of six methods covers",
            "",
            below(0.9, share=0.8),
            lambda f: max(f[f"start-{m}-gap-covered"] for m in METHODS),
        ),
        Claim(
            "without-a-gap-map-holds-less",
            "Without a gap, MAP holds a little less than 95 % of the new points among the data.",
            "share of new points among the data, MAP",
            "",
            within(0.85, 0.94),
            lambda f: f["no-gap-map-data-covered"],
        ),
        Claim(
            "without-a-gap-pbp-holds-more",
            "Without a gap, PBP holds more than 97 % of the new points among the data.",
            "share of new points among the data, PBP",
            "",
            above(0.97, share=0.8),
            lambda f: f["no-gap-pbp-data-covered"],
        ),
        Claim(
            "with-few-points-bbb-underfits",
            "With 8 points, Bayes by Backprop holds fewer of the new points among the data than "
            "MAP.",
            "share of new points among the data, BBB − MAP",
            "",
            below(-0.15, share=0.8),
            lambda f: f["few-bbb-data-covered"] - f["few-map-data-covered"],
        ),
        Claim(
            "loud-noise-hides-the-peak",
            "With noise of sd 3, the means of MAP, Bayes by Backprop and PBP pass more than three "
            "below the truth in the gap.",
            "mean of the prediction − truth in the gap, nearest of three",
            "",
            below(-3.0, share=0.7),
            lambda f: max(f[f"loud-{m}-gap-bias"] for m in THREE),
        ),
        Claim(
            "loud-noise-does-not-cover",
            "With noise of sd 3, MAP, Bayes by Backprop and PBP fall short of 95 % in the gap.",
            "largest share of the gap that one of three covers",
            "",
            below(0.85, share=0.7),
            lambda f: max(f[f"loud-{m}-gap-covered"] for m in THREE),
        ),
        Claim(
            "loud-noise-helps-pbp-cover",
            "With noise of sd 3 PBP covers more of the gap than with noise of sd 1.",
            "share of the gap that PBP covers, σ = 3 − σ = 1",
            "",
            above(0.2, share=0.7),
            lambda f: f["loud-pbp-gap-covered"] - f["start-pbp-gap-covered"],
        ),
        Claim(
            "ten-epochs-take-the-noise-for-three",
            "After 10 epochs PBP takes the noise for about three times as loud as it is.",
            "sd of the noise that PBP has learnt after 10 epochs (it is 1)",
            "",
            within(2.8, 3.9),
            lambda f: f["10-pbp-noise"],
        ),
        Claim(
            "ten-epochs-cover-by-being-vague",
            "After 10 epochs the 95 % interval of PBP holds more than 96 % among the data.",
            "share of new points among the data, PBP after 10 epochs",
            "",
            above(0.96, share=0.8),
            lambda f: f["10-pbp-data-covered"],
        ),
        Claim(
            "a-wide-gap-is-missed-by-bbb",
            "In a gap of width 0.4 the interval of Bayes by Backprop holds fewer than three tenths "
            "of the new points.",
            "share of new points in a gap of 0.4, BBB",
            "",
            below(0.3, share=0.8),
            lambda f: f["all-04-bbb-gap-covered"],
        ),
        Claim(
            "a-wide-gap-is-passed-below",
            "In a gap of width 0.4 the mean of Bayes by Backprop passes more than three below the "
            "truth.",
            "mean of the prediction − truth in the gap, BBB",
            "",
            below(-3.0, share=0.8),
            lambda f: f["all-04-bbb-gap-bias"],
        ),
        Claim(
            "a-wide-gap-is-not-twice-as-wide",
            "In a gap of width 0.4 the band of Bayes by Backprop is less than twice as wide as "
            "among the data.",
            "mean epistemic sd of BBB, in the gap over among the data",
            "",
            below(2.0, share=0.8),
            lambda f: f["all-04-bbb-gap-sd"] / f["all-04-bbb-data-sd"],
        ),
        Claim(
            "a-wide-gap-is-missed-by-all",
            "In a gap of width 0.4 the six methods hold on average fewer than a quarter of the new "
            "points.",
            "share of new points in a gap of 0.4, mean of six methods",
            "",
            below(0.25, share=0.8),
            lambda f: float(np.mean([f[f"all-04-{m}-gap-covered"] for m in METHODS])),
        ),
        Claim(
            "pbp-grows-surer-with-epochs",
            "After 400 epochs on the same 32 points the epistemic band of PBP among the data is "
            "less than half as wide as after 40.",
            "mean epistemic sd of PBP among the data, 400 epochs over 40",
            "",
            below(0.5, share=0.8),
            lambda f: f["400-pbp-data-sd"] / f["40-pbp-data-sd"],
        ),
        Claim(
            "pbp-lowers-the-noise-with-epochs",
            "After 400 epochs PBP takes the noise for less loud than after 40.",
            "sd of the noise that PBP has learnt, 400 epochs over 40",
            "",
            below(0.8, share=0.8),
            lambda f: f["400-pbp-noise"] / f["40-pbp-noise"],
        ),
    ),
    seconds=1.5,
)
