"""`bench page`: drag a point of the playground in Chromium, and count its pictures.

`--throttle` slows the page's own thread alone: Chromium's throttling does not reach workers, where
the fits are computed. To see a slow processor, run this on one, or beside another load.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from browser_bench.lab import CHROMIUM_FLAGS, LabError, find_chromium

from bench.verdicts import Verdict, finish

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = Path(__file__).resolve().parents[2] / "docs" / "playground" / "index.html"
PROBE = """
Object.defineProperty(navigator, "hardwareConcurrency", {value: %d});
window.seen = {};
addEventListener("DOMContentLoaded", () => {
    seen.usable = performance.now();
    window.drawn = {a: new Set(), b: new Set()};
    const draw = window.drawPanel;
    window.drawPanel = (panel) => {
        draw(panel);
        const {answer, key} = panel;
        if (!answer) return;
        seen[answer.method] ??= performance.now();
        if (answer.follow) drawn[key].add(answer);
    };
});
"""


DRAG = """async ([x, y, seconds]) => {  // from the page: its moves wait for no answer
    const canvas = panels[0].canvas, from = performance.now();
    let moves = 0;
    const timer = setInterval(() => {
        const at = {pointerId: 1, clientX: x, bubbles: true, isPrimary: true};
        const clientY = y - 40 * Math.sin((performance.now() - from) / 300);
        canvas.dispatchEvent(new PointerEvent("pointermove", {...at, clientY}));
        moves += 1;
    }, 1000 / 60);
    await new Promise((done) => setTimeout(done, 1000 * seconds));
    clearInterval(timer);
    return [drawn.a.size, drawn.b.size, moves, (performance.now() - from) / 1000];
}"""


class Run(TypedDict):
    """What was seen: pictures a second, and seconds from the opening of the page."""

    workers: int
    moves_per_s: float
    fit_per_s: float
    truth_per_s: float
    first_picture_s: float
    first_band_s: float
    usable_s: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench page`."""
    parser.add_argument("--seconds", type=float, default=10.0, help="of each drag")
    parser.add_argument("--throttle", type=float, default=1.0, help="slow the page's own thread")
    parser.add_argument("--address", default="", help="state of the page: what stands behind #")


def run(options: argparse.Namespace) -> int:
    """Measure with 2 and with 4 workers, print the figures, and compare them with the limits."""
    from playwright.sync_api import sync_playwright

    chromium = find_chromium()
    if chromium is None:
        raise LabError("no Chromium on PATH")
    slow = options.throttle > 1
    runs = []
    with sync_playwright() as playwright:
        flags = [*CHROMIUM_FLAGS, "--no-sandbox"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        for workers in (2, 4):
            runs.append(drag(browser, workers, options))
        browser.close()
    verdicts = []
    for one in runs:
        name = f"{one['workers']} workers"
        verdicts += [
            Verdict(f"fit, {name}", one["fit_per_s"], "/s", 6 if slow else 12, False),
            Verdict(f"truth, {name}", one["truth_per_s"], "/s", 2 if slow else 6, False),
            Verdict(f"first picture, {name}", one["first_picture_s"], "s", 0.5),
            Verdict(f"HMC's first band, {name}", one["first_band_s"], "s", 0.7),
            Verdict(f"usable, {name}", one["usable_s"], "s", 1.0),
        ]
    text = [f"{one['workers']} workers: {one['moves_per_s']:.0f} moves a second." for one in runs]
    return finish(options, {"runs": runs}, text, verdicts)


def drag(browser: Browser, workers: int, options: argparse.Namespace) -> Run:
    """Open the page, drag its first point for some seconds, and return what was seen."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.add_init_script(PROBE % workers)
    slowed = page.context.new_cdp_session(page)
    slowed.send("Emulation.setCPUThrottlingRate", {"rate": options.throttle})
    page.goto(f"{PAGE.as_uri()}#{options.address}")
    page.evaluate("playground.ready.then(() => true)")
    box: Any = page.locator("canvas").first.bounding_box()
    x, y = page.evaluate("((s, [x, y]) => [s.x(x), s.y(y)])(scales(panels[0]), points()[0])")
    page.mouse.move(box["x"] + x, box["y"] + y)
    page.mouse.down()
    fit, truth, moves, seconds = page.evaluate(DRAG, [box["x"] + x, box["y"] + y, options.seconds])
    page.mouse.up()
    seen = page.evaluate("seen")
    page.close()
    return Run(
        workers=workers,
        moves_per_s=moves / seconds,
        fit_per_s=fit / seconds,
        truth_per_s=truth / seconds,
        first_picture_s=seen["bbb"] / 1000,
        first_band_s=seen["hmc"] / 1000,
        usable_s=seen["usable"] / 1000,
    )
