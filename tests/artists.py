"""What a picture holds: panels found by their titles, artists by what the legend calls them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from bdl_teach.widgets._engine.live import Explorer


def panel(explorer: Explorer, title: str, xlabel: str = "", ylabel: str = "") -> Axes:
    """The panel whose title starts so, and whose axes measure what is said."""
    axes: list[Axes] = explorer._canvas.figure.axes
    (ax,) = (ax for ax in axes if ax.get_title(loc="left").startswith(title))
    assert ax.get_xlabel().startswith(xlabel)
    assert ax.get_ylabel().startswith(ylabel)
    return ax


def artist(ax: Axes, label: str) -> Any:
    """The artist that the panel's legend calls ``label``; it must move with each picture."""
    assert label in [text.get_text() for text in ax.get_legend().get_texts()]
    (found,) = (child for child in ax.get_children() if child.get_label() == label)
    assert found.get_animated(), f"{label}: drawn once, on the background"
    return found


def line(ax: Axes, label: str) -> Any:
    """Points of a line ``[2, n]``."""
    return np.array(artist(ax, label).get_data(), dtype=float)


def band(ax: Axes, label: str) -> tuple[Any, Any]:
    """Lower and upper edge of a filled band ``[m]`` each, from left to right."""
    (path,) = artist(ax, label).get_paths()
    m = (len(path.vertices) - 3) // 2  # a corner at each end, and the first one again
    return path.vertices[1 : m + 1, 1], path.vertices[2 * m + 1 : m + 1 : -1, 1]


def functions(ax: Axes, label: str) -> Any:
    """Heights of thin lines ``[s, m]``."""
    return np.array([segment[:, 1] for segment in artist(ax, label).get_segments()])


def assert_shows(ax: Axes, prediction: Any) -> None:
    """The panel's mean, and its two bands: each ±2 of the sd that its label names."""
    mean = prediction.mean
    np.testing.assert_allclose(line(ax, "mean")[1], mean)
    total = np.sqrt(prediction.epistemic_std**2 + prediction.aleatoric_std**2)
    for name, std in (("epistemic", prediction.epistemic_std), ("total", total)):
        low, high = band(ax, f"±2 sd {name}")
        np.testing.assert_allclose(low, mean - 2 * std, atol=1e-9)
        np.testing.assert_allclose(high, mean + 2 * std, atol=1e-9)


def assert_reads(explorer: Explorer, **figures: float) -> None:
    """The explorer's readings, of which all that is said is made, are these."""
    found = explorer.readings()
    for name, value in figures.items():
        assert np.isclose(found[name], value, rtol=1e-6, atol=1e-9), (name, found[name], value)
