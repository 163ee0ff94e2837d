"""Make bdl_teach importable, and set up JupyterLab, in an environment that has its packages.

The launcher and Binder call these functions. A wheel of bdl_teach adds the settings in the folder
``jupyter``, but not those in this module, which are only for an environment made for this course.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say

SHARED = Path(__file__).resolve().parents[2] / "jupyter"
OVERRIDES: dict[str, dict[str, object]] = {
    # No question about news on top of the first picture, and no request to a web site.
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}
# Parts of JupyterLab that show in the browser's tab and in the status bar whether the kernel is
# busy. Each tick of a slider redraws them twice; without them a picture comes about 10 ms sooner
# (chapter 3, two cores). The circle in the notebook's toolbar still shows it.
PAGE_CONFIG: dict[str, dict[str, bool]] = {
    "disabledExtensions": {
        "@jupyterlab/application-extension:faviconbusy": True,
        "@jupyterlab/apputils-extension:kernel-status": True,
        "@jupyterlab/console-extension:kernel-status": True,  # this and the next one need
        "@jupyterlab/notebook-extension:kernel-status": True,  # the one of apputils
    }
}
# Pages that `jupyter nbconvert` or JupyterLab make of a notebook get the pictures' descriptions.
PAGES: dict[str, dict[str, object]] = {
    "HTMLExporter": {"preprocessors": ["bdl_teach._support.web_pages.Pictures"]}
}
# A new kernel loads TensorFlow while the page is still being built.
KERNEL: dict[str, dict[str, object]] = {
    "InteractiveShellApp": {"extensions": ["bdl_teach.widgets.head_start"]}
}


def write_settings(prefix: Path) -> None:
    """Add this module's settings, and those in the folder ``jupyter``, to those in ``prefix``."""
    shared = {prefix / path.relative_to(SHARED): _read(path) for path in SHARED.rglob("*.json")}
    own: dict[Path, Mapping[str, object]] = {
        prefix / "share/jupyter/lab/settings/overrides.json": OVERRIDES,
        prefix / "etc/jupyter/labconfig/page_config.json": PAGE_CONFIG,
        prefix / "etc/jupyter/jupyter_nbconvert_config.json": PAGES,
        prefix / "etc/jupyter/jupyter_server_config.json": PAGES,
        prefix / "etc/ipython/ipython_kernel_config.json": KERNEL,
    }
    for path, settings in {**shared, **own}.items():
        before = _read(path)
        added = {name: {**_table(before.get(name)), **_table(settings[name])} for name in settings}
        if {**before, **added} != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps({**before, **added}, indent=2) + "\n")


def _read(path: Path) -> dict[str, object]:
    """Return a settings file's contents; an empty dict if it is missing or broken."""
    try:
        return _table(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


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


def stand_in(site: Path) -> None:
    """Register an installed tensorflow-cpu as `tensorflow`, which tf-keras requires by name.

    Otherwise the next installation would install the large package tensorflow over the small one.
    """
    for small in site.glob("tensorflow_cpu-*.dist-info"):
        info = site / small.name.replace("_cpu", "")
        version = info.name.removeprefix("tensorflow-").removesuffix(".dist-info")
        head = f"Metadata-Version: 2.1\nName: tensorflow\nVersion: {version}\n"
        for old in site.glob("tensorflow-*.dist-info"):
            shutil.rmtree(old)
        info.mkdir()
        (info / "INSTALLER").write_text("bdl_teach\n")
        (info / "METADATA").write_text(f"{head}Requires-Dist: tensorflow-cpu=={version}\n")
        (info / "WHEEL").write_text("Wheel-Version: 1.0\nTag: py3-none-any\n")
        names = [f"{info.name}/{name},,\n" for name in ("INSTALLER", "METADATA", "WHEEL", "RECORD")]
        (info / "RECORD").write_text("".join(names))
