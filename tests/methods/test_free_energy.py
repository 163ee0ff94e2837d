"""Start, free energy on all data, and convergence of variational fits."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from bdl_teach import datasets, densities
from bdl_teach.densities import Gaussian, Prior, ScaleMixture
from bdl_teach.methods import bbb, empirical_bayes
from bdl_teach.methods._loop import Capacity, Problem
from bdl_teach.mlp import MLP

DATA = datasets.sinusoid(n=8)
SMALL: dict[str, Any] = {"hidden_units": (3,), "steps": 60}
ROOM = Capacity(12, (5,), 2, chunk=4)  # so that all fits here share one program of bbb


def small(**changes: Any) -> bbb.Fit:
    return bbb.fit(DATA.x, DATA.y, **{**SMALL, "capacity": ROOM, **changes})


def frozen(**changes: Any) -> bbb.Fit:
    return small(**{"learning_rate": 1e-12, "steps": 1, **changes})


MEAN, STD = np.linspace(-2.0, 1.0, 10), np.geomspace(1e-4, 30.0, 10)


def test_fit_starts_at_a_given_posterior():
    """The order of weights is that of the network, also in a larger program."""
    fit = frozen(initial=(MEAN, STD), initial_rho=2.0, start_scale=3.0)
    np.testing.assert_allclose(fit.mean, MEAN, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(fit.std, STD, rtol=2e-4)  # as ρ, in float32
    same = frozen(initial=(0.5, 0.25))
    np.testing.assert_allclose(same.mean, 0.5, rtol=1e-6)
    np.testing.assert_allclose(same.std, 0.25, rtol=1e-5)
    wide = frozen(initial=(0.5, 2000.0))  # e²⁰⁰⁰ overflows
    np.testing.assert_allclose(wide.std, 2000.0, rtol=1e-5)


@pytest.mark.parametrize(
    ("sigma", "scale"), [(0.1, 0.03), (30.0, (2 / MLP(1, (3,)).fan_in) ** 0.5)]
)
def test_start_is_narrow_under_the_prior_and_for_the_layer(sigma, scale):
    standard = frozen(prior=Gaussian(1.0), start_scale=1.0).mean
    np.testing.assert_allclose(frozen(prior=Gaussian(sigma)).mean / standard, scale, rtol=1e-5)


def test_start_of_lowest_free_energy_is_kept():
    """The k-th start equals a fit with seed s + 10⁶ k."""
    kept = set()
    for seed in range(4):
        options = {"seed": seed, "learning_rate": 0.03}
        alone = [small(**{**options, "seed": seed + 10**6 * k}) for k in range(3)]
        lowest = int(np.argmin([one.free_energy for one in alone]))
        best = small(starts=3, **options)
        np.testing.assert_array_equal(best.mean, alone[lowest].mean)
        assert best.free_energy == alone[lowest].free_energy
        assert best.problem.seed == seed + 10**6 * lowest
        kept.add(lowest)
    assert len(kept) > 1  # not always the first


# The free energy of a linear model is known

LINEAR = MLP(2, ())
MU, SIGMA = np.array([0.5, -1.0, 2.0]), np.array([0.2, 0.6, 0.1])
X = np.random.default_rng(0).normal(size=(9, 2))
Y = np.random.default_rng(1).normal(size=(9, 1))
LABELS = np.float64(Y > 0)
DESIGN = np.hstack([X, np.ones((9, 1))])


def assert_near(fit: bbb.Fit, complexity: float, likelihood: float) -> None:
    """Compare each part, over ten seeds, within 5 standard errors, and the total of one seed."""
    costs = [fit.cost(seed=seed) for seed in range(10)]
    for name, exact in (("complexity", complexity), ("likelihood", likelihood)):
        values = [getattr(cost, name) for cost in costs]
        error = np.std(values, ddof=1) / np.sqrt(10)
        assert abs(np.mean(values) - exact) < 5 * error + 1e-6 * abs(exact), name
    totals = [cost.total for cost in costs]
    total = fit.problem.kl_weight * complexity + likelihood
    assert abs(fit.free_energy - total) < 5 * np.std(totals, ddof=1)


def gaussian_nll(mean: np.ndarray, var: np.ndarray, noise_std: float) -> float:
    """Return −Σ E log N(y | f, noise²) for outputs f with these moments."""
    each = densities.gaussian_nll(Y[:, 0], mean, noise_std**2)
    return float((each + var / 2 / noise_std**2).sum())


@pytest.mark.parametrize(("prior", "kl_weight"), [(Gaussian(0.8), 1.0), (ScaleMixture(), 0.3)])
def test_free_energy_of_linear_model_is_exact(prior, kl_weight):
    fit = bbb.Fit(
        mean=MU,
        std=SIGMA,
        network=LINEAR,
        noise_std=0.7,
        history={},
        problem=Problem(X, Y, prior, kl_weight, 0),
    )
    nll = gaussian_nll(DESIGN @ MU, DESIGN**2 @ SIGMA**2, 0.7)
    assert_near(fit, exact_kl(prior), nll)


def exact_kl(prior: Prior) -> float:
    if isinstance(prior, Gaussian):
        return float(densities.gaussian_kl(MU, SIGMA, 0.0, prior.sigma).sum())
    w = MU + SIGMA * np.linspace(-12.0, 12.0, 20_001)[:, None]
    log_q = np.log(Gaussian(1.0).density((w - MU) / SIGMA) / SIGMA)
    return float(integrate.trapezoid(np.exp(log_q) * (log_q - prior.log_prob(w)), w, axis=0).sum())


@pytest.mark.parametrize(
    ("tie", "likelihood", "biases"),
    [("weight", "gaussian", False), ("layer", "bernoulli", True), ("all", "gaussian", True)],
)
def test_free_energy_of_empirical_bayes_is_exact(tie, likelihood, biases):
    """The KL to each weight's prior is in closed form, the rest by quadrature."""
    model = empirical_bayes.choose(LINEAR, tie, biases, "none")
    used = np.array([True, True, biases])
    mean, std = MU * used, SIGMA * used
    shared = np.full(3, np.sqrt((mean**2 + std**2)[used].mean()))
    prior_std = used * (np.hypot(mean, std) if tie == "weight" else shared)
    y = LABELS if likelihood == "bernoulli" else Y
    fit = empirical_bayes.Fit(
        mean=mean,
        std=std,
        network=LINEAR,
        noise_std=0.7,
        history={},
        problem=Problem(X, y, Gaussian(), 1.0, 0),
        likelihood=likelihood,
        gamma=MU / SIGMA * used,
        prior_std=prior_std,
        model=model,
    )
    kl = densities.gaussian_kl(mean[used], std[used], 0.0, prior_std[used]).sum()
    f, var = DESIGN @ mean, DESIGN**2 @ std**2
    nll = gaussian_nll(f, var, 0.7)
    if likelihood == "bernoulli":
        nodes, weights = np.polynomial.hermite_e.hermegauss(100)
        logits = f[:, None] + np.sqrt(var)[:, None] * nodes
        nll = -(stats.bernoulli.logpmf(y, expit(logits)) @ weights).sum() / weights.sum()
    assert_near(fit, kl, nll)
    assert fit.cost(seed=1).complexity == fit.cost(seed=2).complexity == pytest.approx(kl)


def test_free_energy_includes_all_data_for_any_batch_size():
    options = {"hidden_units": (), "n_batches": 4, "noise_std": 0.7, "kl_weight": 0.5}
    fit = bbb.fit(X, Y, prior=Gaussian(0.8), steps=40, kl_scheme="geometric", **options)
    kl = densities.gaussian_kl(fit.mean, fit.std, 0.0, 0.8).sum()
    assert_near(fit, kl, gaussian_nll(DESIGN @ fit.mean, DESIGN**2 @ fit.std**2, 0.7))
    weights = fit.cost().kl_weight, fit.refined(steps=1).cost().kl_weight
    assert weights == (0.5, 0.5)


# Convergence


def test_only_a_fit_trained_long_enough_has_converged():
    assert not small(steps=30, learning_rate=0.02).converged
    best = small()
    for _ in range(2):  # minima of three units differ by some fifty nats
        longer = [best.longer(k) for k in range(best.n_longer)]
        seeds = [one.problem.seed - best.problem.seed for one in longer]
        assert seeds == [10**6 * k for k in range(best.n_longer)]
        best = min(longer, key=lambda fit: fit.free_energy)
    assert best.refined(steps=8000).converged


def test_fit_in_a_poor_minimum_has_not_converged(monkeypatch):
    """Continued training gains nothing; another start is lower."""
    fit = small()
    poor = replace(fit, mean=fit.mean + 5.0)
    monkeypatch.setattr(bbb.Fit, "longer", lambda self, k: poor if k else self)
    assert fit.converged
    monkeypatch.setattr(bbb.Fit, "longer", lambda self, k: fit if k == 3 else poor)
    assert not poor.converged
