"""Test the site that `sphinx-build -W docs OUT` builds, opened in Chromium from its folder."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playground_page import PHONE
from playwright.sync_api import Browser, Page

from bdl_teach._cli import living

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))

KNOWN = ("blob:", "data:")
pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "docs", folder]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def page(site: Path, browser: Browser) -> Iterator[Page]:
    """Open a page; in the end, check that no script failed and no host was asked."""
    page, faults = browser.new_page(), []
    page.on("request", lambda r: faults.append(r.url) if r.url.startswith("http") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.set_default_timeout(120_000)
    yield page
    page.close()
    assert faults == []


@pytest.mark.parametrize("name", [CHAPTERS[0], CHAPTERS[3], CHAPTERS[7]])  # decks have all
def test_chapter_page_shows_its_still_and_its_equations(site: Path, page: Page, name: str) -> None:
    page.goto((site / "notebooks" / f"{name}.html").as_uri())
    source = (ROOT / "notebooks" / f"{name}.ipynb").read_text("utf-8")
    if r"\\tag" in source:
        page.wait_for_function("window.MathJax?.startup?.promise")
        page.evaluate("MathJax.startup.promise.then(() => true)")
        shown = page.locator("mjx-container[display=true]").all_inner_texts()
        numbers = re.findall(r"\\\\tag\{([^}]+)\}", source)
        assert [n for n in numbers if not any(f"({n})" in text for text in shown)] == []
        assert page.locator("[data-mjx-error]").count() == 0
    if "explorer" in source and not name.startswith("00"):
        still = page.locator(".tag_explorer img").first
        still.scroll_into_view_if_needed()
        assert still.evaluate("img => img.complete && img.naturalWidth > 300")
        assert len(still.get_attribute("alt") or "") > 40


@pytest.fixture(scope="module")
def http(site: Path) -> Iterator[str]:
    """Serve the site on the loopback; return its address."""
    handler = partial(SimpleHTTPRequestHandler, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(("number", "phone"), [(n, n % 2 > 0) for n in living.FIGURES])
def test_chapter_has_a_figure_that_moves(
    site: Path, http: str, browser: Browser, number: int, phone: bool
) -> None:
    """On a laptop from its folder, or on a phone in the dark by http; no other host is asked."""
    (name,) = (name for name in CHAPTERS if name.startswith(f"{number:02d}_"))
    root = http if phone else site.as_uri()
    view = {**PHONE, "color_scheme": "dark"} if phone else {}
    page, faults = browser.new_context(**view).new_page(), []
    page.on(
        "request", lambda r: None if r.url.startswith(KNOWN + (root,)) else faults.append(r.url)
    )
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{root}/notebooks/{name}.html", wait_until="domcontentloaded")
    figure = page.locator("iframe.living")
    figure.scroll_into_view_if_needed()
    frame = figure.element_handle().content_frame()
    assert frame is not None
    frame.wait_for_function("window.playground && current(panels[0])")  # two layers rest later
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    data, held = living.FIGURES[number][0], frame.evaluate("playground.state().points")
    np.testing.assert_allclose(held, np.c_[data.x[:, 0], data.y[:, 0]], atol=1e-4)
    height = frame.evaluate("document.body.getBoundingClientRect().height")
    given = "(h) => Math.abs(document.querySelector('iframe.living').clientHeight - h) < 60"
    page.wait_for_function(given, arg=height)
    before = frame.evaluate("playground.readings().mean[60]")
    slider = frame.locator("input[type=range]").last
    at_end = slider.evaluate("one => one.value === one.max")
    slider.press("ArrowLeft" if at_end else "ArrowRight")
    refitted = "(old) => current(panels[0]) && playground.readings().mean[60] !== old"
    frame.wait_for_function(refitted, arg=before)
    dark = "document.documentElement.classList.contains('dark')"
    assert frame.evaluate(dark) == phone and faults == []
    page.context.close()


def test_search_finds_the_chapter_on_local_reparameterization(site: Path, page: Page) -> None:
    page.goto((site / "search.html").as_uri() + "?q=local+reparameterization")
    first = page.locator("ul.search li a").first
    assert "5 · Local reparameterization" in first.inner_text()


def test_start_page_shows_the_playground_and_is_accessible(site: Path, page: Page) -> None:
    page.goto((site / "index.html").as_uri())
    frame = page.frame_locator("iframe.playground").locator("body")
    assert frame.evaluate("() => window.playground.ready.then(() => true)")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


class Links(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names, self.links = set(), []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = dict(attrs)
        self.names |= {of.get("id"), of.get("name")}
        self.links += [link for link in (of.get("href"), of.get("src")) if link]


def test_links_of_the_site_have_targets(site: Path) -> None:
    pages = {path: Links(path) for path in site.rglob("*.html")}
    dead, n = [], 0
    for path, page in pages.items():
        for link in page.links:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                continue
            n += 1
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            names = pages[target].names if target in pages else {""}
            anchor = "" if "ui" in parse_qs(to.query) else unquote(to.fragment)  # else a state
            if not target.exists() or (anchor and anchor not in names):
                dead.append((path.name, link))
    assert n > 1000 and dead == []
