"""Add the alternative text of pictures, which nbconvert leaves out, to the pages that it makes."""

from __future__ import annotations

import base64
import html
from typing import Any

from nbconvert.preprocessors import Preprocessor
from traitlets import Unicode

NOTE = (
    "<p><em>A still picture: on a web page no model runs. To move it, open the notebook, in a "
    "checkout with <code>python3 -m bdl_teach lab</code>, and run this cell.</em></p>"
)


class Pictures(Preprocessor):
    """A preprocessor, set up in _cli/after_install.py, that makes pictures `img` with `alt`."""

    note = Unicode(NOTE, help="HTML below the picture of an explorer.")

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """Replace the pictures of one cell by HTML."""
        note = self.note if "explorer" in cell.metadata.get("tags", ()) else ""
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/png" in data:
                words = output.metadata.get("image/png", {}).get("alt") or data.get("text/plain")
                kind, coded = "png", data["image/png"].replace("\n", "")
                if svg := data.get("image/svg+xml"):
                    kind, coded = "svg+xml", base64.b64encode(svg.encode()).decode("ascii")
                source = f"data:image/{kind};base64,{coded}"
                image = f'<img alt="{html.escape(words or "")}" src="{source}">'
                output.data = {"text/html": image + note}
        return cell, resources
