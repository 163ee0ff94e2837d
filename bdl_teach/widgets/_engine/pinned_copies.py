"""Grey copies of the moving artists, as they were at one moment, behind the moving ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PathCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage, BboxImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.transforms import Bbox, TransformedBbox

from bdl_teach._support.checks import Array
from bdl_teach.plots import LETTERS

_GREY = "#5F5F5F"
_DASHES: Any = (0, (5, 2))
_CORNER = (0.7, 0.0, 0.3, 0.3)  # of a panel with a picture: where its copy has room
_HIDDEN = "_pinned"  # a legend leaves out what begins like this
_Limits = tuple[tuple[float, float], tuple[float, float]]  # of x, of y


class PinnedCopies:
    """Frozen copies of moving artists, in their panels and in the coordinates of their data.

    Lines are dashed, bands and bars outlined, points hollow; a picture leaves a small one in its
    corner. Words leave nothing, nor do single drawn functions: they would hide what they are
    compared with. Panels keep room for them.

    Args:
        figure: The figure, which gets a note on what is grey.
        moving: The artists to copy; hidden ones are left out.
    """

    def __init__(self, figure: Figure, moving: Iterable[Artist]) -> None:
        shown = [artist for artist in moving if artist.axes is not None]
        self._then = [(artist, _shape(artist)) for artist in shown if _is_compared(artist)]
        panels = dict.fromkeys(artist.axes for artist, _ in self._then)
        self._limits = [_PanelLimits(panel) for panel in panels if isinstance(panel, Axes)]
        self._copies: list[Artist] = [
            figure.text(0.005, 0.005, "grey: A", color=_GREY, fontsize=LETTERS, in_layout=False)
        ]
        self._over: list[tuple[Artist, Array, list[Artist]]] = []
        for artist, then in self._then:
            if artist.get_visible():
                self._add(artist, then)

    def _add(self, artist: Artist, then: Array) -> None:
        copies = _copies(artist)
        for copy in copies:
            assert artist.axes is not None
            copy.set(label=_HIDDEN, in_layout=False)
            artist.axes.add_artist(copy)
        self._copies += copies
        if isinstance(artist, Patch | AxesImage):
            self._over.append((artist, then, copies))

    @property
    def over(self) -> list[Artist]:
        """Return the copies that must be drawn above what moves, since it would cover them."""
        return [copy for _, _, copies in self._over for copy in copies]

    def follow(self) -> bool:
        """Widen the panels' limits so that they hold the copies; return whether a limit changed.

        A copy of an artist that has not moved is hidden.
        """
        for artist, then, copies in self._over:
            for copy in copies:
                copy.set_visible(not _is_equal(then, _shape(artist)))
        return any([limits.hold() for limits in self._limits])

    def leave(self) -> None:
        """Remove the copies, and give the panels their limits without them."""
        for copy in self._copies:
            copy.remove()
        for limits in self._limits:
            limits.release()

    def verdicts(self) -> dict[str, bool]:
        """Say of each legend name, and of each picture, whether all its artists are unmoved."""
        same: dict[str, bool] = {}
        for artist, then in self._then:
            name, now = _name(artist), _shape(artist)
            if name and not name.startswith("_") and np.isfinite([*then.flat, *now.flat]).any():
                same[name] = same.get(name, True) and _is_equal(then, now)
        return same


@dataclass
class _PanelLimits:
    """The limits of a panel: to hold the copies, as the explorer wants them, and in force."""

    ax: Axes
    then: _Limits = field(init=False)
    wanted: _Limits = field(init=False)
    given: _Limits = field(init=False)

    def __post_init__(self) -> None:
        self.then = self.wanted = self.given = self._now()

    def _now(self) -> _Limits:
        return self.ax.get_xlim(), self.ax.get_ylim()

    def hold(self) -> bool:
        now = self._now()
        if now == self.given:
            return False
        self.wanted = now
        x, y = (_both(a, b) for a, b in zip(now, self.then, strict=True))
        self.given = x, y
        self._set(self.given)
        return True

    def release(self) -> None:
        if self._now() == self.given:
            self._set(self.wanted)

    def _set(self, limits: _Limits) -> None:
        self.ax.set(xlim=limits[0], ylim=limits[1])


def _both(now: tuple[float, float], then: tuple[float, float]) -> tuple[float, float]:
    """Return limits that hold both, in the direction of the current ones."""
    low, high = min(*now, *then), max(*now, *then)
    return (low, high) if now[0] <= now[1] else (high, low)


def _name(artist: Artist) -> str:
    """Return what a legend calls an artist; a picture has the name of its panel."""
    if isinstance(artist, AxesImage) and isinstance(artist.axes, Axes):
        return artist.axes.get_title(loc="left")
    return str(artist.get_label())


def _is_compared(artist: Artist) -> bool:
    return isinstance(artist, Line2D | Patch | Collection | AxesImage) and not isinstance(
        artist, LineCollection
    )


def _shape(artist: Artist) -> Array:
    """Return an artist's coordinates, to compare; empty if it is hidden or shows nothing."""
    if not artist.get_visible():
        return np.zeros(0)
    if isinstance(artist, Line2D):
        return np.array(artist.get_xydata(), float)
    if isinstance(artist, AxesImage):
        return np.array(artist.get_array(), float)
    if isinstance(artist, Patch):
        return np.array(_outline(artist).vertices, float)
    assert isinstance(artist, Collection)
    parts: list[Any] = [path.vertices for path in artist.get_paths()]
    return np.concatenate([*parts, np.reshape(artist.get_offsets(), (-1, 2))])


def _is_equal(then: Array, now: Array) -> bool:
    return then.shape == now.shape and bool(np.allclose(then, now, rtol=1e-6, equal_nan=True))


def _outline(patch: Patch) -> Any:
    return patch.get_patch_transform().transform_path(patch.get_path())


def _copies(artist: Artist) -> list[Artist]:
    """Copy an artist; the copy is not yet in a panel."""
    if isinstance(artist, Line2D):
        return [_line(artist)]
    if isinstance(artist, AxesImage):
        return _small(artist)
    if isinstance(artist, Patch):
        outline = PathPatch(_outline(artist))
        outline.update_from(artist)
        outline.set(facecolor="none", edgecolor=_GREY, linewidth=0.9, alpha=None)
        return [outline]
    assert isinstance(artist, Collection)
    return [_collection(artist)]


def _line(line: Line2D) -> Artist:
    copy = Line2D([], [])
    copy.update_from(line)
    copy.set_data(*np.array(line.get_data(orig=False), float))
    copy.set(color=_GREY, mec=_GREY, mfc="none")
    if line.get_linestyle() == "-":  # others keep theirs: what has not moved lies on its copy
        copy.set(linestyle=_DASHES, linewidth=1.5)
    return copy


def _collection(collection: Collection) -> Artist:
    sizes = collection.get_sizes() if hasattr(collection, "get_sizes") else None
    copy = PathCollection(
        [path.deepcopy() for path in collection.get_paths()],
        sizes,
        offsets=np.array(collection.get_offsets()),
        offset_transform=collection.get_offset_transform(),
    )
    copy.update_from(collection)
    copy.set(facecolor="none", edgecolor=_GREY, linestyle=_DASHES, linewidth=1.1, alpha=None)
    return copy


def _small(image: AxesImage) -> list[Artist]:
    """Copy a picture, framed, into a corner of its panel."""
    assert image.axes is not None
    place = TransformedBbox(Bbox.from_bounds(*_CORNER), image.axes.transAxes)
    copy = BboxImage(place, cmap=image.get_cmap(), norm=cast(Normalize, image.norm))
    copy.set_data(np.array(image.get_array()))
    x, y, width, height = _CORNER
    frame = Line2D(
        [x, x, x + width, x + width, x], [y, y + height, y + height, y, y],
        color=_GREY, lw=1.1, ls=_DASHES, transform=image.axes.transAxes,
    )  # fmt: skip
    return [copy, frame]
