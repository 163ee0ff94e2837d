"""Read what an explorer's picture shows, and check what holds of every explorer."""

import io
from functools import partial
from typing import Any

import ipywidgets
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Canvas, Place
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.own_data import Points, Unseen
from bdl_teach.widgets._engine.stage import Stage

# For a test of the picture that a page is sent: see no_pictures_are_drawn in widgets/conftest.py.
every_picture_is_drawn = pytest.mark.usefixtures("every_picture_drawn")
set_to = partial(pytest.mark.parametrize, "explorer", indirect=True)  # values set before the test
RENDER = Stage.render


def pixels(explorer: Explorer) -> Any:
    """Return the pixels of an explorer's picture ``[height, width, 3]``."""
    return np.asarray(Image.open(io.BytesIO(explorer.png())))


def assert_is_still_of(still: bytes, picture: bytes) -> None:
    """Check that a still is the picture under a strip with a sentence."""
    whole, shown = (
        np.asarray(Image.open(io.BytesIO(png)).convert("RGB")) for png in (still, picture)
    )
    strip = len(whole) - len(shown)
    assert 0 < strip < 60 and (whole[strip:] == shown).all()
    assert len(np.unique(whole[:strip].reshape(-1, 3), axis=0)) > 2, "the strip is empty"


def assert_the_picture_is_not_stale(explorer: Explorer) -> None:
    """Check that the blitted picture equals one drawn from scratch."""
    drawn = Stage.render is RENDER
    assert drawn, "mark the test every_picture_is_drawn"
    with RENDER_LOCK:
        blitted = np.array(explorer._worker.stage.canvas.render().convert("RGB"))
        explorer._worker.stage.canvas.redraw_background()
        assert (np.asarray(explorer._worker.stage.canvas.render().convert("RGB")) == blitted).all()


def artist_data(explorer: Explorer) -> list[Any]:
    """Return the limits of all visible panels and the data of all visible artists, exactly."""
    figure = explorer._worker.stage.canvas.figure
    shown_panels = filter(Axes.get_visible, figure.axes)
    parts: list[Any] = [(ax.get_xlim(), ax.get_ylim()) for ax in shown_panels]
    for artist in explorer._worker.stage.canvas.moving:
        shown = artist.get_visible() and (artist.axes is None or artist.axes.get_visible())
        parts.append(shown)
        if not shown:
            continue
        for name in ("get_data", "get_segments", "get_paths", "get_bbox", "get_text"):
            if hasattr(artist, name):
                parts.append(_bits(getattr(artist, name)()))
    return parts


def _bits(part: Any) -> Any:
    """Make data comparable by ==: arrays become bytes."""
    if isinstance(part, list | tuple):
        return [_bits(p) for p in part]
    part = getattr(part, "vertices", part)
    return part.tobytes() if isinstance(part, np.ndarray) else repr(part)


def panel(explorer: Explorer, title: str) -> Axes:
    """Return the panel with ``title`` in its title; show it if it is a context panel."""
    canvas = explorer._worker.stage.canvas
    axes = canvas.figure.axes
    (found,) = (ax for ax in axes if title in " ".join(map(ax.get_title, ("left", "center"))))
    for name, context in canvas.contexts.items():
        if found in context.axes:
            explorer.set(show=name)
    return found


def artist(ax: Axes, label: str) -> Any:
    """Return the artist of a panel with a label, visible or not."""
    (found,) = (a for a in ax.get_children() if a.get_label() == label)
    return found


def line(ax: Axes, label: str) -> Any:
    """Return the points ``[2, n]`` of the line with a label."""
    return np.array(artist(ax, label).get_data(), dtype=float)


def band(ax: Axes, label: str) -> tuple[Any, Any, Any]:
    """Return x, lower edge and upper edge of the ``fill_between`` with a label."""
    corners = np.concatenate([p.vertices for p in artist(ax, label).get_paths()])
    x = np.unique(corners[:, 0])
    heights = [corners[corners[:, 0] == at, 1] for at in x]
    return x, np.array([h.min() for h in heights]), np.array([h.max() for h in heights])


def curves(ax: Axes, label: str) -> list[Any]:
    """Return the lines ``[m, 2]`` of the collection with a label."""
    return [np.asarray(segment) for segment in artist(ax, label).get_segments()]


def bars(ax: Axes, label: str) -> tuple[Any, Any]:
    """Return heights ``[k]`` and edges ``[k + 1]`` of the ``stairs`` with a label."""
    data = artist(ax, label).get_data()
    return np.asarray(data.values), np.asarray(data.edges)


def assert_shows(ax: Axes, prediction: Any) -> None:
    """Check that a panel shows a prediction's mean and its two bands of ±2 sd."""
    mean, epistemic = prediction.mean, prediction.epistemic_std
    np.testing.assert_allclose(line(ax, "mean")[1], mean)
    stds = {"epistemic": epistemic, "total": np.hypot(epistemic, prediction.aleatoric_std)}
    for name, std in stds.items():
        _, low, high = band(ax, f"±2 sd {name}")
        np.testing.assert_allclose(low, mean - 2 * std, atol=1e-9)
        np.testing.assert_allclose(high, mean + 2 * std, atol=1e-9)


def assert_reads(explorer: Explorer, **expected: float) -> None:
    """Check some of an explorer's readings, by name."""
    found = explorer.readings()
    for name, value in expected.items():
        assert np.isclose(found[name], value, rtol=1e-6, atol=1e-9), (name, found[name], value)


def legend_labels(ax: Axes) -> list[str]:
    """Return the labels in a panel's legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


# Where the page shows the picture, JupyterLab's file browser open: at 1366 × 768, at 1024 × 768,
# and at 1280 × 720 and 150 %.
LAPTOP = Place(911.0, 500.0, 1.0, (589.0, 26.0, 322.0, 316.0))
TABLET = Place(569.0, 514.0)
ZOOMED = Place(398.0, 330.0, 1.5)


def visible_texts(figure: Figure) -> list[Text]:
    """Return all visible texts of a figure."""
    panels = [ax for ax in figure.axes if ax.get_visible()]
    legends = [*figure.legends, *filter(None, (ax.get_legend() for ax in panels))]
    texts = [text for legend in legends for text in legend.get_texts()] + figure.texts
    for ax in panels:
        names = [ax._left_title, ax.xaxis.label, ax.yaxis.label]  # type: ignore[attr-defined]
        ticks = [tick for axis in (ax.xaxis, ax.yaxis) for tick in axis._update_ticks()]
        texts += [*names, *ax.texts, *(tick.label1 for tick in ticks)]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def smallest_letters(explorer: Explorer, place: Place) -> float:
    """Check that no text is cut off at a place; return the smallest letters' size in pixels."""
    canvas, figure = explorer._worker.stage.canvas, explorer._worker.stage.canvas.figure
    with RENDER_LOCK:
        before = canvas.place
        canvas.fit(place)
        canvas.render()
        shown = visible_texts(figure)
        for text in shown:
            box = text.get_window_extent()
            assert box.x0 >= -1 and box.x1 <= figure.bbox.x1 + 1, (place, text, box)
            assert box.y0 >= -1 and box.y1 <= figure.bbox.y1 + 1, (place, text, box)
        size = min(text.get_fontsize() for text in shown) * figure.dpi / 72 / place.ratio
        canvas.fit(before)
    assert len(shown) >= 6
    return float(size)


def measured(canvas: Canvas, panels: list[Axes], place: Place) -> float:
    """Return the height in CSS pixels of all rows of panels together at a place."""
    with RENDER_LOCK:
        before = canvas.place
        canvas.fit(place)
        canvas.render()
        tops = {round(ax.bbox.y1): ax.bbox.height for ax in panels}
        canvas.fit(before)
    return float(sum(tops.values())) / place.ratio


def all_parts(widget: Any) -> list[Any]:
    """Return a widget and all widgets in it."""
    below = [part for child in getattr(widget, "children", ()) for part in all_parts(child)]
    return [widget, *below]


def handle(explorer: Explorer) -> None:
    """Let an explorer without a thread handle what its page has sent, without a tick."""
    for message in explorer._worker.mailbox.take():
        explorer._worker._handle(message)
    explorer._view.show_controls(explorer._worker.session)


def anywhere(control: Any, rng: np.random.Generator) -> Any:
    """Return a random value of a control; of points, None or random ones."""
    if isinstance(control, Points):
        units = points.COURSE if rng.integers(2) else (rng.normal(), 3.0, rng.normal(), 0.2)
        x, y = rng.uniform(-1.0, 1.0, 32), rng.uniform(-25.0, 25.0, 32)
        return points.from_course(x, y, units) if rng.integers(2) else None
    if isinstance(control, Unseen):
        return None
    if isinstance(control, ipywidgets.ToggleButton):
        return bool(rng.integers(2))
    if hasattr(control, "options"):
        values = [o[1] if isinstance(o, tuple) else o for o in control.options]
        return values[rng.integers(len(values))]
    if isinstance(control, ipywidgets.IntSlider):
        return int(rng.integers(control.min, control.max + 1))
    if hasattr(control, "base"):
        return float(control.base ** rng.uniform(control.min, control.max))
    return float(rng.uniform(control.min, control.max))
