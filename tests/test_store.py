"""The data folder stays sound: no break of a download leaves a file that is taken for whole."""

import errno
import gzip
import importlib
import io
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pooch
import pytest
import requests
from loopback import PATH, RIGHT, Server, empty_folder
from sklearn.datasets import _california_housing

from bdl_teach import DatasetUnavailable, datasets
from bdl_teach.datasets import images, store, tables

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
README = SHARED / "README.md"


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def home(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_folder(tmp_path / "data", server, monkeypatch)


def files_in(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def refusal() -> str:
    with pytest.raises(DatasetUnavailable) as caught:
        store.fetch(PATH)
    return str(caught.value)


def test_a_file_is_fetched_once_and_then_read_in_place(home: Path, server: Server) -> None:
    for _ in range(2):
        assert store.fetch(PATH).read_bytes() == RIGHT
    assert server.asked == 1
    assert files_in(home) == [PATH]


def test_the_loader_reads_what_was_fetched(home: Path) -> None:
    table = datasets.uci("yacht")
    assert (table.x.shape, table.y.shape) == ((60_000, 1), (60_000,))


@pytest.mark.parametrize("content", [b"", RIGHT[:-1], RIGHT[:20_000], RIGHT[::-1]])
def test_a_half_or_damaged_file_is_not_taken_for_whole(home: Path, content: bytes) -> None:
    (home / "uci").mkdir(parents=True)
    (home / PATH).write_bytes(content)
    assert store.state(PATH) == "damaged"
    assert store.fetch(PATH).read_bytes() == RIGHT
    assert store.state(PATH) == "there"


def test_a_damaged_file_that_cannot_be_replaced_is_named(home: Path, server: Server) -> None:
    (home / "uci").mkdir(parents=True)
    (home / PATH).write_bytes(RIGHT[:-1])
    server.stop()
    message = refusal()
    assert f"yacht: {home / PATH} is damaged" in message
    assert "no connection" in message
    assert (home / PATH).read_bytes() == RIGHT[:-1]


def test_without_a_network_the_error_says_what_to_do(home: Path, server: Server) -> None:
    server.stop()
    message = refusal()
    for part in (
        f"{home / PATH} is not there",
        server.address,
        "`python3 -m bdl_teach data yacht`",
    ):
        assert part in message
    assert files_in(home) == []


def test_wrong_bytes_are_refused_and_leave_nothing(home: Path, server: Server) -> None:
    server.gives = RIGHT.replace(b"1", b"7")
    assert "wrong SHA-256" in refusal()
    assert files_in(home) == []


@pytest.mark.parametrize("claims", [len(RIGHT), 1000])
def test_a_download_that_is_cut_short_leaves_nothing(
    home: Path, server: Server, claims: int
) -> None:
    server.gives, server.claims = RIGHT[:1000], claims
    assert re.search("broke off|cut short", refusal())
    assert files_in(home) == []
    server.gives, server.claims = RIGHT, len(RIGHT)
    assert store.fetch(PATH).read_bytes() == RIGHT


@pytest.mark.parametrize("status", [403, 404, 503])
def test_a_server_that_refuses_is_quoted(home: Path, server: Server, status: int) -> None:
    server.status = status
    assert f"the server answered {status}" in refusal()
    assert files_in(home) == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full"),
        (PermissionError(errno.EACCES, "Permission denied"), "the folder cannot be written"),
        (OSError(errno.EROFS, "Read-only file system"), "the folder cannot be written"),
        (requests.ReadTimeout("slow"), "did not answer in time"),
        (OSError("something else"), "something else"),
    ],
)
def test_a_break_in_the_middle_is_a_sentence_and_leaves_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def breaks(self: object, address: str, output: str, *_: object) -> None:
        Path(output).write_bytes(RIGHT[:5000])
        raise error

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", breaks)
    assert words in refusal()
    assert files_in(home) == []


def test_a_read_only_folder_is_read_and_never_written(
    home: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.fetch(PATH)
    asked, opened = server.asked, os.open

    def forbid(path: object, flags: int, *rest: object, **more: object) -> int:
        assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT), path
        return opened(path, flags, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", forbid)  # what tempfile makes its files with
    os.chmod(home / "uci", 0o500)
    os.chmod(home, 0o500)
    try:
        assert store.fetch(PATH).read_bytes() == RIGHT
    finally:
        os.chmod(home, 0o700)
        os.chmod(home / "uci", 0o700)
    assert server.asked == asked


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_kill_in_the_middle_leaves_no_file_that_is_taken_for_whole(
    home: Path, server: Server
) -> None:
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
    assert not (home / PATH).exists()
    assert store.state(PATH) == "missing"
    (left,) = files_in(home)
    long_ago = time.time() - 2 * store._STALE_S
    for path in home.rglob("*"):
        os.utime(path, (long_ago, long_ago))
    assert store.fetch(PATH).read_bytes() == RIGHT
    assert files_in(home) == [PATH], f"{left} is still there"


def test_a_download_that_is_under_way_is_left_alone(home: Path) -> None:
    with store.apart(home / "uci") as theirs:
        (theirs / "half").write_bytes(RIGHT[:100])
        store.fetch(PATH)
        assert (theirs / "half").exists()
    assert files_in(home) == [PATH]


@pytest.mark.parametrize("blocked", ["data", "data/uci"])
def test_a_folder_that_cannot_be_made_is_a_sentence(home: Path, blocked: str) -> None:
    place = home.parent / blocked
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(b"")
    assert f"failed: {home / 'uci'} is not a folder" in refusal()
    assert place.read_bytes() == b""


def test_the_folder_is_the_environment_s_or_the_user_s_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BDL_TEACH_DATA", "~/lecture")
    assert datasets.folder() == Path.home() / "lecture"
    monkeypatch.setenv("BDL_TEACH_DATA", "")
    assert datasets.folder() == Path(pooch.os_cache("bdl_teach"))


def test_each_file_has_a_pinned_address_and_a_hash() -> None:
    for file in store.FILES.values():
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert re.search("/[0-9a-f]{40}/", file.address), "not pinned to a commit"


def test_addresses_and_hashes_are_those_of_the_data_folder_s_readme() -> None:
    if not README.is_file():
        pytest.skip("no shared/data/README.md beside the checkout")
    row = re.compile(r"^\| `([^`]+)` \|.*\| (https://\S+) \| `([0-9a-f]{64})` \|", re.M)
    listed = set(row.findall(README.read_text(encoding="utf-8")))
    assert listed == {(f.path, f.address, f.sha256) for f in store.FILES.values()}


# California: scikit-learn keeps it, in the same folder


def test_california_goes_through_the_archive_of_scikit_learn() -> None:
    ours, theirs = tables._ARCHIVE, _california_housing.ARCHIVE
    assert (ours.path, ours.address, ours.sha256) == (
        theirs.filename,
        theirs.url,
        theirs.checksum,
    )


@pytest.mark.parametrize("content", [None, b"", b"not a pickle", b"\x80\x04half"])
def test_california_without_a_network_or_damaged_is_refused_and_named(
    home: Path, server: Server, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    server.stop()
    monkeypatch.setattr(tables, "_ARCHIVE", replace(tables._ARCHIVE, address=server.address))
    place = home / tables.CALIFORNIA
    if content is not None:
        place.parent.mkdir(parents=True)
        place.write_bytes(content)
    fault = "is not there" if content is None else "is damaged"
    with pytest.raises(DatasetUnavailable, match=f"california: .*{fault}.*no connection"):
        datasets.california()
    assert files_in(home) == ([] if content is None else [tables.CALIFORNIA])


def test_california_is_made_apart_and_moved_into_place(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = SHARED / tables.CALIFORNIA
    if not kept.is_file():
        pytest.skip("no shared/data/california beside the checkout")
    columns = [8, 7, 2, 3, 4, 5, 6, 1, 0]  # the order that scikit-learn gives the archive's

    def download(file: store.RemoteFile, into: Path, _: object) -> None:
        rows = joblib.load(kept)[:, np.argsort(columns)]
        text = "\n".join(",".join(map(repr, row)) for row in rows.tolist()).encode()
        with tarfile.open(into / file.path, "w:gz") as archive:
            member = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))

    monkeypatch.setattr(store, "download", download)
    unchecked = _california_housing.ARCHIVE._replace(checksum=None)
    monkeypatch.setattr(_california_housing, "ARCHIVE", unchecked)
    assert datasets.california().y.mean() == pytest.approx(2.0686, abs=5e-5)
    assert files_in(home) == [tables.CALIFORNIA]
    assert tables.california_state() == "there"


def test_another_table_in_california_s_place_is_damaged(home: Path) -> None:
    place = home / tables.CALIFORNIA
    place.parent.mkdir(parents=True)
    joblib.dump(np.ones((20640, 9)), place)
    assert tables.california_state() == "damaged"


# The whole of Fashion-MNIST: Keras fetches it, in the same folder


def idx(shape: tuple[int, ...], data: bytes) -> bytes:
    head = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
    return gzip.compress(head + data, compresslevel=1)


def write_fashion(folder: Path) -> None:
    folder.mkdir(parents=True)
    for part, n in (("train", 60_000), ("t10k", 10_000)):
        pictures, labels = bytes(784) * n, bytes(range(10)) * (n // 10)
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(idx((n, 28, 28), pictures))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(idx((n,), labels))


@pytest.fixture
def keras(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keras's loader, replaced by one that writes a blank Fashion-MNIST or fails."""
    says: list[str] = []

    class Fake:
        @staticmethod
        def load_data(cache_dir: str) -> None:
            folder = Path(cache_dir) / "datasets" / "fashion-mnist"
            if says:
                folder.mkdir(parents=True)
                (folder / "train-labels-idx1-ubyte.gz").write_bytes(b"half")
                raise Exception(says[0])
            write_fashion(folder)

    real = importlib.import_module
    monkeypatch.setattr(
        importlib,
        "import_module",
        lambda name, *rest: Fake if name.startswith("tf_keras.datasets") else real(name, *rest),
    )
    return says


def test_the_whole_of_fashion_is_fetched_apart_and_read_in_place(
    home: Path, keras: list[str]
) -> None:
    fashion = datasets.fashion_sprite(full=True)
    assert fashion.images.shape == (70_000, 28, 28)
    assert fashion.labels[:3].tolist() == [0, 1, 2]
    assert len(files_in(home)) == 4
    keras[:] = ["not asked a second time"]
    assert images.whole_fashion_state() == "there"
    damaged = home / images.WHOLE / "t10k-images-idx3-ubyte.gz"
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert images.whole_fashion_state() == "damaged"
    with pytest.raises(DatasetUnavailable, match="fashion-full: .*is damaged.*not asked"):
        datasets.fashion_sprite(full=True)


def test_a_broken_download_of_the_whole_of_fashion_leaves_nothing(
    home: Path, keras: list[str]
) -> None:
    keras.append("URL fetch failure")
    with pytest.raises(DatasetUnavailable, match="fashion-full: .*is not there.*URL fetch failure"):
        datasets.fashion_sprite(full=True)
    assert files_in(home) == []
    assert images.whole_fashion_state() == "missing"
