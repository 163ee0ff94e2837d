"""Read the stills of a stored notebook, and remove its widget views, which need a kernel."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

VIEW, PICTURE = "application/vnd.jupyter.widget-view+json", "image/png"


def remove_dead_views(notebook: Any) -> None:
    """Remove the widget view from each notebook output that also holds a picture."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if PICTURE in data:
                data.pop(VIEW, None)


def stored_still(name: str) -> str:
    """Return the first still of the explorer ``name`` in the notebook's file as base64, or "".

    JupyterLab, which names the file, removes the outputs of a cell that is run. The still takes
    their place until the first live picture.
    """
    with suppress(Exception):  # no such file, or one of another form
        file = Path(os.environ["JPY_SESSION_NAME"])
        for cell in json.loads(file.read_text("utf-8"))["cells"]:
            for output in cell.get("outputs", ()) if f"{name}(" in "".join(cell["source"]) else ():
                if png := output.get("data", {}).get(PICTURE):
                    return "".join(png).replace("\n", "")
    return ""
