"""Features are what their formula says, one column each."""

import numpy as np
import pytest

from bdl_teach import features

X = np.linspace(-1.5, 1.5, 13)[:, None]


@pytest.mark.parametrize("d", [1, 2, 7])
def test_polynomial_features_are_the_powers_of_2x(d: int) -> None:
    expected = np.polynomial.polynomial.polyvander(2 * X[:, 0], d - 1)
    np.testing.assert_allclose(features.polynomial(X, d), expected)


@pytest.mark.parametrize("d", [2, 5, 14])
def test_each_bump_is_1_at_its_centre_and_symmetric(d: int) -> None:
    centres = np.linspace(-1, 1, d)[:, None]
    peaks = features.bumps(centres, d)
    np.testing.assert_allclose(np.diag(peaks), 1.0)
    np.testing.assert_allclose(peaks, peaks.T)
    np.testing.assert_allclose(features.bumps(X, d), features.bumps(-X, d)[:, ::-1])


def test_neighbouring_bumps_overlap_as_said() -> None:
    neighbours = features.bumps(np.array([[-1.0]]), 11)[0, 1]
    assert neighbours == pytest.approx(np.exp(-0.5 / 0.75**2))


@pytest.mark.parametrize(
    ("kind", "x", "d"),
    [("splines", X, 3), ("bumps", X, 1), ("polynomial", X, 0), ("bumps", X[:, 0], 3)],
)
def test_invalid_feature_arguments_are_refused(kind: str, x: object, d: int) -> None:
    with pytest.raises(ValueError, match="expected.*got"):
        features.design(kind, x, d)
