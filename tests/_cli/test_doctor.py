"""The doctor says what is wrong in a sentence, and ends non-zero only for what is needed."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from bdl_teach._cli import doctor
from bdl_teach._cli.environment import Trouble


def broken() -> str:
    raise Trouble("mend me")


def exploding() -> str:
    raise ImportError("no such library")


def measured() -> doctor.Quantity:
    return doctor.Quantity(32, "ms")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put other looks in place of the real ones."""

    def put(*replacement: tuple[str, bool, doctor.Look]) -> None:
        monkeypatch.setattr(doctor, "LOOKS", replacement)

    return put


def test_a_sound_machine_ends_with_zero(
    looks: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    looks(("speed", True, measured))
    assert doctor.main([]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok   speed                   32 ms",
        "All that is needed is here.",
    ]


@pytest.mark.parametrize(("needed", "code", "mark"), [(True, 1, "FAIL"), (False, 0, "note")])
def test_only_something_needed_makes_it_fail(
    looks: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
    needed: bool,
    code: int,
    mark: str,
) -> None:
    looks(("thing", needed, broken), ("speed", True, measured))
    assert doctor.main([]) == code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [mark, "thing", "mend", "me"]
    assert lines[1].startswith("ok ")


def test_whatever_a_broken_package_raises_becomes_a_finding() -> None:
    finding = doctor.examine("TensorFlow", True, exploding)
    assert not finding.ok
    assert finding.text == "ImportError: no such library"


def test_json_carries_numbers_and_the_verdict(
    looks: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    looks(("thing", True, broken), ("speed", True, measured))
    assert doctor.main(["--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False
    assert report["findings"]["thing"]["text"] == "mend me"
    assert report["findings"]["speed"]["number"] == 32


def test_this_environment_has_what_the_notebooks_need() -> None:
    looks = (doctor.python, doctor.jupyterlab, doctor.ipywidgets, doctor.anywidget)
    for look in (*looks, doctor.ipykernel):
        finding = doctor.examine(look.__name__, True, look)
        assert finding.ok, finding


def front_end(
    monkeypatch: pytest.MonkeyPatch, folder: Path, version: str | None, name: str = doctor.FRONT_END
) -> None:
    """Let JupyterLab find this version of a front end, and no other."""
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *_: [str(folder)])
    if version:
        package = folder / name / "package.json"
        package.parent.mkdir(parents=True)
        package.write_text(json.dumps({"version": version}))


@pytest.mark.parametrize(
    ("version", "sentence"), [("3.1.1", "does not fit"), (None, "install jupyterlab_widgets")]
)
def test_a_front_end_that_is_old_or_missing_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str | None, sentence: str
) -> None:
    front_end(monkeypatch, tmp_path, version)
    with pytest.raises(Trouble, match=sentence):
        doctor.ipywidgets()


def test_a_front_end_of_the_same_generation_is_fine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    front_end(monkeypatch, tmp_path, "5.0.1")
    assert doctor.ipywidgets().endswith("front end 5.0.1")


@pytest.mark.parametrize(
    ("found", "sentence"), [("0.1.0", "does not fit"), (None, "install anywidget anew")]
)
def test_pictures_without_their_front_end_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, found: str | None, sentence: str
) -> None:
    front_end(monkeypatch, tmp_path, found, doctor.PICTURES_FRONT_END)
    with pytest.raises(Trouble, match=sentence):
        doctor.anywidget()


def test_ipykernel_7_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "version", lambda _: "7.0.1")
    with pytest.raises(Trouble, match=r"7\.0\.1, but a version below 7 is needed"):
        doctor.ipykernel()


def test_an_unsupported_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.python_version", lambda: "3.14.0")
    with pytest.raises(Trouble, match=r"3\.14\.0, but 3\.11, 3\.12, 3\.13"):
        doctor.python()


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A package that the course requires, as it was installed."""
    monkeypatch.setattr(doctor, "required", lambda root: {"hollow": "Hollow>=1"})
    monkeypatch.syspath_prepend(str(tmp_path))
    info = tmp_path / "hollow-1.0.dist-info"
    for folder in (info, tmp_path / "hollow" / "deep"):
        folder.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hollow\nVersion: 1.0\n")
    (info / "RECORD").write_text("hollow/__init__.py,,0\nhollow/deep/core.py,,4\n")
    (tmp_path / "hollow" / "__init__.py").write_text("")
    (tmp_path / "hollow" / "deep" / "core.py").write_text("x=1\n")
    monkeypatch.delitem(sys.modules, "hollow", raising=False)
    return tmp_path / "hollow"


def test_a_file_missing_deep_inside_a_package_is_named(whole: Path) -> None:
    assert doctor.examine("files", True, doctor.files).ok
    (whole / "deep" / "core.py").unlink()
    finding = doctor.examine("files", True, doctor.files)
    assert not finding.ok
    assert "hollow/deep/core.py is not as it was installed" in finding.text
    assert finding.text.endswith("hollow==1.0")


def test_a_package_that_cannot_be_imported_is_named(whole: Path) -> None:
    assert doctor.examine("packages", True, doctor.packages).ok
    sys.modules.pop("hollow")
    (whole / "__init__.py").write_text("from hollow import gone\n")
    finding = doctor.examine("packages", True, doctor.packages)
    assert not finding.ok
    assert "hollow cannot be imported (ImportError" in finding.text
    sys.modules.pop("hollow", None)


@pytest.mark.parametrize(
    ("program", "said"), [("bin/python3.11", "install bdl_teach there"), ("code", "cannot be seen")]
)
def test_a_server_in_another_environment_is_told_and_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, said: str
) -> None:
    words = [str(tmp_path / program), "-m", "jupyterhub.singleuser"]
    monkeypatch.setitem(sys.modules, "ipykernel.kernelapp", SimpleNamespace())
    monkeypatch.setattr(psutil, "Process", lambda pid: SimpleNamespace(cmdline=lambda: words))
    assert said in doctor.examine("server", False, doctor.server).text
    finding = doctor.examine("ipywidgets", True, doctor.ipywidgets)
    assert finding.ok == (program == "code")  # of an editor, the front end is its own matter
    settings = tmp_path / doctor.SAVED
    settings.parent.mkdir(parents=True)
    settings.touch()
    assert doctor.examine("server", False, doctor.server).ok == (program != "code")


def test_a_tensorflow_that_was_not_tried_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    tf = SimpleNamespace(__version__="2.19.1")
    monkeypatch.setattr("bdl_teach.backend.tf", tf)
    finding = doctor.examine("TensorFlow", True, doctor.tensorflow)
    assert (finding.ok, finding.text[:6]) == (False, "2.19.1")


def test_a_stranger_s_kernel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SimpleNamespace(argv=["/elsewhere/python"], resource_dir="/elsewhere/kernel")
    monkeypatch.setattr(
        "jupyter_client.kernelspec.KernelSpecManager.get_kernel_spec", lambda *_: spec
    )
    with pytest.raises(Trouble, match="would start /elsewhere/python; remove /elsewhere/kernel"):
        doctor.kernel()


def test_little_memory_and_little_disk_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=4e8))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1e8))
    with pytest.raises(Trouble, match=r"0\.4 GB free"):
        doctor.memory()
    with pytest.raises(Trouble, match=r"0\.1 GB free"):
        doctor.disk()


def test_chromium_is_wanted_by_the_browser_tests_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(Trouble, match="only the browser tests"):
        doctor.browser()
    assert ("browser for tests", False, doctor.browser) in doctor.LOOKS


def test_xla_that_does_not_compile_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(xla_available=lambda: False)
    monkeypatch.setattr("importlib.import_module", lambda _: fake)
    with pytest.raises(Trouble, match="plain graph mode"):
        doctor.xla()


def test_one_refit_is_timed_after_it_was_compiled() -> None:
    found = doctor.refit()
    assert 0 < found.number < 5000
    assert found.unit.startswith("ms")
