"""Define the exercises of chapter 5: local reparameterization."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bdl_teach import estimators
from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import exercise

_RNG = np.random.default_rng(4)


def _layer(n: int, n_in: int, n_out: int) -> tuple[Any, Any, Any]:
    """Draw inputs ``[n, in]``, and means and standard deviations of weights ``[in, out]``."""
    return (
        _RNG.normal(size=(n, n_in)).round(2),
        _RNG.normal(size=(n_in, n_out)).round(2),
        _RNG.uniform(0.1, 1.2, (n_in, n_out)).round(2),
    )


_LAYERS = (
    _layer(2, 3, 1),
    _layer(4, 5, 3),
    _layer(3, 1, 7),
    (np.array([[2.0, -1.0]]), np.array([[0.5], [1.2]]), np.array([[0.3], [0.7]])),
)
_X, _MU, _SIGMA = _layer(3, 4, 2)
_RNG_5_1, _RNG_5_6, _RNG_5_7 = map(np.random.default_rng, (51, 5, 57))

exercise(
    "5.1",
    *((*layer, _RNG_5_1.normal(0.0, 0.6, layer[1].shape).round(2)) for layer in _LAYERS),
    (_X, 0 * _MU, 3e-7 * _SIGMA, 1e-7 * _RNG_5_1.normal(size=_MU.shape)),  # almost certain
    "an η for each weight: a unit's weights share one η: add them up before you square.",
    lambda x, m, s, u: (x @ m, x**2 @ (s**2 + u**2)),
    "one ε for all weights: the ε of different weights are independent: their variances add.",
    lambda x, m, s, u: (x @ m, (x @ s) ** 2 + (x @ u) ** 2),
    "second moment for variance: δ is the variance: μ² does not belong in it.",
    lambda x, m, s, u: (x @ m, x**2 @ (s**2 + m**2) + (x @ u) ** 2),
    "u in the mean: η has the mean 0, so it moves no mean: it adds to the variance.",
    lambda x, m, s, u: (x @ (m + u), x**2 @ s**2),
)(lambda x, mu, sigma, u: (x @ mu, x**2 @ sigma**2 + (x @ u) ** 2))

_X, _MU, _SIGMA = _layer(3, 4, 2)

exercise(
    "5.2",
    *(
        (*layer, _RNG.normal(size=(len(layer[0]), layer[1].shape[1])))
        for layer in (*_LAYERS, (_X, 3e-7 * _MU, _SIGMA))  # reveals small numbers added
    ),
    "one ε for all weights: every weight has a noise of its own; the sd of the sum is √Σ x²σ².",
    (
        lambda x, t, a, z: x @ t + (x @ (np.sqrt(a) * np.abs(t))) * z,
        lambda x, t, a, z: x @ t + (x @ (np.sqrt(a) * t)) * z,
    ),
    "θ not squared: Var[θ · factor] = θ² Var[factor].",
    lambda x, t, a, z: x @ t + np.sqrt(x**2 @ (a * t)) * z,
    "one draw for several outputs: each row and each unit needs noise of its own: all of ζ.",
    tuple(
        lambda x, t, a, z, part=part: x @ t + np.sqrt(x**2 @ (a * t**2)) * z[part]
        for part in ((slice(1),), (slice(None), slice(1)), (0, 0))
    ),
)(lambda x, theta, alpha, zeta: x @ theta + np.sqrt(x**2 @ (alpha * theta**2)) * zeta)

exercise(
    "5.4",
    (_RNG.normal(size=(2, 3)).round(2), _RNG.uniform(0.1, 1.2, 3).round(2), [0, 0]),
    (_RNG.normal(size=(3, 5)), _RNG.uniform(0.1, 1.2, 5), [0, 1, 0]),
    ([[2.0], [-1.0]], [0.5], [0, 1]),
    (_RNG.normal(size=(1, 3)), _RNG.uniform(0.1, 1.2, 3), [2]),
    (_RNG.normal(size=(7, 2)), [0.2, 1.7], [0, 1, 1, 2, 0, 2, 1]),
    ([[1.5, -0.3, 2.0], [0.7, 1.0, -5.0]], [8.0, 12.0, 2e-4], [3, 3]),
    "one W for all rows: this is (5.8); rows on two machines have no draw in common.",
    lambda x, s, k: (x * s**2) @ x.T,
    "only the diagonal: rows that share W also covary with each other.",
    lambda x, s, k: np.diag(x**2 @ s**2),
    "one ε for all inputs: each weight has its own: (x_m·σ)(x_n·σ) has one for all.",
    lambda x, s, k: np.outer(x @ s, x @ s) * (k[:, None] == k),
    "a row's variance in all its cells: two rows have (5.8) in common, with both x_m and x_n.",
    lambda x, s, k: (x**2 @ s**2)[:, None] * (k[:, None] == k),
)(lambda x, sigma, machine: (x * sigma**2) @ x.T * (machine[:, None] == machine))


@exercise(
    "5.5",
    (50, 10, 2.0, 0.5, 3.0),
    (1000, 1, 2.0, 0.5, 1.7),
    (20, 20, 1.53, 1.07, 6.0),  # all the data
    (12, 7, 2.31, -0.17, 0.9),
    (2, 1, 0.3, 0.1, 0.7),
    (60000, 128, 0.3, 0.0, 0.8),
    (90000, 2000, 0.004, 2e-5, 1e-3),
    "the weights are given: this is what the choice of the rows does; w is drawn as well.",
    lambda n, m, v, c, spread: n**2 * spread / m * (n - m) / (n - 1),
    "with replacement: no point comes twice: all the data leave no noise of the rows.",
    lambda n, m, v, c, spread: n**2 * (v + (m - 1) * c + spread) / m,
    "1 − M/N: near, for large N; how do two different rows covary when N is 2?",
    lambda n, m, v, c, spread: n**2 * (v + (m - 1) * c + spread * (1 - m / n)) / m,
)
def _variance(n_data: Any, size: Any, var: Any, cov: Any, spread: Any) -> Any:
    of_rows = spread * (n_data - size) / (n_data - 1)
    return n_data**2 * (var + (size - 1) * cov + of_rows) / size


def _gain(x: Any) -> Any:
    """Return (Σx²)²/Σx⁴, equation (5.4)."""
    return (x**2).sum() ** 2 / (x**4).sum()


exercise(
    "5.6",
    (_RNG_5_6.normal(size=7),),
    (_RNG_5_6.uniform(0.5, 1.5, 20),),
    ([-3.0],),
    (np.full(8, 1.3),),
    # something that one may divide by is 0: an element, the maximum, the sum, sd or median
    ([0.0, 0.0, -2.0, 0.0, -1.1],),
    ([1.5, -2.5, 3.0, -2.0, 0.0],),
    ([0.7, 0.0, 2.2],),
    ([1e200, -2e200, 5e199],),
    ([3e-120, 1e-120],),
    ([3e-83, -2e-83, 1e-83],),
    ([1e-120, -1e200, 3e199, 1.0],),
    "overflow: the ratio does not depend on the scale of x: choose one, such as max |x|.",
    _gain,
    "a scale that can be 0: a sum, a mean or a spread can be; divide by the largest |x|.",
    (
        lambda x: _gain(x / x[0]),
        *(lambda x, by=by: _gain(x / by(x)) for by in (np.sum, np.mean, np.max, np.std, np.median)),
    ),
    "the square is missing: the numerator is (Σx²)², the square of the sum.",
    lambda x: (x**2).sum() / (x**4).sum(),
    "an effective sample size: (5.4) has the squares of x in the place of the weights.",
    lambda x: np.abs(x / np.max(np.abs(x))).sum() ** 2 / np.square(x / np.max(np.abs(x))).sum(),
)(lambda x: _gain(x / np.max(np.abs(x))))


def _flipout_case(x: Any, mu: Any, _: Any) -> tuple[Any, ...]:
    (n, n_in), n_out = x.shape, mu.shape[1]
    eps = _RNG.normal(size=(n_in, n_out))
    r, s = (_RNG.choice([-1.0, 1.0], (n, k)) for k in (n_out, n_in))
    return x, eps, r, s, _RNG_5_7.normal(size=(n, n_out)).round(2)


exercise(
    "5.7",
    *(_flipout_case(*_layer(*sizes)) for sizes in ((6, 3, 2), (5, 2, 4), (1, 2, 7), (4, 3, 3))),
    "no signs: this is the gradient with one shared W; each row saw its own signs.",
    lambda x, e, r, s, g: e * (x.T @ g),
    "only the signs of the inputs: the change came back with the signs r_out as well.",
    lambda x, e, r, s, g: e * ((x * s).T @ g),
    "only the signs of the outputs: the change met inputs with the signs r_in.",
    lambda x, e, r, s, g: e * (x.T @ (g * r)),
    "the gradient by μ: μ meets the inputs without signs; how does σ?",
    lambda x, e, r, s, g: x.T @ g,
)(lambda x, eps, r_out, r_in, g: eps * ((x * r_in).T @ (g * r_out)))


def _split_world(seed: int, sigma: float) -> tuple[Any, ...]:
    """Return x, y, μ and σ of w, the noise's sd, and the budget (points × draws of w in a step)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 1.5, 500)
    return x, 0.7 * x + 0.5 * rng.standard_normal(500), 0.6, sigma, 0.5, 256


def _variance_of_split(
    rows: Any, draws: Any, x: Any, y: Any, mu: Any, sigma: Any, noise_std: Any
) -> Any:
    """Return Var[gradient by μ]/N² for ``rows`` points, all with the same ``draws`` draws of w."""
    over_points = np.var(x * (mu * x - y))
    own, common = sigma**2 * np.mean(x**4), sigma**2 * np.mean(x**2) ** 2
    over_draws = (own + common * (rows - 1)) / draws
    return (over_points + over_draws) / rows / noise_std**4


_SPLITS = (_split_world(0, 0.3), _split_world(1, 2.0), _split_world(2, 0.1))


def _fault_of_split(got: Any, *case: Any) -> str:
    rows, draws = got
    *problem, budget = case
    if (got % 1).any() or min(got) < 1 or rows * draws > budget:
        return "no split of the budget"
    best = _best_split(*case)
    least = _variance_of_split(*best, *problem)  # common mistakes have 1.4 times as much
    if _variance_of_split(rows, draws, *problem) <= 1.25 * least:
        return ""
    return "too few draws of w" if rows > best[0] else "too few rows"


def _fault_of_splits(pairs: list[Array]) -> str:
    faults, faults_of_swapped = (
        {_fault_of_split(pair[::way], *case) for case, pair in zip(_SPLITS, pairs, strict=True)}
        for way in (1, -1)
    )
    if faults_of_swapped == {""}:
        return "M and K are swapped"
    if faults - {""} == {"too few rows", "too few draws of w"}:
        one = len({tuple(pair) for pair in pairs}) == 1
        return "one split for all worlds" if one else "too few rows here, too few draws there"
    return ""


@exercise("5.8", *_SPLITS, judge=_fault_of_split, overall=_fault_of_splits)
def _best_split(x: Any, y: Any, mu: Any, sigma: Any, noise_std: Any, budget: Any) -> Any:
    rows = np.arange(1, budget + 1)
    variance = _variance_of_split(rows, budget // rows, x, y, mu, sigma, noise_std)
    best = int(rows[variance.argmin()])
    return best, budget // best


_SIZES = np.array([4, 16, 64, 256])


def _estimates(seed: int, methods: Sequence[int]) -> tuple[Any, Any, Any]:
    """Return batch sizes, gradients by μ, and gradients by σ ``[method, size, draw]``.

    Methods are 0 (shared), 1 (local) and 2 (Flipout). Each has a different σ, so that the variance
    at one batch size does not tell the learner which method it is.
    """
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 1.5, 256)
    y = 0.7 * x + 0.5 * rng.standard_normal(256)
    found = []
    for at, program in enumerate(("shared", "local", "flipout")[k] for k in methods):
        sigma, own = [rng.uniform(0.3, 1.2)], 10 * seed + at
        drawn = []
        for n in _SIZES:
            batch = estimators.minibatch([0.6], sigma, x[:n, None], y[:n], 0.5, n_data=1000)
            drawn.append(estimators.gradient_samples(program, batch, n_draws=400, seed=own))
        found.append([[d.mu[:, 0] for d in drawn], [d.sigma[:, 0] for d in drawn]])
    gradients: Array = np.array(found)
    return _SIZES, gradients[:, 0], gradients[:, 1]


def _falls(gradients: Any) -> Any:
    """Return, for each estimator, whether var(largest batch) < 1/6 of var(smallest batch)."""
    variance = gradients.var(axis=-1)
    return variance[:, -1] < variance[:, 0] / 6


@exercise(
    "5.9",
    *map(_estimates, range(4), ((0, 1, 2), (2, 0, 1), (1, 2, 0), (0, 2, 2))),
    "Flipout is taken for a shared W: for σ they are flat alike; for μ the two differ.",
    lambda sizes, m, s: _falls(s).astype(float),
    "Flipout is taken for local draws: for μ their variances fall alike; for σ the two differ.",
    lambda sizes, m, s: _falls(m).astype(float),
    "judged by the size of the variance: see how a variance *changes* with the batch size.",
    (
        lambda sizes, m, s: np.argsort(np.argsort(-m[:, -1].var(axis=-1))),
        lambda sizes, m, s: np.array([1, 2, 0])[np.argsort(np.argsort(s[:, -1].var(axis=-1)))],
    ),
)
def _which_program(sizes: Any, mu_gradients: Any, sigma_gradients: Any) -> Any:
    falls_mu, falls_sigma = _falls(mu_gradients), _falls(sigma_gradients)
    return np.where(falls_mu, np.where(falls_sigma, 1, 2), 0)
