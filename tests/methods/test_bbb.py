"""Bayes by Backprop: the room of its program, and the article's result."""

import re

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach.methods import bbb
from bdl_teach.methods.bbb import Capacity

DATA = datasets.sinusoid(n=8)


def test_too_small_capacity_is_refused():
    for size in ((7, (3,), 1), (8, (2,), 1), (8, (3, 3), 1), (8, (3,), 0)):
        capacity = Capacity(*size)
        room = f"expected room for {Capacity(8, (3,), 1)}, got {capacity}"
        with pytest.raises(ValueError, match=re.escape(f"capacity: {room}")):
            bbb.fit(DATA.x, DATA.y, hidden_units=(3,), steps=60, capacity=capacity)


def sinusoid(**recipe) -> dict[str, np.ndarray]:
    """Refit the article's sinusoid with six seeds, of the data and of the fit alike."""
    far = np.array([[-1.5], [0.0], [1.5]])
    results = []
    for seed in range(6):
        data = datasets.sinusoid(seed=seed)
        fit = bbb.fit(data.x, data.y, seed=seed, **recipe)
        spread = fit.predict(far).epistemic_std
        growth = (spread[0] + spread[2]) / 2 / spread[1]
        results.append((growth, fit.free_energy))
    return dict(zip(("growth", "F"), np.transpose(results), strict=True))


def test_doubt_grows_threefold_only_by_the_recipe_of_the_article():
    """It is what a fit has that stops some 60 nats higher, and not what q has at its best."""
    ours, article = sinusoid(), sinusoid(**bbb.ARTICLE)
    assert ours["growth"].min() > 1.5
    assert np.median(article["growth"]) >= 3.0 > np.median(ours["growth"])
    excess = article["F"] - ours["F"]
    assert excess.mean() - 3 * excess.std(ddof=1) / np.sqrt(6) > 15.0
