"""The picture in the page, which reports its own size and carries a text for screen readers.

It is an ``anywidget``, not ``ipywidgets.Image``: the page measures the place that the picture has
and its pixel ratio, so that letters are drawn sharp and at their own size. Its script, ``page.js``,
also adds what core widgets lack for screen readers and keyboards; ``pointer.js`` moves the points.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

_HERE = Path(__file__).parent
_SCRIPTS = ("pointer.js", "page.js")


@dataclass(frozen=True)
class Place:
    """Where a picture is shown: width and height in CSS pixels, and device pixels per CSS pixel."""

    width: float
    height: float
    ratio: float = 1.0


class Picture(anywidget.AnyWidget):
    """A picture as large as its place in the page, with the actions that only a page can do.

    Attributes:
        value: The picture as a ``data:`` address; empty before the first.
        alt: What it shows, for screen readers.
        line: The line of Python that rebuilds what is shown; "share" copies it.
        place: Width, height and pixel ratio, from the page; empty where there is none.
        panels: The panels that the pointer can act in, as ``Panel.place`` says it.
        points: Those points, ``at`` ``[n][2]`` in data coordinates, and which message of the page
            they ``answer``: a page that has sent a newer one ignores them.
        in_use: Whether the keyboard or a pointer is at work in the explorer.
    """

    # One module: what is served from a widget cannot import its neighbour.
    _esm: ClassVar[str] = "\n".join((_HERE / name).read_text("utf-8") for name in _SCRIPTS)
    _css: ClassVar[Path] = _HERE / "page.css"
    value = traitlets.Bytes(b"").tag(sync=True)
    alt = traitlets.Unicode("").tag(sync=True)
    line = traitlets.Unicode("").tag(sync=True)
    place = traitlets.Dict({}).tag(sync=True)
    panels: Any = traitlets.List([]).tag(sync=True)
    points = traitlets.Dict({}).tag(sync=True)
    in_use = traitlets.Bool(False).tag(sync=True)
