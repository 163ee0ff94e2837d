"""Bayes by Backprop: the known optimum, what each knob does, and the article's result."""

import re
from functools import lru_cache

import numpy as np
import pytest

from bdl_teach import DivergedError, datasets, densities, metrics
from bdl_teach._support import compiled
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


def test_the_mean_field_optimum_of_a_linear_model_is_recovered():
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


# The history


def exact_costs(fit: bbb.Fit, prior_std: float) -> dict[str, float]:
    """KL and expected likelihood cost of a linear model at the given μ and σ."""
    f = DATA.x[:, 0] * fit.mean[0] + fit.mean[1]
    f_var = DATA.x[:, 0] ** 2 * fit.std[0] ** 2 + fit.std[1] ** 2
    nll = densities.gaussian_nll(DATA.y[:, 0], f, fit.noise_std**2) + f_var / 2 / fit.noise_std**2
    kl = densities.gaussian_kl(fit.mean, fit.std, 0.0, prior_std)
    return {"complexity_cost": kl.sum(), "likelihood_cost": nll.sum()}


@pytest.mark.parametrize("n_samples", [1, 10])
@pytest.mark.parametrize("n_batches", [1, 4])
def test_history_estimates_the_whole_kl_and_the_whole_likelihood(n_batches, n_samples):
    """Whatever the number of batches and draws, and to 5 standard errors over six seeds."""
    options = {"hidden_units": (), "prior": Gaussian(0.8), "noise_std": 2.0}
    options |= {"n_batches": n_batches, "n_samples": n_samples}
    fits = [frozen(**options, seed=seed) for seed in range(6)]
    for name in ("complexity_cost", "likelihood_cost"):
        errors = np.array([fit.history[name] - exact_costs(fit, 0.8)[name] for fit in fits])
        assert errors.shape == (6, 100)
        assert abs(errors.mean()) < 5 * errors.std(axis=1).mean() / np.sqrt(errors.size)


def test_the_free_energy_falls():
    f = small(steps=600).history["free_energy"]
    assert f[-10:].mean() < 0.8 * f[:3].mean()


# What a knob does: the twins (test_twins.py) say it step by step, these at the end of a fit


def test_more_kl_weight_makes_a_simpler_network():
    fits = [small(kl_weight=weight, steps=600) for weight in (0.1, 1.0, 10.0)]
    complexity = [fit.history["complexity_cost"][-20:].mean() for fit in fits]
    assert complexity == sorted(complexity, reverse=True)


def test_less_noise_makes_a_closer_fit():
    """The mean over three seeds; at 50 nothing is left but a constant."""
    error = [
        np.mean([metrics.rmse(DATA.y, fit.predict(DATA.x).mean) for fit in fits])
        for fits in (
            [small(noise_std=noise, steps=600, seed=seed) for seed in range(3)]
            for noise in (0.5, 2.0, 50.0)
        )
    ]
    assert error == sorted(error)


def test_the_default_prior_is_the_article_one():
    np.testing.assert_array_equal(small().mean, small(prior=ScaleMixture(1.5, 0.1, 0.5)).mean)


def test_a_gaussian_is_a_mixture_of_equals():
    np.testing.assert_array_equal(
        small(prior=Gaussian(0.7)).mean, small(prior=ScaleMixture(0.7, 0.7, 0.5)).mean
    )


def test_geometric_and_uniform_shares_agree_for_one_batch():
    np.testing.assert_array_equal(small().mean, small(kl_scheme="geometric").mean)


# Common noise


def test_the_same_seed_gives_the_same_fit():
    one, two = small(seed=5), small(seed=5)
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_array_equal(one.std, two.std)
    np.testing.assert_array_equal(one.history["free_energy"], two.history["free_energy"])


def test_moving_the_prior_keeps_the_starting_draw():
    one, two = ScaleMixture(1.5, 0.1, 0.5), ScaleMixture(0.4, 0.2, 0.9)
    starts = [frozen(prior=prior).mean / prior.std for prior in (one, two)]
    np.testing.assert_allclose(*starts, rtol=1e-5)


def test_moving_the_prior_keeps_every_eps():
    """With equal standard deviations the start is the same, so only ε could tell them apart."""
    mixture = ScaleMixture(1.5, 0.1, 0.5)
    one, two = frozen(prior=mixture).history, frozen(prior=Gaussian(mixture.std)).history
    np.testing.assert_allclose(one["likelihood_cost"], two["likelihood_cost"], rtol=1e-4)
    assert np.abs(one["complexity_cost"] - two["complexity_cost"]).min() > 1e-3


def test_moving_the_noise_keeps_every_eps():
    one, two = frozen(noise_std=0.5).history, frozen(noise_std=2.0).history
    np.testing.assert_allclose(one["complexity_cost"], two["complexity_cost"], rtol=1e-5)


def test_the_draws_differ_from_step_to_step_and_within_a_step():
    costs = frozen().history["complexity_cost"]
    assert len(np.unique(costs)) == len(costs)
    averaged = frozen(n_samples=4).history["complexity_cost"]
    assert averaged.std() < 0.7 * costs.std()  # half, as the four are independent


def test_no_value_compiles_again():
    small()
    before = compiled.trace_count()
    small(prior=ScaleMixture(0.7, 0.2, 0.9), noise_std=2.0, kl_weight=0.5, n_batches=3, seed=9)
    small(steps=40, learning_rate=0.01, initial_rho=-2.0, cooldown=0.5, n_batches=5)
    small(kl_scheme="geometric", n_batches=8, start_scale=1.0, initial=(0.0, 0.1))
    assert compiled.trace_count() == before


# Capacity


@pytest.mark.parametrize(
    ("n_samples", "n_batches", "capacity"),
    [
        (1, 1, Capacity(20, (7,), 1)),
        (1, 4, Capacity(20, (7,), 1, chunk=3)),
        (3, 2, Capacity(20, (7,), 10)),
    ],
    ids=str,
)
def test_capacity_changes_nothing_but_rounding(n_samples, n_batches, capacity):
    """Ten steps only: later on training is chaotic, and rounding grows into a difference."""
    exact = small(steps=10, n_samples=n_samples, n_batches=n_batches)
    roomy = small(steps=10, n_samples=n_samples, n_batches=n_batches, capacity=capacity)
    np.testing.assert_allclose(roomy.mean, exact.mean, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(roomy.std, exact.std, rtol=1e-3, atol=1e-4)
    for name, column in exact.history.items():
        np.testing.assert_allclose(roomy.history[name], column, rtol=1e-3)
    np.testing.assert_allclose(roomy.at(4).mean, exact.at(4).mean, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(roomy.at(4).std, exact.at(4).std, rtol=1e-3, atol=1e-4)


def test_capacity_changes_no_predictive_draw():
    one, two = small(steps=30), small(steps=30, capacity=Capacity(20, (7,), 1))
    samples = [fit.predict(DATA.x, n_samples=70).samples for fit in (one, two)]
    np.testing.assert_allclose(*samples, rtol=1e-3, atol=1e-3)


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
def test_too_little_room_is_refused(capacity):
    room = f"expected room for {Capacity(8, (3,), 1)}, got {capacity}"
    with pytest.raises(ValueError, match=re.escape(f"capacity: {room}")):
        small(capacity=capacity)


@pytest.mark.parametrize("widths", [(4, 1), (2, 9), (2, 1), (9, 9, 9)])
def test_each_layer_needs_room_of_its_own(widths):
    wanted = re.escape(str(Capacity(8, (3, 2), 2)))
    with pytest.raises(ValueError, match=f"^capacity: expected room for {wanted}, got"):
        small(hidden_units=(3, 2), n_samples=2, capacity=Capacity(8, widths, 2))


def test_an_empty_chunk_is_refused():
    with pytest.raises(ValueError, match="capacity.chunk: expected an integer >= 1, got 0"):
        small(capacity=Capacity(8, (3,), 1, chunk=0))


# What a fit carries


def test_a_fit_carries_its_weights_in_the_order_of_its_network():
    fit = small()
    assert fit.mean.shape == fit.std.shape == fit.signal_to_noise.shape == (10,)
    assert fit.network.n_weights == 10
    assert (fit.std > 0).all()
    np.testing.assert_allclose(fit.signal_to_noise, np.abs(fit.mean) / fit.std)


def test_sigma_starts_at_softplus_of_rho():
    for rho in (-3.0, 0.0, 2.0):
        np.testing.assert_allclose(frozen(initial_rho=rho).std, np.log1p(np.exp(rho)), rtol=1e-5)


@pytest.mark.parametrize("capacity", [None, Capacity(8, (7,), 1)], ids=str)
def test_weights_of_your_own_are_evaluated_in_the_order_of_the_network(capacity):
    fit = small(capacity=capacity)
    w = np.random.default_rng(0).normal(size=(60, 10))
    hidden = np.maximum(DATA.x * w[:, None, :3] + w[:, None, 3:6], 0.0)  # [60, 8, 3]
    by_hand = (hidden * w[:, None, 6:9]).sum(axis=-1) + w[:, 9:]
    np.testing.assert_allclose(fit.evaluate(w, DATA.x), by_hand, rtol=1e-4, atol=1e-5)


def test_the_first_predictive_draws_are_kept_when_more_are_asked_for():
    fit = small()
    few, many = (fit.predict(DATA.x, n_samples=s).samples for s in (10, 120))
    np.testing.assert_allclose(few, many[:10], rtol=1e-4, atol=1e-4)


def test_the_prediction_seed_moves_the_draws_and_not_the_fit():
    fit = small()
    one, two = (fit.predict(DATA.x, n_samples=400, seed=seed) for seed in (1, 2))
    assert (one.samples != two.samples).any()
    error = np.hypot(one.mc_error, two.mc_error)
    assert (np.abs(one.mean - two.mean) < 6 * error).all()


# Divergence


@pytest.mark.parametrize(
    ("scale", "changes"),
    [(1.0, {"learning_rate": 1e12}), (1e30, {}), (1.0, {"noise_std": 1e-30})],
    ids=["learning rate", "y", "noise"],
)
def test_a_divergence_names_step_and_remedy_and_the_next_fit_works(scale, changes):
    with pytest.raises(DivergedError) as caught:
        bbb.fit(DATA.x, scale * DATA.y, **{**SMALL, **changes})
    assert 1 <= caught.value.step <= SMALL["steps"]
    assert f"step {caught.value.step}" in str(caught.value)
    assert "learning rate" in caught.value.remedy
    assert "noise_std" in caught.value.remedy
    assert np.isfinite(small().mean).all()


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


def test_the_mean_follows_the_sine():
    assert np.median([result["rmse"] for result in sinusoid("default")]) < 1.0


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
