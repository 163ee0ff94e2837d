"""A faulty program of PBP ("the listing") that circulates, rebuilt to show its faults.

It is for teaching only; use ``pbp.fit``. The faults:

- most divisions add eps = 1e-6 to the denominator; in the update of α, this denominator is about
  1/α: so α stops at √(0.5/eps) = 707, while β and with it the noise grow without end;
- everything is float32;
- a variance that would be negative becomes 0 and stays 0;
- the moments of the ReLU lose their digits where mean/√var <= −5, and the mean turns negative;
- points come in the order of the data, and the prior of the weights is never refined.

Source: the book chapter of the course, section 5.7; Hernández-Lobato & Adams 2015 is the paper.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support import checks
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.errors import DivergedError
from bdl_teach.backend import Tensor, as_float, tf, tfd
from bdl_teach.methods.pbp import Fit
from bdl_teach.methods.pbp._loop import PRIOR_ALPHA, PRIOR_BETA, Scaling, State
from bdl_teach.methods.pbp._moments import gamma_update, linear_moments

REMEDY = "this listing is faulty: use pbp.fit"
N_RECORDS = 40  # of the history in an epoch
NOISE_UPDATES = ("listing", "stable")
_EPS = 1e-6


def fit(
    x: ArrayLike,
    y: ArrayLike,
    *,
    hidden_units: tuple[int, ...] = (50, 50),
    epochs: int = 1,
    noise_update: str = "listing",
    eps: float = _EPS,
    seed: int = 0,
) -> Fit:
    """Fit PBP with the faults of the listing.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        hidden_units: Width of each hidden ReLU layer.
        epochs: Passes over the data, in their order.
        noise_update: ``"listing"``, or ``"stable"`` to update α and β by ``pbp.gamma_update`` in
            float64 and leave all other faults.
        eps: Number that the listing adds to the denominators of the noise update, >= 0.
        seed: Seed of the starting point.

    Returns:
        A :class:`pbp.Fit` with ``history``: ``points`` learned so far, ``alpha``, ``beta`` and
        ``noise_std`` in the units of y. Its ``predict`` uses the correct moments.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The weights became NaN or infinite.
    """
    x, y = checks.regression_data(x, y)
    widths = checks.layer_widths("hidden_units", hidden_units)
    program = _program(checks.choice("noise_update", noise_update, NOISE_UPDATES))
    scaling = Scaling.of(x, y)
    state = _initial_state((x.shape[1], *widths, 1), checks.count("seed", seed, 0))
    data = (as_float(scaling.inputs(x)), as_float(scaling.targets(y)[:, None]))
    slack = as_float(checks.non_negative("eps", eps))
    stops = np.linspace(0, len(x), N_RECORDS + 1).astype(np.int32)
    records = []
    for epoch in range(checks.count("epochs", epochs)):
        for start, stop in zip(stops[:-1], stops[1:], strict=True):
            state = program(state, *data, tf.constant(start), tf.constant(stop), slack)
            records.append((epoch * len(x) + stop, *state.noise.numpy()))
        if not all(np.isfinite(m).all() for m in state.mean):
            raise DivergedError((epoch + 1) * len(x), REMEDY)
    points, alpha, beta = np.array(records).T
    noise_std = np.sqrt(beta / (alpha - 1.0)) * scaling.y_std
    history = {"points": points, "alpha": alpha, "beta": beta, "noise_std": noise_std}
    double = tf.nest.map_structure(lambda t: t.numpy().astype(np.float64), state)
    return Fit(double, scaling, history)


@lru_cache(maxsize=8)
def _program(noise_update: str) -> Compiled:
    def run(state: State, x: Tensor, y: Tensor, start: Tensor, stop: Tensor, eps: Tensor) -> Tensor:
        def learn(i: Tensor, state: State) -> tuple[Tensor, State]:
            row = tf.gather(x, [i]), tf.gather(y, [i])  # a slice would have no fixed shape
            return i + 1, _learn(state, *row, eps, noise_update)

        _, state = tf.while_loop(lambda i, _: i < stop, learn, (start, state))
        return state

    return Compiled(run)


def _learn(state: State, x: Tensor, y: Tensor, eps: Tensor, noise_update: str) -> State:
    parameters = (state.mean, state.var)
    alpha, beta = (tf.cast(state.noise[i], tf.float32) for i in range(2))
    with tf.GradientTape() as tape:
        tape.watch(parameters)
        f_mean, f_var = _forward(x, *parameters)
        total = f_var + _safe_divide(beta, alpha - 1.0)
        square = (y[0, 0] - f_mean) ** 2
        score = -0.5 * square / (total + _EPS) - 0.5 * tf.math.log(total + _EPS)
    d_mean, d_var = tape.gradient(score, parameters)
    steps = list(zip(state.mean, state.var, d_mean, d_var, strict=True))
    mean = tuple(m + v * dm for m, v, dm, _ in steps)
    var = tuple(tf.maximum(v - v**2 * (dm**2 - 2.0 * dv), 0.0) for _, v, dm, dv in steps)
    if noise_update == "stable":
        double = (tf.cast(t, tf.float64) for t in (y[0, 0] - f_mean, f_var))
        noise = gamma_update(state.noise[0], state.noise[1], *double)
    else:
        noise = _update_noise(alpha, beta, square, f_var, total, eps)
    return state._replace(mean=mean, var=var, noise=tf.cast(tf.stack(noise), tf.float64))


def _update_noise(
    alpha: Tensor, beta: Tensor, square: Tensor, f_var: Tensor, total: Tensor, eps: Tensor
) -> tuple[Tensor, Tensor]:
    """Return α and β after a point with squared error ``square`` and variance ``total`` of y."""
    one = f_var + _safe_divide(beta, alpha, eps)
    two = f_var + beta / (alpha + 1.0)
    l21, l10 = _log_ratio(square, two, one, eps), _log_ratio(square, one, total, eps)
    ratio = _bounded_exp(l21 - l10)  # Z Z₂ / Z₁²
    if_up = _bounded_exp(l21) * (alpha + 1.0 - _bounded_exp(l10 - l21) * alpha)
    if_down = _bounded_exp(l10) * (ratio * (alpha + 1.0) - alpha)
    rate = tf.maximum(tf.where(l21 >= l10, if_up, if_down), 0.0)
    growth = tf.maximum(ratio * _safe_divide(alpha + 1.0, alpha, eps) - 1.0, 0.0)
    return _safe_divide(1.0, growth, eps), _safe_divide(beta, rate, eps)


def _forward(x: Tensor, mean: Tensor, var: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and variance of the network's output for one point ``x`` [1, d]."""
    z_mean, z_var = x, tf.zeros_like(x)
    for weight_mean, weight_var in zip(mean[:-1], var[:-1], strict=True):
        z_mean, z_var = relu_moments(*linear_moments(z_mean, z_var, weight_mean, weight_var))
    f_mean, f_var = linear_moments(z_mean, z_var, mean[-1], var[-1])
    return f_mean[0, 0], f_var[0, 0]


def relu_moments(mean: Tensor, var: Tensor) -> tuple[Tensor, Tensor]:
    """Return a rectified Gaussian's mean (which can be < 0: see the faults above) and variance."""
    normal = tfd.Normal(tf.zeros([], mean.dtype), 1.0)
    std = tf.sqrt(tf.maximum(var, 0.0))
    alpha = _safe_divide(mean, std)
    inverse = _safe_divide(1.0, alpha)
    above = normal.cdf(alpha)
    far = -alpha + inverse * (2.0 * inverse**2 - 1.0)
    gamma = tf.where(alpha < -30.0, far, _safe_divide(normal.prob(alpha), above))
    inner = mean + std * gamma
    out = above * inner
    spread = above * var * (1.0 - gamma * (gamma + alpha))
    return out, out * inner * normal.cdf(-alpha) + spread


def _log_ratio(square: Tensor, v1: Tensor, v2: Tensor, eps: Tensor) -> Tensor:
    """Return log N(r | 0, v1) − log N(r | 0, v2) for r² = ``square``."""
    quadratic = 0.5 * square * _safe_divide(v2 - v1, v1 * v2, eps)
    return -quadratic - 0.5 * tf.math.log(_safe_divide(v1, v2, eps) + eps)


def _safe_divide(a: Tensor, b: Tensor, eps: Tensor = _EPS) -> Tensor:
    return a / tf.where(b >= 0.0, b + eps, b - eps)


def _bounded_exp(value: Tensor) -> Tensor:
    return tf.exp(tf.minimum(value, 20.0))


def _initial_state(sizes: tuple[int, ...], seed: int) -> State:
    rng, mean, var = np.random.default_rng(seed), [], []
    for n_in, n_out in zip(sizes[:-1], sizes[1:], strict=True):
        scale = np.sqrt(2.0 / np.array([n_in] * n_in + [n_out]))  # He, biases by their own number
        mean.append(as_float(scale * rng.standard_normal((n_out, n_in + 1))))
        var.append(as_float(1.0 / rng.gamma(PRIOR_ALPHA, 1.0 / PRIOR_BETA, (n_out, n_in + 1))))
    prior = tf.constant([PRIOR_ALPHA, PRIOR_BETA], tf.float64)
    factors = tf.zeros([sum(m.shape.num_elements() for m in mean), 4], tf.float64)  # none
    return State(tuple(mean), tuple(var), prior, prior, factors)
