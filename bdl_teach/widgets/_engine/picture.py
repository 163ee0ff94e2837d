"""The picture in the page, which reports its own size and has a text for screen readers.

It is an ``anywidget``, not ``ipywidgets.Image``, because the page must measure the picture's place
and pixel ratio, so that letters are sharp and of the right size. Its script ``page.js`` also adds
what core widgets lack for screen readers and keyboards; ``pointer.js`` moves points.
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
        alt: A description for screen readers.
        line: The line of Python that rebuilds the explorer; "share" copies it.
        place: Width, height and pixel ratio, set by the page; empty without a page.
        panels: The panels that the pointer can act in, as ``Panel.place`` describes them.
        points: Their points: ``at`` ``[n][2]`` in data coordinates, and ``answers``, the number of
            the newest message that they take into account; a page that has sent a newer one ignores
            them.
        in_use: Whether the keyboard focus or a pressed pointer is in the explorer.
    """

    # One module, because a widget's script cannot import another file.
    _esm: ClassVar[str] = "\n".join((_HERE / name).read_text("utf-8") for name in _SCRIPTS)
    _css: ClassVar[Path] = _HERE / "page.css"
    value = traitlets.Bytes(b"").tag(sync=True)
    alt = traitlets.Unicode("").tag(sync=True)
    line = traitlets.Unicode("").tag(sync=True)
    place = traitlets.Dict({}).tag(sync=True)
    panels: Any = traitlets.List([]).tag(sync=True)
    points = traitlets.Dict({}).tag(sync=True)
    in_use = traitlets.Bool(False).tag(sync=True)
