"""Scores against the oracles, scikit-learn and brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from bdl_teach import metrics


@st.composite
def class_probabilities(draw):
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(2, 5)))
    raw = draw(hnp.arrays(np.float64, shape, elements=st.floats(0, 1))) + 1e-9
    return raw / raw.sum(axis=-1, keepdims=True)


def test_regression_scores_equal_the_oracle(oracle):
    truth = oracle("regression_metrics")
    y, m, v = (np.array(truth[name]) for name in ("y", "m", "v"))
    tol = truth["tol"]
    assert metrics.rmse(y, m) == pytest.approx(truth["rmse"], abs=tol)
    total = v + truth["v_noise"]
    assert metrics.log_likelihood(y, m, total) == pytest.approx(truth["ll"], abs=tol)
    assert metrics.log_likelihood(y, m, v) == pytest.approx(truth["ll_no_noise"], abs=tol)
    scale = truth["std_y"]
    original = metrics.log_likelihood(scale * y, scale * m, scale**2 * total)
    assert original == pytest.approx(truth["ll_original_units_if_above_normalised"], abs=tol)


def test_uncertainty_scores_equal_the_oracle(oracle):
    truth = oracle("uncertainty")
    entropy = metrics.predictive_entropy(truth["S"])
    information = metrics.mutual_information(truth["S"])
    np.testing.assert_allclose(entropy, truth["predictive_entropy"], atol=truth["tol"], rtol=0)
    np.testing.assert_allclose(information, truth["mutual_information"], atol=truth["tol"], rtol=0)
    variance = metrics.variance_score(truth["S"])
    np.testing.assert_allclose(variance, truth["source_variance_score"], atol=truth["tol"], rtol=0)
    expected = entropy - information
    np.testing.assert_allclose(expected, truth["expected_entropy"], atol=truth["tol"], rtol=0)


def test_coverage_counts_points_on_the_ends_of_an_interval():
    assert metrics.coverage([0.0, 1.0, 1.1], [0.0] * 3, [1.0] * 3) == pytest.approx(2 / 3)
    assert metrics.coverage([5.0], [-np.inf], [np.inf]) == 1.0


PAIRED = {
    metrics.rmse: ("y", "mean"),
    metrics.log_likelihood: ("y", "mean", "var"),
    metrics.coverage: ("y", "lower", "upper"),
    metrics.auroc: ("labels", "scores"),
}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([0.0, np.nan, 1.0], "expected one or more numbers"),
        ([0.0, 1.0], r"expected the shape of {first}, \(3,\), got \(2,\)"),
        (1.0, r"expected the shape of {first}, \(3,\), got \(1,\)"),
    ],
)
def test_metrics_name_an_argument_of_wrong_shape(bad, words):
    for score, (first, *others) in PAIRED.items():
        good = dict.fromkeys((first, *others), [0.0, 1.0, 1.0])
        for name in others:
            with pytest.raises(ValueError, match=f"{name}: {words.format(first=first)}"):
                score(**{**good, name: bad})
        with pytest.raises(ValueError, match=f"({first}|{others[0]}): expected"):
            score(**{**good, first: bad})


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=30))
def test_auroc_is_share_of_ordered_pairs_plus_half_of_ties(cases):
    positive = np.array([score for label, score in cases if label])
    negative = np.array([score for label, score in cases if not label])
    labels, scores = zip(*cases, strict=True)
    if not positive.size or not negative.size:
        with pytest.raises(ValueError, match="expected both 0 and 1"):
            metrics.auroc(labels, scores)
        return
    difference = positive[:, None] - negative
    brute_force = np.mean((difference > 0) + 0.5 * (difference == 0))
    assert metrics.auroc(labels, scores) == pytest.approx(brute_force, abs=1e-12)


@given(class_probabilities())
def test_entropies_equal_scipy_and_information_is_never_negative(p):
    entropy = metrics.predictive_entropy(p)
    np.testing.assert_allclose(entropy, stats.entropy(p.mean(axis=0), axis=-1), atol=1e-9)
    information = metrics.mutual_information(p)
    expected = stats.entropy(p, axis=-1).mean(axis=0)
    np.testing.assert_allclose(information, entropy - expected, atol=1e-9)
    assert (information >= -1e-12).all()
    assert (information <= np.log(p.shape[-1]) + 1e-12).all()


def test_class_log_likelihood_stays_finite_where_probabilities_round_to_zero():
    logs = np.array([[[0.0, -2000.0]], [[0.0, -1500.0]]])
    assert metrics.class_log_likelihood(logs, [1]) == pytest.approx(-1500 - np.log(2))


def test_brier_score_is_two_for_a_certain_wrong_class():
    assert metrics.brier_score(np.eye(3), [0, 2, 1]) == pytest.approx(4 / 3)  # one of three right


def test_risk_is_the_error_rate_of_the_surest_answers():
    """Answers of equal confidence count with their mean error rate."""
    rng = np.random.default_rng(0)
    p, labels = rng.multinomial(10, [1 / 3] * 3, 40) / 10, rng.integers(0, 3, 40)
    confidence = p.max(axis=1)
    wrong = 1.0 * (p.argmax(axis=1) != labels)
    mean = np.array([wrong[confidence == c].mean() for c in confidence])
    order = np.argsort(-confidence)
    coverage, risk = metrics.risk_coverage(p, labels)
    k = np.arange(1, 41)
    np.testing.assert_allclose(coverage, k / 40)
    np.testing.assert_allclose(risk, np.cumsum(mean[order]) / k)
