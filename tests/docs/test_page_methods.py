"""Test that the page's further methods, and its diagnostics, compute what the package computes."""

from typing import Any

import numpy as np
import pytest
from playground_page import opened
from playwright.sync_api import Browser, Page
from scipy.stats import chi2, kstest

from bdl_teach import datasets, densities, features
from bdl_teach.methods import empirical_bayes, exact, mc_dropout, mcmc, pbp, point

pytestmark = pytest.mark.browser
GRID = np.linspace(-1.0, 1.0, 41)
NOISE, SIGMA, RATE = 0.8, 2.0, 0.1
DATA = datasets.sinusoid(n=20, seed=3)
X, Y = DATA.x[:, 0], DATA.y[:, 0]
FIT = """({x, y, grid, method, options}) => {
    const {engine} = playground, net = engine.network([20]), prior = engine.makePrior({sigma: 2});
    const problem = {net, x, y, noise: 0.8, prior, hidden: [20]};
    const fit = engine.methods[method](problem, {seed: 0, ...options});
    fit.run(fit.steps);
    const {w, mu, rho, m, v} = fit, plain = {};
    const all = {...fit.describe(Float64Array.from(grid)), w, mu, rho, m, v};
    for (const [name, value] of Object.entries(all))
        if (value !== undefined) plain[name] = value.length ? [...value] : value;
    return {...plain, gamma: fit.noise?.()};
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Page:
    return opened(browser, "a=map&b=map")[0]


def fitted(page: Page, method: str, **options: Any) -> dict[str, Any]:
    given = {"x": X.tolist(), "y": Y.tolist(), "grid": GRID.tolist()}
    found = page.evaluate(FIT, {**given, "method": method, "options": options})
    return {name: np.array(value) for name, value in found.items()}


def test_linear_regression_is_exact(page: Page) -> None:
    found = fitted(page, "linear")
    design = [features.bumps(x[:, None], 20) for x in (X, GRID)]
    known = exact.linear_regression(design[0], Y, SIGMA, NOISE)
    np.testing.assert_allclose(found["mean"], known.predict(design[1]).mean, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(found["std"], known.predict(design[1]).epistemic_std, rtol=1e-7)
    assert found["evidence"] == pytest.approx(known.log_evidence)
    parts = found["parts"].reshape(20, -1)
    np.testing.assert_allclose(parts.sum(0), found["mean"], atol=1e-7)
    weights = np.linalg.lstsq(design[1], (found["lines"].reshape(12, -1) - found["mean"]).T)[0]
    precision = design[0].T @ design[0] / NOISE**2 + np.eye(20) / SIGMA**2
    assert 0.001 < chi2(240).cdf((weights * (precision @ weights)).sum()) < 0.999


def test_potential_is_minus_the_log_posterior(page: Page) -> None:
    """It and its slope are all that HMC and the point fits see of a problem."""
    w, step = np.random.default_rng(4).normal(size=(2, 61))
    found = page.evaluate(
        """({x, y, w, step}) => {
            const {engine} = playground, slope = w.map(() => 0);
            const prior = engine.makePrior({sigma: 2});
            const U = engine.potential({net: engine.network([20]), x, y, noise: 0.8, prior});
            const at = (h) => U(w.map((v, i) => v + h * step[i]), slope);
            const rise = (at(1e-5) - at(-1e-5)) / 2e-5, here = at(0);
            return [here, slope.reduce((sum, g, i) => sum + g * step[i], 0) / rise];
        }""",
        {"x": X.tolist(), "y": Y.tolist(), "w": w.tolist(), "step": step.tolist()},
    )
    f = units(w, X) @ w[40:]
    log_prior = densities.Gaussian(SIGMA).log_prob(w).sum()
    known = densities.gaussian_nll(Y, f, NOISE**2).sum() - log_prior
    assert found == pytest.approx([known, 1.0], rel=1e-6)


def units(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the hidden units of a network 1-20-1 at ``x`` [n], and a one: ``[n, 21]``."""
    return np.c_[np.maximum(0.0, np.outer(x, w[:20]) + w[20:40]), np.ones(len(x))]


def test_laplace_has_the_exact_posterior_of_its_last_layer(page: Page) -> None:
    found = fitted(page, "laplace")
    w, prior = found["w"], densities.Gaussian(SIGMA)
    known = exact.linear_regression(units(w, X), Y, SIGMA, NOISE).predict(units(w, GRID))
    np.testing.assert_allclose(found["mean"], known.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found["std"], known.epistemic_std, rtol=1e-6)

    def loss(w: np.ndarray) -> float:
        nll = 0.5 * (((Y - units(w, X) @ w[40:]) / NOISE) ** 2).sum()
        return float(nll - prior.log_prob(w).sum())

    options = {"noise_std": NOISE, "prior": prior, "hidden_units": (20,)}
    known_losses = [loss(point.fit(DATA.x, Y, **options, seed=s).weights) for s in range(4)]
    losses = [loss(fitted(page, "laplace", seed=s)["w"]) for s in range(4)]
    assert min(losses) == pytest.approx(min(known_losses), abs=6.0)
    assert np.median(losses) < np.median(known_losses) + 15.0


@pytest.mark.parametrize("tie", ["weight", pytest.param("all", marks=pytest.mark.slow)])
def test_empirical_bayes_has_the_free_energy_and_the_prior_of_the_package(
    page: Page, tie: str
) -> None:
    found = min(
        (fitted(page, "learnt", tie=tie, seed=s) for s in range(3)), key=lambda f: f["total"]
    )
    mu, std = found["mu"], np.logaddexp(0.0, found["rho"])
    groups = np.arange(61) if tie == "weight" else np.zeros(61, int)
    assert found["complexity"] == pytest.approx(empirical_bayes.tied_kl(mu, std, groups), rel=1e-6)
    sigma = empirical_bayes.optimal_prior_std(mu, std, groups)
    assert found["sigma"] == pytest.approx(np.sort(sigma)[30], rel=1e-6)
    assert found["off"] == np.mean(np.abs(mu / std) < 0.5)
    known = {"noise_std": NOISE, "hidden_units": (20,)}
    quiet = empirical_bayes.fit(DATA.x, Y, tie=tie, **known, **empirical_bayes.QUIET, starts=3)
    assert found["total"] < quiet.free_energy + 3.0


def test_probabilistic_backpropagation_takes_the_packages_steps(page: Page) -> None:
    passes = pbp.Passes.of(DATA.x, Y, (20,), seed=1)
    first, second = (np.array(mean) for mean in passes.start.mean)
    start = [*first[:, 0], *first[:, 1], *second[0]]
    orders = [passes.rows(epoch)[:-1].tolist() for epoch in range(3)]
    found = fitted(page, "pbp", start=start, orders=orders, passes=3)
    fit = pbp.fit(DATA.x, Y, hidden_units=(20,), epochs=3, seed=1)
    for name, known in (("m", fit.state.mean), ("v", fit.state.var)):
        flat = [*known[0][:, 0], *known[0][:, 1], *known[1][0]]
        np.testing.assert_allclose(found[name], flat, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["gamma"], fit.state.noise, rtol=1e-5)
    known = fit.predict(GRID[:, None])
    np.testing.assert_allclose(found["mean"], known.mean, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found["std"], known.epistemic_std, rtol=1e-4)
    assert found["noise"] == pytest.approx(fit.noise_std, rel=1e-5)
    drawn = found["lines"].reshape(12, -1)
    assert (np.abs(drawn - known.mean) < 5 * known.epistemic_std + 1).all()


def dropout_loss(w: np.ndarray) -> float:
    """Return the expected loss of MC dropout, in closed form."""
    h, prior = units(w, X), densities.Gaussian(SIGMA)
    spread = ((h[:, :20] * w[40:60]) ** 2).sum(1) * RATE / (1 - RATE)
    misfit = 0.5 * (((Y - h @ w[40:]) ** 2 + spread) / NOISE**2).sum()
    there = w.copy()
    there[40:60] /= 1 - RATE
    kept = np.r_[np.ones(40), np.full(20, 1 - RATE), 1.0]
    gone = prior.log_prob(np.zeros(61))
    return float(misfit - (kept * prior.log_prob(there) + (1 - kept) * gone).sum())


def test_mc_dropout_is_trained_as_far_as_in_the_package(page: Page) -> None:
    """A loss without masks, or without its prior, ends dozens of nats higher."""
    prior, mine, known = densities.Gaussian(SIGMA), [], []
    for seed in range(4):
        found = fitted(page, "dropout", seed=seed)
        mine.append(dropout_loss(found["w"]))
        options = {"noise_std": NOISE, "prior": prior, "hidden_units": (20,), "rate": RATE}
        known.append(dropout_loss(mc_dropout.fit(DATA.x, Y, **options, seed=seed).weights))
    assert np.mean(mine) == pytest.approx(np.mean(known), abs=8.0)
    h, w = units(found["w"], GRID), found["w"]
    sd = np.sqrt(((h[:, :20] * w[40:60]) ** 2).sum(1) * RATE / (1 - RATE))
    np.testing.assert_allclose(found["std"], sd, rtol=1e-9)
    np.testing.assert_allclose(found["mean"], h @ w[40:], rtol=1e-9, atol=1e-9)


def test_r_hat_is_the_packages(page: Page) -> None:
    rng = np.random.default_rng(0)
    for drift in (0.0, 0.02, 1.0):
        chains = rng.standard_normal((4, 100)) + drift * np.arange(4)[:, None]
        chains[0] *= 1 + drift
        found = page.evaluate("(c) => playground.engine.diagnose(c).rHat", chains.tolist())
        assert found == pytest.approx(mcmc.diagnose(chains[:, :, None])[0][0], rel=1e-4)


@pytest.mark.parametrize("sizes", [(1.5, 0.1, 0.3), (2.0, 2.0, 1.0)])
def test_prior_draws_have_the_packages_distribution(
    page: Page, sizes: tuple[float, float, float]
) -> None:
    std, *drawn = page.evaluate(
        """([sigma1, sigma2, pi]) => {
            const {engine} = playground, prior = engine.makePrior({sigma1, sigma2, pi});
            const next = engine.normal(5), draw = engine.uniform(9);
            return [prior.std, ...Array.from({length: 20000}, () => prior.draw(next, draw))];
        }""",
        list(sizes),
    )
    assert std == pytest.approx(densities.ScaleMixture(*sizes).std)
    w = np.linspace(-12.0, 12.0, 40001)
    density = np.exp(densities.ScaleMixture(*sizes).log_prob(w))
    below = np.cumsum(density) * (w[1] - w[0])
    assert kstest(drawn, lambda at: np.interp(at, w, below)).pvalue > 1e-3


KERNEL = """() => {
    const {engine} = playground, next = engine.normal(5), H = 6, net = engine.network([H]);
    const some = (n, make) => Float64Array.from({length: n}, make);
    let worst = 0;
    for (let trial = 0; trial < 600; trial++) {
        const n = 2 + (trial % 9), x = some(n, () => Math.round(2 * next()) / 4);
        const y = some(n, () => 5 * next()), w = some(net.nWeights, () => 3 * next());
        if (trial % 3 === 0) [w[0], w[1], w[H + 2]] = [0, -0, 0];
        const squares = engine.squares(net, x, y), slope = w.slice(), none = w.slice();
        const plain = [0, ...engine.evaluate(net, w, x)].reduce(
            (sum, f, i) => sum + 0.5 * (f - y[i - 1]) ** 2);
        worst = Math.max(worst, Math.abs(squares(w, slope) - plain) / (1 + plain));
        for (let k = 2 * H; k < net.nWeights; k++) {  // F is quadratic in these
            const by = (d) => squares(w.map((v, j) => (k === j ? v + d : v)), none);
            worst = Math.max(worst, Math.abs((by(1) - by(-1)) / 2 - slope[k]) / (1 + plain));
        }
    }
    return worst;
}"""


def test_kernel_between_kinks_equals_the_plain_sum(page: Page) -> None:
    """Also for repeated x, units that are off, and weights of 0 and −0."""
    assert page.evaluate(KERNEL) < 1e-12


def test_page_keeps_the_lowest_of_three_starts(browser: Browser) -> None:
    page, _ = opened(browser, "a=learnt&b=map&n=12")
    found, totals = page.evaluate("""() => {
        const {hidden, prior, ...given} = problem(), {seed, tie} = state;
        const full = {...given, net: engine.network(hidden), prior: engine.makePrior(prior)};
        return [panels[0].answer.total, [0, 1, 2].map((k) => {
            const fit = engine.methods.learnt(full, {seed: seed + 1000 * k, tie});
            return fit.run(fit.steps).describe(GRID).total;
        })];
    }""")
    assert found == pytest.approx(min(totals)) and max(totals) > min(totals) + 1e-3
