"""Newton's method to reach a mode of a network, which saves thousands of steps of Adam.

The cost U(w) = −log P(D | w) − log P(w) of a ReLU network has minima at kinks: there a
unit's pre-activation z is 0 at a data point, and no parabola fits U. So the ReLU is smoothed,

    relu(z) ≈ τ log(1 + e^(z/τ)),   slope s = 1/(1 + e^(−z/τ)),   curvature s (1 − s)/τ,

and τ is lowered in steps. The Newton steps use the parts of U's curvature that are never negative:

    H = Σ_i h_i g_i g_iᵀ + diag(δ) + Σ max(0, ∂U/∂relu(z)) s (1 − s)/τ ∇z ∇zᵀ.

The first two terms are the Λ of ``laplace``, which defines h, g and δ. The third term is the
curvature of the smoothed kinks, summed over units and data points; ∇z is the gradient of z by the
unit's own weights only.

Source: Nocedal & Wright 2006, "Numerical optimization", section 10.3 (Levenberg and Marquardt);
Chen & Mangasarian 1996, "A class of smoothing functions".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from threadpoolctl import ThreadpoolController

from bdl_teach._support.checks import Array
from bdl_teach.densities import HALF_LOG_TWO_PI, Prior
from bdl_teach.mlp import MLP

ROUNDED = (0.1, 0.01, 0.001)  # τ divided by the root mean square of a layer's z, in turn
LARGEST = 1000  # number of weights, at most: the time of a step grows as its cube
_STEPS = 20  # Newton steps for each τ, at most
_NIL = 1e-4  # expected gain of a step in nats, below which the search stops
_FLAT = 0.1  # nats that the end may be above the start, because of the last rounding
_STIFFEST = 1e8  # damping at which the search gives up
_blas = lru_cache(maxsize=1)(ThreadpoolController)  # to look for the libraries takes long


class Target(NamedTuple):
    """Network, data, prior and noise: together the posterior P(w | D) whose mode is sought."""

    network: MLP  # with one output
    x: Array  # [n, d]
    y: Array  # [n, 1]
    prior: Prior
    noise_std: float
    likelihood: str

    def cost(self, f: Array, w: Array) -> float:
        """Return −log P(D, w) in nats for outputs f ``[n]`` and weights w ``[k]``."""
        y = self.y[:, 0]
        if self.likelihood == "bernoulli":
            misfit = np.logaddexp(0.0, f) - y * f
        else:
            misfit = 0.5 * ((y - f) / self.noise_std) ** 2 + math.log(self.noise_std)
            misfit += HALF_LOG_TWO_PI
        log_prior = np.logaddexp(*self.prior.log_components(w))
        return float(misfit.sum() - log_prior.sum())

    def by_output(self, f: Array) -> tuple[Array, Array]:
        """Return ∂ log P(y | f)/∂f and h = −∂² log P(y | f)/∂f² at outputs f, each ``[n]``."""
        y = self.y[:, 0]
        if self.likelihood == "bernoulli":
            p = expit(f)
            return y - p, p * (1.0 - p)
        return (y - f) / self.noise_std**2, np.full(len(f), self.noise_std**-2)


class Pass(NamedTuple):
    """The activations of a network at n inputs; each list has an entry for each layer."""

    matrices: list[Array]  # [out, in]: weights without biases
    below: list[Array]  # [n, in]: inputs of the layer
    z: list[Array]  # [n, units]: pre-activations of each hidden layer
    slopes: list[Array]  # [n, units]: of each hidden unit's ReLU at its pre-activation
    f: Array  # [n]: outputs

    def jacobian(self, n_layers: int | None = None) -> Array:
        """Return ∂f/∂w ``[n, k]`` for the weights of the ``n_layers`` last layers, or of all."""
        columns: list[Array] = []
        slope = np.ones((len(self.f), 1))  # ∂f/∂(output of the layer) [n, out]
        last = len(self.matrices) - 1
        for k in range(last, -1 if n_layers is None else max(last - n_layers, -1), -1):
            by_weight = (slope[:, :, None] * self.below[k][:, None]).reshape(len(slope), -1)
            columns = [by_weight, slope, *columns]
            if k:
                slope = slope @ self.matrices[k] * self.slopes[k - 1]
        return np.hstack(columns)


def forward(network: MLP, w: Array, x: Array, tau: Sequence[float] = ()) -> Pass:
    """Evaluate a network at weights w ``[n_weights]`` and inputs x ``[n, d]``, in float64.

    ``tau`` holds for each hidden layer the width τ of its smoothed ReLU; () is the ReLU itself.
    """
    parts = network.split(w)
    matrices, biases = parts[::2], parts[1::2]
    below, pre_activations, slopes = [x], [], []
    for k, (weight, bias) in enumerate(zip(matrices[:-1], biases[:-1], strict=True)):
        z = below[-1] @ weight.T + bias[:, 0]  # [n, units]
        pre_activations.append(z)
        below.append(tau[k] * np.logaddexp(0.0, z / tau[k]) if tau else np.maximum(0.0, z))
        slopes.append(expit(z / tau[k]) if tau else (z > 0).astype(float))
    f = below[-1] @ matrices[-1].T + biases[-1][:, 0]
    return Pass(matrices, below, pre_activations, slopes, f[:, 0])


def gradient(target: Target, w: Array, smoothed: bool) -> Array:
    """Return ∂U/∂w ``[n_weights]``; if ``smoothed``, for ReLUs smoothed with the smallest τ."""
    tau = [float(size) for size in ROUNDED[-1] * _sizes(target, w)] if smoothed else []
    p = forward(target.network, w, target.x, tau)
    slope, _ = target.by_output(p.f)
    return np.asarray(target.prior.precision(w) * w - slope @ p.jacobian())


def _sizes(target: Target, w: Array) -> Array:
    """Return the root mean square of each hidden layer's pre-activations ``[layers]``."""
    now = forward(target.network, w, target.x)
    return np.array([np.sqrt(np.mean(z**2)) or 1.0 for z in now.z])


def to_mode(target: Target, start: Array) -> Array:
    """Return a mode of P(w | D) ``[n_weights]`` near ``start``, found by Newton steps.

    The result is ``start`` if the network has more than ``LARGEST`` weights, or if −log P(D, w)
    has risen by ``_FLAT`` nats or more. (It can rise a little, since the ReLUs are smoothed.)
    """
    network, w = target.network, start
    if network.n_weights > LARGEST:
        return start
    size = _sizes(target, start)
    with _blas().limit(limits=1, user_api="blas"):  # more threads only wait for each other
        for rounded in ROUNDED:
            w = _descend(target, w, [float(tau) for tau in rounded * size])
    at_start, at_end = (target.cost(forward(network, v, target.x).f, v) for v in (start, w))
    return w if at_end < at_start + _FLAT else start


def _descend(target: Target, w: Array, tau: Sequence[float]) -> Array:
    """Lower U by Newton steps from w, and return the weights; ``tau`` as in :func:`forward`."""

    def look(w: Array) -> tuple[Pass, float]:
        p = forward(target.network, w, target.x, tau)
        return p, target.cost(p.f, w)

    (now, cost), damping = look(w), 0.1
    for _ in range(_STEPS):
        slope, h = target.by_output(now.f)
        rows, delta = now.jacobian(), target.prior.precision(w)
        downhill = slope @ rows - delta * w
        curvature = (rows.T * h) @ rows + np.diag(delta)
        _add_kinks(curvature, now, slope, target.network, tau)
        while damping < _STIFFEST:
            damped = curvature + np.diag(damping * delta)
            step = cho_solve(cho_factor(damped, check_finite=False), downhill, check_finite=False)
            then, lower = look(w + step)
            if lower <= cost:
                break
            damping *= 5.0
        else:
            break
        w, now, cost, damping = w + step, then, lower, max(damping / 4.0, 1e-7)
        if 0.5 * downhill @ step < _NIL:
            break
    return w


def _add_kinks(curvature: Array, p: Pass, slope: Array, network: MLP, tau: Sequence[float]) -> None:
    """Add the third term of H (see the module's docstring) to ``curvature``, in place."""
    cost = -slope[:, None]  # ∂U/∂(output of the layer) [n, out]
    for k in range(len(tau) - 1, -1, -1):
        cost = cost @ p.matrices[k + 1]  # [n, units]
        s = p.slopes[k]
        sharp = np.maximum(cost, 0.0) * s * (1.0 - s) / tau[k]
        given = np.hstack([p.below[k], np.ones((len(s), 1))])  # [n, in + 1]
        blocks = (sharp.T[:, None] * given.T) @ given  # [units, in + 1, in + 1]
        own = _units(network, k)
        curvature[own[:, :, None], own[:, None, :]] += blocks
        cost = cost * s


@lru_cache(maxsize=64)
def _units(network: MLP, k: int) -> Array:
    """Return the indices of each unit's weights in layer k, the bias last ``[units, in + 1]``."""
    return np.hstack(network.split(np.arange(network.n_weights))[2 * k : 2 * k + 2])
