"""JupyterLab's settings that the explorers rely on; put there by the launcher and by Binder.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

OVERRIDES: dict[str, dict[str, Any]] = {
    # A widget's callbacks stay on the kernel's main thread (see widgets/live.py).
    "@jupyterlab/apputils-extension:kernels-settings": {"commsOverSubshells": "disabled"},
    # No question about news over the first picture, and no request to a web site.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}
# Parts of JupyterLab that say in the browser's tab and in the status bar whether the kernel is
# busy: with each tick of a slider they are drawn anew, twice. Without them a picture comes about
# 10 ms sooner (chapter 3, two cores); the circle in the notebook's toolbar still says it.
PAGE_CONFIG: dict[str, dict[str, bool]] = {
    "disabledExtensions": {
        "@jupyterlab/application-extension:faviconbusy": True,
        "@jupyterlab/apputils-extension:kernel-status": True,
        "@jupyterlab/console-extension:kernel-status": True,  # this and the next cannot be
        "@jupyterlab/notebook-extension:kernel-status": True,  # without the one before
    }
}


def write_settings(prefix: Path) -> None:
    """Put the settings that the explorers rely on where JupyterLab under `prefix` reads them."""
    for path, settings in (
        ("share/jupyter/lab/settings/overrides.json", OVERRIDES),
        ("etc/jupyter/labconfig/page_config.json", PAGE_CONFIG),
    ):
        write_if_changed(prefix / path, json.dumps(settings, indent=2) + "\n")


def write_if_changed(path: Path, text: str) -> None:
    """Write `text` to `path`, unless that is what it holds."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
