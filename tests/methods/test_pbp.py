"""Probabilistic backpropagation: closed forms, updates, the loop against a reference trace."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bdl_teach import DivergedError
from bdl_teach.backend import tf
from bdl_teach.methods import pbp
from bdl_teach.methods.pbp import _loop as pbp_loop

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (40, 3))
Y = 300.0 + 50.0 * (np.abs(X[:, :1]) + 0.3 * X[:, 1:2] + 0.2 * RNG.standard_normal((40, 1)))
SMALL = {"hidden_units": (5,), "epochs": 3}
MOMENTS = ("mean", "var")


def small(**changes) -> pbp.Fit:
    return pbp.fit(X, Y, **{**SMALL, **changes})


# Moments


def test_relu_moments_equal_the_oracle_from_alpha_minus_40_to_40(oracle):
    table = oracle("rectified_gaussian")
    for case in table["cases"]:
        got = pbp.relu_moments(case["m"], case["v"])
        for value, name in zip(got, MOMENTS, strict=True):
            assert_allclose(value, case[name], rtol=table["rtol"], err_msg=str(case["alpha"]))


def test_gradients_of_relu_moments_equal_the_oracle(oracle):
    table = oracle("rectified_gaussian")
    for case in table["cases"]:
        m, v = (tf.constant(case[name], tf.float64) for name in "mv")
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([m, v])
            moments = pbp.relu_moments(m, v)
        for moment, name in zip(moments, MOMENTS, strict=True):
            for source, by in ((m, "m"), (v, "v")):
                got = tape.gradient(moment, source)
                assert_allclose(got, case[f"d{name}_d{by}"], rtol=table["rtol"], err_msg=str(case))


@given(m=st.floats(-1e6, 1e6), v=st.floats(0.0, 1e6))
def test_relu_moments_are_finite_and_never_negative(m, v):
    mean, var = pbp.relu_moments(m, v)
    assert np.isfinite(mean)
    assert np.isfinite(var)
    assert mean >= max(m, 0.0) * (1 - 1e-12)
    assert 0.0 <= var <= v


def test_linear_moments_equal_those_of_drawn_weights():
    rng = np.random.default_rng(3)
    mean, var = rng.normal(size=4), rng.uniform(0.1, 1.0, 4)
    w_mean, w_var = rng.normal(size=(2, 5)), rng.uniform(0.1, 1.0, (2, 5))
    n = 200_000
    z = np.column_stack([mean + np.sqrt(var) * rng.standard_normal((n, 4)), np.ones(n)])
    w = w_mean + np.sqrt(w_var) * rng.standard_normal((n, 2, 5))
    draws = np.einsum("nij,nj->ni", w, z) / np.sqrt(5)
    got_mean, got_var = pbp.linear_moments(mean, var, w_mean, w_var)
    assert_allclose(got_mean, draws.mean(axis=0), atol=5 * np.sqrt(got_var.max() / n))
    fourth = ((draws - draws.mean(axis=0)) ** 4).mean(axis=0)
    error = np.sqrt((fourth / draws.var(axis=0) ** 2 - 1) / n)  # relative, of a sample variance
    assert (np.abs(got_var / draws.var(axis=0) - 1) < 5 * error).all()


# Updates


@given(
    m=st.floats(-3.0, 3.0), v=st.floats(0.01, 5.0), y=st.floats(-3.0, 3.0), s2=st.floats(0.01, 5.0)
)
def test_adf_update_of_gaussian_likelihood_is_the_exact_posterior(m, v, y, s2):
    residual, total = y - m, v + s2
    slope, curve = residual / total, 0.5 * (residual**2 / total**2 - 1.0 / total)
    exact_var = 1.0 / (1.0 / v + 1.0 / s2)
    expected = exact_var * (m / v + y / s2), exact_var
    assert_allclose(pbp.adf_update(m, v, slope, curve), expected, rtol=1e-8, atol=1e-12)


def test_gamma_update_equals_the_oracle(oracle):
    table = oracle("pbp_gamma_update")
    for case in table["cases"]:
        got = pbp.gamma_update(case["alpha"], case["beta"], case["resid"], case["v"])
        assert_allclose(got, (case["new_alpha"], case["new_beta"]), table["rtol"])


def test_gamma_update_without_weight_variance_is_nearly_conjugate():
    """With v = 0 the exact update is α + ½, β + ½ r²; a Gaussian replaces a Student-t."""
    for alpha, r in itertools.product((100.0, 1e4, 1e6), (0.1, 1.0, 2.0)):
        new_alpha, new_beta = pbp.gamma_update(alpha, alpha, r, 0.0)
        assert new_alpha - alpha == pytest.approx(0.5, rel=5.0 / alpha + 1e-6)
        assert new_beta - alpha == pytest.approx(0.5 * r**2, rel=0.0, abs=10.0 / alpha + 1e-6)


def test_gamma_update_of_extreme_outlier_is_not_nan():
    assert pbp.gamma_update(6.0, 6.0, 1e150, 1.0) == (0.0, np.inf)


# The loop


def flat(parts) -> np.ndarray:
    return np.concatenate([np.ravel(part) for part in parts])


def test_three_pbp_epochs_equal_the_reference_trace(oracle):
    trace = oracle("pbp_trace")
    start = pbp_loop.initial_state(trace["sizes"], seed=0)
    assert start.var[0][0, 0] == pytest.approx(trace["init_var"])
    parts = np.split(trace["init_mean"], np.cumsum([m.size for m in start.mean])[:-1])
    means = [p.reshape(m.shape) for p, m in zip(parts, start.mean, strict=True)]
    state = tf.nest.map_structure(tf.constant, start._replace(mean=tuple(means)))
    x, y = (tf.constant(trace[name], tf.float64) for name in ("X", "y"))
    schedule = tf.constant([*range(30), pbp_loop.REFINE, *[0] * (pbp_loop.CHUNK - 31)])
    for epoch in trace["epochs"]:
        limits = tf.constant(0), tf.constant(30), tf.constant(31)
        state, _ = pbp_loop.advance()(state, x, y, schedule, *limits[:2])
        assert_allclose(flat(state.mean), epoch["mean_before_refine"], rtol=trace["rtol"])
        assert_allclose(flat(state.var), epoch["var_before_refine"], rtol=trace["rtol"])
        state, _ = pbp_loop.advance()(state, x, y, schedule, *limits[1:])
        assert_allclose(flat(state.mean), epoch["mean"], rtol=trace["rtol"])
        assert_allclose(flat(state.var), epoch["var"], rtol=trace["rtol"])
        assert_allclose(state.noise, (epoch["alpha_noise"], epoch["beta_noise"]), trace["rtol"])
        assert_allclose(state.prior, (epoch["alpha_prior"], epoch["beta_prior"]), trace["rtol"])
    prediction = pbp_loop.forward(tf.constant(trace["x_test"], tf.float64), state.mean, state.var)
    assert_allclose(prediction, (trace["pred_mean"], trace["pred_var"]), trace["rtol"])
    noise_var = state.noise[1] / (state.noise[0] - 1)
    assert_allclose(noise_var, trace["pred_noise_var"], trace["rtol"])


def test_update_that_gives_an_invalid_variance_is_skipped():
    m, v = tf.constant([1.0, 1.0], tf.float64), tf.constant([0.5, 0.5], tf.float64)
    bad = tf.constant([-0.1, 0.4], tf.float64)
    mean, var = pbp_loop._valid(m, v, m + 1.0, bad)
    assert_array_equal(mean, [1.0, 2.0])
    assert_array_equal(var, [0.5, 0.4])
    infinite = tf.constant([np.inf, 0.4], tf.float64)
    assert_array_equal(pbp_loop._valid(m, v, m, infinite)[1], [0.5, 0.4])


# In a graph, as in the compiled loop, where arguments are not checked
learn_point, refine_prior, refine_weight = (
    tf.function(function, autograph=False)
    for function in (pbp_loop.learn_point, pbp_loop.refine_prior, pbp_loop._refine_weight)
)


def tensors(state: pbp.State) -> pbp.State:
    return tf.nest.map_structure(tf.constant, state)


# Numerical limits


SOUND = (6.0, 6.0), (0.3, 0.5, 0.9, 0.1, 0.4, 0.3)  # λ; m, v and four parameters of a factor


def refined(prior=SOUND[0], row=SOUND[1]):
    return [t.numpy() for t in refine_weight(*(tf.constant(v, tf.float64) for v in (prior, row)))]


def with_cavity(variance: float) -> tuple[float, ...]:
    """Return a row whose cavity is N(0.2 variance, variance) after removing the factor."""
    precision = 2.0 - 1.0 / variance
    return 0.5 * (0.2 + 0.1), 0.5, precision, 0.1, 0.0, 0.0


@pytest.mark.parametrize(
    ("prior", "row"),
    [
        (SOUND[0], with_cavity(2e6)),  # a nearly empty cavity
        ((1.3, 6.0), (*with_cavity(1e3)[:4], 0.4, 0.3)),  # the cavity of λ has α = 0.9
        ((6.0, 0.2), (0.3, 0.5, 0.9, 0.1, 0.4, 0.3)),  # the cavity of λ has β = −0.1
        (SOUND[0], (1e200, 0.5, 0.9, 0.1, 0.0, 0.0)),  # the square is infinite
    ],
    ids=["wide", "alpha", "beta", "infinite"],
)
def test_prior_factor_with_invalid_cavity_is_unchanged(prior, row):
    new_prior, new_row = refined(prior, row)
    assert_array_equal(new_prior, prior)
    assert_array_equal(new_row, row)


@pytest.mark.parametrize(("residual", "low", "high"), [(0.0, -np.inf, 0.0), (4.0, 0.0, 1.0)])
def test_noise_update_is_skipped_if_expected_variance_is_infinite(residual, low, high):
    """From α = 1.01 a point can lead to α′ < 1, where β/(α − 1) is no variance."""
    state = tensors(pbp_loop.initial_state((2, 3, 1), 0, (1.01, 0.5)))
    x = tf.constant([[0.3, -0.2]], tf.float64)
    f_mean, f_var = pbp_loop.forward(x, state.mean, state.var)
    new_alpha, _ = pbp.gamma_update(1.01, 0.5, residual, float(f_var[0]))
    assert low < new_alpha < high
    after, _ = learn_point(state, x, f_mean + residual)
    assert_array_equal(after.noise, (1.01, 0.5))


def test_invalid_log_z_raises_divergence_naming_its_step(monkeypatch):
    after = pbp.Passes.after

    def spoilt(self, n_steps):
        state, trace = after(self, n_steps)
        trace[self.length + 5, -1] = np.nan
        return state, trace

    monkeypatch.setattr(pbp.Passes, "after", spoilt)
    with pytest.raises(DivergedError, match="x far outside") as error:
        small()
    assert error.value.step == 2 * len(X)


def test_pbp_prediction_is_the_forward_pass_in_units_of_y():
    fit, x = small(), np.array([[0.3, -1.0, 2.0], [5.0, 0.0, 0.0]])
    inputs = tf.constant((x - X.mean(axis=0)) / X.std(axis=0))
    mean, var = pbp_loop.forward(inputs, fit.state.mean, fit.state.var)
    prediction = fit.predict(x)
    assert_allclose(prediction.mean, mean.numpy() * Y.std() + Y.mean(), rtol=1e-9)
    assert_allclose(prediction.epistemic_std, np.sqrt(var) * Y.std(), rtol=1e-9)
    alpha, beta = fit.state.noise
    assert_allclose(prediction.aleatoric_std, np.sqrt(beta / (alpha - 1)) * Y.std(), rtol=1e-9)


def test_column_constant_up_to_rounding_counts_as_constant():
    """Naval has a column of 0.998 with a standard deviation of 2.5e-13."""
    constant = 0.998
    x = np.column_stack([X, np.full(40, constant)])
    scaling = pbp.Scaling.of(x, np.full((40, 1), constant))
    assert (scaling.x_std[-1], scaling.y_std) == (1.0, 1.0)
    mean, spread = x.mean(axis=0)[-1], x.std(axis=0)[-1]
    theirs = (constant - mean) / spread if spread > 0 else 0.0  # the authors' program
    assert_allclose(scaling.inputs(x)[:, -1], theirs, rtol=1e-9, atol=1e-9)
    before, after = pbp.fit(x, Y, **SMALL), np.column_stack([X, np.full(40, constant + 1e-3)])
    assert_allclose(before.predict(after).mean, before.predict(x).mean, rtol=0.01)
