"""Grey copies of the moving artists as they were at one moment."""

from collections.abc import Iterable
from copy import copy
from typing import Any, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage, BboxImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import Bbox, TransformedBbox

from bdl_teach._support.checks import Array
from bdl_teach.plots import LETTERS

_GREY = "#5F5F5F"
_DASHES: Any = (0, (5, 2))
_CORNER = (0.7, 0.0, 0.3, 0.3)  # place of the copy of an image in its panel: x, y, width, height
_HIDDEN = "_pinned"  # a legend leaves out labels that begin with _
_Limits = tuple[tuple[float, float], tuple[float, float]]  # of x, of y


class PinnedCopies:
    """Grey, unmoving copies of the visible moving artists, except texts and line collections."""

    def __init__(self, figure: Figure, moving: Iterable[Artist]) -> None:
        self._copies = [
            (artist, _shape(artist), _grey_copies(artist) if artist.get_visible() else [])
            for artist in moving
            if _is_compared(artist)
        ]
        panels = dict.fromkeys(artist.axes for artist, *_ in self._copies)
        # For each panel the limits of the copies, those of the explorer, and those in force.
        self._limits = {p: (_limits(p),) * 3 for p in panels if isinstance(p, Axes)}
        self._note = figure.text(
            0.005, 0.005, "grey: A", va="bottom", color=_GREY, fontsize=LETTERS, in_layout=False
        )
        self.over: list[Artist] = []  # copies that the artists would hide: drawn above them
        for artist, _, copies in self._copies:
            for one in copies:
                assert artist.axes is not None
                one.set(label=_HIDDEN, in_layout=False, animated=False)
                artist.axes.add_artist(one)
            self.over += copies if _covers(artist) else []

    def follow(self) -> bool:
        """Widen axis limits to include the copies, and return whether a limit changed."""
        for artist, then, copies in self._copies:
            for one in copies if _covers(artist) else ():  # hidden while the artist has not moved
                one.set_visible(not _is_equal(then, _shape(artist)))
        changed = False
        for panel, (held, _, given) in self._limits.items():
            if (wanted := _limits(panel)) != given:
                given = _union(wanted[0], held[0]), _union(wanted[1], held[1])
                panel.set(xlim=given[0], ylim=given[1])
                self._limits[panel] = held, wanted, given
                changed = True
        return changed

    def leave(self) -> None:
        """Remove the copies, and give the panels the limits that they have without copies."""
        for one in (self._note, *(one for *_, copies in self._copies for one in copies)):
            one.remove()
        for panel, (_, wanted, given) in self._limits.items():
            if _limits(panel) == given:
                panel.set(xlim=wanted[0], ylim=wanted[1])


def _limits(panel: Axes) -> _Limits:
    return panel.get_xlim(), panel.get_ylim()


def _union(now: tuple[float, float], then: tuple[float, float]) -> tuple[float, float]:
    """Return axis limits that include ``now`` and ``then``, inverted if ``now`` is."""
    low, high = min(*now, *then), max(*now, *then)
    return (low, high) if now[0] <= now[1] else (high, low)


def _is_compared(artist: Artist) -> bool:
    kinds = Line2D | Patch | Collection | AxesImage
    there = artist.axes is not None and isinstance(artist, kinds)
    return there and not isinstance(artist, LineCollection)


def _covers(artist: Artist) -> bool:
    return isinstance(artist, Patch | AxesImage)


def _shape(artist: Artist) -> Array:
    """Return an artist's coordinates, or an image's pixel values; empty if it is hidden."""
    if not artist.get_visible():
        return np.zeros(0)
    if isinstance(artist, Line2D):
        return np.array(artist.get_xydata(), float)
    if isinstance(artist, AxesImage):
        return np.array(artist.get_array(), float)
    if isinstance(artist, Patch):
        path = artist.get_patch_transform().transform_path(artist.get_path())
        return np.array(path.vertices, float)
    assert isinstance(artist, Collection)
    parts: list[Any] = [path.vertices for path in artist.get_paths()]
    return np.concatenate([*parts, np.reshape(artist.get_offsets(), (-1, 2))])


def _is_equal(then: Array, now: Array) -> bool:
    return then.shape == now.shape and bool(np.allclose(then, now, rtol=1e-6, equal_nan=True))


def _grey_copies(artist: Artist) -> list[Artist]:
    """Return a grey copy of an artist as it is now; for an image, a small copy and a grey frame."""
    if isinstance(artist, AxesImage):
        return _framed_image(artist)
    grey = copy(artist)
    if isinstance(artist, Line2D):
        grey.set(color=_GREY, mec=_GREY, mfc="none")
        if artist.get_linestyle() == "-":  # a line of another style covers its copy while unmoved
            grey.set(linestyle=_DASHES, linewidth=1.5)
    else:
        grey.set(facecolor="none", edgecolor=_GREY, linewidth=1.0, alpha=None)
        if isinstance(artist, Collection):
            grey.set(linestyle=_DASHES)
    return [grey]


def _framed_image(image: AxesImage) -> list[Artist]:
    assert image.axes is not None
    place = TransformedBbox(Bbox.from_bounds(*_CORNER), image.axes.transAxes)
    small = BboxImage(place, cmap=image.get_cmap(), norm=cast(Normalize, image.norm))
    small.set_data(np.array(image.get_array()))
    x, y, width, height = _CORNER
    frame = Line2D(
        [x, x, x + width, x + width, x], [y, y + height, y + height, y, y],
        color=_GREY, lw=1.1, ls=_DASHES, transform=image.axes.transAxes,
    )  # fmt: skip
    return [small, frame]
