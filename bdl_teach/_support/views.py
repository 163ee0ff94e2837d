"""Remove dead explorer views from a notebook that has no kernel."""

from __future__ import annotations

from typing import Any

VIEW, PICTURE = "application/vnd.jupyter.widget-view+json", "image/png"


def leave_dead_views_out(notebook: Any) -> None:
    """Remove, in place, the view from each output that also has a picture; leave other widgets."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if PICTURE in data:
                data.pop(VIEW, None)
