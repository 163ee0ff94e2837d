"""Find Chromium for a test, and collect the errors of a page."""

import os
import re

import pytest
from browser_bench.lab import find_chromium
from browser_bench.page import Notebook

TROUBLE = re.compile(r"(?<!calibration )error|failed|traceback|nan|diverged", re.IGNORECASE)
WARNING = re.compile(r"Traceback|Error\b|WARNING|Warning:")
# JupyterLab's extensions ask for files that this server does not have.
ALLOWED = re.compile(r"Failed to load resource: the server responded with a status of 40[34]")


def required() -> str:
    """Return the path of Chromium; without it, skip the test, or fail where CI demands it."""
    found = find_chromium()
    if found is None:
        reason = "no Chromium on PATH"
        if os.environ.get("BDL_TEACH_REQUIRE_BROWSER") == "1":
            pytest.fail(f"{reason}, and BDL_TEACH_REQUIRE_BROWSER is 1")
        pytest.skip(reason)
    return found


def complaints(notebook: Notebook) -> list[str]:
    """Return the errors in the page's console and the warnings below cells."""
    said = [text for text in notebook.console if not ALLOWED.search(text)]
    return said + [text for text in notebook.stderr() if WARNING.search(text)]
