"""Float64 references: each method with the same noise, but every cost and step written out.

A reference has no padding, chunks or compiled loop. A wrong share of the KL, minibatch or draw
makes the fit differ from it at once.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

from bdl_teach.backend import tf, tfd
from bdl_teach.densities import Gaussian, Prior, ScaleMixture
from bdl_teach.methods import _rao_blackwell, bbb, empirical_bayes, local_reparam, mc_dropout, point
from bdl_teach.methods._loop import Capacity, Plan, lay_out, row_noise
from bdl_teach.methods._settings import Training
from bdl_teach.mlp import MLP

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(7, 2)), RNG.normal(size=(7, 1))
LABELS = np.float64(Y > 0)
NETWORK = MLP(2, (3,))
ROOM = Capacity(11, (5,), 3, chunk=3)  # four chunks, the third half empty, the fourth empty
STEPS, SEED = 5, 4
PLAN: dict[str, Any] = {
    "hidden_units": (3,),
    "noise_std": 0.5,
    "steps": STEPS,
    "learning_rate": 0.05,
    "cooldown": 0.6,
    "seed": SEED,
}


@dataclass(frozen=True)
class Reference:
    """A reference computation: parameters, draws per step and KL shares."""

    parameters: list[np.ndarray]
    n_samples: int = 1
    shares: tuple[float, ...] = (1.0,)  # of the KL, minibatch by minibatch
    kl_weight: float = 1.0
    records: list[list[float]] = field(default_factory=list)

    def run(self, kl: Any, nll: Any) -> list[np.ndarray]:
        """Take Adam's steps; ``kl(theta, draw)`` and ``nll(theta, draw, points)`` are the costs."""
        theta = [np.float64(p) for p in self.parameters]
        moments = [[0.0 * p, 0.0 * p] for p in theta]
        for t in range(STEPS):
            gradients, _ = self._costs(theta, t, kl, nll)
            left = (STEPS - t) / STEPS / PLAN["cooldown"]
            rate = PLAN["learning_rate"] * min(1.0, left)
            for k, g in enumerate(gradients):
                m, v = moments[k]
                moments[k] = m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
                size = rate * np.sqrt(1 - 0.999 ** (t + 1)) / (1 - 0.9 ** (t + 1))
                theta[k] = theta[k] - size * m / (np.sqrt(v) + 1e-7)
            self.records.append(self._costs(theta, t, kl, nll)[1])
        return theta

    def _costs(self, theta: Any, t: int, kl: Any, nll: Any) -> tuple[list[np.ndarray], list[float]]:
        """Return the gradient of step t's loss, and (free energy, KL, likelihood) of all data."""
        n_batches = len(self.shares)
        points = [i for i in range(len(X)) if i % n_batches == t % n_batches]
        draws = [t + 97 * s for s in range(self.n_samples)]
        with tf.GradientTape() as tape:
            theta = [tf.constant(p) for p in theta]
            tape.watch(theta)
            complexity = sum(kl(theta, draw) for draw in draws) / len(draws)
            likelihood = sum(nll(theta, draw, points) for draw in draws) / len(draws)
            loss = self.kl_weight * self.shares[t % n_batches] * complexity + likelihood
        gradients = [g.numpy() for g in tape.gradient(loss, theta)]
        whole = n_batches * float(likelihood)
        total = self.kl_weight * float(complexity) + whole
        return gradients, [total, float(complexity), whole]

    def assert_same(
        self,
        parameters: list[np.ndarray],
        fit: Any,
        names: tuple[str, ...],
        network: MLP = NETWORK,
    ) -> None:
        for ours, theirs in zip(parameters, self.fitted(fit), strict=True):
            np.testing.assert_allclose(theirs, ours, rtol=2e-3, atol=2e-4)
        assert (fit.noise_std, fit.network) == (PLAN["noise_std"], network)
        np.testing.assert_array_equal(fit.history["step"], np.arange(1, STEPS + 1))
        for name, column in zip(names, np.transpose(self.records), strict=True):
            np.testing.assert_allclose(fit.history[name], column, rtol=2e-3, err_msg=name)

    @staticmethod
    def fitted(fit: Any) -> list[np.ndarray]:
        if isinstance(fit, point.Fit | mc_dropout.Fit):
            return [fit.weights]
        if isinstance(fit, empirical_bayes.Fit):
            return [fit.gamma, fit.std]
        return [fit.mean, fit.std]


def plan_of(network: MLP, n_samples: int = 1) -> Plan:
    """Lay out a problem without padding, for its start and its noise."""
    settings = Training(hidden_units=network.hidden_units, steps=STEPS, seed=SEED)
    return lay_out(X, Y, settings, None, n_samples, draws_weights=True)


COSTS = ("free_energy", "complexity_cost", "likelihood_cost")


def layers(w: Any, sizes: tuple[int, ...] = NETWORK.sizes) -> Iterator[tuple[Any, Any]]:
    """Split a flat vector into weights ``[in, out]`` and biases ``[out]``."""
    for n_in, n_out in itertools.pairwise(sizes):
        n = n_in * n_out
        yield tf.transpose(tf.reshape(w[:n], (n_out, n_in))), w[n : n + n_out]
        w = w[n + n_out :]


def shared_output(mu: Any, std: Any, eps: Any, _zeta: Any, x: Any) -> Any:
    """Return outputs ``[n]`` for one draw of the weights, shared by all points."""
    h = tf.constant(x)
    for i, (weight, bias) in enumerate(layers(mu + std * eps)):
        h = tf.matmul(tf.nn.relu(h) if i else h, weight) + bias
    return h[:, 0]


def local_output(mu: Any, std: Any, _eps: Any, zeta: Any, x: Any) -> Any:
    """Return outputs ``[n]`` with pre-activations drawn for each point; ζ is ``[n, units]``."""
    h, spreads = tf.constant(x), layers(std)
    for i, (weight, bias) in enumerate(layers(mu)):
        h = tf.nn.relu(h) if i else h
        width, bias_std = next(spreads)
        own, zeta = zeta[:, : weight.shape[1]], zeta[:, weight.shape[1] :]
        variance = tf.matmul(h**2, width**2) + bias_std**2
        h = tf.matmul(h, weight) + bias + tf.sqrt(tf.maximum(variance, 1e-30)) * own
    return h[:, 0]


def flipout_output(mu: Any, std: Any, eps: Any, zeta: Any, x: Any) -> Any:
    """Return outputs ``[n]``: each point has W = μ + s ⊙ σε ⊙ r, and biases flipped by r alone."""
    sign = np.where(zeta < 0, -1.0, 1.0)  # [n, units]: r of both layers, then s of both
    r, s = (sign[:, :3], sign[:, 3:4]), (sign[:, 4:6], sign[:, 6:9])
    outputs = []
    for j, row in enumerate(x):
        h, changes = tf.constant(row), layers(std * eps)
        for i, (weight, bias) in enumerate(layers(mu)):
            h = tf.nn.relu(h) if i else h
            change, bias_change = next(changes)
            own = weight + s[i][j][:, None] * change * r[i][j]
            h = tf.linalg.matvec(own, h, transpose_a=True) + bias + r[i][j] * bias_change
        outputs.append(h[0])
    return tf.stack(outputs)


OUTPUT = {"bbb": shared_output, "shared": shared_output, "local": local_output}
OUTPUT["flipout"] = flipout_output


def noise(estimator: str, n_samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the start, the table of ε, and that of ζ ``[rows, n, units]`` (may be empty)."""
    plan = plan_of(NETWORK, n_samples)
    eps = np.float64(plan.inputs.eps)
    if OUTPUT[estimator] is shared_output:
        return plan.draw, eps, np.zeros((len(eps), len(X), 0))
    widths = partial(local_reparam.noise_widths, estimator)
    zeta = np.float64(row_noise(plan, widths))[:, 0]
    return plan.draw, eps, np.swapaxes(zeta, 1, 2)


def nll_of(likelihood: str, f: Any, points: list[int]) -> Any:
    if likelihood == "bernoulli":
        return -tf.reduce_sum(tfd.Bernoulli(logits=f).log_prob(LABELS[points, 0]))
    return -tf.reduce_sum(tfd.Normal(f, np.float64(PLAN["noise_std"])).log_prob(Y[points, 0]))


def log_density(prior: Prior, w: Any) -> Any:
    sigma1, sigma2, pi = prior.mixture
    parts = tfd.Normal(np.zeros(2), np.array([sigma1, sigma2]))
    return tfd.MixtureSameFamily(tfd.Categorical(probs=np.array([pi, 1.0 - pi])), parts).log_prob(w)


MIXTURE = ScaleMixture(1.5, 0.1, 0.3)
GEOMETRIC = (4 / 7, 2 / 7, 1 / 7)
MEAN_FIELD = [
    ("bbb", MIXTURE, 2, GEOMETRIC, 0.7, ROOM),
    ("local", Gaussian(0.8), 2, GEOMETRIC, 0.7, ROOM),
    ("flipout", Gaussian(0.8), 3, (0.25,) * 4, 0.0, ROOM),
]


@pytest.mark.parametrize(
    ("estimator", "prior", "n_samples", "shares", "kl_weight", "capacity"), MEAN_FIELD, ids=str
)
def test_mean_field_fit_equals_float64_reference(
    estimator, prior, n_samples, shares, kl_weight, capacity
):
    """Covers steps, minibatches, KL shares, draws, chunks, padding and records."""
    start, eps, zeta = noise(estimator, n_samples)

    def kl(theta, draw):
        mu, std = theta[0], tf.nn.softplus(theta[1])
        if estimator != "bbb" and isinstance(prior, Gaussian):
            other = tfd.Normal(np.float64(0.0), np.float64(prior.sigma))
            return tf.reduce_sum(tfd.kl_divergence(tfd.Normal(mu, std), other))
        w = mu + std * eps[draw]
        # log q along the path: its score is left in, as in eq. 3 and 4
        return tf.reduce_sum(tfd.Normal(mu, std).log_prob(w) - log_density(prior, w))

    def nll(theta, draw, points):
        std = tf.nn.softplus(theta[1])
        f = OUTPUT[estimator](theta[0], std, eps[draw], zeta[draw][points], X[points])
        return nll_of("gaussian", f, points)

    scale = 0.6
    reference = Reference(
        [scale * prior.std * start, np.full(13, -1.5)], n_samples, shares, kl_weight
    )
    mu, rho = reference.run(kl, nll)
    options = {"prior": prior, "n_samples": n_samples, "kl_weight": kl_weight, "initial_rho": -1.5}
    options["start_scale"] = scale
    options |= {"n_batches": len(shares), "capacity": capacity, **PLAN}
    options["kl_scheme"] = "geometric" if shares is GEOMETRIC else "uniform"
    if estimator == "bbb":
        fit = bbb.fit(X, Y, **options)
    else:
        fit = local_reparam.fit(X, Y, estimator=estimator, **options)
    reference.assert_same([mu, np.logaddexp(0.0, rho)], fit, COSTS)


def quiet_moments(network: MLP, mu: Any, std: Any, zeta: Any, x: Any) -> tuple[Any, Any]:
    """Return mean and variance ``[n]`` of the output; hidden layers but the last are drawn."""
    unit, h, var = tfd.Normal(np.float64(0.0), np.float64(1.0)), tf.constant(x), tf.zeros_like(x)
    pairs = zip(layers(mu, network.sizes), layers(std, network.sizes), strict=True)
    for i, ((weight, bias), (width, bias_std)) in enumerate(pairs, start=1):
        mean = tf.matmul(h, weight) + bias
        second = tf.matmul(h**2 + var, weight**2 + width**2) + bias_std**2  # of each w h, squared
        spread = second - tf.matmul(h**2, weight**2)
        if i == len(network.sizes) - 1:
            return mean[:, 0], spread[:, 0]
        if i < len(network.sizes) - 2:
            own, zeta = zeta[:, : mean.shape[1]], zeta[:, mean.shape[1] :]
            h, var = tf.nn.relu(mean + tf.sqrt(spread) * own), 0.0
        else:
            alpha = mean / tf.sqrt(spread)
            h = mean * unit.cdf(alpha) + tf.sqrt(spread) * unit.prob(alpha)
            var = mean * h + spread * unit.cdf(alpha) - h**2
    raise AssertionError("no layer")


DEEP = MLP(2, (3, 2))
QUIET = [
    (NETWORK, MIXTURE, 1, GEOMETRIC, 0.7, ROOM),
    (DEEP, Gaussian(0.8), 2, GEOMETRIC, 0.7, Capacity(11, (5, 4), 3, chunk=3)),
]


@pytest.mark.parametrize(
    ("network", "prior", "n_samples", "shares", "kl_weight", "capacity"), QUIET, ids=str
)
def test_quiet_fit_equals_float64_reference(network, prior, n_samples, shares, kl_weight, capacity):
    """Closed-form averages are replaced by quadrature or TFP's Gaussian KL."""
    plan = plan_of(network, n_samples)
    table = row_noise(plan, _rao_blackwell.noise_widths)
    zeta = np.zeros((9999, len(X), 0))
    if len(network.hidden_units) > 1:
        zeta = np.swapaxes(np.float64(table)[:, 0], 1, 2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(300)
    offset, wide, heights, rates = prior.terms

    def kl(theta, _draw):
        q = tfd.Normal(theta[0], tf.nn.softplus(theta[1]))
        if isinstance(prior, Gaussian):
            other = tfd.Normal(np.float64(0.0), np.float64(prior.sigma))
            return tf.reduce_sum(tfd.kl_divergence(q, other))
        square = (q.loc[:, None] + q.scale[:, None] * nodes) ** 2
        log_prior = offset - 0.5 * square / wide**2
        for c, k in zip(heights, rates, strict=True):
            log_prior += c * tf.exp(-0.5 * k * square)
        mean = tf.linalg.matvec(log_prior, weights / weights.sum())
        return -tf.reduce_sum(q.entropy() + mean)

    def nll(theta, draw, points):
        std = tf.nn.softplus(theta[1])
        mean, var = quiet_moments(network, theta[0], std, zeta[draw][points], X[points])
        return nll_of("gaussian", mean, points) + tf.reduce_sum(var) / 2 / PLAN["noise_std"] ** 2

    reference = Reference(
        [0.3 * prior.std * plan.draw, np.full(network.n_weights, -1.5)],
        n_samples,
        shares,
        kl_weight,
    )
    mu, rho = reference.run(kl, nll)
    options = {**PLAN, "prior": prior, "n_samples": n_samples, "kl_weight": kl_weight}
    options |= {"hidden_units": network.hidden_units, "n_batches": len(shares)}
    options |= {"capacity": capacity, "initial_rho": -1.5, "estimator": "quiet"}
    options["kl_scheme"] = "geometric" if shares is GEOMETRIC else "uniform"
    fit = local_reparam.fit(X, Y, **options)
    reference.assert_same([mu, np.logaddexp(0.0, rho)], fit, COSTS, network)


EMPIRICAL = [
    ("weight", "local", "gamma", "gaussian", False, 2, ROOM),
    ("all", "shared", "gamma", "bernoulli", False, 1, None),
    ("layer", "local", "mu", "bernoulli", True, 2, ROOM),
    ("all", "quiet", "mu", "gaussian", False, 1, ROOM),
]


@pytest.mark.parametrize(
    ("tie", "estimator", "coordinates", "likelihood", "biases", "n_samples", "capacity"),
    EMPIRICAL,
    ids=str,
)
def test_empirical_bayes_fit_equals_float64_reference(
    tie, estimator, coordinates, likelihood, biases, n_samples, capacity
):
    """Each group's prior is N(0, mean of μ² + σ²), a function of μ and σ."""
    start, eps, zeta = noise("shared" if estimator == "quiet" else estimator, n_samples)
    is_bias = np.array([0] * 6 + [1] * 3 + [0] * 3 + [1])
    used = np.float64(biases | (is_bias == 0))
    unit = np.array([2.0] * 9 + [3.0] * 4) ** -0.5
    group = {"weight": np.arange(13), "layer": np.array([0] * 9 + [1] * 4), "all": np.zeros(13)}
    alike = used * (group[tie] == group[tie][:, None])
    average = alike / np.maximum(alike.sum(axis=1, keepdims=True), 1.0)  # over a prior's weights

    def moments(theta):
        std = used * unit * tf.nn.softplus(theta[1])
        return theta[0] * (std if coordinates == "gamma" else used * unit), std

    def kl(theta, _draw):
        mu, std = (tf.boolean_mask(v, used == 1) for v in moments(theta))
        shared = tf.linalg.matvec(average[np.ix_(used == 1, used == 1)], mu**2 + std**2)
        prior = tfd.Normal(np.float64(0.0), tf.sqrt(shared))
        return tf.reduce_sum(tfd.kl_divergence(tfd.Normal(mu, std), prior))

    def nll(theta, draw, points):
        if estimator == "quiet":
            mean, var = quiet_moments(NETWORK, *moments(theta), None, X[points])
            return nll_of(likelihood, mean, points) + tf.reduce_sum(var) / 2 / noise_var
        f = OUTPUT[estimator](*moments(theta), eps[draw], zeta[draw][points], X[points])
        return nll_of(likelihood, f, points)

    noise_var, in_std = PLAN["noise_std"] ** 2, coordinates == "gamma"
    place = 1.7 * start * (1.0 if in_std else np.logaddexp(0.0, -0.5))
    reference = Reference([place, np.full(13, -0.5)], n_samples)
    place, rho = reference.run(kl, nll)
    gamma = place if in_std else place / np.logaddexp(0.0, rho)
    options = {"initial_gamma": 1.7, "initial_rho": -0.5, "n_samples": n_samples, **PLAN}
    options |= {"tie": tie, "estimator": estimator, "biases": biases, "capacity": capacity}
    options["coordinates"] = coordinates
    y = LABELS if likelihood == "bernoulli" else Y
    fit = empirical_bayes.fit(X, y, likelihood=likelihood, **options)
    std = used * unit * np.logaddexp(0.0, rho)
    reference.assert_same([used * gamma, std], fit, COSTS)
    np.testing.assert_allclose(fit.mean, fit.gamma * fit.std, rtol=1e-12)
    shared = np.sqrt(average @ (fit.mean**2 + fit.std**2))
    np.testing.assert_allclose(fit.prior_std, used * shared, rtol=1e-12)


@pytest.mark.parametrize(
    ("likelihood", "prior", "decay"),
    [("gaussian", MIXTURE, 0.0), ("bernoulli", None, 3.0)],
    ids=str,
)
def test_point_estimate_equals_float64_reference(likelihood, prior, decay, monkeypatch):
    monkeypatch.setitem(PLAN, "cooldown", 0.25)  # fixed for this method
    options = {k: v for k, v in PLAN.items() if k != "cooldown"}
    options |= {"prior": prior, "weight_decay": decay, "likelihood": likelihood}
    y = LABELS if likelihood == "bernoulli" else Y
    start = point.fit(X, y, **(options | {"learning_rate": 1e-12})).weights

    def cost(theta, _draw):
        decayed = 0.5 * decay * tf.reduce_sum(theta[0] ** 2)
        return decayed - (0.0 if prior is None else tf.reduce_sum(log_density(prior, theta[0])))

    def nll(theta, draw, points):
        f = shared_output(theta[0], np.zeros(13), np.zeros(13), None, X[points])
        return nll_of(likelihood, f, points)

    reference = Reference([start])
    weights = reference.run(cost, nll)
    fit = point.fit(X, y, **options)
    reference.assert_same(weights, fit, ("loss", "prior_cost", "likelihood_cost"))


DROPOUT = [
    (NETWORK, "gaussian", MIXTURE, 0.4, ROOM),
    (DEEP, "bernoulli", Gaussian(0.8), 0.2, None),
]


@pytest.mark.parametrize(("network", "likelihood", "prior", "rate", "capacity"), DROPOUT, ids=str)
def test_dropout_fit_equals_float64_reference(
    network, likelihood, prior, rate, capacity, monkeypatch
):
    """Each step has one mask per point and unit; the prior counts kept and dropped weights."""
    monkeypatch.setitem(PLAN, "cooldown", 0.25)  # fixed for this method
    widths = network.hidden_units
    plan = plan_of(network)
    table = np.swapaxes(np.float64(row_noise(plan, lambda n: n.hidden_units))[:, 0], 1, 2)
    scale = (tfd.Normal(0.0, 1.0).cdf(np.float32(table)).numpy() > rate) / (1.0 - rate)
    ends = np.cumsum([(a + 1) * b for a, b in itertools.pairwise(network.sizes)])
    kept = np.ones(network.n_weights)
    for start, (n_in, n_out) in zip(ends, itertools.pairwise(network.sizes[1:]), strict=False):
        kept[start : start + n_in * n_out] = 1.0 - rate

    def cost(theta, _draw):
        if prior is None:
            return 0.0 * tf.reduce_sum(theta[0])
        there, gone = (log_density(prior, w) for w in (theta[0] / kept, 0.0 * theta[0]))
        return -tf.reduce_sum(kept * there + (1.0 - kept) * gone)

    def nll(theta, draw, points):
        h, masks = tf.constant(X[points]), np.split(scale[draw][points], np.cumsum(widths), axis=1)
        for i, (weight, bias) in enumerate(layers(theta[0], network.sizes)):
            h = tf.matmul(tf.nn.relu(h) * masks[i - 1] if i else h, weight) + bias
        return nll_of(likelihood, h[:, 0], points)

    reference = Reference([plan.draw * np.sqrt(2.0 / network.fan_in)])
    weights = reference.run(cost, nll)
    options = {k: v for k, v in PLAN.items() if k != "cooldown"} | {"hidden_units": widths}
    y = LABELS if likelihood == "bernoulli" else Y
    options |= {"prior": prior, "likelihood": likelihood, "rate": rate, "capacity": capacity}
    fit = mc_dropout.fit(X, y, **options)
    names = ("loss", "prior_cost", "likelihood_cost")
    reference.assert_same(weights, fit, names, network)
