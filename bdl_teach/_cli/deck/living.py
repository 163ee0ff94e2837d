"""Make the pages that stand below a chapter's still, and refit in the browser: see docs/playground.

The site embeds them by address (:func:`address`), a deck as the text of one file
(:func:`living_figure`).
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from urllib.parse import urlencode

from bdl_teach._cli.checkout import ROOT
from bdl_teach.problems import ARTICLE, Problem

PACKED = ROOT / "bdl_teach" / "_playground"  # setup.py puts it into a wheel
_WITH_GAP = Problem()
# chapter: the problem whose points it shows (or the state that replaces them), how the page is
# shown, and its state; docs/lecturers.md says what the names mean
FIGURES: dict[int, tuple[Problem | None, dict[str, str], dict[str, str | float]]] = {
    3: (
        ARTICLE,
        {"title": "Bayes by Backprop beside the true posterior", "controls": "sigma1,pi,noise"},
        {"prior": "mixture", "layers": 2},
    ),
    4: (
        _WITH_GAP,
        {"title": "How right is it?", "controls": "sigma,noise"},
        {},
    ),
    8: (
        _WITH_GAP,
        {"title": "A rival beside the true posterior", "controls": "sigma,noise"},
        {"a": "ensemble"},
    ),
    10: (
        _WITH_GAP,
        {"title": "Two methods on one problem", "controls": "noise,width"},
        {"b": "ensemble"},
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
    problem, shown, state = FIGURES[chapter]
    state = {"language": "en", **state}
    if problem is not None:
        x, y = problem.data.x[:, 0], problem.data.y[:, 0]
        points = ";".join(f"{a:.5f},{b:.5f}" for a, b in zip(x, y, strict=True))
        state |= {"points": points, "edited": "true", "noise": problem.noise_std}
    return f"?{urlencode({'ui': 'min', **shown, **view})}#{urlencode(state)}"


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
    return re.sub(r'<script src="([\w.]+)"></script>', packed, page)


def _styles(folder: Path) -> str:
    text = (folder / "playground.css").read_text(encoding="utf-8")
    return f"<style>\n{text}</style>".replace("\\", "\\\\")


def frame(chapter: int) -> str | None:
    """Return an ``iframe`` that holds a chapter's living figure; ``None`` if there is none."""
    text = living_figure(chapter)
    if text is None:
        return None
    title = html.escape(FIGURES[chapter][1]["title"])
    return f'<iframe class="living" srcdoc="{html.escape(text)}" title="{title}"></iframe>'
