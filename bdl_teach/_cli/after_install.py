"""Make bdl_teach importable, and set up JupyterLab, in an environment made for this course.

The launcher and Binder call these functions. A wheel of bdl_teach adds the settings in the folder
``jupyter``, but not those in this module.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from bdl_teach._cli.checkout import ROOT
from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say

# Pages that `jupyter nbconvert` or JupyterLab make of a notebook get the pictures' descriptions.
PAGES: dict[str, object] = {
    "HTMLExporter": {"preprocessors": ["bdl_teach._support.web_pages.Pictures"]}
}
# Parts of JupyterLab that show in the browser's tab and in the status bar whether the kernel is
# busy. Each tick of a slider redraws them twice; without them a picture comes about 10 ms sooner
# (chapter 3, two cores). The circle in the notebook's toolbar still shows it.
_BUSY = ("apputils-extension", "console-extension", "notebook-extension")
SETTINGS: dict[str, dict[str, object]] = {
    # No question about news on top of the first picture, and no request to a web site.
    "share/jupyter/lab/settings/overrides.d/bdl_teach_course.json": {
        "@jupyterlab/apputils-extension:notification": {
            "fetchNews": "false",
            "checkForUpdates": False,
        }
    },
    "etc/jupyter/labconfig/page_config.d/bdl_teach.json": {
        "disabledExtensions": {
            "@jupyterlab/application-extension:faviconbusy": True,
            **{f"@jupyterlab/{name}:kernel-status": True for name in _BUSY},
        }
    },
    "etc/jupyter/jupyter_nbconvert_config.json": PAGES,
    "etc/jupyter/jupyter_server_config.json": PAGES,
    # A new kernel loads TensorFlow while the page is still being built.
    "etc/ipython/ipython_kernel_config.json": {
        "InteractiveShellApp": {"extensions": ["bdl_teach.widgets.head_start"]}
    },
}


def write_settings(prefix: Path) -> None:
    """Write the course's settings into ``prefix``; other settings in the same files stay."""
    wheel = ROOT / "jupyter"
    shared = {str(path.relative_to(wheel)): _read(path) for path in wheel.rglob("*.json")}
    for name, settings in {**shared, **SETTINGS}.items():
        path = prefix / name
        before = _read(path)
        if {**before, **settings} != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps({**before, **settings}, indent=2) + "\n")


def _read(path: Path) -> dict[str, object]:
    """Return a settings file's contents; an empty dict if it is missing or broken."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def site_packages(venv: Path) -> Path:
    """Return the folder of installed packages in an environment."""
    return next(venv.glob("lib/python3*/site-packages"), venv / "Lib" / "site-packages")


def connect(venv: Path, root: Path) -> None:
    """Put the checkout on the environment's import path, and write JupyterLab's settings."""
    site = site_packages(venv)
    path, line = site / "bdl_teach.pth", os.path.relpath(root, site) + "\n"  # a checkout can move
    if not path.is_file() or path.read_bytes() != line.encode():
        write_whole(path, line)
    try:
        write_settings(venv)
    except OSError as error:
        fault = f"The course's JupyterLab settings could not be written ({error.strerror})"
        say(f"{fault}; JupyterLab works without them.")
