"""Test the grey copies that a canvas keeps of the artists of a pinned state."""

import numpy as np
from matplotlib.lines import Line2D

from bdl_teach.widgets._engine.canvas import Canvas

X = np.linspace(0.0, 1.0, 5)


def test_pinned_copies_stay_while_artists_move() -> None:
    canvas = Canvas()
    ax = canvas.main("a")["a"]
    ax.set(xlim=(0, 1), ylim=(0, 10))
    ax.set_title("A digit", loc="left")
    (line,) = ax.plot(X, 1 + X, "-", label="mean")
    (points,) = ax.plot(X, 2 + X, "o", label="data")
    (dots,) = ax.plot(X, 3 + X, ":", label="truth")
    (other,) = ax.plot(X, X, label="mean")  # a second line of that name, which stays
    band = ax.fill_between(X, 4 + X, 5 + X, label="band")
    bar = ax.bar([0.5], [6.0], width=0.2, label="_nolegend_")[0]
    cloud = ax.scatter(X, 7 + X, label="cloud")
    image = ax.imshow(np.eye(3), extent=(0, 0.2, 8, 9), aspect="auto")
    canvas.animate([line, points, dots, other, band, bar, cloud, image])
    canvas.pin()
    canvas.render()
    ghosts = [a for a in ax.get_children() if a.get_label() == "_pinned"]
    (outline,) = (a for a in ghosts if type(a).__name__ == "Rectangle")
    assert not outline.get_visible(), "the outline would cover the unmoved bar"

    line.set_ydata(9 - X)
    points.set_ydata(8 - X)
    band.set_data(X, 1 + X, 1.5 + X)
    bar.set_height(1.0)
    cloud.set_offsets(np.column_stack([X, X]))
    image.set_data(np.ones((3, 3)))
    lines = {float(a.get_ydata()[0]): a for a in ghosts if isinstance(a, Line2D)}  # type: ignore[index, arg-type]
    for height in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(lines[height].get_ydata(), height + X)
    assert lines[1.0].is_dashed() and lines[2.0].get_linestyle() == "None"
    tops = [
        p.vertices[:, 1].max() for a in ghosts if hasattr(a, "get_paths") for p in a.get_paths()
    ]
    assert 6.0 in tops
    clouds = [a.get_offsets()[:, 1] for a in ghosts if hasattr(a, "get_offsets")]
    assert any(len(y) == len(X) and np.allclose(y, 7 + X) for y in clouds)
    assert outline.get_height() == 6.0 and outline.get_facecolor()[3] == 0
    dots.set_visible(False)
    canvas.unpin()
    assert "_pinned" not in {a.get_label() for a in ax.get_children()}


def test_limits_include_the_copies_until_these_are_gone() -> None:
    canvas = Canvas()
    ax = canvas.main("a")["a"]
    ax.set(xlim=(0, 1), ylim=(0, 40))
    canvas.animate(ax.plot(X, 30 + X, label="mean"))
    canvas.pin()
    for high, both in ((10, 40), (50, 50), (20, 40)):
        ax.set_ylim(0, high)
        canvas.render()
        assert ax.get_ylim() == (0, both)
    canvas.unpin()
    assert ax.get_ylim() == (0, 20)
