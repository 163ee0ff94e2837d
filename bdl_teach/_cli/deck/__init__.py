"""Write a chapter's lecture into one file that needs no network: `python3 -m bdl_teach deck 3`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from bdl_teach._cli import notebooks
from bdl_teach._cli.checkout import Trouble
from bdl_teach._support.files import write_whole

FOLDER = "bdl_teach-decks"
HINT = (
    "Open a deck in any browser, without a network. The arrows go through all slides, F fills the "
    "screen, S opens the lecturer's notes, O shows all slides."
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
BY_HAND = (
    "No PDF: {0}. Open the deck in Chrome or Edge with {1} after its address, and print it to a "
    "PDF, with background graphics and without margins."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = "a number, or a notebook of your own, saved with its pictures; default: all chapters"
    parser.add_argument("chapters", nargs="*", type=notebooks.find, metavar="chapter", help=text)
    text = "the whole chapter, instead of the lecture that TEACHING.md plans"
    parser.add_argument("--all", action="store_true", help=text)
    parser.add_argument("--pdf", action="store_true", help="print the deck, too")
    text = "print a handout, too: a page for each slide, with its notes"
    parser.add_argument("--notes", action="store_true", help=text)
    text = "write the chapter's pictures, and those of its presets, into this folder, and no deck"
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help=text)
    text = f"where the decks go; default: {FOLDER}"
    parser.add_argument("--folder", type=Path, default=Path(FOLDER), help=text)


def run(options: argparse.Namespace) -> int:
    """Write a deck, or the pictures, of each chapter, and print the paths."""
    from bdl_teach._cli.deck import lecture, page

    # Chapter 0 has no lecture.
    for path in options.chapters or notebooks.chapters()[not options.all :]:
        if options.figures:
            print(lecture.write_figures(path, options.figures))
            continue
        target = options.folder / f"{path.stem}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, page.make(path, whole=options.all))
        print(target)
        for query in ["?print-pdf"] * options.pdf + ["?handout"] * options.notes:
            print(to_pdf(target, query))
    print(HINT)
    return 0


def to_pdf(deck: Path, query: str) -> Path:
    """Print a deck beside its file, and return the PDF; raise ``Trouble`` if no browser can."""
    target = deck.with_suffix(".pdf" if query == "?print-pdf" else ".handout.pdf")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise Trouble(BY_HAND.format("there is no Chromium, Chrome or Edge on the path", query))
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    to = ["--virtual-time-budget=60000", f"--print-to-pdf={target.resolve()}"]
    # Not reveal.js' own ?print-pdf, which is still at work when Chromium prints.
    address = deck.resolve().as_uri() + query.replace("?print-pdf", "")
    target.unlink(missing_ok=True)
    command = [browser, "--headless", "--no-pdf-header-footer", *root, *to, address]
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(command, capture_output=True, timeout=180, check=False)
    if not target.is_file():
        raise Trouble(BY_HAND.format(f"{browser} wrote none", query))
    return target
