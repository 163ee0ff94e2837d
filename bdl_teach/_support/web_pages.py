"""Put the pictures of notebooks into web pages with their descriptions, which nbconvert drops."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass
from typing import Any

from nbconvert.preprocessors import Preprocessor
from traitlets import Unicode

NOTE = (
    "<p><em>A still picture: on a web page no model runs. To move it, open the notebook, in a "
    "checkout with <code>python3 -m bdl_teach lab</code>, and run this cell.</em></p>"
)


@dataclass(frozen=True)
class Picture:
    """A picture, ``kind`` svg or png, with its description."""

    kind: str
    data: bytes
    alt: str

    def html(self) -> str:
        """Return the picture as an HTML element that contains it."""
        coded = base64.b64encode(self.data).decode("ascii")
        source = f"data:image/{self.kind.replace('svg', 'svg+xml')};base64,{coded}"
        return f'<img alt="{html.escape(self.alt)}" src="{source}">'


def picture_of(output: Any) -> Picture | None:
    """Return the picture of a cell's output, as a drawing if it has one; ``None`` without any."""
    data = output.get("data", {})
    if "image/png" not in data:
        return None
    alt = output.metadata.get("image/png", {}).get("alt") or data.get("text/plain", "")
    if svg := data.get("image/svg+xml"):
        return Picture("svg", svg.encode(), alt)
    return Picture("png", base64.b64decode(data["image/png"]), alt)


class Pictures(Preprocessor):
    """A preprocessor, set up in _cli/after_install.py, that makes pictures `img` with `alt`."""

    note = Unicode(NOTE, help="HTML below the picture of an explorer.")

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """Replace the pictures of one cell by HTML."""
        note = self.note if "explorer" in cell.metadata.get("tags", ()) else ""
        for output in cell.get("outputs", ()):
            if picture := picture_of(output):
                output.data = {"text/html": picture.html() + note}
        return cell, resources
