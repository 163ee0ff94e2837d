"""Test what all commands share (help, output, faults) and the server of `lab`."""

import ast
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bdl_teach import cli
from bdl_teach._cli import environment, lab

ROOT = Path(__file__).resolve().parents[2]


def start(*words: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "bdl_teach", *words]
    return subprocess.run(command, cwd=ROOT, **{"stdout": -1, "stderr": -1, **options})


@pytest.mark.parametrize("name", ["", *(name for name in cli.COMMANDS if name != "bench")])
def test_help_and_unknown_options_install_nothing(monkeypatch, capsys, name: str) -> None:
    monkeypatch.setattr(environment, "ensure", lambda *_: pytest.fail("it was installed"))
    with pytest.raises(SystemExit) as end:
        cli.main([*name.split(), "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: python3 -m bdl_teach {name}".rstrip())
    if name not in ("", "test"):
        with pytest.raises(SystemExit) as end:
            cli.main([name, "--prot", "1"])
        assert end.value.code == 2


def test_characters_that_a_terminal_lacks_stop_no_command() -> None:
    ran = start("claims", "--list", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"With ? = 0.1 the" in ran.stdout


@pytest.mark.skipif(os.name == "nt", reason="Windows has other pipes")
def test_closed_output_pipe_is_not_reported_as_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    ran = start("reproduce", "--list", stdout=writer, env=buffered)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (1, b"")


def test_jupyterlab_gets_a_folder_if_home_is_read_only(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "environ", {"HOME": "/proc/none"})
    lab.find_a_home()
    (folder,) = tmp_path.iterdir()
    assert os.environ["JUPYTER_RUNTIME_DIR"] == str(folder)
    assert f"JupyterLab keeps its own files in {folder}" in capsys.readouterr().err


def test_lab_switches_jupytext_off() -> None:
    file = Path(sys.prefix, "etc/jupyter/jupyter_server_config.d/jupytext.json")
    (name,) = json.loads(file.read_text())["ServerApp"]["jpserver_extensions"]
    assert f"--ServerApp.jpserver_extensions={name}=False" == lab.NO_PAIRING


OLD_PYTHON = """
import runpy, sys
sys.path.insert(0, sys.argv.pop())
sys.version_info = (3, 6, 15, 'final', 0)
try:
    runpy.run_module('bdl_teach', run_name='__main__', alter_sys=True)
except SystemExit as end:
    print(end.code)
print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('bdl_teach')), sep="\\n")
"""


def test_python_3_6_gets_a_sentence_instead_of_a_syntax_error() -> None:
    """The modules that are loaded first must have no syntax newer than Python 3.5."""
    command = [sys.executable, "-I", "-S", "-c", OLD_PYTHON, str(ROOT)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    sentence, *read = ran.stdout.splitlines()
    assert sentence.startswith("bdl_teach: Python 3.11, 3.12 or 3.13 is needed; this is Python 3.6")
    assert len(read) >= 5
    for file in [*read, ROOT / "bdl_teach" / "__main__.py"]:
        oldest = (3, 4) if sys.version_info < (3, 13) else (3, 7)
        text = Path(file).read_text(encoding="utf-8")
        nodes = list(ast.walk(ast.parse(text, feature_version=oldest)))
        new = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Match)
        assert [node.lineno for node in nodes if isinstance(node, new)] == []
        assert "__future__" not in [n.module for n in nodes if isinstance(n, ast.ImportFrom)]
