"""Test `python3 -m bdl_teach data`, which fetches and lists data sets."""

import os
import re
import select
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import PATH, RIGHT, Server

from bdl_teach import cli
from bdl_teach.datasets import store


def run(*words: str) -> int:
    return cli.inside(["data", *words])


def test_data_sets_are_listed_fetched_and_refetched_if_damaged(home, server, capsys) -> None:
    assert run("--list", "yacht") == 0
    assert (server.asked, home.exists()) == (0, False)
    assert run("yacht", "digits") == run("yacht") == 0
    assert (home / PATH).read_bytes() == RIGHT and server.asked == 1
    (home / PATH).write_bytes(RIGHT[:100])
    assert run("--list", "yacht") == run("yacht") == 0
    assert (home / PATH).read_bytes() == RIGHT
    said = capsys.readouterr().out
    assert f"Data folder: {home}" in said and f"yacht           fetched    {PATH}" in said
    states = re.findall(r"yacht +(\w+)", said)
    assert states == ["missing", "fetched", "there", "damaged", "fetched"]
    assert "digits          bundled" in said and "2 of 2 data sets are ready." in said


def test_failed_download_is_reported_and_the_others_continue(home, server, capsys, monkeypatch):
    wrong = replace(store.FILES["uci/energy.txt"], address=server.address)
    monkeypatch.setitem(store.FILES, "uci/energy.txt", wrong)
    assert run("energy", "yacht") == 1
    out, err = capsys.readouterr()
    assert "yacht           fetched" in out and "1 of 2 data sets are ready." in out
    assert re.fullmatch(r"energy: .*wrong SHA-256.*\n", err)
    with pytest.raises(SystemExit):
        run("bostno")
    assert "no data set is called bostno; there are boston" in capsys.readouterr().err


def test_terminal_shows_download_progress(home: Path, server: Server) -> None:
    program = (
        "import sys; from dataclasses import replace; from bdl_teach import cli;"
        "from bdl_teach.datasets import store;"
        f"store.FILES[{PATH!r}] = replace(store.FILES[{PATH!r}], address={server.address!r},"
        f"sha256={store.FILES[PATH].sha256!r}); sys.exit(cli.inside(['data', 'yacht']))"
    )
    termios, pty = pytest.importorskip("termios"), pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    assert subprocess.call([sys.executable, "-c", program], stderr=theirs) == 0
    assert select.select([ours], [], [], 60)[0], "nothing was written"
    assert re.search(rb"yacht: .*480k", os.read(ours, 100_000))
