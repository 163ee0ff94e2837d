"""The browser that a test needs: where it is, or why the test is skipped, or fails."""

import os

import pytest

from bdl_teach._cli.doctor import find_chromium


def required() -> str:
    """Path of Chromium; without one the test is skipped, and fails where CI demands a browser."""
    found = find_chromium()
    if found is None:
        reason = "no Chromium on PATH"
        if os.environ.get("BDL_TEACH_REQUIRE_BROWSER") == "1":
            pytest.fail(f"{reason}, and BDL_TEACH_REQUIRE_BROWSER is 1")
        pytest.skip(reason)
    return found
