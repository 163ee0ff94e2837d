"""Bayes by Backprop: the known optimum, what each knob does, and the article's result."""

import re
from functools import lru_cache

import numpy as np
import pytest

from bdl_teach import datasets, metrics
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import bbb
from bdl_teach.methods.bbb import Capacity

DATA = datasets.sinusoid(n=8)
SMALL = {"hidden_units": (3,), "steps": 60}
LINEAR_X = np.random.default_rng(0).uniform(0.0, 1.5, (20, 1))
LINEAR_Y = 0.8 * LINEAR_X - 0.4 + 0.5 * np.random.default_rng(1).standard_normal((20, 1))


def small(**changes) -> bbb.Fit:
    return bbb.fit(DATA.x, DATA.y, **{**SMALL, **changes})


def frozen(**changes) -> bbb.Fit:
    """A fit that does not move, so that its history shows the costs at the starting point."""
    return small(**{"learning_rate": 1e-12, "steps": 100, **changes})


# The known optimum of a linear-Gaussian model


def mean_field_optimum() -> tuple[np.ndarray, np.ndarray]:
    """μ = posterior mean, σ_i² = 1/Λ_ii, for slope and intercept under N(0, 1), noise 0.5."""
    design = np.hstack([LINEAR_X, np.ones_like(LINEAR_X)])
    precision = np.eye(2) + design.T @ design / 0.25
    return np.linalg.solve(precision, design.T @ LINEAR_Y[:, 0] / 0.25), np.diag(precision) ** -0.5


@lru_cache(maxsize=1)
def linear_fits() -> list[bbb.Fit]:
    options = {"prior": Gaussian(1.0), "noise_std": 0.5, "hidden_units": (), "n_samples": 10}
    plan = {"steps": 2000, "learning_rate": 0.02, "cooldown": 1.0}
    return [bbb.fit(LINEAR_X, LINEAR_Y, **options, **plan, seed=seed) for seed in range(8)]


def test_bbb_recovers_mean_field_optimum_of_linear_model():
    mean, std = mean_field_optimum()
    for values, optimum in (
        (np.array([(fit.mean - mean) / std for fit in linear_fits()]), 0.0),
        (np.array([fit.std / std for fit in linear_fits()]), 1.0),
    ):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert (error < 0.04).all()  # else the next line would not say much
        assert (np.abs(values.mean(axis=0) - optimum) < 5 * error).all()
        assert (np.abs(values - optimum) < 0.2).all()


def test_the_predictive_of_a_linear_model_is_that_of_its_weights():
    fit, x, n = linear_fits()[0], np.array([[-1.0], [0.5], [3.0]]), 5000
    prediction = fit.predict(x, n_samples=n)
    exact_std = np.hypot(fit.std[0] * x[:, 0], fit.std[1])
    exact_mean = fit.mean[0] * x[:, 0] + fit.mean[1]
    assert (np.abs(prediction.mean - exact_mean) < 5 * prediction.mc_error).all()
    np.testing.assert_allclose(prediction.epistemic_std, exact_std, rtol=5 / np.sqrt(2 * n))
    np.testing.assert_allclose(prediction.aleatoric_std, 0.5)
    assert prediction.samples.shape == (n, 3)


# Common noise


def test_moving_the_prior_keeps_every_eps():
    """With equal standard deviations the start is the same, so only ε could tell them apart."""
    mixture = ScaleMixture(1.5, 0.1, 0.5)
    one, two = frozen(prior=mixture).history, frozen(prior=Gaussian(mixture.std)).history
    np.testing.assert_allclose(one["likelihood_cost"], two["likelihood_cost"], rtol=1e-4)
    assert np.abs(one["complexity_cost"] - two["complexity_cost"]).min() > 1e-3


def test_moving_the_noise_keeps_every_eps():
    one, two = frozen(noise_std=0.5).history, frozen(noise_std=2.0).history
    np.testing.assert_allclose(one["complexity_cost"], two["complexity_cost"], rtol=1e-5)


# Capacity


@pytest.mark.parametrize(
    "capacity",
    [
        Capacity(7, (3,), 1),
        Capacity(8, (2,), 1),
        Capacity(8, (3, 3), 1),
        Capacity(8, (), 1),
        Capacity(8, (3,), 0),
    ],
    ids=str,
)
def test_too_small_capacity_is_refused(capacity):
    room = f"expected room for {Capacity(8, (3,), 1)}, got {capacity}"
    with pytest.raises(ValueError, match=re.escape(f"capacity: {room}")):
        small(capacity=capacity)


@pytest.mark.parametrize("capacity", [None, Capacity(8, (7,), 1)], ids=str)
def test_given_weights_are_evaluated_in_network_order(capacity):
    fit = small(capacity=capacity)
    w = np.random.default_rng(0).normal(size=(60, 10))
    hidden = np.maximum(DATA.x * w[:, None, :3] + w[:, None, 3:6], 0.0)  # [60, 8, 3]
    by_hand = (hidden * w[:, None, 6:9]).sum(axis=-1) + w[:, 9:]
    np.testing.assert_allclose(fit.evaluate(w, DATA.x), by_hand, rtol=1e-4, atol=1e-5)


# The sinusoid


@lru_cache(maxsize=2)
def sinusoid(recipe: str) -> list[dict[str, float]]:
    """Refit the article's sinusoid with six seeds, of the data and of the fit alike."""
    grid, far = np.linspace(-0.5, 0.5, 1001)[:, None], np.array([[-1.5], [0.0], [1.5]])
    results = []
    for seed in range(6):
        data = datasets.sinusoid(seed=seed)
        fit = bbb.fit(data.x, data.y, seed=seed, **(bbb.ARTICLE if recipe == "article" else {}))
        inside, spread = fit.predict(grid), fit.predict(far).epistemic_std
        truth = data.truth(grid)[:, 0]
        fresh = truth + np.random.default_rng([seed, 1]).standard_normal(len(truth))
        band = inside.mean - 2 * inside.total_std, inside.mean + 2 * inside.total_std
        results.append(
            {
                "rmse": metrics.rmse(truth, inside.mean),
                "growth": (spread[0] + spread[2]) / 2 / spread[1],
                "coverage": metrics.coverage(fresh, *band),
                "F": fit.free_energy,
            }
        )
    return results


def test_epistemic_doubt_grows_away_from_the_data():
    assert min(result["growth"] for result in sinusoid("default")) > 1.5


def test_doubt_grows_threefold_only_by_the_recipe_of_the_article():
    """It is what a fit has that stops some 60 nats higher, and not what q has at its best."""
    ours, article = (
        {name: np.array([result[name] for result in sinusoid(recipe)]) for name in ("growth", "F")}
        for recipe in ("default", "article")
    )
    assert np.median(article["growth"]) >= 3.0 > np.median(ours["growth"])
    excess = article["F"] - ours["F"]
    assert excess.mean() - 3 * excess.std(ddof=1) / np.sqrt(6) > 15.0


def test_two_total_standard_deviations_cover_fresh_targets():
    coverage = [result["coverage"] for result in sinusoid("default")]
    assert 0.90 <= np.median(coverage) <= 0.99
    assert sum(0.90 <= c <= 0.99 for c in coverage) >= 4
