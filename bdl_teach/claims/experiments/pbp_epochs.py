"""PBP counts every epoch as new data: what that does to doubt, noise and score (chapter 7)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.claims.experiments import _measure
from bdl_teach.methods import bbb, pbp, point
from bdl_teach.predictive import Predictive

EPOCHS = (1, 10, 40, 200, 400)
X = np.linspace(-1, 1, 201)[:, None]
AMONG = np.abs(X[:, 0]) <= 0.5


def epochs(world: World) -> dict[str, float]:
    """PBP with 50 units after 1 to 400 epochs, beside one network and BBB, which know the noise.

    ``bbb`` has the mixture of chapter 3 as its prior, ``bbb-3`` N(0, 3²).

    For each: ``among`` and ``outside`` (to |x| = 1), test log-likelihood in nats a point; among
    the data ``doubt`` (epistemic sd), ``error`` (rms distance of mean and truth) and ``noise``
    (the sd it believes in; the true one is 1), in units of y.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    seed = world.start_seed
    fits: dict[str, pbp.Fit | point.Fit | bbb.Fit] = {
        f"pbp-{n}": pbp.fit(data.x, data.y, epochs=n, seed=seed) for n in EPOCHS
    }
    fits["mle"] = point.fit(data.x, data.y, hidden_units=(50,), seed=seed)
    for name, prior in (("bbb", densities.ScaleMixture()), ("bbb-3", densities.Gaussian(3.0))):
        fits[name] = bbb.fit(data.x, data.y, hidden_units=(50,), prior=prior, seed=seed)
    figures: dict[str, float] = {}
    for name, fit in fits.items():
        prediction = fit.predict(X)
        log_p = _measure.test_log_likelihood(prediction, data, X, world.seed(2))
        figures |= {
            f"{name}-among": float(log_p[AMONG].mean()),
            f"{name}-outside": float(log_p[~AMONG].mean()),
            **_beliefs(name, prediction, data),
        }
    return figures


def _beliefs(name: str, p: Predictive, data: datasets.Regression1D) -> dict[str, float]:
    """Doubt, error and noise among the data."""
    truth = data.truth(X[AMONG])[:, 0]
    return {
        f"{name}-doubt": float(p.epistemic_std[AMONG].mean()),
        f"{name}-error": float(metrics.rmse(truth, p.mean[AMONG])),
        f"{name}-noise": float(p.aleatoric_std[0]),
    }


COUNTING = Experiment(
    "pbp-epochs",
    epochs,
    (
        Claim(
            "pbp-loses-its-doubt",
            "After 400 epochs PBP's doubt among the data is less than half the error that its "
            "mean really makes.",
            "epistemic sd over rms error, 400 epochs",
            "",
            below(0.5, share=0.9),
            lambda f: f["pbp-400-doubt"] / f["pbp-400-error"],
        ),
        Claim(
            "pbp-ten-epochs-fit-better-than-one",
            "From one epoch to ten the mean of PBP comes nearer to the truth among the data.",
            "rms error among the data, 10 epochs over 1",
            "",
            below(1.0, share=0.9),
            lambda f: f["pbp-10-error"] / f["pbp-1-error"],
        ),
        Claim(
            "pbp-ten-epochs-are-too-sure",
            "After ten epochs PBP's doubt among the data is smaller than the error that its mean "
            "really makes.",
            "epistemic sd over rms error, 10 epochs",
            "",
            below(0.9, share=0.7),
            lambda f: f["pbp-10-doubt"] / f["pbp-10-error"],
        ),
        Claim(
            "pbp-more-epochs-less-doubt",
            "Ten epochs leave less than 0.7 of the doubt that one epoch leaves.",
            "epistemic sd among the data, 10 epochs over 1",
            "",
            below(0.7, share=0.8),
            lambda f: f["pbp-10-doubt"] / f["pbp-1-doubt"],
        ),
        Claim(
            "pbp-more-epochs-better-mean",
            "From 10 to 400 epochs the mean comes nearer to the truth.",
            "rms error among the data, 400 epochs over 10",
            "",
            below(1.0, share=0.9),
            lambda f: f["pbp-400-error"] / f["pbp-10-error"],
        ),
        Claim(
            "pbp-takes-misfit-for-noise",
            "After 40 epochs on 32 points, PBP believes in noise with an sd of more than 1.5 "
            "times the true one.",
            "believed noise sd over the true one, 40 epochs",
            "",
            above(1.5, share=0.8),
            lambda f: f["pbp-40-noise"],
        ),
        Claim(
            "pbp-noise-comes-down",
            "With more epochs the believed noise comes down: 40 leave it more than 1.5 times as "
            "large as 400 do.",
            "believed noise sd, 40 epochs over 400",
            "",
            above(1.5, share=0.8),
            lambda f: f["pbp-40-noise"] / f["pbp-400-noise"],
        ),
        Claim(
            "pbp-40-epochs-lose-among-the-data",
            "Among 32 points, PBP with 40 epochs scores lower than one network that is told the "
            "noise.",
            "test log-likelihood among the data, PBP − MLE",
            "nats a point",
            below(0.0, share=0.9),
            lambda f: f["pbp-40-among"] - f["mle-among"],
        ),
        Claim(
            "pbp-200-epochs-are-level-among-the-data",
            "Among 32 points, PBP with 200 epochs, which has to learn the noise, scores within a "
            "quarter of a nat a point of one network that is told it.",
            "test log-likelihood among the data, PBP − MLE",
            "nats a point",
            within(-0.25, 0.25),
            lambda f: f["pbp-200-among"] - f["mle-among"],
        ),
        Claim(
            "pbp-beats-mle-outside",
            "Outside the data, PBP with 40 epochs scores higher than one network.",
            "test log-likelihood outside, PBP − MLE",
            "nats a point",
            above(10.0, share=0.7),
            lambda f: f["pbp-40-outside"] - f["mle-outside"],
        ),
        Claim(
            "pbp-fewer-epochs-better-outside",
            "Outside the data, 40 epochs score higher than 200, which have counted the doubt away.",
            "test log-likelihood outside, 40 epochs − 200",
            "nats a point",
            above(0.0, share=0.8),
            lambda f: f["pbp-40-outside"] - f["pbp-200-outside"],
        ),
        Claim(
            "bbb-with-a-wide-prior-beats-pbp",
            "Among 32 points, Bayes by Backprop that is told the noise and has the prior N(0, 3²) "
            "scores higher than PBP with 40 epochs.",
            "test log-likelihood among the data, BBB − PBP",
            "nats a point",
            above(0.1, share=0.8),
            lambda f: f["bbb-3-among"] - f["pbp-40-among"],
        ),
        Claim(
            "bbb-with-the-mixture-does-not-beat-pbp-outside",
            "Outside the data, the same method with the mixture prior scores lower than PBP in "
            "most worlds: a comparison of methods is one of their priors, too.",
            "worlds in which BBB scores lower outside",
            "",
            above(0.6),
            lambda f: float(f["bbb-outside"] < f["pbp-40-outside"]),
        ),
        Claim(
            "the-prior-decides-among-the-data",
            "Among 32 points, Bayes by Backprop with 50 units scores higher with the prior "
            "N(0, 3²) than with the mixture in most worlds.",
            "worlds in which N(0, 3²) scores higher",
            "",
            above(0.6),
            lambda f: float(f["bbb-3-among"] > f["bbb-among"]),
        ),
    ),
    seconds=0.7,
)
