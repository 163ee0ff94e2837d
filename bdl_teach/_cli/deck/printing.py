"""Print a deck as PDF with the Chromium, Chrome or Edge of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from bdl_teach._cli.checkout import Trouble

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)
HOW = (
    "No PDF: {0}. Open the deck in Chrome or Edge with {1} after its address, wait until it is "
    "there, and print it to a PDF, with background graphics and without margins."
)


def to_pdf(deck: Path, *, notes: bool) -> Path:
    """Print a deck beside its file, a page for each slide, and return the PDF's path.

    Raises:
        Trouble: There is no browser, or it failed; the message says how to print by hand.
    """
    target = deck.with_name(f"{deck.stem}{'-notes' * notes}.pdf")
    asked = "?handout" if notes else "?print-pdf"
    found = [shutil.which(name) for name in NAMES] + [one for one in PLACES if Path(one).is_file()]
    browser = next((one for one in found if one), None)
    if browser is None:
        raise Trouble(HOW.format("there is no Chromium, Chrome or Edge on the path", asked))
    command = [browser, "--headless", "--disable-gpu", "--no-pdf-header-footer"]
    command += ["--virtual-time-budget=60000", f"--print-to-pdf={target.resolve()}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")
    target.unlink(missing_ok=True)
    try:
        page = deck.resolve().as_uri() + asked * notes
        subprocess.run([*command, page], capture_output=True, timeout=180, check=False)
    except subprocess.TimeoutExpired:
        pass
    if not target.is_file():
        raise Trouble(HOW.format(f"{browser} wrote none", asked))
    return target
