"""Settings of ``jupyter nbconvert --to slides`` for the decks of the chapters.

    jupyter nbconvert --to slides --config tools/deck.py notebooks/03_bayes_by_backprop.ipynb

A line of code fits the width, a slide that is taller than the screen scrolls, and each picture
keeps its alternative text, which nbconvert's own template leaves out.
"""

from __future__ import annotations

import html
from typing import Any


def keep_words(notebook: Any, resources: Any) -> tuple[Any, Any]:
    """Write each picture that has alternative text as HTML with that text."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            alt = output.get("metadata", {}).get("image/png", {}).get("alt")
            if alt:
                source = f"data:image/png;base64,{output.data['image/png']}".replace("\n", "")
                output.data["text/html"] = f'<img alt="{html.escape(alt)}" src="{source}">'
    return notebook, resources


c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.SlidesExporter.reveal_scroll = True
# 5 % more than the 1280 x 720 of the screen: 100 characters of code fit.
c.SlidesExporter.reveal_width = "1344"
c.SlidesExporter.reveal_height = "756"
c.SlidesExporter.preprocessors = [keep_words]
