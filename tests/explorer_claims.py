"""What holds of every explorer, whatever it shows: claims that its own tests call."""

from __future__ import annotations

import io
import re
from functools import partial
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image

from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Place
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.own_data import Unseen

NUMBER = r"[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"


# What shows in the picture that a page is sent, and in no still, which is drawn from scratch.
every_picture_is_drawn = pytest.mark.usefixtures("drawn_unseen")
set_to = partial(pytest.mark.parametrize, "explorer", indirect=True)  # values to be set first
SHOW_PICTURE = Explorer._show_picture  # as outside the tests


def pixels(explorer: Explorer) -> Any:
    """The picture that an explorer shows ``[height, width, 3]``."""
    return np.asarray(Image.open(io.BytesIO(explorer.png())))


def assert_is_still_of(still: bytes, picture: bytes) -> None:
    """The picture, under a strip that says that it is still."""
    whole, shown = (
        np.asarray(Image.open(io.BytesIO(png)).convert("RGB")) for png in (still, picture)
    )
    strip = len(whole) - len(shown)
    assert 0 < strip < 60 and (whole[strip:] == shown).all()
    assert len(np.unique(whole[:strip].reshape(-1, 3), axis=0)) > 2, "it says something"


def assert_the_picture_is_not_stale(explorer: Explorer) -> None:
    """What is blitted is what a drawing from scratch shows: nothing that moved was left behind."""
    drawn = Explorer._show_picture is SHOW_PICTURE
    assert drawn, "mark the test every_picture_is_drawn: one never drawn hides what stays behind"
    with RENDER_LOCK:
        _assert_blitting_draws_the_same(explorer)


def _assert_blitting_draws_the_same(explorer: Explorer) -> None:
    blitted = live(explorer)
    explorer._canvas.redraw_background()  # as for a still
    assert (live(explorer) == blitted).all()


def live(explorer: Explorer) -> Any:
    """The pixels that a page would be sent ``[height, width, 3]``."""
    return np.asarray(explorer._canvas.render().convert("RGB")).copy()


def held(explorer: Explorer) -> list[Any]:
    """All that the artists of a picture show, and its panels' limits, to the last bit."""
    figure = explorer._canvas.figure
    parts: list[Any] = [(ax.get_xlim(), ax.get_ylim()) for ax in figure.axes]
    for artist in explorer._canvas.moving:
        shown = artist.get_visible() and (artist.axes is None or artist.axes.get_visible())
        parts.append(shown)
        if not shown:
            continue
        for name in ("get_data", "get_segments", "get_paths", "get_bbox", "get_text"):
            if hasattr(artist, name):
                parts.append(_bits(getattr(artist, name)()))
    return parts


def _bits(part: Any) -> Any:
    """Something that can be compared: arrays as bytes."""
    if isinstance(part, list | tuple):
        return [_bits(p) for p in part]
    part = getattr(part, "vertices", part)
    return part.tobytes() if isinstance(part, np.ndarray) else repr(part)


def panel(explorer: Explorer, title: str) -> Axes:
    """The one panel whose title holds ``title``."""
    axes = explorer._canvas.figure.axes
    (found,) = (ax for ax in axes if title in " ".join(map(ax.get_title, ("left", "center"))))
    return found


def artist(ax: Axes, label: str) -> Any:
    """The one artist of a panel with the label ``label``, whether it is shown or hidden."""
    (found,) = (a for a in ax.get_children() if a.get_label() == label)
    return found


def line(ax: Axes, label: str) -> Any:
    """Points ``[2, n]`` of the line with that label, as it is drawn."""
    return np.array(artist(ax, label).get_data(), dtype=float)


def band(ax: Axes, label: str) -> tuple[Any, Any, Any]:
    """x, lower and upper edge of the ``fill_between`` with that label, as it is drawn."""
    corners = np.concatenate([p.vertices for p in artist(ax, label).get_paths()])
    x = np.unique(corners[:, 0])
    heights = [corners[corners[:, 0] == at, 1] for at in x]
    return x, np.array([h.min() for h in heights]), np.array([h.max() for h in heights])


def curves(ax: Axes, label: str) -> list[Any]:
    """The single lines ``[m, 2]`` of the collection with that label."""
    return [np.asarray(segment) for segment in artist(ax, label).get_segments()]


def bars(ax: Axes, label: str) -> tuple[Any, Any]:
    """Heights ``[k]`` and edges ``[k + 1]`` of the ``stairs`` with that label."""
    data = artist(ax, label).get_data()
    return np.asarray(data.values), np.asarray(data.edges)


def assert_shows(ax: Axes, prediction: Any) -> None:
    """The panel's mean, and its two bands: each ±2 of the sd that its label names."""
    mean, epistemic = prediction.mean, prediction.epistemic_std
    np.testing.assert_allclose(line(ax, "mean")[1], mean)
    stds = {"epistemic": epistemic, "total": np.hypot(epistemic, prediction.aleatoric_std)}
    for name, std in stds.items():
        _, low, high = band(ax, f"±2 sd {name}")
        np.testing.assert_allclose(low, mean - 2 * std, atol=1e-9)
        np.testing.assert_allclose(high, mean + 2 * std, atol=1e-9)


def assert_reads(explorer: Explorer, **figures: float) -> None:
    """The explorer's readings, of which all that is said is made, are these."""
    found = explorer.readings()
    for name, value in figures.items():
        assert np.isclose(found[name], value, rtol=1e-6, atol=1e-9), (name, found[name], value)


def legend_labels(ax: Axes) -> list[str]:
    """What a panel's legend names, in its order."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


# Where pictures stand in narrow pages, file browser open: 1024 × 768 with a replay's row under
# them and without, and 1280 at 150 %.
TABLET = (Place(569.0, 371.0), Place(569.0, 399.0))
NARROW = (*TABLET, Place(398.0, 272.0, 1.5), Place(398.0, 300.0, 1.5))


def written(figure: Figure) -> list[Text]:
    """All letters of what is shown."""
    panels = [ax for ax in figure.axes if ax.get_visible()]
    legends = [*figure.legends, *filter(None, (ax.get_legend() for ax in panels))]
    texts = [text for legend in legends for text in legend.get_texts()] + figure.texts
    for ax in panels:
        names = [ax._left_title, ax.xaxis.label, ax.yaxis.label]  # type: ignore[attr-defined]
        ticks = [tick for axis in (ax.xaxis, ax.yaxis) for tick in axis._update_ticks()]
        texts += [*names, *ax.texts, *(tick.label1 for tick in ticks)]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def smallest_letters(explorer: Explorer, place: Place) -> float:
    """Draw the picture for a place, where nothing written may be cut off.

    Returns:
        The smallest size of what is written, in the page's pixels.
    """
    canvas, figure = explorer._canvas, explorer._canvas.figure
    with RENDER_LOCK:
        before = canvas.place
        canvas.fit(place)
        canvas.render()
        shown = written(figure)
        for text in shown:
            box = text.get_window_extent()
            assert box.x0 >= -1 and box.x1 <= figure.bbox.x1 + 1, (place, text, box)
            assert box.y0 >= -1 and box.y1 <= figure.bbox.y1 + 1, (place, text, box)
        size = min(text.get_fontsize() for text in shown) * figure.dpi / 72 / place.ratio
        canvas.fit(before)
    assert len(shown) >= 6
    return float(size)


def assert_nothing_is_cut_where_it_is_narrow(explorer: Explorer) -> None:
    """Draw the picture for each narrow place; what is cut off fails there."""
    for place in NARROW:
        smallest_letters(explorer, place)


def names_over_the_panels(explorer: Explorer) -> set[str]:
    """What the figure's legend names; nothing written is cut off, in narrow pages either."""
    assert_nothing_is_cut_where_it_is_narrow(explorer)
    (legend,) = explorer._canvas.figure.legends
    assert all(handle.get_visible() for handle in legend.legend_handles)
    return {text.get_text() for text in legend.get_texts()}


def said(status: str, words: str) -> list[float]:
    """Numbers of a sentence at the place of each ``#`` in ``words``, which must be in it once.

    ``said("gap 1.5 inside, 2 outside", "gap # inside, # outside")`` is ``[1.5, 2.0]``.
    """
    pattern = re.escape(words).replace(r"\#", f"({NUMBER})")
    (found,) = re.finditer(pattern, status)
    return [float(number.replace("−", "-")) for number in found.groups()]


def assert_every_control_and_preset_is_on_the_page_once(explorer: Explorer) -> None:
    """Every control in one group, with its words; the presets in the menu of the head."""
    parts, head = all_parts(explorer), all_parts(explorer.children[0])
    assert explorer._start.menu in head
    assert explorer._start.menu.options[1:] == explorer.presets
    groups = [part for part in parts if "bdl-group" in part._dom_classes]
    for name, control in explorer._controls.items():
        if isinstance(control, Unseen):
            continue
        assert sum(part is control for part in parts) == 1, name
        assert sum(control in all_parts(group) for group in groups) == 1, name
        assert control.description and (control.tooltip or control.tooltips), name
    for name, (_, values) in explorer.PRESETS.items():
        assert set(values) == set(explorer.state()), f"{name} leaves no control where it was"


def all_parts(widget: Any) -> list[Any]:
    """A widget and all in it."""
    below = [part for child in getattr(widget, "children", ()) for part in all_parts(child)]
    return [widget, *below]
