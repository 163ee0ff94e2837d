"""Fixtures: a loopback web server that can fail, and an empty data folder that it serves."""

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bdl_teach.datasets import store

PATH = "uci/yacht.txt"
RIGHT = b"1.5 2.5\n" * 60_000  # more than one chunk


class Server:
    """A loopback web server that gives right, wrong or truncated bytes, and counts requests."""

    def __init__(self) -> None:
        self.gives, self.status, self.claims, self.asked = RIGHT, 200, len(RIGHT), 0
        self.files: dict[str, bytes] = {}  # by path; any other path gets ``gives``
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked += 1
                gives = server.files.get(self.path, server.gives)
                claims = len(gives) if self.path in server.files else server.claims
                self.send_response(server.status)
                self.send_header("Content-Length", str(claims))
                self.end_headers()
                self.wfile.write(gives)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self._http.server_port}"
        self.address = f"{self.root}/file"
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def home(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a data folder that does not exist yet; the server has the yacht set."""
    folder = tmp_path / "data"
    monkeypatch.setenv("BDL_TEACH_DATA", str(folder))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    sha256 = hashlib.sha256(RIGHT).hexdigest()
    file = replace(store.FILES[PATH], address=server.address, sha256=sha256)
    monkeypatch.setitem(store.FILES, PATH, file)
    return folder
