"""How right mean field is: optimisation, family and prior, one at a time (chapter 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softplus

from bdl_teach import calibration, datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.claims.experiments import _measure
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.methods import bbb, exact, local_reparam, point
from bdl_teach.methods.bbb import Fit
from bdl_teach.predictive import Predictive

GAP = (0.1, 0.4)  # nobody measures here; the sine has its peak in it
ONE_LAYER = (32,)  # NUTS explores one hidden layer in seconds
CHAINS: dict[str, Any] = {"n_samples": 800, "n_warmup": 400}  # of NUTS, two of them
LONG = 6000  # quiet steps, after which more gain next to nothing
X = np.linspace(-1, 1, 201)[:, None]
IN_GAP = (X[:, 0] > GAP[0]) & (X[:, 0] < GAP[1])
AMONG = (np.abs(X[:, 0]) <= 0.5) & ~IN_GAP
OUTSIDE = np.abs(X[:, 0]) > 0.5


def coverage(prediction: Predictive, truth: Array) -> float:
    """Share of the gap in which the truth lies inside ±2 epistemic sd."""
    return float((np.abs(prediction.mean - truth) < 2 * prediction.epistemic_std)[IN_GAP].mean())


def beyond(prediction: Predictive, truth: Array) -> float:
    """Root mean square over the gap of what of the truth lies beyond ±2 epistemic sd."""
    miss = np.abs(prediction.mean - truth) - 2 * prediction.epistemic_std
    return float(np.sqrt((np.maximum(miss, 0.0) ** 2)[IN_GAP].mean()))


def from_the_mode(data: Regression1D, seed: int, **settings: Any) -> Fit:
    """Mean field that starts at a MAP, σ = 0.1, and is trained for long."""
    mode = point.fit(data.x, data.y, steps=3000, seed=seed, **settings)
    quiet = {**local_reparam.QUIET, "learning_rate": 0.1, "steps": LONG, **settings}
    return local_reparam.fit(data.x, data.y, initial=(mode.weights, 0.1), seed=seed, **quiet)


def spreads(name: str, prediction: Predictive) -> dict[str, float]:
    """Mean epistemic sd in the three regions, in units of y."""
    regions = {"gap": IN_GAP, "among": AMONG, "outside": OUTSIDE}
    return {
        f"{name}-std-{k}": float(prediction.epistemic_std[m].mean()) for k, m in regions.items()
    }


def parts(world: World) -> dict[str, float]:
    """The gap to the truth taken apart, for the priors N(0, 1) and N(0, 3²).

    Distances are in units of y, over the gap, F in nats. ``fit`` is Bayes by Backprop at its
    defaults, ``on`` the same trained on, ``best`` the lower of that and a start at the MAP.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed, gap=GAP)
    truth = data.truth(X)[:, 0]
    figures: dict[str, float] = {}
    for name, prior_std in (("narrow", 1.0), ("wide", 3.0)):
        settings: dict[str, Any] = {
            "prior": densities.Gaussian(prior_std),
            "hidden_units": ONE_LAYER,
        }
        fit = bbb.fit(data.x, data.y, seed=world.start_seed, **settings)
        fits = {"fit": fit, "on": fit.refined(LONG)}
        fits["mode"] = from_the_mode(data, world.start_seed, **settings)
        fits["best"] = min(fits["on"], fits["mode"], key=lambda fit: fit.free_energy)
        nuts = exact.nuts(data.x, data.y, seed=world.start_seed, **CHAINS, **settings)
        p = {key: fit.predict(X, 1000) for key, fit in fits.items()} | {"nuts": nuts.predict(X)}
        figures |= {f"{name}-{key}-f": fit.free_energy for key, fit in fits.items()}
        for key, prediction in p.items():
            figures |= spreads(f"{name}-{key}", prediction)
            figures[f"{name}-{key}-coverage"] = coverage(prediction, truth)
            figures[f"{name}-{key}-distance"] = calibration.distance(prediction, p["nuts"], IN_GAP)
        figures[f"{name}-optimisation"] = calibration.distance(p["fit"], p["best"], IN_GAP)
        figures[f"{name}-prior"] = beyond(p["nuts"], truth)
        figures[f"{name}-r-hat"] = float(nuts.r_hat.max())
    return figures


PARTS = Experiment(
    "chapter4-parts",
    parts,
    (
        Claim(
            "training-on-lowers-f",
            "Bayes by Backprop at its defaults stops early on the sinusoid with a gap: training "
            "on lowers its free energy by more than 20 nats.",
            "F, defaults − trained on (prior N(0, 3²))",
            "nats",
            above(20.0, share=0.6),
            lambda f: f["wide-fit-f"] - f["wide-on-f"],
        ),
        Claim(
            "a-mode-is-a-better-start-under-a-narrow-prior",
            "Under the prior N(0, 1) training on is not enough: a start at the MAP ends more "
            "than 20 nats lower.",
            "F, trained on − started at the MAP (prior N(0, 1))",
            "nats",
            above(20.0, share=0.8),
            lambda f: f["narrow-on-f"] - f["narrow-mode-f"],
        ),
        Claim(
            "under-a-narrow-prior-the-lower-f-is-nearer",
            "Under the prior N(0, 1) the lowest mean field known lies nearer to NUTS in the gap "
            "than the default fit does, by more than half a unit of y.",
            "distance to NUTS in the gap, defaults − lowest F (prior N(0, 1))",
            "units of y",
            above(0.5, share=0.8),
            lambda f: f["narrow-fit-distance"] - f["narrow-best-distance"],
        ),
        Claim(
            "under-a-wide-prior-the-family-stays-away",
            "Under the prior N(0, 3²) even the lowest mean field known stays more than one unit "
            "of y from NUTS in the gap.",
            "distance to NUTS in the gap of the lowest F (prior N(0, 3²))",
            "units of y",
            above(1.0, share=0.6),
            lambda f: f["wide-best-distance"],
        ),
        Claim(
            "under-a-narrow-prior-the-prior-is-the-largest-part",
            "Under the prior N(0, 1) what NUTS misses of the truth in the gap is larger than the "
            "distances left by optimiser and family, by more than one unit of y.",
            "prior's part − the larger of the other two (prior N(0, 1))",
            "units of y",
            above(1.0, share=0.9),
            lambda f: f["narrow-prior"] - max(f["narrow-optimisation"], f["narrow-best-distance"]),
        ),
        Claim(
            "under-a-wide-prior-next-to-nothing-is-the-prior-s",
            "Under the prior N(0, 3²) less than half a unit of y of the truth in the gap lies "
            "beyond the band of NUTS.",
            "rms of what lies beyond ±2 sd of NUTS in the gap (prior N(0, 3²))",
            "units of y",
            below(0.5, share=0.8),
            lambda f: f["wide-prior"],
        ),
        Claim(
            "nuts-misses-the-gap-under-a-narrow-prior",
            "Under the prior N(0, 1) the band of NUTS itself covers less than a tenth of the gap.",
            "share of the gap inside ±2 sd, NUTS (prior N(0, 1))",
            "",
            below(0.1, share=0.9),
            lambda f: f["narrow-nuts-coverage"],
        ),
        Claim(
            "nuts-covers-the-gap-under-a-wide-prior",
            "Under the prior N(0, 3²) the band of NUTS covers more than half of the gap.",
            "share of the gap inside ±2 sd, NUTS (prior N(0, 3²))",
            "",
            above(0.5, share=0.6),
            lambda f: f["wide-nuts-coverage"],
        ),
        Claim(
            "nuts-opens-in-the-gap",
            "Under the prior N(0, 3²) NUTS is more than twice as unsure in the gap as among the "
            "data.",
            "mean epistemic sd of NUTS, gap over among the data (prior N(0, 3²))",
            "",
            above(2.0, share=0.9),
            lambda f: f["wide-nuts-std-gap"] / f["wide-nuts-std-among"],
        ),
        Claim(
            "mean-field-does-not-open-in-the-gap",
            "Under the prior N(0, 3²) the lowest mean field known does not open in the gap: it is "
            "there less than 1.2 times as unsure as among the data.",
            "mean epistemic sd of the lowest F, gap over among the data (prior N(0, 3²))",
            "",
            below(1.2, share=0.7),
            lambda f: f["wide-best-std-gap"] / f["wide-best-std-among"],
        ),
        Claim(
            "mean-field-is-too-unsure-among-the-data",
            "Under the prior N(0, 3²) the lowest mean field known is more than a quarter wider "
            "than NUTS among the data.",
            "mean epistemic sd among the data, lowest F over NUTS (prior N(0, 3²))",
            "",
            above(1.25, share=0.9),
            lambda f: f["wide-best-std-among"] / f["wide-nuts-std-among"],
        ),
        Claim(
            "mean-field-is-too-sure-outside-under-a-wide-prior",
            "Outside the data mean field is narrower than NUTS under the prior N(0, 3²).",
            "mean epistemic sd outside, lowest F over NUTS (prior N(0, 3²))",
            "",
            below(0.9, share=0.9),
            lambda f: f["wide-best-std-outside"] / f["wide-nuts-std-outside"],
        ),
        Claim(
            "mean-field-is-too-unsure-outside-under-a-narrow-prior",
            "Outside the data mean field is wider than NUTS under the prior N(0, 1).",
            "mean epistemic sd outside, lowest F over NUTS (prior N(0, 1))",
            "",
            above(1.1, share=0.9),
            lambda f: f["narrow-best-std-outside"] / f["narrow-nuts-std-outside"],
        ),
    ),
    seconds=10.0,
)


def starts(world: World) -> dict[str, float]:
    """What six starts on one data set come to, each trained on: how much of the gap they cover."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed, gap=GAP)
    truth = data.truth(X)[:, 0]
    settings: dict[str, Any] = {"prior": densities.Gaussian(3.0), "hidden_units": ONE_LAYER}
    seeds = [world.seed(k + 1) for k in range(6)]
    fits = [bbb.fit(data.x, data.y, seed=seed, **settings).refined(LONG) for seed in seeds]
    predictions = [fit.predict(X) for fit in fits]
    covered = [coverage(p, truth) for p in predictions]
    lowest = np.argmin([fit.free_energy for fit in fits])
    nearest = np.argmin([beyond(p, truth) for p in predictions])
    return {
        "coverage-low": min(covered),
        "coverage-high": max(covered),
        "lowest-is-nearest": float(lowest == nearest),
    }


STARTS = Experiment(
    "chapter4-starts",
    starts,
    (
        Claim(
            "gap-coverage-depends-on-the-start",
            "Of six starts on one data set, each trained on, the luckiest covers more of the gap "
            "than the least lucky, by a tenth of it and more.",
            "share of the gap inside ±2 sd, highest − lowest of six starts",
            "",
            above(0.1, share=0.5),
            lambda f: f["coverage-high"] - f["coverage-low"],
        ),
        Claim(
            "lowest-f-is-not-nearest-the-truth",
            "Of six starts that were trained on, the one with the lowest free energy is in fewer "
            "than half of the worlds the one that misses the truth in the gap by least.",
            "worlds in which the lowest F misses least",
            "",
            below(0.5),
            lambda f: f["lowest-is-nearest"],
        ),
    ),
    seconds=1.5,
)


def recipes(world: World) -> dict[str, float]:
    """F and test log-likelihood on chapter 3's problem, of four ways to minimise one objective.

    ``again`` is ours from another start, ``-on`` the same trained on; ``apart`` are rms distances,
    in units of y, of the means from ours outside the data.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    prior, seed = densities.ScaleMixture(1.5, 0.1, 0.5), world.start_seed
    draw = np.random.default_rng(world.seed(2)).standard_normal(481)
    library: dict[str, Any] = {
        "initial": (0.1 * draw, softplus(-3.0)),
        "learning_rate": 0.03,
        "cooldown": 0.0,
    }
    fits = {
        "article": bbb.fit(data.x, data.y, prior=prior, seed=seed, **bbb.ARTICLE),
        "library": bbb.fit(data.x, data.y, prior=prior, seed=seed, **library),
        "ours": bbb.fit(data.x, data.y, prior=prior, seed=seed),
        "quiet": local_reparam.fit(data.x, data.y, prior=prior, seed=seed, **local_reparam.QUIET),
    }
    fits["again"] = bbb.fit(data.x, data.y, prior=prior, seed=world.seed(5))
    fits |= {f"{name}-on": fits[name].refined(LONG) for name in ("ours", "again", "library")}
    among, figures, p = np.abs(X[:, 0]) <= 0.5, {}, {}
    for name, fit in fits.items():
        p[name] = fit.predict(X, seed=world.seed(3))
        log_p = _measure.test_log_likelihood(p[name], data, X, world.seed(4))
        figures[f"{name}-f"] = fit.free_energy
        figures[f"{name}-among"] = float(log_p[among].mean())
        figures[f"{name}-outside"] = float(log_p[~among].mean())
    for other in ("again", "library"):
        for on in ("", "-on"):
            off = (p[f"ours{on}"].mean - p[f"{other}{on}"].mean)[~among]
            figures[f"apart-{other}{on}"] = float(np.sqrt(np.mean(off**2)))
    return figures


RECIPES = Experiment(
    "chapter4-recipes",
    recipes,
    (
        Claim(
            "the-article-s-recipe-ends-higher",
            "The article's start and fixed rate end more than 30 nats above ours.",
            "F, article − ours",
            "nats",
            above(30.0, share=0.6),
            lambda f: f["article-f"] - f["ours-f"],
        ),
        Claim(
            "the-library-s-recipe-ends-higher",
            "The start of TFP's layers and a fixed rate of 0.03 end on average more than 20 nats "
            "above ours.",
            "F, TFP − ours",
            "nats",
            above(20.0),
            lambda f: f["library-f"] - f["ours-f"],
        ),
        Claim(
            "the-quiet-estimator-ends-lower",
            "In as many steps the quiet estimator, at the longer steps that it bears (rate 0.2 for "
            "0.08), ends more than 15 nats below the defaults.",
            "F, ours − quiet",
            "nats",
            above(15.0, share=0.6),
            lambda f: f["ours-f"] - f["quiet-f"],
        ),
        Claim(
            "the-article-s-recipe-scores-lower-among-the-data",
            "Among the data the recipe of the article scores lower on new points than the quiet "
            "estimator.",
            "test log-likelihood among the data, quiet − article",
            "nats a point",
            above(0.0, share=0.7),
            lambda f: f["quiet-among"] - f["article-among"],
        ),
        Claim(
            "recipes-differ-outside",
            "Outside the data the mean of our fit and that of the fit by the recipe of the library "
            "lie on average more than a unit of y apart.",
            "rms distance of the means outside, ours and TFP",
            "units of y",
            above(1.0, share=0.5),
            lambda f: f["apart-library"],
        ),
        Claim(
            "recipes-trained-on-end-alike",
            "When both are trained on, the fit by the recipe of the library and ours end on "
            "average within 30 nats of each other.",
            "F, TFP − ours, both trained on",
            "nats",
            within(-30.0, 30.0),
            lambda f: f["library-on-f"] - f["ours-on-f"],
        ),
        Claim(
            "recipes-trained-on-still-differ-outside",
            "When both are trained on, their means outside the data still lie on average more than "
            "half a unit of y apart.",
            "rms distance of the means outside, ours and TFP, both trained on",
            "units of y",
            above(0.5, share=0.4),
            lambda f: f["apart-library-on"],
        ),
        Claim(
            "two-recipes-lie-further-apart-than-two-starts",
            "Trained on, the means of two recipes lie on average further apart outside the data "
            "than those of two starts of ours.",
            "rms distance of the means outside, ours to TFP's − ours to ours",
            "units of y",
            above(0.0, share=0.5),
            lambda f: f["apart-library-on"] - f["apart-again-on"],
        ),
        Claim(
            "two-starts-trained-on-agree-outside",
            "Two starts of our recipe that are both trained on predict nearly the same outside "
            "the data in more than one world in five.",
            "worlds in which their means lie less than one unit of y apart (rms, outside)",
            "",
            above(0.2),
            lambda f: float(f["apart-again-on"] < 1.0),
        ),
    ),
    seconds=1.0,
)


def temperatures(world: World) -> dict[str, float]:
    """Epistemic sd (units of y) at a tenth of the KL, and at temperature a tenth.

    Temperature T is KL weight T under a prior of √T times the sd.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    cold = {"bayes": (1.0, 1.0), "kl": (1.0, 0.1), "tempered": (0.1**0.5, 0.1)}
    figures = {}
    for name, (prior_std, kl_weight) in cold.items():
        fit = local_reparam.fit(
            data.x,
            data.y,
            prior=densities.Gaussian(prior_std),
            kl_weight=kl_weight,
            hidden_units=ONE_LAYER,
            seed=world.start_seed,
            steps=LONG,
            **local_reparam.QUIET,
        )
        p = fit.predict(X, seed=world.seed(2))
        among = np.abs(X[:, 0]) <= 0.5
        figures[f"{name}-among"] = float(p.epistemic_std[among].mean())
        figures[f"{name}-outside"] = float(p.epistemic_std[~among].mean())
    return figures


TEMPERATURES = Experiment(
    "chapter4-temperatures",
    temperatures,
    (
        Claim(
            "a-kl-weight-stays-wider-outside",
            "A tenth of the KL leaves the bands outside the data more than a quarter wider than "
            "temperature a tenth does.",
            "mean epistemic sd outside, KL weight 0.1 over temperature 0.1",
            "",
            above(1.25, share=0.9),
            lambda f: f["kl-outside"] / f["tempered-outside"],
        ),
        Claim(
            "both-colds-narrow-alike-among-the-data",
            "Among the data the bands of the two are about as wide: the ratio is 0.9 to 1.3.",
            "mean epistemic sd among the data, KL weight 0.1 over temperature 0.1",
            "",
            within(0.9, 1.3),
            lambda f: f["kl-among"] / f["tempered-among"],
        ),
    ),
    seconds=0.4,
)
