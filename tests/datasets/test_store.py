"""No interrupted or damaged download is ever taken for a complete file."""

import errno
import hashlib
import io
import os
import re
import signal
import subprocess
import sys
import tarfile
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pooch
import pytest
import requests
from datafiles import expect, plant
from loopback import PATH, RIGHT, Server
from sklearn.datasets import _california_housing, fetch_california_housing

from bdl_teach import DatasetUnavailable, cli, datasets
from bdl_teach._cli import data
from bdl_teach.datasets import store, tables


def files_in(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def refusal() -> str:
    with pytest.raises(DatasetUnavailable) as caught:
        store.fetch(PATH)
    return str(caught.value)


def test_file_is_downloaded_once_and_without_output(
    home: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    announced: list[Any] = []
    monkeypatch.setattr(pooch.get_logger(), "handle", announced.append)
    for _ in range(2):
        assert store.fetch(PATH).read_bytes() == RIGHT
    table = datasets.uci("yacht")
    assert (table.x.shape, table.y.shape) == ((60_000, 1), (60_000,))
    assert (server.asked, files_in(home), announced) == (1, [PATH], [])


@pytest.mark.parametrize("content", [RIGHT[:20_000], RIGHT[::-1]])
def test_incomplete_or_damaged_file_is_refused(home: Path, server: Server, content: bytes) -> None:
    (home / "uci").mkdir(parents=True)
    (home / PATH).write_bytes(content)
    assert store.state(PATH) == "damaged"
    server.status = 503
    assert f"yacht: {home / PATH} is damaged" in refusal()
    assert (home / PATH).read_bytes() == content
    server.status = 200
    assert store.fetch(PATH).read_bytes() == RIGHT


def test_failed_download_says_why_and_how_to_get_the_file(home: Path, server: Server) -> None:
    server.status = 404
    assert "the server answered 404" in refusal()
    server.stop()
    message = refusal()
    for part in (
        f"{home / PATH} is not there",
        "no connection",
        server.address,
        "`python3 -m bdl_teach data yacht`",
        "put the file there by hand",
        "set BDL_TEACH_DATA to a folder that has it",
    ):
        assert part in message
    assert files_in(home) == []


@pytest.mark.parametrize("claims", [len(RIGHT), 1000])
def test_truncated_or_wrong_download_leaves_no_file(
    home: Path, server: Server, claims: int
) -> None:
    server.gives, server.claims = RIGHT[:1000], claims
    assert re.search("broke off|wrong SHA-256: it was cut short", refusal())
    assert files_in(home) == []
    server.gives, server.claims = RIGHT, len(RIGHT)
    assert store.fetch(PATH).read_bytes() == RIGHT


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (OSError(errno.EROFS, "Read-only file system"), "the folder cannot be written"),
        (requests.ReadTimeout("slow"), "did not answer in time"),
        (ValueError("another fault"), "failed: another fault"),
    ],
)
def test_full_disk_or_slow_server_is_reported_and_leaves_no_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def breaks(self: object, address: str, output: str, *_: object) -> None:
        Path(output).write_bytes(RIGHT[:5000])
        raise error

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", breaks)
    assert words in refusal()
    assert files_in(home) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_killed_download_is_not_mistaken_for_a_complete_file(home: Path) -> None:
    program = (
        "import os, signal, sys, pathlib, pooch\n"
        "from bdl_teach.datasets import store\n"
        "def half(self, address, output, *_):\n"
        "    pathlib.Path(output).write_bytes(b'1.5 2.5\\n' * 5000)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "pooch.HTTPDownloader.__call__ = half\n"
        f"store.fetch({PATH!r})\n"
    )
    died = subprocess.run([sys.executable, "-c", program], check=False)
    assert died.returncode == -signal.SIGKILL
    assert store.state(PATH) == "missing"
    assert store.fetch(PATH).read_bytes() == RIGHT


def test_folder_that_cannot_be_created_is_reported(home: Path) -> None:
    home.write_bytes(b"")
    assert f"failed: {home / 'uci'} is not a folder" in refusal()
    assert home.read_bytes() == b""


def test_data_folder_is_the_configured_one_or_user_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BDL_TEACH_DATA", "~/lecture")
    assert datasets.folder() == Path.home() / "lecture"
    monkeypatch.setenv("BDL_TEACH_DATA", "")
    assert datasets.folder() == Path(pooch.os_cache("bdl_teach"))


def test_relative_data_folder_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BDL_TEACH_DATA", "./mine")
    here = Path.cwd() / "mine"
    words = f"BDL_TEACH_DATA: expected the absolute path of a folder, got './mine'.*{here}$"
    for load in (datasets.folder, datasets.california, lambda: datasets.uci("yacht")):
        with pytest.raises(ValueError, match=words):
            load()
    assert cli.inside(["data", "--list"]) == 1
    assert "BDL_TEACH_DATA: expected the absolute path" in capsys.readouterr().err


# California: the archive, or scikit-learn's cache of it

ARCHIVE = "california/cal_housing.tgz"
BY_SKLEARN = [8, 7, 2, 3, 4, 5, 6, 1, 0]  # its order of the archive's columns


@pytest.fixture(scope="module")
def districts() -> np.ndarray:
    """Return made-up districts with the archive's nine columns; as many as the real ones."""
    rng = np.random.default_rng(0)
    return np.round(rng.uniform(1.0, 9.0, (20_640, 9)), 2)


@pytest.fixture(scope="module")
def archive(districts: np.ndarray) -> bytes:
    """Return the districts as the archive that scikit-learn downloads."""
    text = "\n".join(",".join(map(repr, row)) for row in districts.tolist()).encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as files:
        member = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
        member.size = len(text)
        files.addfile(member, io.BytesIO(text))
    return packed.getvalue()


@pytest.fixture
def kept(
    home: Path, server: Server, districts: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return the path of the districts in scikit-learn's cache; the archive cannot be fetched."""
    file = replace(store.FILES[ARCHIVE], address=f"{server.root}/archive")
    monkeypatch.setitem(store.FILES, ARCHIVE, file)
    server.files["/archive"] = b"nothing of use"
    place = home / tables.CALIFORNIA
    place.parent.mkdir(parents=True)
    numbers = districts[:, BY_SKLEARN]
    joblib.dump(numbers, place, compress=6)
    sha256 = hashlib.sha256(numbers.tobytes(order="F")).hexdigest()
    monkeypatch.setattr(tables, "_CALIFORNIA_SHA256", sha256)
    return place


def assert_as_sklearn_has_it(table: datasets.Table, kept: Path) -> None:
    theirs = fetch_california_housing(data_home=str(kept.parent), download_if_missing=False)
    np.testing.assert_array_equal(table.x, theirs.data)
    np.testing.assert_array_equal(table.y, theirs.target)
    assert table.feature_names == tuple(theirs.feature_names)


def said() -> tuple[str, str]:
    """Return the state and the place of the set as the `data` command reports them."""
    return data.state("california"), data.place("california")


def test_scikit_learn_cache_is_read_as_scikit_learn_reads_it(server: Server, kept: Path) -> None:
    assert_as_sklearn_has_it(datasets.california(), kept)
    assert (said(), server.asked) == (("there", tables.CALIFORNIA), 0)


def test_archive_that_scikit_learn_downloads_gives_our_table(
    home: Path, server: Server, kept: Path, archive: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = tables.store.FILES[ARCHIVE], _california_housing.ARCHIVE
    assert (ours.sha256, Path(ours.path).name) == (theirs.checksum, theirs.filename)
    server.files["/archive"] = archive
    expect(monkeypatch, ARCHIVE, archive)
    apart = home.parent / "sklearn" / kept.name
    apart.parent.mkdir()
    kept.rename(apart)
    assert said() == ("missing", ARCHIVE)
    for _ in range(2):
        assert_as_sklearn_has_it(datasets.california(), apart)
    assert (server.asked, files_in(home)) == (1, [ARCHIVE])
    assert said() == ("there", ARCHIVE)


class Spy:
    """An object that creates a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trace,)


@pytest.mark.parametrize("compress", [0, 6])
def test_malicious_pickle_is_refused_and_never_executed(
    home: Path, kept: Path, districts: np.ndarray, compress: object
) -> None:
    trace = home.parent / "it was executed"
    joblib.dump([np.asfortranarray(districts[:, BY_SKLEARN]), Spy(trace)], kept, compress=compress)
    assert data.state("california") == "damaged"
    with pytest.raises(DatasetUnavailable, match=f"{kept} is damaged"):
        datasets.california()
    assert not trace.exists()
    joblib.load(kept)
    assert trace.exists(), "the pickle is malicious"


def test_invalid_california_cache_is_named_stays_and_is_not_unpacked(kept: Path) -> None:
    numbers = joblib.load(kept)
    numbers[-1, -1] += 1e-9
    joblib.dump(numbers, kept, compress=6)
    large = zlib.compress(bytes(100_000_000), 9)
    for content in (kept.read_bytes(), b"not a pickle", zlib.compress(b"short"), large):
        kept.write_bytes(content)
        tracemalloc.start()
        assert said() == ("damaged", tables.CALIFORNIA)
        with pytest.raises(DatasetUnavailable, match=f"wrong SHA-256.*{kept} is damaged"):
            datasets.california()
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
        tracemalloc.stop()
        assert kept.read_bytes() == content, "the file of scikit-learn is not changed"


def test_damaged_archive_is_fetched_again(
    server: Server, kept: Path, archive: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["/archive"] = archive
    right = datasets.california()
    kept.write_bytes(b"damaged")
    plant(monkeypatch, ARCHIVE, archive).write_bytes(archive[:-9])
    assert said() == ("damaged", ARCHIVE)
    np.testing.assert_array_equal(datasets.california().x, right.x)
    assert said()[0] == "there" and kept.read_bytes() == b"damaged"
