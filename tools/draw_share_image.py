"""Draw the picture that a link to the playground shows elsewhere: `docs/playground/share.png`.

Run it after a change of the page's look: `.venv/bin/python tools/draw_share_image.py`.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent))
from browser_bench.lab import CHROMIUM_FLAGS, find_chromium

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "playground"
SIZE = {"width": 700, "height": 367}  # sites ask for 1.91 : 1, and 600 px or more
COLOURS = 40


def main() -> None:
    """Open the page as a deck shows it, wait until it rests, and store its picture."""
    view = "?ui=min&fill=1&controls=none&theme=light"
    state = "language=en&n=24&seed=4"
    with sync_playwright() as playwright:
        flags = [*CHROMIUM_FLAGS, "--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=flags)
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        page.goto(f"{(FOLDER / 'index.html').as_uri()}{view}#{state}")
        said = "document.getElementById('verdict').textContent.includes('sd')"
        page.wait_for_function(said, timeout=120_000)
        page.add_style_tag(content="#data, figcaption { display: none !important; }")
        page.wait_for_timeout(500)
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    small = picture.convert("RGB").quantize(
        COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
    )
    small.save(FOLDER / "share.png", optimize=True)


if __name__ == "__main__":
    main()
