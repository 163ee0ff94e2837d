"""Empirical Bayes on the sinusoid: what it prunes, which σ_p it learns, its score (chapter 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.claims.experiments import _measure
from bdl_teach.methods import empirical_bayes, local_reparam, point

WEAK: dict[str, Any] = {"initial_gamma": 1.0}  # |μ| is about σ
STEPS_OF_GAMMA: dict[str, Any] = {
    **empirical_bayes.SOURCE,
    "initial_gamma": 20.0,
    "initial_rho": -2.0,
}  # from weights that are strong enough not to give up at once
SWEEP = np.logspace(-0.5, 1.5, 9)  # from σ_p to σ_p by a factor of 1.78


def learnt_priors(world: World) -> dict[str, float]:
    """F (nats), share of weights switched off, learnt σ_p, test log-likelihood (nats a point).

    ``each`` weight has a prior of its own, ``all`` share one, ``weak`` is the first from weak
    weights; ``-gamma`` has steps of γ, and ``all-mu`` steps of μ with all else as ``all-gamma``;
    ``mle`` is one network. ``swept`` is the σ_p, and its F, at which a prior set by hand gives the
    lowest F; ``again`` is set by hand, too, to the σ_p that ``all`` has learnt.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    options: dict[str, Any] = {"hidden_units": (20,), "seed": world.start_seed}
    plans: dict[str, dict[str, Any]] = {
        "each": empirical_bayes.QUIET,
        "weak": {**empirical_bayes.QUIET, **WEAK},
        "all": {"tie": "all", **empirical_bayes.QUIET},
        "each-gamma": STEPS_OF_GAMMA,
        "weak-gamma": {**STEPS_OF_GAMMA, **WEAK},
        "all-gamma": {"tie": "all", **STEPS_OF_GAMMA},
        "all-mu": {"tie": "all", **STEPS_OF_GAMMA, "coordinates": "mu"},
    }
    fits = {
        name: empirical_bayes.fit(data.x, data.y, **plan, **options) for name, plan in plans.items()
    }
    figures = {}
    for name, fit in fits.items():
        figures[f"{name}-F"] = fit.free_energy
        figures[f"{name}-off"] = float(fit.pruning().fraction)
        figures[f"{name}-std"] = float(fit.prior_std[0])
    rival = point.fit(data.x, data.y, **options)
    *swept, again = (
        local_reparam.fit(
            data.x,
            data.y,
            prior=densities.Gaussian(float(std)),
            **local_reparam.QUIET,
            **options,
        )
        for std in (*SWEEP, figures["all-std"])
    )
    lowest = min(range(len(SWEEP)), key=lambda i: swept[i].free_energy)
    return {
        **figures,
        "swept-F": swept[lowest].free_energy,
        "swept-std": float(SWEEP[lowest]),
        "again-F": again.free_energy,
        **_scores({**fits, "mle": rival}, data, world),
    }


def _scores(
    fits: Mapping[str, empirical_bayes.Fit | point.Fit], data: datasets.Regression1D, world: World
) -> dict[str, float]:
    """Test log-likelihood of each, among the data and outside (to |x| = 1)."""
    x = np.linspace(-1, 1, 121)[:, None]
    among = np.abs(x[:, 0]) <= 0.5
    figures = {}
    for name, fit in fits.items():
        log_p = _measure.test_log_likelihood(fit.predict(x), data, x, world.seed(2))
        figures[f"{name}-among"] = float(log_p[among].mean())
        figures[f"{name}-outside"] = float(log_p[~among].mean())
    return figures


PRIORS = Experiment(
    "learnt-priors",
    learnt_priors,
    (
        Claim(
            "a-prior-each-switches-off-most-weights",
            "With a prior for each weight, more than half of the weights of this network are "
            "switched off.",
            "share of weights with |γ| < ½",
            "",
            above(0.5, share=0.9),
            lambda f: f["each-off"],
        ),
        Claim(
            "a-prior-each-switches-off-more-than-one-for-all",
            "A prior for each weight switches off far more weights than one prior for all.",
            "share of weights switched off, each − all",
            "",
            above(0.2, share=0.9),
            lambda f: f["each-off"] - f["all-off"],
        ),
        Claim(
            "a-weak-start-gives-up",
            "In steps of γ, with a prior for each weight, a start from weak weights ends more than "
            "30 nats above one from strong weights.",
            "F in steps of γ, weak start − strong",
            "nats",
            above(30.0, share=0.9),
            lambda f: f["weak-gamma-F"] - f["each-gamma-F"],
        ),
        Claim(
            "in-steps-of-mu-no-start-gives-up",
            "In steps of μ, weak weights and strong ones end within fifteen nats of each other, on "
            "average.",
            "F in steps of μ, weak start − strong",
            "nats",
            within(-15.0, 15.0),
            lambda f: f["weak-F"] - f["each-F"],
        ),
        Claim(
            "learnt-prior-is-as-good-as-a-sweep-s",
            "The one σ_p that is learnt for all weights, set by hand, reaches a free energy less "
            "than ten nats above the best of a sweep.",
            "F, learnt σ_p set by hand − best of the sweep",
            "nats",
            below(10.0, share=0.8),
            lambda f: f["again-F"] - f["swept-F"],
        ),
        Claim(
            "learnt-prior-arrives-where-the-sweep-does",
            "Learning one prior for all ends, on average, within fifteen nats of the lowest free "
            "energy of a sweep of priors that are set by hand.",
            "F, learnt − best of a sweep",
            "nats",
            within(-15.0, 15.0),
            lambda f: f["all-F"] - f["swept-F"],
        ),
        Claim(
            "steps-of-gamma-stop-far-above",
            "From one start, at one rate, in as many steps, steps of γ stop on average more "
            "than 30 nats above steps of μ, with one prior for all.",
            "F of one prior for all, local draws at rate 0.08, steps of γ − steps of μ",
            "nats",
            above(30.0, share=0.6),
            lambda f: f["all-gamma-F"] - f["all-mu-F"],
        ),
        Claim(
            "a-prior-each-is-level-with-one-for-all-among-the-data",
            "Among the data, a prior for each weight scores within a quarter of a nat a point of "
            "one for all in most worlds.",
            "worlds in which the two differ by less than 0.25 nats a point",
            "",
            above(0.5),
            lambda f: float(abs(f["each-among"] - f["all-among"]) < 0.25),
        ),
        Claim(
            "one-prior-for-all-is-level-among-the-data",
            "Among the data, one prior for all scores within a quarter of a nat a point of one "
            "network of maximum likelihood in most worlds.",
            "worlds in which the two differ by less than 0.25 nats a point",
            "",
            above(0.5),
            lambda f: float(abs(f["all-among"] - f["mle-among"]) < 0.25),
        ),
        Claim(
            "learnt-priors-win-outside",
            "Outside the data, both a prior for each weight and one for all score higher than one "
            "network, on average by more than five nats a point.",
            "test log-likelihood outside, the worse of the two − MLE",
            "nats a point",
            above(5.0, share=0.5),
            lambda f: min(f["each-outside"], f["all-outside"]) - f["mle-outside"],
        ),
        Claim(
            "what-is-pruned-cannot-be-unsure",
            "Outside the data, a prior for each weight scores lower than one for all in more than "
            "four of five worlds.",
            "worlds in which a prior each scores lower outside",
            "",
            above(0.8),
            lambda f: float(f["each-outside"] < f["all-outside"]),
        ),
    ),
    seconds=1.0,
)
