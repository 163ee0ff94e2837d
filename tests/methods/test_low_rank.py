"""Low rank: mean field at rank 0, exact at full rank; SWAG: moments of a path."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bdl_teach import datasets, densities
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import bbb, exact, low_rank
from bdl_teach.methods._loop import Capacity, Problem

X = np.random.default_rng(0).uniform(0.2, 1.0, (20, 4))
Y = X @ [[0.8], [-1.5], [1.0], [0.3]] + 0.4
Y = Y + 0.3 * np.random.default_rng(1).normal(size=(20, 1))
DESIGN = np.hstack([X, np.ones((20, 1))])
EXACT = exact.linear_regression(DESIGN, Y, prior_std=1.0, noise_std=0.3)
PRECISION = np.linalg.inv(EXACT.cov)
LINEAR: dict[str, Any] = {"prior": Gaussian(1.0), "noise_std": 0.3, "hidden_units": ()}
LONG: dict[str, Any] = {"n_samples": 10, "steps": 4000, "learning_rate": 0.2}
DATA = datasets.sinusoid(n=8)
ROOM = Capacity(12, (5,), 2, chunk=4)


@lru_cache
def linear(rank: int) -> low_rank.Fit:
    return low_rank.fit(X, Y, rank=rank, **LINEAR, **LONG)


def made(rank: int = 3) -> low_rank.Fit:
    """Return a posterior of the linear model with arbitrary parameters."""
    rng = np.random.default_rng(rank)
    problem = Problem(X, Y, Gaussian(1.0), 0.5, 0)
    return low_rank.Fit(
        mean=rng.normal(size=5),
        own_std=rng.uniform(0.1, 0.6, 5),
        columns=rng.normal(size=(5, rank)),
        network=low_rank.MLP(4, ()),
        noise_std=0.3,
        history={},
        problem=problem,
    )


OTHERWISE = {"n_batches": 2, "kl_scheme": "geometric", "kl_weight": 0.3, "noise_std": 0.8}
OTHERWISE |= {"n_samples": 2, "cooldown": 0.3, "learning_rate": 0.03, "seed": 3}
OTHERWISE |= {"start_scale": 0.6, "initial_rho": -2.0}


def test_low_rank_of_rank_0_equals_bayes_by_backprop():
    options = {"hidden_units": (3,), "steps": 60, "capacity": ROOM, **OTHERWISE}
    options["prior"] = ScaleMixture(1.3, 0.2, 0.7)
    ours = low_rank.fit(DATA.x, DATA.y, rank=0, **options)
    theirs = bbb.fit(DATA.x, DATA.y, **options)
    np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-5)
    np.testing.assert_allclose(ours.std, theirs.std, rtol=1e-4)
    np.testing.assert_allclose(ours.free_energy, theirs.free_energy, rtol=0.02)
    likelihood = ours.history["likelihood_cost"], theirs.history["likelihood_cost"]
    np.testing.assert_allclose(*likelihood, rtol=1e-3)


def test_full_rank_free_energy_of_linear_model_is_minus_log_evidence():
    """It cannot be lower; at rank 0 the KL of the best mean field remains."""
    costs = [[linear(rank).cost(seed=seed).total for seed in range(10)] for rank in (0, 2, 5)]
    left = np.mean(costs, axis=1) + EXACT.log_evidence
    error = np.std(costs, axis=1, ddof=1) / np.sqrt(10)
    best = 0.5 * (np.log(np.diag(PRECISION)).sum() - np.linalg.slogdet(PRECISION)[1])
    assert best > 3.0
    assert abs(left[0] - best) < 0.1 + 5 * error[0]
    assert 0.3 < left[1] < best - 1.0
    assert -5 * error[2] < left[2] < 0.1 + 5 * error[2]


@pytest.mark.parametrize("rank", [0, 3])
def test_low_rank_entropy_and_draws_match_its_covariance(rank):
    fit = made(rank)
    truth = stats.multivariate_normal(fit.mean, fit.cov)
    assert fit.entropy == pytest.approx(truth.entropy())
    np.testing.assert_allclose(fit.std**2, np.diag(fit.cov))
    draws = fit.draw(20_000, seed=2) - fit.mean
    error = np.sqrt((fit.cov**2 + np.outer(fit.std**2, fit.std**2)) / 20_000)
    assert (np.abs(draws.T @ draws / 20_000 - fit.cov) < 5 * error).all()
    assert (np.abs(draws.mean(0)) < 5 * fit.std / 20_000**0.5).all()


def test_low_rank_free_energy_is_exact():
    fit = made()
    costs = [fit.cost(seed=seed) for seed in range(10)]
    kl = 0.5 * (np.trace(fit.cov) + fit.mean @ fit.mean - 5 - np.linalg.slogdet(fit.cov)[1])
    var = np.einsum("nd,de,ne->n", DESIGN, fit.cov, DESIGN)
    nll = densities.gaussian_nll(Y[:, 0], DESIGN @ fit.mean, 0.3**2) + var / 2 / 0.3**2
    for name, wanted in (("complexity", kl), ("likelihood", nll.sum())):
        values = [getattr(cost, name) for cost in costs]
        assert abs(np.mean(values) - wanted) < 5 * np.std(values, ddof=1) / np.sqrt(10), name
    assert fit.free_energy == pytest.approx(0.5 * costs[1].complexity + costs[1].likelihood)


def test_swag_moments_equal_algorithm_1_of_the_paper():
    path = np.random.default_rng(0).normal(size=(30, 4)) * [1.0, 2.0, 3.0, 4.0]
    mean, square, deviations = np.zeros(4), np.zeros(4), []
    for n, w in enumerate(path):
        mean, square = (n * mean + w) / (n + 1), (n * square + w**2) / (n + 1)
        deviations.append(w - mean)
    columns = np.array(deviations[-6:]).T
    wanted = 0.5 * np.diag(square - mean**2) + columns @ columns.T / 2 / 5
    found, own_std, found_columns = low_rank._moments(path, 6)
    np.testing.assert_allclose(found, mean)
    np.testing.assert_allclose(np.diag(own_std**2) + found_columns @ found_columns.T, wanted)
    _, own_std, none = low_rank._moments(path, 0)
    np.testing.assert_allclose(own_std**2, square - mean**2)
    assert none.shape == (4, 0)


@pytest.mark.parametrize("rank", [0, 2])
def test_constant_weights_on_swag_path_have_finite_entropy(rank):
    path = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 0.0, 0.0] + [0.0, 5.0, 0.0]
    mean, own_std, columns = low_rank._moments(path, rank)
    assert own_std.min() > 0 and list(mean[1:]) == [5.0, 0.0]
    assert np.isfinite(replace(made(), mean=mean, own_std=own_std, columns=columns).entropy)
