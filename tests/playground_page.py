"""Open the page of docs/playground in Chromium, and use it, for its tests."""

import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

DOCS = Path(__file__).resolve().parents[1] / "docs" / "playground"
PAGE = (DOCS / "index.html").as_uri()
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}


def opened(
    browser: Browser, state: str = "", script: str = "", view: str = "", **options: Any
) -> tuple[Page, list[str]]:
    """Open the playground; return its page, and a list that collects its errors and requests."""
    page = browser.new_context(**{"locale": "en-GB", **options}).new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.on("request", lambda r: r.url.startswith("http") and faults.append(r.url))
    page.add_init_script(script)
    page.set_default_timeout(120_000)
    page.goto(f"{PAGE}{view}#{state}")
    page.evaluate("window.playground.ready.then(() => true)")
    return page, faults


PLACE = """([x, y]) => {
    const box = document.querySelector("canvas").getBoundingClientRect();
    const [w, h] = [box.width - 58, box.height - 38]; // the margins hold the labels
    return [box.left + 47 + (x + 1) / 2 * w, box.top + 11 + (1 - y) / 2 * h];
}"""


def readings(page: Page, **state: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("(s) => window.playground.set(s)", state)
    return found


def state(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("window.playground.state()")
    return found


def shown(page: Page) -> str:
    """Return the verdict after the next painted frame."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return page.inner_text("#verdict")


def swipe(
    page: Page, x: float, y: float, dx: float, dy: float, rest_ms: int = 0, late_ms: int = 0
) -> None:
    """Swipe by (dx, dy) px after a rest; the page hears of it so much later, as when it is busy."""
    touch, began = page.context.new_cdp_session(page), time.time()

    def send(kind: str, after_s: float, *at: dict[str, float]) -> None:
        event = {"type": kind, "touchPoints": at, "timestamp": began + after_s}
        touch.send("Input.dispatchTouchEvent", event)

    send("touchStart", 0, {"x": x, "y": y})
    page.wait_for_timeout(rest_ms + late_ms)
    for k in range(1, 7):
        send("touchMove", rest_ms / 1000 + k / 60, {"x": x + k * dx / 6, "y": y + k * dy / 6})
    send("touchEnd", rest_ms / 1000 + 7 / 60)
