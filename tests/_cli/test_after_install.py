"""Test JupyterLab's settings, which are written after an installation."""

import json
import sys
from pathlib import Path

import pytest
from jupyterlab_server.config import get_static_page_config
from jupyterlab_server.settings_utils import _get_overrides

from bdl_teach._cli import after_install


def test_jupyterlab_reads_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    after_install.write_settings(tmp_path)
    settings, _ = _get_overrides(str(tmp_path / "share/jupyter/lab/settings"))
    kernels = settings["@jupyterlab/apputils-extension:kernels-settings"]
    assert kernels["commsOverSubshells"] == "disabled", "one callback thread"
    assert settings["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(tmp_path / "etc/jupyter"))
    static = Path(sys.prefix) / "share/jupyter/lab/static"
    lab = "".join(path.read_text(encoding="utf-8") for path in static.glob("jlab_core.*.js"))
    disabled = get_static_page_config(level="all")["disabledExtensions"]
    assert len(disabled) == 4 and all(f'"{plugin}"' in lab for plugin in disabled)


def test_other_settings_stay_and_broken_files_are_replaced(tmp_path: Path) -> None:
    name = "etc/ipython/ipython_kernel_config.json"
    path, ours = tmp_path / name, after_install.SETTINGS[name]
    path.parent.mkdir(parents=True)
    for theirs, expected in (
        (b'{"IPKernelApp": {"quiet": true}}', {"IPKernelApp": {"quiet": True}, **ours}),
        (b"{", ours),
        (b"[3]", ours),
        (b"\xff", ours),
    ):
        path.write_bytes(theirs)
        after_install.write_settings(tmp_path)
        assert json.loads(path.read_text()) == expected
