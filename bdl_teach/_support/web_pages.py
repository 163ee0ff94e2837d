"""Add alternative text to the pictures of pages that nbconvert makes of a notebook.

nbconvert's own template leaves out the alternative text that a notebook holds. The settings of
JupyterLab name this preprocessor, for `jupyter nbconvert --to html` and for JupyterLab's export.
"""

from __future__ import annotations

import html
from typing import Any

from nbconvert.preprocessors import Preprocessor
from traitlets import Unicode

NOTE = (
    "<p><em>A still picture: on a web page no model runs. To move it, open the notebook, in a "
    "checkout with <code>python3 -m bdl_teach lab</code>, and run this cell.</em></p>"
)


class Pictures(Preprocessor):
    """Show each PNG as an `img` with its alternative text."""

    note = Unicode(NOTE, help="What stands below an explorer.")

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """Write the pictures of one cell as HTML."""
        note = self.note if "explorer" in cell.metadata.get("tags", ()) else ""
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "image/png" in data:
                words = output.metadata.get("image/png", {}).get("alt") or data.get("text/plain")
                png = data["image/png"].replace("\n", "")
                image = f'<img alt="{html.escape(words or "")}" src="data:image/png;base64,{png}">'
                output.data = {"text/html": image + note}
        return cell, resources
