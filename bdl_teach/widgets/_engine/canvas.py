"""A figure at the size of its place in the page, drawn in three layers so that a tick is cheap.

Redrawn seldom: the lowest layer. Redrawn when an axis limit changes: the axes given to ``settle``.
Redrawn at each tick: the artists given to ``animate``. Drawing the whole figure takes ten times as
long as drawing one axis.
"""

from __future__ import annotations

import base64
import io
import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogFormatter, NullFormatter
from PIL import Image

from bdl_teach.plots import LETTERS, rewrap_legend
from bdl_teach.widgets._engine.picture import Place
from bdl_teach.widgets._engine.pinned_copies import PinnedCopies

# Matplotlib is not thread-safe (its text parser is shared): one render at a time, process-wide.
RENDER_LOCK = threading.RLock()

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_DPI = 100.0  # of the design: letters of 10 points are 14 pixels high
_STILL = 1.65  # device pixels per pixel of the design, in stills
_SMALLEST, _LARGEST = 0.6, 4.0  # scale of letters in the smallest and largest place


class Canvas:
    """A figure, its cached backgrounds, and the artists that move over them.

    The panels are arranged anew for each size. Letters grow with the place: a place twice as large
    shows the same picture with letters of twice the size. Call what draws with ``RENDER_LOCK``
    held.

    Args:
        width: Width of the design in pixels. At the size of its design, a picture has letters of
            the sizes that were given to Matplotlib.
        height: Height of the design.
        narrow: Width and height of another design, used in places where it gives larger letters.

    Attributes:
        figure: The figure; give it axes before the first picture.
        place: Where the next picture will be shown.
        moving: All artists that move, in the order in which they are drawn.
    """

    def __init__(
        self,
        width: float = 580.0,
        height: float = 392.0,
        narrow: tuple[float, float] | None = None,
    ) -> None:
        self._designs = [(width, height), *([narrow] if narrow else [])]
        self._still = self.place = Place(width, height, _STILL)
        size = (width / _DPI, height / _DPI)
        self.figure = Figure(figsize=size, dpi=_DPI, facecolor="white")
        self._arranger = ConstrainedLayoutEngine()  # a figure would call it at each drawing
        self._agg: Any = FigureCanvasAgg(self.figure)  # half of its methods have no types
        self._backgrounds: dict[Place, Any] = {}
        self._grounds: dict[Place, Any] = {}  # backgrounds with the seldom moving artists
        self._arranged: tuple[float, float] | None = None  # size that the panels are placed for
        self.moving: list[Artist] = []
        self._seldom: list[Artist] = []
        self._copies: PinnedCopies | None = None
        self._resize()

    @property
    def pixels(self) -> tuple[int, int]:
        """Return width and height of the picture, in device pixels."""
        width, height = self._agg.get_width_height()
        return int(width), int(height)

    def animate(self, artists: Iterable[Artist]) -> None:
        """Mark artists as moving; they are drawn over the background, in this order."""
        for artist in artists:
            artist.set_animated(True)
            artist.set_in_layout(False)  # so that moving artists do not move the panels
            self.moving.append(artist)

    def settle(self, artists: Iterable[Artist]) -> None:
        """Mark artists as seldom moving; they are redrawn after ``redraw_settled``."""
        for artist in artists:
            artist.set_animated(True)
            self._seldom.append(artist)

    def add_notice(self) -> Text:
        """Make the box that shows failures over the whole picture."""
        box = {"facecolor": "#FFF4CC", "edgecolor": "#7F7F7F", "boxstyle": "round,pad=0.6"}
        notice = self.figure.text(
            0.5, 0.5, "", ha="center", va="center", fontsize=15, wrap=True, zorder=20, bbox=box
        )
        self.animate([notice])
        return notice

    def pin(self) -> None:
        """Keep grey copies of the moving artists as they are now."""
        self.unpin()
        self._copies = PinnedCopies(self.figure, self.moving)
        self.animate(self._copies.over)
        self.redraw_background()

    def unpin(self) -> None:
        """Remove the grey copies, if there are any."""
        if self._copies is not None:
            self.moving = [a for a in self.moving if a not in self._copies.over]
            self._copies.leave()
            self._copies = None
            self.redraw_background()

    def unmoved(self) -> dict[str, bool]:
        """Return, by name in a legend, whether the artists are where they were when pinned."""
        return {} if self._copies is None else self._copies.verdicts()

    def redraw_background(self, *, arrange: bool = False) -> None:
        """Redraw everything in the next picture, because something that does not move has changed.

        ``arrange``: also place the panels anew, because a legend needs more or less space.
        """
        self._backgrounds.clear()
        self._grounds.clear()
        if arrange:
            self._arranged = None

    def redraw_settled(self) -> None:
        """Redraw the seldom moving artists in the next picture."""
        self._grounds.clear()

    def fit(self, place: Place) -> None:
        """Draw the next pictures for ``place``."""
        if place != self.place:
            if (place.width, place.height) != (self.place.width, self.place.height):
                self.redraw_background()
            self.place = place
            self._resize()

    def _resize(self) -> None:
        """Give the figure the size and resolution of its place."""
        place = self.place
        scale = max(min(place.width / w, place.height / h) for w, h in self._designs)
        scale = min(max(scale, _SMALLEST), _LARGEST)
        self.figure.set_dpi(_DPI * scale * place.ratio)
        inches = place.width / (_DPI * scale), place.height / (_DPI * scale)
        self.figure.set_size_inches(*inches, forward=False)

    def render(self) -> Image.Image:
        """Draw the moving artists over the background."""
        self._make_room()
        if self.place not in self._grounds:
            self._draw_ground()
        self._agg.get_renderer()  # makes one of this size
        self._agg.restore_region(self._grounds[self.place])
        self._draw_over(self.moving)
        return Image.frombuffer("RGBX", self.pixels, self._agg.buffer_rgba(), "raw", "RGBX", 0, 1)

    def _make_room(self) -> None:
        """Widen axis limits so that they hold the grey copies."""
        if self._copies is not None and self._copies.follow():
            self.redraw_background()

    def _draw_over(self, artists: Iterable[Artist]) -> None:
        """Draw artists over what has been drawn, except those of hidden panels."""
        for artist in artists:
            if artist.axes is None:
                self.figure.draw_artist(artist)
            elif artist.axes.get_visible():
                artist.axes.draw_artist(artist)

    def _draw_ground(self) -> None:
        """Store two backgrounds: without and with the seldom moving artists."""
        place, whole = self.place, self.figure.bbox
        if place not in self._backgrounds:
            self._arrange()
            self._agg.draw()
            self._backgrounds[place] = self._agg.copy_from_bbox(whole)
        self._agg.get_renderer()
        self._agg.restore_region(self._backgrounds[place])
        self._draw_over(self._seldom)
        self._grounds[place] = self._agg.copy_from_bbox(whole)

    def _arrange(self) -> None:
        """Place the panels, unless that was done for this size; it takes as long as a drawing."""
        size = self.place.width, self.place.height
        if self._arranged == size:
            return
        for panel in self.figure.axes:  # the arrangement must not depend on the one before
            _write_powers_plainly(panel.xaxis)
            _write_powers_plainly(panel.yaxis)
            if (cell := panel.get_subplotspec()) is not None:
                panel.set_subplotspec(cell)
        self._arranger.execute(self.figure)
        shown = filter(Axes.get_visible, self.figure.axes)
        if any([rewrap_legend(panel) for panel in shown]):
            self._arranger.execute(self.figure)
        self._arranged = size

    @contextmanager
    def _at_design(self) -> Iterator[None]:
        """Draw at the size of the design meanwhile; the picture in the page keeps its size."""
        shown = self.place
        self.fit(self._still)
        try:
            yield
        finally:
            self.fit(shown)

    def still(self, note: str = "") -> bytes:
        """Encode the picture as PNG at the size of the design, below a note if one is given.

        Panels are placed for their present contents, so that the still of a state is always the
        same.
        """
        out = io.BytesIO()
        with self._at_design():
            self.redraw_background(arrange=True)
            picture = self.render().convert("RGB")
            if note:
                picture = _noted(picture, note, self.figure.dpi)
        picture.save(out, "PNG", compress_level=6)
        return out.getvalue()

    def as_svg(self) -> bytes:
        """Draw everything as vectors, at the size of the design."""
        out = io.BytesIO()
        with self._at_design():
            self._make_room()
            self._arrange()
            for artist in self.moving:  # savefig leaves out animated artists
                artist.set_animated(False)
            try:
                self.figure.savefig(out, format="svg", dpi=self.figure.dpi)
            finally:
                for artist in self.moving:
                    artist.set_animated(True)
        return out.getvalue()


def _write_powers_plainly(axis: Axis) -> None:
    """Label the ticks of a logarithmic axis with Unicode powers (10³), not with formulas.

    All threads share Matplotlib's formula parser, so a figure in a notebook cell could fail
    meanwhile.
    """
    if isinstance(axis.get_major_formatter(), LogFormatter):
        axis.set_major_formatter(FuncFormatter(_power))
        axis.set_minor_formatter(NullFormatter())


def _power(value: float, _position: int | None = None) -> str:
    return "10" + str(round(math.log10(value))).translate(_RAISED)


def _noted(picture: Image.Image, note: str, dpi: float) -> Image.Image:
    """Add a strip with a sentence above a picture."""
    strip = Figure(figsize=(picture.width / dpi, 0.26), dpi=dpi, facecolor="#FFF4CC")
    strip.text(0.5, 0.5, note, ha="center", va="center", fontsize=LETTERS)
    agg: Any = FigureCanvasAgg(strip)
    agg.draw()
    over = Image.fromarray(np.asarray(agg.buffer_rgba())).convert("RGB")
    whole = Image.new("RGB", (picture.width, over.height + picture.height))
    whole.paste(over, (0, 0))
    whole.paste(picture, (0, over.height))
    return whole


def as_data_url(picture: Image.Image) -> bytes:
    """Encode a picture for the live view, as a ``data:`` address of a JPEG (3 ms; a PNG takes 20).

    JupyterLab shows such an address 1 to 6 ms sooner than a blob, which goes through another
    process.
    """
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=92, subsampling=0)
    return b"data:image/jpeg;base64," + base64.b64encode(out.getvalue())
