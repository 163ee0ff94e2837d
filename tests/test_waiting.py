"""The tests end, and what they start hears signals, however the tests were started."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import first_line, successive, until

TESTS = Path(__file__).parent


def start(program: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", program]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_what_never_comes_fails_in_time() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"a miracle: it did not come within 0.1 s"):
        until(lambda: False, "a miracle", seconds=0.1)
    assert until(lambda: "found", "a word") == "found"


def test_what_goes_on_without_end_fails_too() -> None:
    assert list(successive(lambda n: n - 1 if n > 1 else None, 4, most=3)) == [3, 2, 1]
    with pytest.raises(pytest.fail.Exception, match="an end: it did not come within 5 steps"):
        list(successive(lambda n: n + 1, 0, most=5))


@pytest.mark.parametrize("wait", ["until", "first_line"])
def test_a_child_that_died_is_not_waited_for(wait: str) -> None:
    sentence = pytest.raises(pytest.fail.Exception, match="ended with 1 and said: no room")
    with start("import sys; sys.exit('no room')") as child, sentence:
        if wait == "until":
            until(lambda: False, "its work", child)
        else:
            first_line(child, child.stdout)


def test_a_child_that_says_nothing_is_ended() -> None:
    sentence = pytest.raises(pytest.fail.Exception, match="within 0.5 s; its process ended with")
    with start("import time; time.sleep(600)") as child, sentence:
        first_line(child, child.stdout, seconds=0.5)


def test_what_a_child_did_before_it_ended_counts(tmp_path: Path) -> None:
    done = tmp_path / "done"
    with start(f"open({str(done)!r}, 'w')") as child:
        child.wait(60)
        assert until(done.exists, "a file", child)


def test_no_test_waits_without_an_end() -> None:
    """A loop that sleeps has a deadline, and what a child may write is read by `first_line`.

    What is improved until nothing is better is stepped through by `successive`.
    """
    loop = r"^( *)while (?!.*(monotonic|deadline)).*:\n(\1 +.*\n)*?\1 +time\.sleep"
    endless = re.compile(loop, re.MULTILINE)
    for path in sorted({*TESTS.rglob("*.py")} - {TESTS / "waiting.py"}):
        text = path.read_text(encoding="utf-8")
        assert not endless.search(text), path.name
        assert not re.search(r"while \(better := ", text), path.name
        assert not re.search(r"std(out|err)\.read(line)?\(\)", text), path.name


HEARS = """
import signal, subprocess, sys, pytest

@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_a_child_hears(name):
    number = getattr(signal, name)
    program = f"import os, time; os.kill(os.getpid(), {number:d}); time.sleep(9)"
    child = [sys.executable, "-c", program]
    assert subprocess.run(child, stderr=subprocess.DEVNULL).returncode == -number
"""


@pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")
def test_what_tests_start_hears_signals_that_whoever_started_the_tests_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell's background job ignores SIGINT, `nohup` SIGHUP, and children inherit that."""
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / "test_hears.py").write_text(HEARS)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    inner = [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider", "."]
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    deaf = ["sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh", *inner]
    ran = subprocess.run(deaf, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "2 passed" in ran.stdout, ran.stdout
