"""`python3 -m bdl_teach data`: fetch before a lecture, say what is there, name what failed."""

import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import PATH, RIGHT, Server, empty_folder

from bdl_teach import datasets
from bdl_teach._cli import data
from bdl_teach.datasets import store

Out = pytest.CaptureFixture[str]


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def home(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_folder(tmp_path / "data", server, monkeypatch)


def test_it_fetches_what_is_named_and_says_where(home: Path, server: Server, capsys: Out) -> None:
    assert data.main(["yacht", "digits"]) == 0
    out = capsys.readouterr().out
    assert f"Data folder: {home}" in out
    assert f"yacht           fetched    {PATH}" in out
    assert "digits          bundled" in out
    assert "2 of 2 data sets are ready." in out
    assert (home / PATH).read_bytes() == RIGHT


def test_what_is_there_is_not_fetched_again(home: Path, server: Server, capsys: Out) -> None:
    data.main(["yacht"])
    assert data.main(["yacht"]) == 0
    assert server.asked == 1
    assert "yacht           there" in capsys.readouterr().out


def test_a_half_file_is_fetched_again(home: Path, server: Server, capsys: Out) -> None:
    (home / "uci").mkdir(parents=True)
    (home / PATH).write_bytes(RIGHT[:100])
    assert data.main(["--list", "yacht"]) == 0
    assert "yacht           damaged" in capsys.readouterr().out
    assert data.main(["yacht"]) == 0
    assert (home / PATH).read_bytes() == RIGHT


def test_one_failure_is_a_sentence_and_the_rest_still_come(
    home: Path, server: Server, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(store.FILES["uci/energy.txt"], address=server.address)
    monkeypatch.setitem(store.FILES, "uci/energy.txt", broken)
    assert data.main(["energy", "yacht"]) == 1
    out, err = capsys.readouterr()
    assert "energy          missing" in out
    assert "yacht           fetched" in out
    assert "1 of 2 data sets are ready." in out
    assert err.startswith("energy: ")
    assert "wrong SHA-256" in err
    assert len(err.splitlines()) == 1


def test_without_names_it_takes_all_the_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(data, "fetch", lambda names: asked.extend(names) or 0)
    assert data.main([]) == 0
    assert set(asked) == set(data.ABOUT) - {"fashion-full"}
    assert {file.dataset for file in store.FILES.values()} == set(data.ABOUT) - {"digits"}
    assert data.UCI == datasets.UCI


def test_a_group_stands_for_its_sets_and_each_is_taken_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(data, "fetch", lambda names: asked.extend(names) or 0)
    data.main(["yacht", "uci", "digits"])
    assert asked[0] == "yacht"
    assert sorted(asked) == sorted([*data.UCI, "digits"])


def test_the_list_fetches_nothing(home: Path, server: Server, capsys: Out) -> None:
    assert data.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(data.ABOUT)
    assert all("missing" in line or "bundled" in line for line in lines[1:])
    assert server.asked == 0
    assert not home.exists()


def test_a_file_that_may_not_be_read_is_said_to_be_so(
    home: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(_: str) -> str:
        raise PermissionError("no right to read it")

    monkeypatch.setattr(store, "state", forbidden)
    assert data.main(["--list", "yacht", "california"]) == 0
    out = capsys.readouterr().out
    assert "yacht           unreadable uci/yacht.txt" in out
    assert "california      unreadable california/cal_housing.tgz" in out


def test_a_set_of_many_files_is_named_by_its_folder(home: Path) -> None:
    assert data.place("fashion-full") == "images/fashion-mnist"
    assert data.place("mnist-test") == ", ".join(f.path for f in store.files_of("mnist-test"))


def test_a_set_of_which_one_file_is_missing_is_missing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures, labels = store.files_of("mnist-test")
    states = {pictures.path: "there", labels.path: "missing"}
    monkeypatch.setattr(store, "state", states.get)
    assert data.state("mnist-test") == "missing"


def test_an_unknown_name_is_refused_with_those_that_exist(capsys: Out) -> None:
    with pytest.raises(SystemExit) as end:
        data.main(["bostno"])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert "no data set is called bostno" in error
    assert "boston" in error


def test_a_terminal_sees_progress_and_a_log_does_not(
    home: Path, server: Server, capsys: Out
) -> None:
    program = (
        "import sys; from dataclasses import replace; from bdl_teach._cli import data;"
        "from bdl_teach.datasets import store;"
        f"store.FILES[{PATH!r}] = replace(store.FILES[{PATH!r}], address={server.address!r},"
        f"sha256={store.FILES[PATH].sha256!r}); sys.exit(data.main(['yacht']))"
    )
    termios, pty = pytest.importorskip("termios"), pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    code = subprocess.call([sys.executable, "-c", program], stderr=theirs)
    assert code == 0
    assert select.select([ours], [], [], 60)[0], "nothing was written"
    assert re.search(rb"yacht: .*/480k", os.read(ours, 100_000))
    (home / PATH).unlink()
    data.main(["yacht"])
    assert capsys.readouterr().err == ""
