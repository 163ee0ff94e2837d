"""The picture of an explorer: a figure drawn in three layers, and the widget that shows it."""

import base64
import io
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from matplotlib.gridspec import GridSpec, GridSpecFromSubplotSpec, SubplotSpec
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
# Width and height in pixels at which letters have their nominal size: with the context panel beside
# the main panels, and below them.
_DESIGNS = ((900.0, 430.0), (569.0, 430.0))
_SIDE = 0.36  # share of the context panel of the width, in stills
_MAIN = 0.68  # share of the main panels of the height, above a context panel
_SMALLEST, _LARGEST = 0.6, 4.0  # scale of letters in the smallest and largest place


@dataclass(frozen=True)
class Place:
    """Where the page shows a picture.

    ``width`` and ``height`` are in CSS pixels; ``ratio`` is the number of device pixels in one.
    ``beside`` is the place of the context panel in it: left, top, width and height. What lies above
    and below that place at the right stays empty, for the page's controls.
    """

    width: float
    height: float
    ratio: float = 1.0
    beside: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass
class _Context:
    """A context panel: its axes, and what draws a result in them."""

    axes: list[Axes]
    draw: Callable[[Any], object]


class Canvas:
    """A figure of the main panels and one of several context panels, drawn in three layers.

    The layers are the background, the seldom moving artists and the moving artists. Hold
    ``RENDER_LOCK`` during each call of a method that draws.
    """

    def __init__(self) -> None:
        width, height = _DESIGNS[0]
        still = (width * (1 - _SIDE), 0.0, width * _SIDE, height)
        self._still = self.place = Place(width, height, _STILL, still)  # of the next picture
        size = (width / _DPI, height / _DPI)
        self.figure = Figure(figsize=size, dpi=_DPI, facecolor="white")
        # Two grids: the context panel right of the main panels, and below them.
        self._grids = (GridSpec(3, 2, self.figure), GridSpec(2, 1, self.figure))
        self._cells: dict[Axes, tuple[SubplotSpec, SubplotSpec]] = {}
        self.contexts: dict[str, _Context] = {}
        self.chosen = ""  # the context panel that is shown
        self.held = False  # whether limits of y must not shrink: a hand moves something
        self._arranger = ConstrainedLayoutEngine()  # a figure would call it at each drawing
        self._agg: Any = FigureCanvasAgg(self.figure)  # half of its methods have no types
        self._backgrounds: dict[Place, Any] = {}
        self._grounds: dict[Place, Any] = {}  # backgrounds with the seldom moving artists
        self._arranged: Any = None  # the place and the context panel that the panels are placed for
        self.moving: list[Artist] = []  # in the order in which they are drawn
        self._seldom: list[Artist] = []
        self._brief: list[Artist] = []
        self._copies: PinnedCopies | None = None
        self._resize()

    # Panels.

    def main(self, mosaic: str, **ratios: Any) -> dict[str, Axes]:
        """Make the main panels, and return them by letter.

        Args:
            mosaic: A letter for each cell, as in ``"ab;cc"``.
            **ratios: Arguments of ``GridSpec``, such as ``height_ratios``.
        """
        return self._make(mosaic, 0, ratios)

    def context(
        self, name: str, draw: Callable[[Any], object], mosaic: str = "c", **ratios: Any
    ) -> dict[str, Axes]:
        """Make a context panel, as ``main`` does; ``draw`` updates its artists to show a result.

        Where it stands below the main panels, the rows of the mosaic become columns. Only the
        chosen panel is shown and drawn; the first is chosen at the start.
        """
        made = self._make(mosaic, 1, ratios)
        self.contexts[name] = _Context([*made.values()], draw)
        self.chosen = self.chosen or name
        self._show_chosen()
        return made

    def _make(self, mosaic: str, part: int, ratios: dict[str, Any]) -> dict[str, Axes]:
        rows = mosaic.split(";")
        beside, below = self._divide(len(rows), len(rows[0]), part, **ratios)
        made = {}
        for letter in dict.fromkeys(mosaic.replace(";", "")):
            at = [
                (r, c) for r, row in enumerate(rows) for c, one in enumerate(row) if one == letter
            ]
            (top, left), (bottom, right) = at[0], at[-1]
            made[letter] = ax = self.figure.add_subplot(beside[top, left])
            where = (slice(top, bottom + 1), slice(left, right + 1))
            self._cells[ax] = (beside[where], below[where[::-1] if part else where])
        return made

    def _divide(self, rows: int, columns: int, part: int, **ratios: Any) -> list[Any]:
        """Divide the area of the main (``part`` 0) or the context panels, in both grids."""
        beside, below = self._grids
        if part:
            turned = GridSpecFromSubplotSpec(columns, rows, below[1])
            return [GridSpecFromSubplotSpec(rows, columns, beside[1, 1], **ratios), turned]
        places = beside[:, 0], below[0]
        return [GridSpecFromSubplotSpec(rows, columns, place, **ratios) for place in places]

    def rearrange(self, shown: Sequence[Axes], columns: int, **ratios: Any) -> None:
        """Place main panels anew, row by row, in ``columns`` columns."""
        cells = self._divide(-(-len(shown) // columns), columns, 0, **ratios)
        for i, ax in enumerate(shown):
            self._cells[ax] = (cells[0][divmod(i, columns)], cells[1][divmod(i, columns)])
        self.redraw_background(arrange=True)

    def choose(self, name: str) -> bool:
        """Show the context panel ``name``; return whether another one was shown."""
        changed, self.chosen = name != self.chosen, name
        if changed:
            self._show_chosen()
        return changed

    def _show_chosen(self) -> None:
        for name, context in self.contexts.items():
            for ax in context.axes:
                ax.set_visible(name == self.chosen)
                ax.set_in_layout(name == self.chosen)
        self.redraw_background(arrange=True)

    def draw_context(self, result: Any) -> None:
        """Update the artists of the context panel that is shown."""
        if self.chosen:
            self.contexts[self.chosen].draw(result)

    # Artists.

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

    def animate_for_a_moment(self, artist: Artist) -> None:
        """Mark an artist as moving, and as one that no still or file shows."""
        self.animate([artist])
        self._brief.append(artist)

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
        shown = [a for a in self.moving if a.axes is None or a.axes.get_visible()]
        self._copies = PinnedCopies(self.figure, [a for a in shown if a not in self._brief])
        self.animate(self._copies.over)
        self.redraw_background()

    def unpin(self) -> None:
        """Remove the grey copies, if there are any."""
        if self._copies is not None:
            self.moving = [a for a in self.moving if a not in self._copies.over]
            self._copies.leave()
            self._copies = None
            self.redraw_background()

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
            if replace(place, ratio=self.place.ratio) != self.place:
                self.redraw_background()
            self.place = place
            self._resize()

    def _resize(self) -> None:
        place = self.place
        scale = max(min(place.width / w, place.height / h) for w, h in _DESIGNS)
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
        wanted = replace(self.place, ratio=1.0), self.chosen
        if self._arranged == wanted:
            return
        is_below = self._place_grids()
        for panel in self.figure.axes:  # the arrangement must not depend on the one before
            _write_powers_plainly(panel.xaxis)
            _write_powers_plainly(panel.yaxis)
            panel.set_subplotspec(self._cells[panel][is_below])
        self._arranger.execute(self.figure)
        shown = filter(Axes.get_visible, self.figure.axes)
        if any([rewrap_legend(panel) for panel in shown]):
            self._arranger.execute(self.figure)
        self._arranged = wanted

    def _place_grids(self) -> bool:
        """Divide the figure as ``place`` says; return whether the context panel is below."""
        place, (beside, below) = self.place, self._grids
        left, top, _, height = place.beside
        if not height:
            left, top = 0.0, _MAIN * place.height
        if left == 0.0:
            below.set_height_ratios([top, place.height - top])
            return True
        beside.set_width_ratios([left, place.width - left])
        under = place.height - top - height
        beside.set_height_ratios([max(one, 1e-3) for one in (top, height, under)])
        return False

    @contextmanager
    def _at_design(self) -> Iterator[None]:
        """Give the figure its designed size in a ``with`` block."""
        shown = self.place
        self.fit(self._still)
        brief = [artist for artist in self._brief if artist.get_visible()]
        for artist in brief:
            artist.set_visible(False)
        try:
            yield
        finally:
            self.fit(shown)
            for artist in brief:
                artist.set_visible(True)

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
