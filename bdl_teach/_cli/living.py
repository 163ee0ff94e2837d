"""Make the pages that stand below a chapter's still, and refit in the browser: see docs/playground.

The site embeds them by address (:func:`address`), a deck as the text of one file
(:func:`living_figure`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import urlencode

from bdl_teach import datasets
from bdl_teach._cli.checkout import ROOT
from bdl_teach.problems import ARTICLE, Problem, arrivals

PACKED = ROOT / "bdl_teach" / "_playground"  # setup.py puts it into a wheel
_WITH_GAP, _WHOLE = Problem(), Problem(gap=0.0)
# chapter: its points, how the page is shown, and its state; docs/lecturers.md explains the names
FIGURES: dict[int, tuple[datasets.Regression1D, dict[str, str], dict[str, str | int]]] = {
    1: (
        arrivals(8, 1.0, 0),
        {"title": "Exact Bayes", "controls": "sigma,noise,width", "panels": "1"},
        {"a": "linear", "width": 10, "sigma": 10},
    ),
    3: (
        ARTICLE.data,
        {"title": "Bayes by Backprop beside the true posterior", "controls": "sigma1,pi,noise"},
        {"prior": "mixture", "layers": 2},
    ),
    4: (_WITH_GAP.data, {"title": "How right is it?", "controls": "sigma,noise,challenge"}, {}),
    6: (
        _WHOLE.data,
        {"title": "The prior, set or learnt", "controls": "sigma,tie,noise"},
        {"sigma": 1, "b": "learnt"},
    ),
    7: (
        _WHOLE.data,
        {"title": "PBP, pass by pass", "controls": "passes,pass", "panels": "1"},
        {"a": "pbp", "passes": 1},
    ),
    8: (
        _WITH_GAP.data,
        {"title": "A rival beside the true posterior"},
        {"a": "ensemble"},
    ),
    10: (
        _WITH_GAP.data,
        {"title": "Two methods on one problem", "controls": "noise,width"},
        {"b": "pbp"},
    ),
}


def source() -> Path:
    """Return the folder of the page in the installed package or the checkout."""
    return PACKED if PACKED.is_dir() else ROOT / "docs" / "playground"


def address(chapter: int, **view: str) -> str | None:
    """Return what stands behind ``index.html`` in the address of a chapter's figure.

    Args:
        chapter: Number of the chapter.
        **view: Further parts of the address before its "#", such as ``fill="1"``.

    Returns:
        ``"?ui=min&…#…"``, or ``None`` for a chapter without a living figure.
    """
    if chapter not in FIGURES:
        return None
    data, shown, state = FIGURES[chapter]
    rows = zip(data.x[:, 0], data.y[:, 0], strict=True)
    given = {"points": ";".join(f"{x:.5f},{y:.5f}" for x, y in rows), "edited": "true"}
    state = {"language": "en", **state, **given}
    return f"?{urlencode({'ui': 'min', **shown, **view})}#{urlencode(state, safe=';,')}"


def living_figure(chapter: int) -> str | None:
    """Return a chapter's living figure as the text of one HTML page.

    The page holds its scripts and styles, starts its workers from its own text, and asks for
    nothing from a network or a folder. It fills the frame that it stands in, at any size (made
    for 16:9, from about 900 x 500 CSS px on), and follows the system's light or dark theme unless
    the frame's page posts ``{playground: {theme: "light"}}`` to it. For a frame of a deck::

        f'<iframe srcdoc="{html.escape(text)}" title="…" loading="lazy"></iframe>'

    A frame with a ``sandbox`` needs ``allow-scripts``; without workers it fits on its own thread.

    Args:
        chapter: Number of the chapter.

    Returns:
        The page, of about 0.2 MB; ``None`` for a chapter without a living figure.
    """
    where = address(chapter, fill="1")
    if where is None:
        return None
    folder = source()

    def packed(match: re.Match[str]) -> str:
        text = (folder / match[1]).read_text(encoding="utf-8")
        return f"<script>\n{text.replace('</', '<' + chr(92) + '/')}</script>"

    page = (folder / "index.html").read_text(encoding="utf-8")
    page = re.sub(r'<link rel="stylesheet" href="([\w.]+)">', _styles(folder), page)
    given = json.dumps(f"index.html{where}").replace("</", "<\\/")
    page = page.replace("</head>", f"<script>window.playgroundAddress = {given};</script>\n</head>")
    return re.sub(r'<script src="([\w./-]+)"></script>', packed, page)


def _styles(folder: Path) -> str:
    text = (folder / "playground.css").read_text(encoding="utf-8")
    return f"<style>\n{text}</style>".replace("\\", "\\\\")
