"""The closed forms of probabilistic backpropagation, as pure functions in float64.

Moments through a linear layer and a ReLU, and two updates of assumed density filtering: of a
Gaussian weight, and of the Gamma over the noise precision. Numbers and arrays give NumPy; tensors
give tensors, which can be differentiated and compiled.

Source: Hernández-Lobato & Adams 2015.
"""

from __future__ import annotations

import math

import numpy as np

from bdl_teach.backend import Values, tf
from bdl_teach.densities import gaussian_nll, numpy_or_tensor

_SMALLEST_VAR = 1e-290  # below it α = m/√v would overflow


@numpy_or_tensor
def relu_moments(mean: Values, var: Values) -> Values:
    """Return mean and variance of max(0, a) for a ~ N(mean, var), elementwise.

    With α = m/√v: the mean is √v h(α), h(α) = φ(α) + α Φ(α), and the variance is
    v [Φ(α) − h(α) h(−α)], which loses no digits for large α and cannot be negative.

    Args:
        mean: m, any shape that broadcasts with ``var``.
        var: v >= 0.

    Returns:
        (mean, variance), both >= 0, of the broadcast shape.

    Raises:
        ValueError: A value given as a number or array is not finite, or a variance is < 0.

    Source: Hernández-Lobato & Adams 2015, eq. 17-18, in a form without γ = φ/Φ.
    """
    _check(mean=mean)
    _check(var=var, minimum=0.0)
    return _relu_moments(mean + tf.zeros_like(var), var + tf.zeros_like(mean))


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _relu_moments(m: Values, v: Values) -> Values:
    """Return what :func:`relu_moments` returns, and its gradient: autodiff would lose digits."""
    std = tf.sqrt(tf.maximum(v, _SMALLEST_VAR))
    alpha = m / std
    density = 1.0 / math.sqrt(2.0 * math.pi) * tf.exp(-0.5 * alpha**2)
    tail = 0.5 * tf.math.erfc(math.sqrt(0.5) * tf.abs(alpha))
    above = tf.where(alpha > 0, 1.0 - tail, tail)  # P(a > 0) = Φ(α)
    below = tf.where(alpha > 0, tail, 1.0 - tail)
    h_plus = tf.maximum(density + alpha * above, 0.0)
    h_minus = tf.maximum(density - alpha * below, 0.0)
    mean, var = std * h_plus, v * tf.maximum(above - h_plus * h_minus, 0.0)

    def gradient(d_mean: Values, d_var: Values) -> tuple[Values, Values]:
        d_m = d_mean * above + d_var * 2.0 * mean * below
        d_v = d_mean * 0.5 * density / std + d_var * (above - h_plus * density)
        return d_m, d_v

    return (mean, var), gradient


@numpy_or_tensor
def linear_moments(mean: Values, var: Values, weight_mean: Values, weight_var: Values) -> Values:
    """Return mean and variance of a = W [z, 1] / √(in + 1), with independent Gaussian W and z.

    Args:
        mean: Mean of z ``[in]`` or ``[n, in]``.
        var: Variance of z, of the same shape, >= 0; 0 for data.
        weight_mean: Mean of W ``[out, in + 1]``, the bias last.
        weight_var: Variance of W ``[out, in + 1]``, >= 0.

    Returns:
        (mean, variance), each ``[out]`` or ``[n, out]``.

    Raises:
        ValueError: The shapes do not fit, or a value given as an array is not finite or, for a
            variance, < 0.

    Source: Hernández-Lobato & Adams 2015, eq. 13-14.
    """
    _check_layer(mean, var, weight_mean, weight_var)
    rows = mean.shape.rank == 2
    if not rows:
        mean, var = mean[None], var[None]
    mean = tf.pad(mean, [[0, 0], [0, 1]], constant_values=1.0)  # [n, in + 1]
    var = tf.pad(var, [[0, 0], [0, 1]])
    fan_in = float(mean.shape[1])
    out_mean = tf.matmul(mean, weight_mean, transpose_b=True) / math.sqrt(fan_in)  # [n, out]
    out_var = tf.matmul(var, weight_mean**2, transpose_b=True)
    out_var += tf.matmul(mean**2 + var, weight_var, transpose_b=True)  # mean² + var = E[z²]
    out_var /= fan_in
    return (out_mean, out_var) if rows else (out_mean[0], out_var[0])


@numpy_or_tensor
def adf_update(m: Values, v: Values, dlogz_dm: Values, dlogz_dv: Values) -> Values:
    """Return mean and variance of N(w | m, v) times a factor with normaliser Z, elementwise.

    Formula: m′ = m + v ∂log Z/∂m and v′ = v − v² [(∂log Z/∂m)² − 2 ∂log Z/∂v].

    Args:
        m: Mean of a weight.
        v: Variance of the weight, > 0.
        dlogz_dm: ∂log Z/∂m.
        dlogz_dv: ∂log Z/∂v.

    Returns:
        (m′, v′). v′ <= 0 means that the approximation of the factor was too coarse; ``fit`` then
        keeps m and v.

    Raises:
        ValueError: A value given as a number or array is not finite, or v is not > 0.

    Source: Hernández-Lobato & Adams 2015, eq. 5-6 (Minka 2001).
    """
    _check(m=m, dlogz_dm=dlogz_dm, dlogz_dv=dlogz_dv)
    _check(v=v, positive=True)
    return m + v * dlogz_dm, v - v**2 * (dlogz_dm**2 - 2.0 * dlogz_dv)


@numpy_or_tensor
def gamma_update(alpha: Values, beta: Values, residual: Values, var: Values) -> Values:
    """Update Gamma(γ | α, β) of a precision by one observation N(residual | 0, 1/γ + var).

    Z(α, β) = N(residual | 0, β/(α−1) + var) approximates the normaliser; Z₁ and Z₂ have α+1 and α+2
    instead of α. With l₁₀ = log Z₁/Z and l₂₁ = log Z₂/Z₁,
    α′ = 1/expm1(l₂₁ − l₁₀ + log1p(1/α)) and β′ = α′ (β/α) exp(−l₁₀): nothing is added to a
    denominator, and no two large numbers are subtracted.

    Args:
        alpha: α > 1.
        beta: β > 0.
        residual: Observation minus its predicted mean.
        var: Variance of the prediction, >= 0.

    Returns:
        (α′, β′), elementwise. α′ <= 1 (possible for α below 1.2) or an infinite β′ (an observation
        dozens of standard deviations away) means that Z was too coarse; ``fit`` then keeps α and β.

    Raises:
        ValueError: A value given as a number or array is not finite or out of range.

    Source: Hernández-Lobato & Adams 2015, section 3.2 and its supplement.
    """
    _check(residual=residual)
    _check(alpha=alpha, positive=True, minimum=1.0)
    _check(beta=beta, positive=True)
    _check(var=var, minimum=0.0)
    v0, v1, v2 = (var + beta / (alpha + k) for k in (-1.0, 0.0, 1.0))
    l10 = _log_ratio(residual, v0, v1, -beta / (alpha * (alpha - 1.0)))
    l21 = _log_ratio(residual, v1, v2, -beta / (alpha * (alpha + 1.0)))
    new_alpha = 1.0 / tf.math.expm1(l21 - l10 + tf.math.log1p(1.0 / alpha))
    growth = tf.exp(-l10)
    new_beta = new_alpha * (beta / alpha) * growth
    return new_alpha, tf.where(tf.math.is_inf(growth), growth, new_beta)  # instead of 0 · ∞


def _log_ratio(residual: Values, before: Values, after: Values, change: Values) -> Values:
    """Return log N(residual | 0, after) − log N(residual | 0, before).

    ``change`` is after − before; to subtract them here would lose digits.
    """
    return -0.5 * (tf.math.log1p(change / before) - residual**2 * change / (before * after))


def log_z(y: Values, mean: Values, var: Values, alpha: Values, beta: Values) -> Values:
    """Return one point's log evidence log Z = log N(y | mean, var + β/(α−1)), in nats.

    Args:
        y: Target.
        mean: Mean of the network's output.
        var: Variance of the network's output.
        alpha: α > 1 of the noise precision.
        beta: β > 0 of the noise precision.

    Source: Hernández-Lobato & Adams 2015, eq. 12.
    """
    return -gaussian_nll(y, mean, var + beta / (alpha - 1.0))


def _check(positive: bool = False, minimum: float | None = None, **values: Values) -> None:
    """Raise ``ValueError`` if a number is not finite, or is below a given ``minimum``.

    With ``positive``, numbers must be greater than ``minimum``, or than 0 if there is none. Inside
    a TensorFlow graph nothing is checked.
    """
    if not tf.executing_eagerly():
        return
    least = 0.0 if positive and minimum is None else minimum
    for name, value in values.items():
        array = np.asarray(value)
        low = least is not None and bool((array <= least if positive else array < least).any())
        if low or not np.isfinite(array).all():
            bound = "" if least is None else f" {'>' if positive else '>='} {least:g}"
            raise ValueError(f"{name}: expected finite numbers{bound}, got {array}")


def _check_layer(mean: Values, var: Values, weight_mean: Values, weight_var: Values) -> None:
    _check(mean=mean, weight_mean=weight_mean)
    _check(var=var, weight_var=weight_var, minimum=0.0)
    if mean.shape.rank not in (1, 2) or mean.shape != var.shape:
        raise ValueError(
            f"mean, var: expected one shape [in] or [n, in], got {mean.shape} and {var.shape}"
        )
    n_in = mean.shape[-1]
    if weight_mean.shape.rank != 2 or weight_mean.shape[1] != n_in + 1:
        raise ValueError(
            f"weight_mean: expected shape [out, {n_in + 1}] to go with {n_in} inputs and a bias, "
            f"got {weight_mean.shape}"
        )
    if weight_mean.shape != weight_var.shape:
        raise ValueError(
            f"weight_var: expected the shape of weight_mean, {weight_mean.shape}, "
            f"got {weight_var.shape}"
        )
