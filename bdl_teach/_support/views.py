"""Remove widget views, which need a kernel, from a stored notebook."""

from __future__ import annotations

from typing import Any

VIEW, PICTURE = "application/vnd.jupyter.widget-view+json", "image/png"


def remove_dead_views(notebook: Any) -> None:
    """Remove the widget view from each notebook output that also holds a picture."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if PICTURE in data:
                data.pop(VIEW, None)
