"""The picture in the page: it says how large it is shown there, and carries its words.

An ``anywidget``, and not ``ipywidgets.Image``: the page measures the place that the picture has and
its pixel ratio, so that letters are drawn at their own size and sharp. Its script also does what
core widgets leave out for who hears the page, or uses the keyboard: ``page.js``; what a hand does
to points in the picture is in ``touch.js``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

_HERE = Path(__file__).parent
_SCRIPTS = ("touch.js", "page.js")


@dataclass(frozen=True)
class Place:
    """Where a picture is shown: the page's own pixels, and device pixels to each of them."""

    width: float
    height: float
    ratio: float = 1.0


class Picture(anywidget.AnyWidget):
    """A picture as large as its place in the page, with buttons' acts that only a page can do.

    Attributes:
        value: The picture as a ``data:`` address; empty before the first.
        alt: What it shows, for who cannot see it.
        line: The line of Python that rebuilds what is shown; "share" copies it.
        place: Width, height and pixel ratio, from the page; empty where there is none.
        panels: Where the panels are that can be touched, as ``touch.Panel.place`` says it.
        points: Those points, ``at`` ``[n][2]`` in data coordinates, and which message of the page
            they ``answer``: one that moved on meanwhile does not take them.
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

    def on_place(self, act: Callable[[Place], object]) -> None:
        """Call ``act`` with each place that the page gives the picture."""

        def read(change: Any) -> None:
            place = _read(change["new"])
            if place is not None:
                act(place)

        self.observe(read, names="place")

    def on_call(self, acts: dict[str, Callable[[], object]]) -> None:
        """Call ``acts[name]()`` when the page asks for it by a key or a button."""

        def answer(_widget: Any, content: Any, _buffers: Any) -> None:
            act = acts.get(content.get("call", "")) if isinstance(content, dict) else None
            if act is not None:
                act()

        self.on_msg(answer)

    def on_touch(self, act: Callable[[dict[str, Any]], object]) -> None:
        """Call ``act`` with what a hand did: ``touch`` and what belongs to it, see ``touch.py``."""

        def answer(_widget: Any, content: Any, _buffers: Any) -> None:
            if isinstance(content, dict) and "touch" in content:
                act(content)

        self.on_msg(answer)

    def answer_table(self, refused: str, **choice: Any) -> None:
        """Say in the page why a table was refused; with no words, that it was taken.

        Args:
            refused: The sentence.
            **choice: ``columns``, of which two are to be chosen, or the ``readings`` of an
                ``argument``: pairs of its value and what a cell then says.
        """
        self.send({"refused": refused, **choice})

    def offer(self, name: str, kind: str, content: bytes) -> None:
        """Have the page save ``content`` of MIME type ``kind`` as a file called ``name``."""
        self.send({"save": name, "kind": kind}, [content])


def _read(given: Any) -> Place | None:
    """A place that makes sense; what a page may report while it is laid out does not."""
    try:
        place = Place(float(given["width"]), float(given["height"]), float(given["ratio"]))
    except (KeyError, TypeError, ValueError):
        return None
    fits = 120 <= place.width <= 8000 and 100 <= place.height <= 8000 and 0.2 <= place.ratio <= 8
    return place if fits else None
