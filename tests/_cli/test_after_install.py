"""Test what is written after an installation: JupyterLab's settings and a small TensorFlow."""

import json
import sys
from importlib.metadata import distributions
from pathlib import Path

from bdl_teach._cli import after_install

PAGE = "etc/jupyter/labconfig/page_config.json"


def test_settings_use_one_callback_thread_and_name_extensions_that_exist(tmp_path: Path) -> None:
    after_install.write_settings(tmp_path)
    overrides = tmp_path / "share/jupyter/lab/settings/overrides.d/bdl_teach.json"
    kernels = json.loads(overrides.read_text())["@jupyterlab/apputils-extension:kernels-settings"]
    assert kernels == {"commsOverSubshells": "disabled"}
    static = Path(sys.prefix) / "share/jupyter/lab/static"
    lab = "".join(path.read_text(encoding="utf-8") for path in static.glob("jlab_core.*.js"))
    for plugin in json.loads((tmp_path / PAGE).read_text())["disabledExtensions"]:
        assert f'"{plugin}"' in lab, "JupyterLab has no extension of this name"


def test_other_jupyterlab_settings_stay_and_broken_files_are_replaced(tmp_path: Path) -> None:
    theirs = {"disabledExtensions": {"one": True}, "lockedExtensions": {"two": True}}
    (tmp_path / PAGE).parent.mkdir(parents=True)
    (tmp_path / PAGE).write_text(json.dumps(theirs))
    after_install.write_settings(tmp_path)
    ours = after_install.PAGE_CONFIG["disabledExtensions"]
    expected = {"disabledExtensions": {"one": True, **ours}, "lockedExtensions": {"two": True}}
    assert json.loads((tmp_path / PAGE).read_text()) == expected
    for broken in ("{", '{"disabledExtensions": []}', "\xff"):
        (tmp_path / PAGE).write_bytes(broken.encode("latin-1"))
        after_install.write_settings(tmp_path)
        assert json.loads((tmp_path / PAGE).read_text()) == after_install.PAGE_CONFIG


def test_tensorflow_cpu_counts_as_tensorflow(tmp_path: Path) -> None:
    (tmp_path / "tensorflow_cpu-2.21.0.dist-info").mkdir()
    after_install.stand_in(tmp_path)
    (found,) = distributions(path=[str(tmp_path)], name="tensorflow")
    assert (found.version, found.requires) == ("2.21.0", ["tensorflow-cpu==2.21.0"])
