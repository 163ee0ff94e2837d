"""Draw plots: functions draw on an ``Axes``, classes keep artists and update them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary, WeakSet

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from bdl_teach._support import alt_text
from bdl_teach._support.checks import Array

if TYPE_CHECKING:  # at run time this would load TensorFlow before the first picture
    from bdl_teach.densities import Prior
    from bdl_teach.predictive import Predictive

Summary = Callable[[Any], tuple[float, float, float]]  # middle, its lower, upper limit

# Okabe & Ito's palette, safe for colour-blind readers; lines also differ in style.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#7F7F7F"
RUST = "#A84300"  # RED for letters: its contrast on white is 6.1, that of RED 3.9
SHADE = (0.0, 0.0, 0.0, 0.07)  # colour of a region in the background
LETTERS = 10.1  # size of an explorer's smallest letters in points: 14 pixels in its picture

_TABLE = json.loads(Path(__file__).with_name("marks.json").read_text(encoding="utf-8"))
_MARKS = {row.pop("name"): row for row in _TABLE}
_RANKS = {row["label"]: rank for rank, row in enumerate(_TABLE)}

alt_text.speak_in_notebooks()


def mark(name: str) -> dict[str, Any]:
    """Return matplotlib's arguments for a mark of ``marks.json``: its label, colour and style."""
    return dict(_MARKS[name])


def in_order(
    handles: Sequence[Artist], labels: Sequence[str], others: float = len(_TABLE)
) -> list[tuple[Artist, str]]:
    """Return a legend's entries in the order of ``marks.json``; ``others`` is that of any other."""
    entries = zip(handles, labels, strict=True)
    return sorted(entries, key=lambda entry: _RANKS.get(entry[1], others))


def lecture_style() -> None:
    """Set matplotlib's defaults for chapters, to be readable from the back of a room."""
    mpl.rcParams.update({"figure.figsize": (9.5, 4.2), "font.size": 13, "lines.linewidth": 2.4})
    mpl.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})


def panel(ax: Axes, title: str, xlabel: str, ylabel: str, **legend: Any) -> None:
    """Add title, axis labels and legend to a panel of a chapter's figure.

    Args:
        ax: The panel, with all labelled artists.
        title: Title that says what to see.
        xlabel: Quantity and unit along x.
        ylabel: Quantity and unit along y.
        **legend: Arguments of ``ax.legend``.
    """
    ax.set_title(title, loc="left", fontsize=13)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    entries = in_order(*ax.get_legend_handles_labels())
    handles, labels = [handle for handle, _ in entries], [label for _, label in entries]
    ax.legend(handles, labels, **{"frameon": False, "fontsize": 11, **legend})


def tidy(ax: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Add title and axis labels to an explorer's panel, and remove its upper and right edges."""
    ax.set_title(title, fontsize=11, loc="left")
    ax.set_xlabel(xlabel, fontsize=LETTERS, labelpad=1)
    ax.set_ylabel(ylabel, fontsize=LETTERS, labelpad=1)
    ax.tick_params(labelsize=LETTERS)
    ax.spines[["top", "right"]].set_visible(False)


def legend_above(
    ax: Axes, columns: int, over: Iterable[Axes] = (), others: float = len(_TABLE)
) -> None:
    """Put a legend of the visible artists between a panel's title and its axes.

    It has ``columns`` columns, but at most 4 if there are more entries than ``columns``. It may go
    on above the panels ``over`` at its right, whose titles it raises, too. ``others`` is that of
    ``in_order``.
    """
    _OVER[ax] = WeakSet(over)
    labelled = in_order(*ax.get_legend_handles_labels(), others)
    shown = [(handle, label) for handle, label in labelled if handle.get_visible()]
    _COLUMNS[ax] = columns if len(shown) <= columns else min(columns, 4)
    handles, labels = zip(*shown, strict=True) if shown else ((), ())
    _place_legend(ax, handles, labels, _COLUMNS[ax])


def _place_legend(ax: Axes, handles: Any, labels: Any, columns: int) -> None:
    """Put a legend above a panel's axes, and the title above the legend."""
    rows = -(-len(labels) // columns)
    for panel in (ax, *_OVER[ax]):
        title = panel.get_title(loc="left")
        panel.set_title(title, fontsize=11, loc="left", pad=3 + 13.7 * rows)
    legend = ax.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(-0.02, 0.98), ncols=columns,
        fontsize=LETTERS, frameon=False, columnspacing=0.4, handlelength=1.0, borderpad=0.1,
        handletextpad=0.3, labelspacing=0.15,
    )  # fmt: skip
    legend.set_in_layout(False)  # the title has made room for it
    for handle in legend.legend_handles:
        if isinstance(handle, Line2D):  # a large mark would cover its label
            handle.set_markersize(min(handle.get_markersize(), _LARGEST_MARK))
            handle.set_markeredgewidth(min(handle.get_markeredgewidth(), 2.0))
            if handle.get_linestyle() in ("--", "-."):  # else no gap would be seen
                handle.set_linewidth(min(handle.get_linewidth(), 0.8))


def rewrap_legend(ax: Axes) -> bool:
    """Break a panel's legend into rows that fit its width; return whether the rows changed."""
    legend = ax.get_legend()
    if legend is None or ax not in _COLUMNS:
        return False
    handles, labels = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
    panels = [p for p in ax.figure.axes if p.get_visible() and p not in _OVER[ax]]
    box = ax.bbox
    beside = [p.bbox.x0 for p in panels if p.bbox.y0 < box.y1 and p.bbox.y1 > box.y0]
    edge = min([ax.figure.bbox.x1, *(x0 for x0 in beside if x0 > box.x1)])
    edge = max([p.bbox.x1 for p in _OVER[ax]], default=edge)
    columns, changed = max(min(_COLUMNS[ax], len(labels)), 1), legend in _NARROWED
    if changed:
        _place_legend(ax, handles, labels, columns)
    while columns > 1 and cast(Legend, ax.get_legend()).get_window_extent().x1 > edge:
        columns, changed = columns - 1, True
        _place_legend(ax, handles, labels, columns)
        _NARROWED.add(ax.get_legend())
    return changed


def draw_data(ax: Axes, x: ArrayLike, y: ArrayLike) -> Line2D:
    """Draw data points ``x`` [n, 1], ``y`` [n, 1], and return the artist."""
    return ax.plot(np.ravel(x), np.ravel(y), markersize=8, zorder=5, **mark("data"))[0]


def draw_truth(ax: Axes, x: ArrayLike, y: ArrayLike) -> Line2D:
    """Draw the noise-free function with values ``y`` at ``x``, and return the artist."""
    return ax.plot(np.ravel(x), np.ravel(y), zorder=4, **mark("truth"))[0]


def draw_predictive(ax: Axes, x: ArrayLike, prediction: Predictive) -> None:
    """Draw a predictive's mean and its epistemic and total ±2 sd bands at rising ``x`` [m, 1]."""
    PredictiveArtists(ax, np.ravel(x)).update(prediction)


_COLUMNS: WeakKeyDictionary[Axes, int] = WeakKeyDictionary()  # entries in a row of its legend
_OVER: WeakKeyDictionary[Axes, WeakSet[Axes]] = WeakKeyDictionary()  # panels that it may cover
_NARROWED: WeakSet[Any] = WeakSet()  # legends with fewer entries in a row, in a narrow figure
_LARGEST_MARK = 8.0  # size in a legend, in points
POSTERIOR = _MARKS["posterior_mean"]["label"]
ROOM = (25.0, 35.0, 50.0, 70.0, 100.0, 140.0, 200.0)  # limits of y in a panel of the sinusoid


class Artists:
    """Base class of drawings that change: they are drawn over a panel's stored background."""

    artists: list[Artist]  # from back to front


def step_above(value: float, steps: Sequence[float]) -> float:
    """Return the first of the rising ``steps`` that is at least ``value``; if none is, the last."""
    return next((step for step in steps if value <= step), steps[-1])


class Room(Artists):
    """The y limits of a panel, ±L, where L is the smallest of ``steps`` that includes its curves.

    An arrow at the upper and at the lower edge names the curves that leave the panel there. Its
    words are few, since drawing a letter takes as long as drawing a curve.
    """

    def __init__(self, ax: Axes, steps: Sequence[float] = ROOM) -> None:
        self._ax, self._steps, self._limit = ax, steps, steps[0]
        self.held = False  # whether the height must not change
        ax.set_ylim(-steps[0], steps[0])
        box = {"color": "white", "alpha": 0.8, "lw": 0, "pad": 1}
        self._above, self._below = (
            ax.text(
                0.99, height, "", transform=ax.transAxes, ha="right", va=edge, color=BLACK,
                fontsize=LETTERS, zorder=7, bbox=box,
            )
            for height, edge in ((0.98, "top"), (0.02, "bottom"))
        )  # fmt: skip
        self.artists = [self._above, self._below]
        self.frame = [ax.yaxis, *ax.spines.values()]  # to be drawn again when the height changes

    def hold(
        self,
        curves: Mapping[str, ArrayLike],
        at_least: float = 0,
        nuts: Predictive | None = None,
        *,
        near: Array | None = None,
        awaited: bool = False,
    ) -> bool:
        """Set the smallest limit that includes ``curves`` (by name); return whether it changed.

        If the mask ``near`` [m] is given, only these inputs of the curves count; what leaves the
        panel elsewhere is named at its edge. The limit also includes the value ``at_least``, and
        the ±2 sd epistemic band of ``nuts``, the true posterior. With ``awaited`` (``nuts`` is
        still being computed) the limit does not shrink. While the attribute ``held`` is true, it
        does not change at all.
        """
        if nuts is not None:
            curves = {**curves, POSTERIOR: epistemic_edges(nuts)}
        where = slice(None) if near is None else near
        highs = [
            np.abs(np.asarray(curve)[..., where]).max(initial=0.0) for curve in curves.values()
        ]
        reach = float(max(highs, default=0.0))
        at_least = max(at_least, self._limit) if awaited else at_least
        limit = self._limit if self.held else step_above(max(reach, at_least), self._steps)
        above = ", ".join(name for name, y in curves.items() if np.max(y) > limit)
        below = ", ".join(name for name, y in curves.items() if np.min(y) < -limit)
        self._above.set_text(above and f"▲ above: {above}")
        self._below.set_text(below and f"▼ below: {below}")
        changed, self._limit = limit != self._limit, limit
        if changed:
            self._ax.set_ylim(-limit, limit)
        return changed


def edges(prediction: Predictive) -> dict[str, Array]:
    """Return a dict: ``mean`` [m], and ``band`` [2, m], the edges of the ±2 sd total band."""
    mean, reach = prediction.mean, 2 * prediction.total_std
    return {"mean": mean, "band": np.stack([mean - reach, mean + reach])}


def epistemic_edges(prediction: Predictive) -> Array:
    """Return the edges of the ±2 sd epistemic band ``[2, m]``."""
    reach = 2 * prediction.epistemic_std
    return np.stack([prediction.mean - reach, prediction.mean + reach])


class PredictiveArtists(Artists):
    """A predictive at rising inputs ``x`` [m]: its mean, two bands, and ``n_functions`` draws."""

    def __init__(self, ax: Axes, x: Array, n_functions: int = 0) -> None:
        zero = np.zeros_like(x)
        self._x, self._n_functions = x, n_functions
        self._total = ax.fill_between(x, zero, zero, lw=0, zorder=1, **mark("total"))
        self._epistemic = ax.fill_between(x, zero, zero, lw=0, zorder=2, **mark("epistemic"))
        self._functions = LineCollection([], zorder=2.5, **mark("drawn"))
        ax.add_collection(self._functions, autolim=False)
        (self._mean,) = ax.plot(x, zero, zorder=3, **mark("mean"))
        if not n_functions:
            self._functions.set_label("_")
        self.artists = [self._total, self._epistemic, self._functions, self._mean]

    def update(self, prediction: Predictive) -> None:
        """Move the mean, the bands and the draws to those of ``prediction``."""
        mean, x = prediction.mean, self._x
        self._total.set_data(x, *edges(prediction)["band"])
        self._epistemic.set_data(x, *epistemic_edges(prediction))
        self._mean.set_data(x, mean)
        drawn: Any = [] if prediction.samples is None else prediction.samples[: self._n_functions]
        self._functions.set_segments([np.column_stack([x, f]) for f in drawn])


class OverlayArtists(Artists):
    """A second predictive in a panel, as lines: its mean and the edges of its epistemic band."""

    def __init__(self, ax: Axes, x: Array, label: str) -> None:
        self._x = x
        mean = {**mark("posterior_mean"), "label": label}
        (self._mean,) = ax.plot([], [], zorder=4, **mean)
        edge = {**mark("posterior_band"), "zorder": 4}
        (self._low,) = ax.plot([], [], **{**edge, "label": f"{label} ±2 sd"})
        (self._high,) = ax.plot([], [], **{**edge, "label": "_"})
        self.artists = [self._low, self._high, self._mean]
        self.show(None)

    def show(
        self, prediction: Predictive | None, *, asked: bool = False, sure: bool = True
    ) -> bool:
        """Show ``prediction``, or nothing if it is ``None``; return whether the legend changed.

        With ``asked`` the legend has the prediction's entries even if ``prediction`` is ``None``.
        The lines are pale unless ``sure``, as while the chains have not mixed.
        """
        there = asked or prediction is not None
        changed = self._mean.get_visible() != there
        curves = [np.full_like(self._x, np.nan)] * 3
        if prediction is not None:
            curves = [prediction.mean, *epistemic_edges(prediction)]
        for line, curve in zip((self._mean, self._low, self._high), curves, strict=True):
            line.set_visible(there)
            line.set_data(self._x, curve)
            line.set_alpha(None if sure else 0.4)
        return changed


class FunctionArtists(Artists):
    """Functions, such as networks drawn from the prior, as thin grey lines."""

    def __init__(self, ax: Axes, x: Array, label: str) -> None:
        self._x = x
        self._lines = LineCollection([], zorder=0.5, **{**mark("prior"), "label": label})
        ax.add_collection(self._lines, autolim=False)
        self.artists = [self._lines]
        self.show(None)

    def show(self, functions: Array | None) -> bool:
        """Show ``functions`` [s, m], or nothing if ``None``; return whether the legend changed."""
        changed = bool(self._lines.get_visible() != (functions is not None))
        self._lines.set_visible(functions is not None)
        drawn = () if functions is None else functions
        self._lines.set_segments([np.column_stack([self._x, f]) for f in drawn])
        return changed


class GapStripe(Artists):
    """A grey stripe behind the curves, over the inputs where there are no data."""

    def __init__(self, ax: Axes) -> None:
        self._stripe = ax.axvspan(0, 0, color=SHADE, zorder=0, lw=0)
        self.artists = [self._stripe]

    def update(self, x: Array, gap: Array) -> None:
        """Shade the panel over those inputs of ``x`` [m] where the mask ``gap`` [m] is true."""
        inside = x[gap]
        low, high = (inside[0], inside[-1]) if len(inside) else (0.0, 0.0)
        self._stripe.set(x=low, width=high - low)


class SpreadPanel(Artists):
    """A panel with the epistemic standard deviations of several fits at rising ``x`` [m, 1].

    ``styles`` maps the name of each fit to its line style and colour.
    """

    def __init__(
        self,
        ax: Axes,
        x: Array,
        styles: Mapping[str, tuple[str, str]],
        title: str = "How sure each is",
        limits: Sequence[float] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
    ) -> None:
        tidy(ax, title, "x", "epistemic sd")
        self.axes, self._x, self._limits, self._limit = ax, x[:, 0], limits, limits[0]
        ax.set(xlim=(x[0, 0], x[-1, 0]), ylim=(0, self._limit))
        self._gap = GapStripe(ax)
        self._lines = {
            name: ax.plot([], [], style, color=colour, lw=2.0, label=name)[0]
            for name, (style, colour) in styles.items()
        }
        legend_above(ax, columns=4, others=-1)  # the fits before the posterior
        self.artists: list[Artist] = [*self._gap.artists, *self._lines.values()]
        self.frame = [ax.yaxis, *ax.spines.values()]  # to be drawn again when the height changes

    def show(self, name: str, shown: bool) -> bool:
        """Show or hide the curve of this name, also in the legend; return whether it changed."""
        changed = self._lines[name].get_visible() != shown
        if changed:
            self._lines[name].set_visible(shown)
            legend_above(self.axes, columns=4, others=-1)
        return bool(changed)

    def update(
        self,
        shown: Mapping[str, Predictive | None],
        gap: Array | None = None,
        *,
        held: bool = False,
    ) -> bool:
        """Draw the epistemic sd of each predictive in ``shown``; return whether the y axis changed.

        Where the mask ``gap`` [m] is true, the panel is shaded. The axis does not shrink if
        ``held``.
        """
        if gap is not None:
            self._gap.update(self._x, gap)
        highest = 0.0
        for name, prediction in shown.items():
            std = np.full_like(self._x, np.nan) if prediction is None else prediction.epistemic_std
            self._lines[name].set_data(self._x, std)
            highest = max(highest, 0.0 if prediction is None else float(std.max()))
        limit = step_above(max(highest, held * self._limit), self._limits)
        changed, self._limit = limit != self._limit, limit
        if changed:
            self.axes.set_ylim(0, limit)
        return changed


class HistoryPanel(Artists):
    """A panel with the free energy F and its parts along the steps of a training.

    With ``longer`` the x axis is logarithmic up to 5000 steps, instead of linear up to 1500. The y
    axis ends at about twice the last F, so that the noise of the descent can be seen.
    """

    _SERIES = ("free_energy", "complexity_cost", "likelihood_cost")
    _LIMITS = tuple(m * 10.0**power for power in range(2, 6) for m in (1, 2, 5))

    def __init__(self, ax: Axes, *, longer: bool = False) -> None:
        title = "Free energy F" if longer else "How the free energy F fell"
        tidy(ax, title, "Adam step", "nats")
        self._ax, self._limit = ax, 0.0
        if longer:
            ax.set(xscale="log", xlim=(10, 5000))
            ax.set_xticks([10, 100, 1000], ["10", "100", "1000"])
            ax.set_xticks([], minor=True)
        else:
            ax.set_xlim(0, 1500)
        self._lines = {key: ax.plot([], [], **mark(key))[0] for key in self._SERIES}
        self.artists = list(self._lines.values())
        self.frame = [ax.yaxis, *ax.spines.values()]  # to be drawn again when the height changes
        legend_above(ax, columns=2 if longer else 3)

    def update(self, history: dict[str, Array], *, held: bool = False) -> bool:
        """Draw F and its parts from a fit's ``history``; return whether the y axis changed.

        It does not if ``held``, as while a training is replayed.
        """
        for key, line in self._lines.items():
            line.set_data(history["step"], history[key])
        last = max(abs(float(history[key][-1])) for key in self._SERIES)
        limit = step_above(1.5 * last, self._LIMITS)
        if held or limit == self._limit:
            return False
        self._limit = limit
        self._ax.set_ylim(-0.2 * limit, limit)
        return True


class WeightArtists(Artists):
    """The prior's density, a histogram of posterior means, and q(w) averaged over weights."""

    _FLOOR = 1e-4  # the smallest density shown

    def __init__(self, ax: Axes, edges: Array) -> None:
        self._edges, floor = edges, self._FLOOR
        self._grid = grid = np.linspace(edges[0], edges[-1], 101)
        self._bars = ax.stairs(
            np.full(len(edges) - 1, floor), edges, baseline=floor, fill=True, color=SKY, alpha=0.7
        )
        self._bars.set_label("fitted μ")
        (self._prior,) = ax.plot(grid, grid, "-", color=BLACK, lw=1.8, label="prior")
        (self._marginal,) = ax.plot(grid, grid, "--", color=RED, lw=1.6, label="fitted q")
        self.artists = [self._bars, self._prior, self._marginal]

    def update(self, prior: Prior, mean: Array, std: Array) -> None:
        """Show ``prior``, and the posterior's means and standard deviations ``[n_weights]``."""
        inside = np.clip(mean, self._edges[0], self._edges[-1])
        density, _ = np.histogram(inside, self._edges, density=True)
        self._bars.set_data(np.maximum(density, self._FLOOR))
        self._prior.set_ydata(prior.density(self._grid))
        mean, std = mean[:, None].astype(np.float32), std[:, None].astype(np.float32)
        scaled = (self._grid.astype(np.float32) - mean) / std  # [n_weights, grid]
        each = np.exp(-0.5 * scaled**2) / (std * np.sqrt(2 * np.pi))
        self._marginal.set_ydata(np.maximum(each.mean(axis=0), self._FLOOR))


def draw_forest(
    ax: Axes, differences: Mapping[str, ArrayLike], summary: Summary | None = None
) -> None:
    """Draw a row for each name, the first at the top, and a line at 0: its values and their middle.

    Args:
        ax: The panel.
        differences: For each name the values in the worlds ``[worlds]``, such as a method's score
            less another's. A row of one value is only its point.
        summary: Returns middle, lower and upper end of a row's bar; by default the mean and ± 2
            standard errors of it.
    """
    ax.axvline(0, color=BLACK, lw=1.0, zorder=0)
    rows = {name: np.ravel(values) for name, values in differences.items()}
    for row, values in enumerate(rows.values()):
        few = len(values) == 1
        place = row + 0.22 * np.linspace(-1, 1, len(values)) * (not few)
        ax.plot(values, place, "o", ms=7 if few else 4, color=BLUE, alpha=1 if few else 0.35)
        if not few:
            middle, low, high = (summary or _mean_and_two_errors)(values)
            ax.plot((low, high), (row, row), "-", color=BLUE, lw=2.4)
            ax.plot(middle, row, "D", ms=8, color=BLUE)
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set_ylim(len(rows) - 0.5, -0.5)


def _mean_and_two_errors(values: Array) -> tuple[float, float, float]:
    middle, half = values.mean(), 2 * values.std(ddof=1) / np.sqrt(len(values))
    return middle, middle - half, middle + half


def draw_beliefs(ax: Axes, mean: ArrayLike, std: ArrayLike, prior_std: float) -> list[Line2D]:
    """Draw a network with one input and one output, and two densities on each connection.

    On each connection the prior N(0, σ_p²) is dashed and the posterior N(μ, σ²) solid, with peaks
    of equal height; a short upright line marks w = 0. Biases are left out.

    Args:
        ax: The panel.
        mean: Means μ of the weights from the input and to the output ``[2, k]``.
        std: Standard deviations σ of these weights ``[2, k]``.
        prior_std: σ_p, > 0.

    Returns:
        The lines of the posterior densities, those of the first layer first.

    Source: Blundell et al. 2015, figure 1.
    """
    mean, std = np.asarray(mean), np.asarray(std)
    reach = max(3 * prior_std, float((np.abs(mean) + 3 * std).max()))
    w = np.linspace(-reach, reach, 301)
    prior = np.exp(-((w / prior_std) ** 2) / 2)
    height = -np.arange(mean.shape[1], dtype=float)
    priors: list[Line2D] = []
    lines: list[Line2D] = []
    for layer, (means, stds) in enumerate(zip(mean, std, strict=True)):
        for y, m, s in zip(height, means, stds, strict=True):
            ends = (height.mean(), y) if layer == 0 else (y, height.mean())
            ax.plot((layer, layer + 1), ends, "-", color=GREY, lw=0.8, zorder=1)
            x = layer + (0.62 if layer == 0 else 0.38)  # where the connections lie apart
            low = np.interp(x, (layer, layer + 1), ends)
            ax.plot((x, x), (low, low + 0.1), "-", color=BLACK, lw=1.0)
            place = x + 0.17 * w / reach
            posterior = np.exp(-(((w - m) / s) ** 2) / 2)
            priors += ax.plot(place, low + 0.5 * prior, "--", color=GREY, lw=1.2)
            lines += ax.plot(place, low + 0.5 * posterior, "-", color=BLUE, lw=2.0)
    priors[0].set_label("prior")
    lines[0].set_label("fitted q")
    units = [(0, height.mean()), *((1, y) for y in height), (2, height.mean())]
    ax.plot(*np.transpose(units), "o", ms=16, mfc="white", mec=BLACK, zorder=3)
    ax.set_axis_off()
    return lines
