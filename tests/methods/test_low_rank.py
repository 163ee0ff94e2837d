"""Low rank: mean field at rank 0, the exact posterior at full rank; SWAG: the moments of a path."""

import inspect
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bdl_teach import datasets, densities
from bdl_teach._support import compiled
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import bbb, exact, low_rank, point
from bdl_teach.methods._loop import Capacity

X = np.random.default_rng(0).uniform(0.2, 1.0, (20, 4))
Y = X @ [[0.8], [-1.5], [1.0], [0.3]] + 0.4
Y = Y + 0.3 * np.random.default_rng(1).normal(size=(20, 1))
DESIGN = np.hstack([X, np.ones((20, 1))])
EXACT = exact.linear_regression(DESIGN, Y, prior_std=1.0, noise_std=0.3)
PRECISION = np.linalg.inv(EXACT.cov)
LINEAR: dict[str, Any] = {"prior": Gaussian(1.0), "noise_std": 0.3, "hidden_units": ()}
LONG: dict[str, Any] = {"n_samples": 10, "steps": 4000, "learning_rate": 0.2}
DATA = datasets.sinusoid(n=8)
ROOM = Capacity(12, (5,), 2, chunk=4)  # the one program of a network here


@lru_cache
def linear(rank: int) -> low_rank.Fit:
    return low_rank.fit(X, Y, rank=rank, **LINEAR, **LONG)


def small(**changes: Any) -> low_rank.Fit:
    options = {"hidden_units": (3,), "steps": 60, "capacity": ROOM, "rank": 3, **changes}
    return low_rank.fit(DATA.x, DATA.y, **options)


def made(rank: int = 3) -> low_rank.Fit:
    """A posterior of the linear model that nobody fitted."""
    rng = np.random.default_rng(rank)
    problem = low_rank.Problem(X, Y, Gaussian(1.0), 0.5, 0)
    return low_rank.Fit(
        mean=rng.normal(size=5),
        own_std=rng.uniform(0.1, 0.6, 5),
        columns=rng.normal(size=(5, rank)),
        network=low_rank.MLP(4, ()),
        noise_std=0.3,
        history={},
        capacity=Capacity(20, (), 10),
        problem=problem,
    )


# From mean field to the exact posterior


OTHERWISE = {"n_batches": 2, "kl_scheme": "geometric", "kl_weight": 0.3, "noise_std": 0.8}
OTHERWISE |= {"n_samples": 2, "cooldown": 0.3, "learning_rate": 0.03, "seed": 3}
OTHERWISE |= {"start_scale": 0.6, "initial_rho": -2.0}


@pytest.mark.parametrize("changes", [{}, OTHERWISE], ids=["plain", "otherwise"])
def test_rank_0_is_bayes_by_backprop_with_the_same_draws(changes):
    ours = small(rank=0, prior=ScaleMixture(1.3, 0.2, 0.7), **changes)
    options = {"hidden_units": (3,), "steps": 60, "capacity": ROOM, **changes}
    theirs = bbb.fit(DATA.x, DATA.y, prior=ScaleMixture(1.3, 0.2, 0.7), **options)
    np.testing.assert_allclose(ours.mean, theirs.mean, atol=1e-5)
    np.testing.assert_allclose(ours.std, theirs.std, rtol=1e-4)
    np.testing.assert_allclose(ours.free_energy, theirs.free_energy, rtol=0.02)
    likelihood = ours.history["likelihood_cost"], theirs.history["likelihood_cost"]
    np.testing.assert_allclose(*likelihood, rtol=1e-3)


def test_a_frame_of_rank_0_is_that_of_bayes_by_backprop():
    options = {"hidden_units": (3,), "steps": 60, "capacity": ROOM}
    ours, theirs = small(rank=0), bbb.fit(DATA.x, DATA.y, **options)
    assert (ours.capacity, ours.noise_std) == (theirs.capacity, theirs.noise_std)
    for frame in (0, 7, 20):
        np.testing.assert_allclose(ours.at(frame).mean, theirs.at(frame).mean, atol=1e-5)
        np.testing.assert_allclose(ours.at(frame).std, theirs.at(frame).std, rtol=1e-4)


def test_the_first_frame_has_the_columns_that_it_started_from():
    given = made()
    begin: dict[str, Any] = {"initial": (given.mean, given.own_std), "columns": given.columns}
    start = low_rank.fit(X, Y, steps=20, rank=3, **begin, **LINEAR).at(0)
    np.testing.assert_allclose(start.mean, given.mean, rtol=1e-5)
    np.testing.assert_allclose(start.cov, given.cov, rtol=1e-4, atol=1e-6)


def test_it_takes_what_bayes_by_backprop_takes():
    ours, theirs = (
        {name: p.default for name, p in inspect.signature(fit).parameters.items()}
        for fit in (low_rank.fit, bbb.fit)
    )
    assert ours == {**theirs, "rank": 5, "columns": None}


def test_at_full_rank_the_free_energy_of_a_linear_model_is_minus_the_log_evidence():
    """It cannot be less; at rank 0 the KL of the best mean field is left."""
    costs = [[linear(rank).cost(seed=seed).total for seed in range(10)] for rank in (0, 2, 5)]
    left = np.mean(costs, axis=1) + EXACT.log_evidence
    error = np.std(costs, axis=1, ddof=1) / np.sqrt(10)
    best = 0.5 * (np.log(np.diag(PRECISION)).sum() - np.linalg.slogdet(PRECISION)[1])
    assert best > 3.0
    assert abs(left[0] - best) < 0.1 + 5 * error[0]
    assert 0.3 < left[1] < best - 1.0
    assert -5 * error[2] < left[2] < 0.1 + 5 * error[2]


def test_at_full_rank_mean_and_covariance_of_a_linear_model_are_the_exact_ones():
    unit = np.sqrt(np.diag(EXACT.cov))
    assert (np.abs(linear(5).mean - EXACT.mean) < 0.2 * unit).all()
    assert (np.abs(linear(5).cov - EXACT.cov) < 0.25 * np.outer(unit, unit)).all()
    np.testing.assert_allclose(linear(0).std, np.diag(PRECISION) ** -0.5, rtol=0.1)
    assert (linear(0).std < 0.6 * unit).all()  # mean field: slices, not shadows


# What a Gaussian of low rank says of itself


@pytest.mark.parametrize("rank", [0, 1, 3, 5])
def test_entropy_spread_and_draws_are_those_of_its_covariance(rank):
    fit = made(rank)
    truth = stats.multivariate_normal(fit.mean, fit.cov)
    assert fit.entropy == pytest.approx(truth.entropy())
    np.testing.assert_allclose(fit.std**2, np.diag(fit.cov))
    draws = fit.draw(20_000, seed=2) - fit.mean
    error = np.sqrt((fit.cov**2 + np.outer(fit.std**2, fit.std**2)) / 20_000)
    assert (np.abs(draws.T @ draws / 20_000 - fit.cov) < 5 * error).all()
    assert (np.abs(draws.mean(0)) < 5 * fit.std / 20_000**0.5).all()


def test_what_it_costs_is_the_exact_free_energy():
    fit = made()
    costs = [fit.cost(seed=seed) for seed in range(10)]
    kl = 0.5 * (np.trace(fit.cov) + fit.mean @ fit.mean - 5 - np.linalg.slogdet(fit.cov)[1])
    var = np.einsum("nd,de,ne->n", DESIGN, fit.cov, DESIGN)
    nll = densities.gaussian_nll(Y[:, 0], DESIGN @ fit.mean, 0.3**2) + var / 2 / 0.3**2
    for name, wanted in (("complexity", kl), ("likelihood", nll.sum())):
        values = [getattr(cost, name) for cost in costs]
        assert abs(np.mean(values) - wanted) < 5 * np.std(values, ddof=1) / np.sqrt(10), name
    assert fit.free_energy == pytest.approx(0.5 * costs[1].complexity + costs[1].likelihood)


def test_what_is_recorded_at_the_end_is_what_it_costs():
    """Steps that move nothing: F averaged over the noise of the loop, and over that of ``cost``."""
    own = {"initial": (EXACT.mean, made().own_std), "columns": made().columns, "rank": 3}
    fit = low_rank.fit(X, Y, **LINEAR, **{**LONG, "learning_rate": 1e-9}, **own)
    np.testing.assert_allclose(fit.cov, made().cov, rtol=1e-3, atol=1e-5)
    costs = [fit.cost(seed=seed) for seed in range(10)]
    for name, key in (("complexity", "complexity_cost"), ("likelihood", "likelihood_cost")):
        there, here = fit.history[key], [getattr(cost, name) for cost in costs]
        error = np.hypot(there.std() / len(there) ** 0.5, np.std(here, ddof=1) / 10**0.5)
        assert abs(there.mean() - np.mean(here)) < 5 * error, name


# Training on


def test_training_on_starts_where_the_fit_ended():
    fit = small()
    on = fit.refined(steps=1, learning_rate=1e-12)
    np.testing.assert_allclose(on.mean, fit.mean, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(on.cov, fit.cov, rtol=1e-3, atol=1e-7)
    assert (on.noise_std, on.capacity, on.problem.kl_weight) == (1.0, ROOM, 1.0)


def test_a_fit_that_was_cut_short_has_not_converged_and_a_long_one_has():
    assert not small(steps=30, learning_rate=0.02).converged
    runs = [linear(5).longer(k) for k in range(3)]
    assert linear(5).none_is_far_below([run.free_energy for run in runs])
    assert [run.history["step"][-1] for run in runs] == [3000] * 3
    assert len({run.problem.seed for run in runs}) == 3


# What a slider moves


def test_neither_the_rank_nor_another_value_compiles_again():
    small()
    before = compiled.trace_count()
    for rank in (0, 1, 5, 8):
        assert small(rank=rank).columns.shape == (10, rank)
    small(prior=ScaleMixture(0.7, 0.2, 0.9), noise_std=2.0, seed=9, steps=40, n_batches=2)
    assert compiled.trace_count() == before


def test_a_larger_room_fits_the_same():
    larger, tight = (small(n_samples=2, capacity=room) for room in (ROOM, Capacity(8, (3,), 2)))
    np.testing.assert_allclose(tight.mean, larger.mean, atol=1e-4)
    np.testing.assert_allclose(tight.columns, larger.columns, atol=1e-4)


def test_the_columns_of_a_rank_are_all_used_and_no_others():
    assert np.linalg.matrix_rank(small(rank=3, steps=200).columns) == 3
    assert small(rank=0).columns.shape == (10, 0)
    np.testing.assert_array_equal(small(rank=0).std, small(rank=0).own_std)


def test_another_rank_keeps_the_noise_of_the_columns_and_where_they_start():
    np.testing.assert_array_equal(
        low_rank._zeta(50, 8, 3), low_rank._zeta(50, 32, 3)[:, :8], "column by column"
    )
    few, more = (small(rank=rank, steps=1).at(0).columns * rank**0.5 for rank in (2, 5))
    np.testing.assert_allclose(more[:, :2], few, rtol=1e-5)


def test_another_seed_has_other_columns_and_other_noise():
    one, other = (small(seed=seed, steps=1).at(0).columns for seed in (0, 1))
    assert np.abs(one - other).min() > 1e-6
    tables = [np.float64(low_rank._zeta(2000, 8, seed)).ravel() for seed in (0, 1)]
    assert abs(np.corrcoef(tables)[0, 1]) < 5 / np.sqrt(16_000)
    along = replace(made(), own_std=np.full(5, 1e-12))  # so that ζ alone is seen
    draws = [(along.draw(2000, seed) - along.mean).ravel() for seed in (1, 2)]
    assert abs(np.corrcoef(draws)[0, 1]) < 0.2


def test_there_is_room_for_every_rank_and_few_rooms_are_compiled_for():
    rooms = {rank: low_rank._room(rank) for rank in range(513)}
    assert all(room >= rank for rank, room in rooms.items())
    assert sorted(set(rooms.values())) == [8, 32, 128, 256, 384, 512]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rank": 11}, r"rank: expected at most one column a weight \(10\), got 11"),
        ({"rank": -1}, "rank: expected an integer >= 0, got -1"),
        ({"columns": np.ones((3, 10))}, r"columns: expected \(10, 3\), got \(3, 10\)"),
        ({"columns": np.full((10, 3), np.nan)}, "columns: expected finite"),
    ],
    ids=str,
)
def test_a_rank_or_columns_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        small(**changes)


# SWAG


@lru_cache
def swag(**changes: Any) -> low_rank.Fit:
    return low_rank.swag(X, Y, **{**LINEAR, "rank": 5, "learning_rate": 0.02, **changes})


def test_swag_takes_its_moments_as_algorithm_1_does():
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


def test_swag_lies_round_the_mode_and_is_as_wide_as_its_steps():
    """So it is no posterior: on the linear model its width goes with the learning rate."""
    mode = point.fit(X, Y, **LINEAR).weights
    widths = []
    for rate in (0.005, 0.02, 0.08):
        fit = swag(learning_rate=rate)
        assert (np.abs(fit.mean - mode) < 0.3 * np.sqrt(np.diag(EXACT.cov))).all()
        widths.append(np.sqrt(np.trace(fit.cov)))
    assert widths[0] < 0.7 * widths[1] < 0.5 * widths[2]
    assert np.sqrt(np.trace(swag(n_batches=1).cov)) < 0.6 * widths[1]


def test_swag_reads_its_moments_off_a_path_of_constant_rate(monkeypatch):
    real, asked = low_rank.optimise.schedule, []

    def schedule(steps, learning_rate, cooldown):
        asked.append((steps, learning_rate, cooldown))
        return real(steps, learning_rate, cooldown)

    monkeypatch.setattr(low_rank.optimise, "schedule", schedule)
    low_rank.swag(X, Y, **{**LINEAR, "rank": 2, "learning_rate": 0.017})
    n_path = low_rank._N_PATH * low_rank._STEPS_A_DRAW
    assert [call for call in asked if call[1] == 0.017] == [(n_path, 0.017, 0.0)]


def test_the_history_of_swag_is_that_of_the_mode_which_it_goes_on_from():
    options = {**LINEAR, "prior": Gaussian(0.6), "noise_std": 0.4, "seed": 9, "steps": 40}
    fit, mode = low_rank.swag(X, Y, rank=2, **options), point.fit(X, Y, **options)
    assert fit.history.keys() == mode.history.keys()
    for name, values in mode.history.items():
        np.testing.assert_array_equal(fit.history[name], values)
    still = low_rank.swag(X, Y, rank=2, learning_rate=1e-9, **options)
    np.testing.assert_allclose(still.mean, mode.weights, rtol=1e-5)
    assert (still.noise_std, still.problem.prior, still.problem.seed) == (0.4, Gaussian(0.6), 9)


def test_the_default_prior_of_swag_is_that_of_bayes_by_backprop():
    options = {"hidden_units": (), "noise_std": 0.3, "rank": 2, "steps": 40}
    given = low_rank.swag(X, Y, prior=ScaleMixture(1.5, 0.1, 0.5), **options)
    default = low_rank.swag(X, Y, **options)
    np.testing.assert_array_equal(default.mean, given.mean)
    assert default.problem.prior == ScaleMixture(1.5, 0.1, 0.5)


def test_a_larger_room_reads_the_same_off_the_path():
    options = {"hidden_units": (3,), "steps": 200, "rank": 4, "learning_rate": 1e-3}
    tight = low_rank.swag(DATA.x, DATA.y, **options)
    roomy = low_rank.swag(DATA.x, DATA.y, capacity=Capacity(12, (5,), 1), **options)
    assert roomy.capacity == Capacity(12, (5,), 1)
    np.testing.assert_allclose(roomy.mean, tight.mean, rtol=1e-3, atol=1e-3)
    spread = np.sqrt(np.trace(tight.cov))
    np.testing.assert_allclose(roomy.cov, tight.cov, atol=0.05 * spread**2)


@pytest.mark.parametrize("rank", [0, 2])
def test_weights_that_stand_still_on_the_path_keep_a_spread_and_an_entropy(rank):
    path = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 0.0, 0.0] + [0.0, 5.0, 0.0]
    mean, own_std, columns = low_rank._moments(path, rank)
    assert own_std.min() > 0 and list(mean[1:]) == [5.0, 0.0]
    assert np.isfinite(replace(made(), mean=mean, own_std=own_std, columns=columns).entropy)


def test_swag_has_the_free_energy_of_what_it_read_off():
    fit = swag()
    assert fit.problem.kl_weight == 1.0
    assert fit.free_energy > -EXACT.log_evidence


def test_swag_of_few_points_takes_a_batch_of_each():
    one, other = (
        low_rank.swag(X[:3], Y[:3], **{**LINEAR, "rank": 2}, n_batches=n) for n in (None, 3)
    )
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.cov, other.cov)


def test_no_value_of_swag_compiles_again():
    swag()
    before = compiled.trace_count()
    for rank in (0, 2, 100):
        assert swag(rank=rank).columns.shape == (5, rank)
    swag(prior=ScaleMixture(0.7, 0.2, 0.9), noise_std=2.0, seed=9, n_batches=3, steps=40)
    assert compiled.trace_count() == before


@pytest.mark.parametrize("rank", [1, 101, -1, 2.5])
def test_a_rank_that_a_path_cannot_give_is_refused(rank):
    with pytest.raises(ValueError, match=r"^rank: expected.*got"):
        swag(rank=rank)


def test_training_on_keeps_the_weight_of_the_kl():
    assert small(kl_weight=0.2).refined(steps=1).problem.kl_weight == 0.2
