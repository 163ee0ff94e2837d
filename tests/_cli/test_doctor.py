"""Test `doctor`: its sentences about an environment, and its exit code."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from bdl_teach import cli
from bdl_teach._cli import doctor
from bdl_teach._cli.checkout import Trouble


def examine(name: str) -> doctor.Finding:
    return doctor.examine(*next(look for look in doctor.LOOKS if look[0] == name))


def broken() -> str:
    raise Trouble("mend me")


def measured() -> tuple[float, str]:
    return 32, "ms"


@pytest.mark.parametrize(("needed", "code", "mark"), [(True, 1, "FAIL"), (False, 0, "note")])
def test_doctor_fails_only_if_a_required_check_fails(
    monkeypatch, capsys, needed, code, mark
) -> None:
    monkeypatch.setattr(doctor, "LOOKS", (("thing", needed, broken), ("speed", True, measured)))
    assert cli.inside(["doctor"]) == code
    first, second, verdict = capsys.readouterr().out.splitlines()
    assert first.split() == [mark, "thing", "mend", "me"]
    assert second == "ok   speed                   32 ms"
    assert ("missing" in verdict) == needed
    assert cli.inside(["doctor", "--json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is not needed
    assert report["findings"]["thing"]["text"] == "mend me"
    assert report["findings"]["speed"]["number"] == 32


def test_doctor_finds_no_fault_in_this_environment() -> None:
    looks = [look for look in doctor.LOOKS if look[0] != "memory"]
    findings = [doctor.examine(*look) for look in looks]
    assert all(finding.ok or not look[1] for finding, look in zip(findings, looks, strict=True))


def test_doctor_reports_an_incompatible_front_end(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *_: [str(tmp_path)])
    for look, front_end, found in (
        ("ipywidgets", doctor.FRONT_END, "3.1.1"),
        ("anywidget", "anywidget", "0.1.0"),
    ):
        assert f"{front_end}: none): install {look} again" in examine(look).text
        (tmp_path / front_end).mkdir(parents=True)
        (tmp_path / front_end / "package.json").write_text(json.dumps({"version": found}))
        assert f"{front_end}: {found}): install {look} again" in examine(look).text


def test_doctor_reports_broken_and_missing_packages(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "required", lambda: {"hollow": "Hollow>=1"})
    monkeypatch.syspath_prepend(str(tmp_path))
    said = examine("packages").text
    assert said.endswith(f'{sys.executable} -m pip install "Hollow>=1"')
    (tmp_path / "hollow.py").write_text("from json import gone\n")
    assert examine("packages").text.startswith("ImportError: cannot import name 'gone'")


def test_doctor_reports_versions_that_do_not_fit_or_are_not_loaded(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "required", lambda: {"ipykernel": "ipykernel>=6.17,<7"})
    for found, said in (
        ("6.16.2", '-m pip install "ipykernel>=6.17,<7"'),
        ("7.0.1", '-m pip install "ipykernel>=6.17,<7"'),
        ("6.99.0", "6.99.0 is installed: restart the runtime, then run this cell again."),
    ):
        monkeypatch.setattr(doctor, "version", lambda _, found=found: found)
        with pytest.raises(Trouble) as trouble:
            doctor.check_packages()
        assert str(trouble.value).endswith(said)


def test_doctor_names_what_is_incompatible(monkeypatch) -> None:
    monkeypatch.setattr("platform.python_version", lambda: "3.14.0")
    monkeypatch.setattr("bdl_teach.backend.tf", SimpleNamespace(__version__="2.19.1"))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=4e8))
    monkeypatch.setattr("bdl_teach._support.compiled.xla_available", lambda: False)
    for look, sentence in (
        (doctor.python, r"3\.14\.0, but only 3\.11, 3\.12, 3\.13"),
        (doctor.tensorflow, r"2\.19\.1, but the course was tried with 2\.20 and 2\.21"),
        (doctor.memory, r"0\.4 GB free"),
        (doctor.xla, "works without it"),
    ):
        with pytest.raises(Trouble, match=sentence):
            look()
