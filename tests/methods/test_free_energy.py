"""Where a fit starts, what it costs on all the data, and whether it has arrived."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

from bdl_teach import datasets, densities
from bdl_teach.densities import Gaussian, Prior, ScaleMixture
from bdl_teach.elbo import FreeEnergy
from bdl_teach.methods import bbb, empirical_bayes, local_reparam, low_rank
from bdl_teach.methods._fitted import Variational
from bdl_teach.methods._loop import Capacity, Problem
from bdl_teach.methods._mean_field import N_LONGER
from bdl_teach.mlp import MLP

DATA = datasets.sinusoid(n=8)
SMALL: dict[str, Any] = {"hidden_units": (3,), "steps": 60}
ROOM = Capacity(12, (5,), 2, chunk=4)  # the one program of bbb here, whatever is asked for


def small(**changes: Any) -> bbb.Fit:
    return bbb.fit(DATA.x, DATA.y, **{**SMALL, "capacity": ROOM, **changes})


def frozen(**changes: Any) -> bbb.Fit:
    return small(**{"learning_rate": 1e-12, "steps": 1, **changes})


MEAN, STD = np.linspace(-2.0, 1.0, 10), np.geomspace(1e-4, 30.0, 10)


@pytest.mark.parametrize("capacity", [None, ROOM], ids=str)
def test_a_given_posterior_is_where_the_fit_starts(capacity):
    """Weight by weight in the order of the network, wherever the program has room for them."""
    fit = frozen(initial=(MEAN, STD), capacity=capacity, initial_rho=2.0, start_scale=3.0)
    np.testing.assert_allclose(fit.mean, MEAN, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(fit.std, STD, rtol=2e-4)  # as ρ, in float32
    same = frozen(initial=(0.5, 0.25), capacity=capacity)
    np.testing.assert_allclose(same.mean, 0.5, rtol=1e-6)
    np.testing.assert_allclose(same.std, 0.25, rtol=1e-5)
    wide = frozen(initial=(0.5, 2000.0), capacity=capacity)  # e²⁰⁰⁰ is no number
    np.testing.assert_allclose(wide.std, 2000.0, rtol=1e-5)


@pytest.mark.parametrize("estimator", ["bbb", "eb", "low rank"])
def test_start_of_lowest_free_energy_is_kept(estimator):
    """The k-th start is the fit of the seed s + 1000 k alone."""
    kept = set()
    for seed in range(4):

        def fit(seed: int = seed, **changes: Any) -> bbb.Fit:
            options = {**SMALL, "capacity": ROOM, "seed": seed, "learning_rate": 0.03, **changes}
            if estimator == "bbb":
                return bbb.fit(DATA.x, DATA.y, **options)
            if estimator == "eb":
                return empirical_bayes.fit(DATA.x, DATA.y, tie="layer", **options)
            return low_rank.fit(DATA.x, DATA.y, rank=2, **options)

        alone = [fit(seed + 10**6 * k) for k in range(3)]
        lowest = int(np.argmin([one.free_energy for one in alone]))
        best = fit(starts=3)
        np.testing.assert_array_equal(best.mean, alone[lowest].mean)
        assert best.free_energy == min(one.free_energy for one in alone)
        assert best.problem.seed == seed + 10**6 * lowest
        kept.add(lowest)
    assert len(kept) > 1  # else the first might have been kept unseen


# The free energy of a linear model, where it is known

LINEAR = MLP(2, ())
MU, SIGMA = np.array([0.5, -1.0, 2.0]), np.array([0.2, 0.6, 0.1])
X = np.random.default_rng(0).normal(size=(9, 2))
Y = np.random.default_rng(1).normal(size=(9, 1))
LABELS = np.float64(Y > 0)
DESIGN = np.hstack([X, np.ones((9, 1))])


def assert_near(fit: bbb.Fit, complexity: float, likelihood: float) -> None:
    """Each part, from ten seeds, within 5 standard errors; and F of one seed."""
    costs = [fit.cost(seed=seed) for seed in range(10)]
    for name, exact in (("complexity", complexity), ("likelihood", likelihood)):
        values = [getattr(cost, name) for cost in costs]
        error = np.std(values, ddof=1) / np.sqrt(10)
        assert abs(np.mean(values) - exact) < 5 * error + 1e-6 * abs(exact), name
    totals = [cost.total for cost in costs]
    total = fit.problem.kl_weight * complexity + likelihood
    assert abs(fit.free_energy - total) < 5 * np.std(totals, ddof=1)


def gaussian_nll(mean: np.ndarray, var: np.ndarray, noise_std: float) -> float:
    """−Σ E log N(y | f, noise²), of outputs f of these moments."""
    each = densities.gaussian_nll(Y[:, 0], mean, noise_std**2)
    return float((each + var / 2 / noise_std**2).sum())


@pytest.mark.parametrize(("prior", "kl_weight"), [(Gaussian(0.8), 1.0), (ScaleMixture(), 0.3)])
def test_the_free_energy_of_a_linear_model_is_the_exact_one(prior, kl_weight):
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
def test_the_free_energy_of_empirical_bayes_is_the_exact_one(tie, likelihood, biases):
    """The KL is that to the prior of each weight, by TFP's own formula; the rest by quadrature."""
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


# Has it arrived?


def empirical(**changes: Any) -> empirical_bayes.Fit:
    options = {**SMALL, "capacity": ROOM, "tie": "layer", **changes}
    return empirical_bayes.fit(DATA.x, DATA.y, **options)


FITS = {"bbb": small, "eb": empirical}


@pytest.mark.parametrize("kind", FITS)
def test_only_a_fit_trained_long_enough_has_converged(kind):
    assert not FITS[kind](steps=30, learning_rate=0.02).converged
    best = FITS[kind]()
    for _ in range(2):  # three units have minima some fifty nats apart
        best = min([best.longer(k) for k in range(best.n_longer)], key=lambda fit: fit.free_energy)
    assert best.refined(steps=8000).converged


@dataclass(frozen=True)
class Trained(Variational):
    """A fit of ten points whose training on gains what is known."""

    energy: float
    gain: float = 0.0
    asked: list[str] = field(default_factory=list)
    n_points = 10

    def cost(self) -> FreeEnergy:
        return FreeEnergy(0.0, self.energy)

    def refined(self) -> "Trained":
        self.asked.append("refined")
        return Trained(self.energy - self.gain)


def test_convergence_tolerance_of_large_data_is_half_a_nat_a_point():
    for gain, converged in ((4.9, True), (5.1, False)):
        fit = Trained(100.0, gain)
        assert fit.converged is converged
        assert fit.asked == ["refined"]


def test_a_fit_in_a_poor_minimum_has_not_converged(monkeypatch):
    """Though training on gains nothing."""
    fit = small()
    poor = replace(fit, mean=fit.mean + 5.0)
    monkeypatch.setattr(bbb.Fit, "longer", lambda self, k: poor if k else self)
    assert fit.converged
    monkeypatch.setattr(bbb.Fit, "longer", lambda self, k: fit if k == 3 else poor)
    assert not poor.converged


def test_a_longer_run_escapes_the_minimum_of_a_start_near_zero():
    """KL weight 10 on the sinusoid: a tick is flat, some 300 nats above what a wide start finds."""
    data = datasets.sinusoid(seed=201)
    fit = local_reparam.fit(data.x, data.y, kl_weight=10.0, seed=201, **local_reparam.QUIET)
    below = [fit.free_energy - fit.longer(k).free_energy for k in range(N_LONGER)]
    assert max(below) > 200.0
    assert below[0] < 20.0, "training on does not find it"
    assert not fit.converged
