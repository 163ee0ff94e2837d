"""Describe matplotlib figures in text for people who cannot see them."""

from __future__ import annotations

import html
import io
import os
import sys
from typing import Any

import matplotlib as mpl
from matplotlib.axis import XAxis, YAxis
from matplotlib.category import StrCategoryFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter

LARGEST_SVG = 400_000  # bytes, some thousand marks


def describe(figure: Figure) -> str:
    """Return a figure's titles, axes with their ranges, and legends as sentences."""
    panels = [ax for ax in figure.axes if ax.get_visible()]
    title = _one_line(figure.get_suptitle())
    sentences = [f"{len(panels)} plots." if len(panels) != 1 else "A plot."]
    sentences += [f"{title}."] if title else []
    legend: list[str] = []
    for ax in panels:
        titles = [_one_line(ax.get_title(loc=place)) for place in ("left", "center", "right")]
        parts = [f"“{title}”" for title in titles if title] + ["a picture"] * bool(ax.images)
        axes = [_axis(axis) for axis in (ax.yaxis, ax.xaxis)] if ax.axison else []
        parts += [words for words in axes if words]
        names = [_one_line(label) for label in ax.get_legend_handles_labels()[1]]
        if names:
            parts.append("the same lines" if names == legend else f"shows {', '.join(names)}")
        legend = names
        sentences.append("; ".join(parts) + ".")
    return " ".join(sentences)


def _axis(axis: XAxis | YAxis) -> str:
    """Return an axis's name with its range or categories as text; without ticks only the name."""
    name = _one_line(axis.get_label_text())
    if not axis.get_visible() or not len(axis.get_majorticklocs()):
        return name
    if isinstance(axis.get_major_formatter(), FixedFormatter | StrCategoryFormatter):
        ticks = [_one_line(tick.get_text()) for tick in axis.get_ticklabels()]
        return f"{name or axis.axis_name}: {', '.join(tick for tick in ticks if tick)}"
    low, high = axis.get_view_interval()
    scale = " (log scale)" if axis.get_scale() == "log" else ""
    return f"{name or axis.axis_name} from {low:.3g} to {high:.3g}{scale}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def drawing(figure: Figure, alt: str) -> str:
    """Return a figure as SVG with a description, or "" if it has more than some thousand marks."""
    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "bdl_teach"}):  # the same ids each time
        figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    if out.tell() > LARGEST_SVG:
        return ""
    named = f'<svg role="img" aria-label="{html.escape(alt)}" '
    return out.getvalue().decode("utf-8").replace("<svg ", named, 1)


def speak_in_notebooks() -> None:
    """Add a description, as plain text and ``alt``, to each figure that IPython will display.

    ``bdl_teach.plots`` calls this function, which does nothing outside IPython.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    formatter = shell.display_formatter
    builds = bool(os.environ.get("BDL_TEACH_WAIT_FOR_PICTURE"))  # a notebook is run to be stored

    def bundle(figure: Figure) -> dict[str, str]:
        outputs = {"text/plain": describe(figure)}
        png = formatter.formatters["image/png"](figure)
        if isinstance(png, str):  # pictures are shown inline
            alt = html.escape(outputs["text/plain"])
            outputs["text/html"] = f'<img alt="{alt}" src="data:image/png;base64,{png}">'
        svg = drawing(figure, outputs["text/plain"]) if builds else ""
        return outputs | ({"image/svg+xml": svg} if svg else {})

    # `%matplotlib inline` removes figures from the formatters of single output types.
    formatter.mimebundle_formatter.for_type(Figure, bundle)
