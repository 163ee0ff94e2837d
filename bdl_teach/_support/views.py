"""What a saved explorer is without its kernel: a picture, beside a view that nobody answers."""

from __future__ import annotations

from typing import Any

VIEW, PICTURE = "application/vnd.jupyter.widget-view+json", "image/png"


def leave_dead_views_out(notebook: Any) -> None:
    """Take the view out of each output that has a picture, too; other widgets are left alone.

    Args:
        notebook: Of nbformat 4, changed in place.
    """
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if PICTURE in data:
                data.pop(VIEW, None)
