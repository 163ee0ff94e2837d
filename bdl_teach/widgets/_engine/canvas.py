"""The picture of an explorer: a figure drawn in three layers, and the widget that shows it."""

import base64
import io
import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import numpy as np
import traitlets
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogFormatter, NullFormatter
from PIL import Image, ImageOps

from bdl_teach.plots import LETTERS, rewrap_legend
from bdl_teach.problems.own_points import RAISED
from bdl_teach.widgets._engine.pinned_copies import PinnedCopies

# Matplotlib is not thread-safe (its text parser is shared): one render at a time, process-wide.
RENDER_LOCK = threading.RLock()

_HERE = Path(__file__).parent
_SCRIPTS = ("pointer.js", "page.js")
_DPI = 100.0  # of the design: letters of 10 points are 14 pixels high
_STILL = 1.65  # device pixels per pixel of the design, in stills
_SMALLEST, _LARGEST = 0.6, 4.0  # scale of letters in the smallest and largest place


@dataclass(frozen=True)
class Place:
    """The size of a shown picture: width and height in CSS pixels, device pixels per CSS pixel."""

    width: float
    height: float
    ratio: float = 1.0


class Canvas:
    """A figure in three layers: the background, the seldom moving artists and the moving artists.

    Hold ``RENDER_LOCK`` during each call of a method that draws.

    Args:
        width: Designed width in pixels, at which letters have their nominal size.
        height: Designed height in pixels.
        narrow: Width and height of a second design, used where it gives larger letters.
    """

    def __init__(
        self, width: float = 580.0, height: float = 392.0, narrow: tuple[float, float] | None = None
    ) -> None:
        self._designs = [(width, height), *([narrow] if narrow else [])]
        self._still = self.place = Place(width, height, _STILL)  # of the next picture
        size = (width / _DPI, height / _DPI)
        self.figure = Figure(figsize=size, dpi=_DPI, facecolor="white")
        self._arranger = ConstrainedLayoutEngine()  # a figure would call it at each drawing
        self._agg: Any = FigureCanvasAgg(self.figure)  # half of its methods have no types
        self._backgrounds: dict[Place, Any] = {}
        self._grounds: dict[Place, Any] = {}  # backgrounds with the seldom moving artists
        self._arranged: tuple[float, float] | None = None  # size that the panels are placed for
        self.moving: list[Artist] = []  # in the order in which they are drawn
        self._seldom: list[Artist] = []
        self._copies: PinnedCopies | None = None
        self._resize()

    def animate(self, artists: Iterable[Artist]) -> None:
        """Mark artists as moving: each picture draws them over the background, in this order."""
        for artist in artists:
            artist.set_animated(True)
            artist.set_in_layout(False)  # so that moving artists do not move the panels
            self.moving.append(artist)

    def animate_seldom(self, artists: Iterable[Artist]) -> None:
        """Mark artists as seldom moving: ``redraw_seldom`` or a new background redraws them."""
        for artist in artists:
            artist.set_animated(True)
            self._seldom.append(artist)

    def add_notice(self) -> Text:
        """Return a new text box that shows failures over the picture."""
        box = {"facecolor": "#FFF4CC", "edgecolor": "#7F7F7F", "boxstyle": "round,pad=0.6"}
        notice = self.figure.text(
            0.5, 0.5, "", ha="center", va="center", fontsize=15, wrap=True, zorder=20, bbox=box
        )
        self.animate([notice])
        return notice

    def pin(self) -> None:
        """Draw grey copies of the moving artists; they stay where the artists are now."""
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
        """Return whether artists are as they were when pinned; keys are labels, or image titles."""
        return {} if self._copies is None else self._copies.verdicts()

    def redraw_background(self, *, arrange: bool = False) -> None:
        """Make the next picture redraw the background and, if ``arrange``, lay out the panels."""
        self._backgrounds.clear()
        self._grounds.clear()
        if arrange:
            self._arranged = None

    def redraw_seldom(self) -> None:
        """Make the next picture redraw the seldom moving artists, such as axes with new limits."""
        self._grounds.clear()

    def fit(self, place: Place) -> None:
        """Draw all later pictures at the size of ``place``."""
        if place != self.place:
            if (place.width, place.height) != (self.place.width, self.place.height):
                self.redraw_background()
            self.place = place
            self._resize()

    def _resize(self) -> None:
        place = self.place
        scale = max(min(place.width / w, place.height / h) for w, h in self._designs)
        scale = min(max(scale, _SMALLEST), _LARGEST)
        self.figure.set_dpi(_DPI * scale * place.ratio)
        inches = place.width / (_DPI * scale), place.height / (_DPI * scale)
        self.figure.set_size_inches(*inches, forward=False)

    def render(self) -> Image.Image:
        """Draw the moving artists over the stored background, and return the picture."""
        self._hold_copies()
        self._agg.get_renderer()  # makes one of this size
        if self.place not in self._grounds:
            self._store_backgrounds()
        self._agg.restore_region(self._grounds[self.place])
        self._draw_over(self.moving)
        size, pixels = self._agg.get_width_height(), self._agg.buffer_rgba()
        return Image.frombuffer("RGBX", size, pixels, "raw", "RGBX", 0, 1)

    def _hold_copies(self) -> None:
        """Widen axis limits so that they include the grey copies."""
        if self._copies is not None and self._copies.follow():
            self.redraw_background()

    def _draw_over(self, artists: Iterable[Artist]) -> None:
        for artist in artists:
            if artist.axes is None:
                self.figure.draw_artist(artist)
            elif artist.axes.get_visible():
                artist.axes.draw_artist(artist)

    def _store_backgrounds(self) -> None:
        """Store two backgrounds: one without and one with the seldom moving artists."""
        place, whole = self.place, self.figure.bbox
        if place not in self._backgrounds:
            self._arrange()
            self._agg.draw()
            self._backgrounds[place] = self._agg.copy_from_bbox(whole)
        self._agg.restore_region(self._backgrounds[place])
        self._draw_over(self._seldom)
        self._grounds[place] = self._agg.copy_from_bbox(whole)

    def _arrange(self) -> None:
        """Place the panels, unless they are placed for this size: placing is as slow as drawing."""
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
        """Give the figure its designed size in a ``with`` block."""
        shown = self.place
        self.fit(self._still)
        try:
            yield
        finally:
            self.fit(shown)

    def still(self, note: str = "") -> bytes:
        """Return the picture as PNG at its designed size, below a strip with ``note`` if given."""
        out = io.BytesIO()
        with self._at_design():
            self.redraw_background(arrange=True)  # whatever was shown before
            picture = self.render().convert("RGB")
            if note:
                picture = _noted(picture, note, self.figure.dpi)
        picture.save(out, "PNG", compress_level=6)
        return out.getvalue()

    def as_svg(self) -> bytes:
        """Return the picture as SVG at its designed size."""
        out = io.BytesIO()
        with self._at_design():
            self._hold_copies()
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
    """Label a logarithmic axis with plain text (10³): matplotlib's mathtext is not thread-safe."""
    if isinstance(axis.get_major_formatter(), LogFormatter):
        axis.set_major_formatter(FuncFormatter(_power))
        axis.set_minor_formatter(NullFormatter())


def _power(value: float, _position: int | None = None) -> str:
    return "10" + str(round(math.log10(value))).translate(RAISED)


def _noted(picture: Image.Image, note: str, dpi: float) -> Image.Image:
    strip = Figure(figsize=(picture.width / dpi, 0.26), dpi=dpi, facecolor="#FFF4CC")
    strip.text(0.5, 0.5, note, ha="center", va="center", fontsize=LETTERS)
    agg: Any = FigureCanvasAgg(strip)
    agg.draw()
    over = Image.fromarray(np.asarray(agg.buffer_rgba())).convert("RGB")
    whole = ImageOps.expand(picture, (0, over.height, 0, 0))
    whole.paste(over)
    return whole


def as_data_url(picture: Image.Image) -> bytes:
    """Return a picture as a ``data:`` address of a JPEG, which is faster than a PNG."""
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=92, subsampling=0)
    return b"data:image/jpeg;base64," + base64.b64encode(out.getvalue())


class Picture(anywidget.AnyWidget):
    """The widget that shows the picture as large as the page allows; its script handles input."""

    # One module, because a widget's script cannot import another file.
    _esm: ClassVar[str] = "\n".join((_HERE / name).read_text("utf-8") for name in _SCRIPTS)
    _css: ClassVar[str] = (_HERE / "page.css").read_text("utf-8")
    value = traitlets.Bytes(b"").tag(sync=True)  # the picture as a data: address
    is_still = traitlets.Bool(True).tag(sync=True)  # whether it is one from before this explorer
    alt = traitlets.Unicode("").tag(sync=True)  # a description for screen readers
    line = traitlets.Unicode("").tag(sync=True)  # of Python, which "share" copies
    place = traitlets.Dict({}).tag(sync=True)  # fields of Place, set by the page
    panels: Any = traitlets.List([]).tag(sync=True)  # what Panel.place returns of each
    # Places ``at`` [n][2] of the points in the panels, and the number of the newest message that
    # they answer (``answers``): a page that has sent a newer message ignores them.
    points = traitlets.Dict({}).tag(sync=True)
    in_use = traitlets.Bool(False).tag(sync=True)  # whether focus or pressed pointer is inside
