"""Feature columns equal their formulas."""

import numpy as np
import pytest

from bdl_teach import features

X = np.linspace(-1.5, 1.5, 13)[:, None]


@pytest.mark.parametrize("d", [1, 7])
def test_polynomial_features_are_the_powers_of_2x(d: int) -> None:
    expected = np.polynomial.polynomial.polyvander(2 * X[:, 0], d - 1)
    np.testing.assert_allclose(features.polynomial(X, d), expected)


def test_bumps_are_gaussian_densities_three_quarters_of_a_gap_wide():
    centres = np.linspace(-1.0, 1.0, 5)
    expected = np.exp(-((X - centres) ** 2) / (2 * (0.75 * 0.5) ** 2))
    np.testing.assert_allclose(features.bumps(X, 5), expected)
