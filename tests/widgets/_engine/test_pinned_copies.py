"""What a canvas keeps of what moved: where, in which panel, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.lines import Line2D

from bdl_teach.widgets._engine.canvas import Canvas

X = np.linspace(0.0, 1.0, 5)


class Scene:
    """A panel with one moving artist of each kind."""

    def __init__(self) -> None:
        self.canvas = Canvas(300, 200)
        ax = self.ax = self.canvas.figure.add_subplot()
        ax.set(xlim=(0, 1), ylim=(0, 10))
        (self.line,) = ax.plot(X, 1 + X, "-", label="mean")
        (self.points,) = ax.plot(X, 2 + X, "o", label="data")
        (self.dots,) = ax.plot(X, 3 + X, ":", label="truth")
        self.band = ax.fill_between(X, 4 + X, 5 + X, label="band")
        self.bar = ax.bar([0.5], [6.0], width=0.2, label="_nolegend_")[0]
        self.cloud = ax.scatter(X, 7 + X, label="cloud")
        self.image = ax.imshow(np.eye(3), extent=(0, 0.2, 8, 9), aspect="auto")
        self.words = ax.text(0.5, 9, "nine")
        self.canvas.animate(
            [self.line, self.points, self.dots, self.band, self.bar, self.cloud]
            + [self.image, self.words]
        )

    def pixels(self) -> Any:
        return np.asarray(self.canvas.render()).copy()

    def ghosts(self) -> list[Artist]:
        return [a for a in self.ax.get_children() if a.get_label() == "_pinned"]

    def move(self) -> None:
        """Move everything that has a name."""
        self.line.set_ydata(9 - X)
        self.points.set_ydata(8 - X)
        self.band.set_data(X, 1 + X, 1.5 + X)
        self.bar.set_height(1.0)
        self.cloud.set_offsets(np.column_stack([X, X]))


@pytest.fixture
def scene() -> Iterator[Scene]:
    yield Scene()


def lines(ghosts: list[Artist]) -> dict[float, Line2D]:
    """Ghosts of lines by their first height."""
    return {
        float(a.get_ydata()[0]): a  # type: ignore[index, arg-type]
        for a in ghosts
        if isinstance(a, Line2D) and len(a.get_xdata()) == len(X)  # type: ignore[arg-type]
    }


def test_pinned_copies_stay_while_artists_move(scene: Scene) -> None:
    scene.canvas.pin()
    scene.canvas.render()
    (outline,) = (a for a in scene.ghosts() if type(a).__name__ == "Rectangle")
    assert not outline.get_visible(), "it would cover the bar that has not moved"
    scene.move()
    found = lines(scene.ghosts())
    for height in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(found[height].get_ydata(), height + X)
        assert found[height].get_color() == "#5F5F5F"
    assert found[1.0].is_dashed() and found[2.0].get_linestyle() == "None"
    assert found[2.0].get_markerfacecolor() == "none"
    outlines = [a for a in scene.ghosts() if hasattr(a, "get_paths")]
    tops = sorted(float(p.vertices[:, 1].max()) for a in outlines for p in a.get_paths())
    assert 6.0 in tops, "the band"
    assert any(np.allclose(a.get_offsets()[:, 1], 7 + X) for a in outlines), "the cloud"
    (bar,) = (a for a in scene.ghosts() if type(a).__name__ == "Rectangle")
    assert bar.get_height() == 6.0
    assert all(a.get_facecolor()[3] == 0 for a in [bar]), "an outline"


def test_verdicts_name_unmoved_and_moved_artists(scene: Scene) -> None:
    scene.ax.set_title("A digit", loc="left")
    scene.ax.plot([], [], label="nothing")
    scene.canvas.animate(scene.ax.lines[-1:])
    scene.canvas.animate(scene.ax.plot(X, X, label="mean"))  # a second one, which stays
    scene.canvas.pin()
    names = ("mean", "data", "truth", "band", "cloud", "A digit")
    assert scene.canvas.unmoved() == dict.fromkeys(names, True)
    scene.move()
    scene.image.set_data(np.ones((3, 3)))
    assert scene.canvas.unmoved() == {**dict.fromkeys(names, False), "truth": True}
    scene.dots.set_visible(False)
    assert not scene.canvas.unmoved()["truth"], "it has gone"
