"""Find the browser for tests and collect the errors that a page reports."""

import os
import re

import pytest
from browser_bench.lab import find_chromium
from browser_bench.page import Notebook

TROUBLE = re.compile(r"(?<!calibration )error|failed|traceback|nan|diverged", re.IGNORECASE)
WARNING = re.compile(r"Traceback|Error\b|WARNING|Warning:")
# Extensions that ask the server for something that this one does not have, or not yet.
ALLOWED = re.compile(r"Failed to load resource: the server responded with a status of 40[34]")


def required() -> str:
    """Return the path of Chromium; skip the test without one, or fail where CI demands it."""
    found = find_chromium()
    if found is None:
        reason = "no Chromium on PATH"
        if os.environ.get("BDL_TEACH_REQUIRE_BROWSER") == "1":
            pytest.fail(f"{reason}, and BDL_TEACH_REQUIRE_BROWSER is 1")
        pytest.skip(reason)
    return found


def complaints(notebook: Notebook) -> list[str]:
    """Return errors of the page's console and warnings below a cell."""
    said = [text for text in notebook.console if not ALLOWED.search(text)]
    return said + [text for text in notebook.stderr() if WARNING.search(text)]
