"""Find or download the files of the real data sets, and check their hashes.

pooch moves a download into place after checking its SHA-256. Functions import it late, because it
takes a tenth of a second to load.
"""

from __future__ import annotations

import errno
import logging
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bdl_teach._support.errors import DatasetUnavailable

_TIMEOUT = (4.0, 30.0)  # seconds to connect, and to wait for the next bytes


@dataclass(frozen=True)
class RemoteFile:
    """A file to download: a row of files.toml."""

    dataset: str
    path: str  # inside the data folder, with forward slashes
    address: str
    sha256: str


def _registered() -> Iterator[RemoteFile]:
    text = Path(__file__).with_name("files.toml").read_text(encoding="utf-8")
    for source in tomllib.loads(text)["source"]:
        for dataset, name, sha256 in source["files"]:
            path, address = (source[key].format(name) for key in ("path", "address"))
            yield RemoteFile(dataset, path, address, sha256)


FILES = {file.path: file for file in _registered()}


def folder() -> Path:
    """Return the data folder: ``$BDL_TEACH_DATA``, or the user's cache folder.

    Raises:
        ValueError: ``$BDL_TEACH_DATA`` is a relative path, which depends on the working folder.
    """
    from pooch import os_cache

    chosen = os.environ.get("BDL_TEACH_DATA")
    place = Path(chosen).expanduser() if chosen else Path(os_cache("bdl_teach"))
    if not place.is_absolute():
        raise ValueError(
            f"BDL_TEACH_DATA: expected the absolute path of a folder, got {chosen!r}: a relative "
            f"path means another folder in each notebook; here it means {place.absolute()}"
        )
    return place


def files_of(dataset: str) -> list[RemoteFile]:
    """Return the files that make up a data set."""
    return [file for file in FILES.values() if file.dataset == dataset]


def state(path: str) -> str:
    """Return whether a data file is ``"there"``, ``"missing"`` or ``"damaged"`` (of wrong hash).

    Raises:
        OSError: The file is there and cannot be read.
    """
    from pooch import file_hash

    place = folder() / path
    if not place.is_file():
        return "missing"
    return "there" if file_hash(str(place)) == FILES[path].sha256 else "damaged"


def fetch(path: str, progress: Any = False) -> Path:
    """Return the path of a file whose hash is right, after downloading it if necessary.

    Args:
        path: The file's path inside the data folder, a key of ``FILES``.
        progress: A tqdm bar that shows the download, or False.

    Raises:
        DatasetUnavailable: The file is missing or damaged, and downloading it failed.
    """
    import pooch

    file, place, before = FILES[path], folder() / path, ""
    try:
        before = state(path)
        if before != "there":
            place.parent.mkdir(parents=True, exist_ok=True)
            downloader = pooch.HTTPDownloader(progress, chunk_size=2**15, timeout=_TIMEOUT)
            pooch.get_logger().setLevel(logging.ERROR)  # the package prints its own messages
            known = f"sha256:{file.sha256}"
            pooch.retrieve(file.address, known, place.name, place.parent, downloader=downloader)
    except (OSError, ValueError) as error:
        fault = "is damaged (its SHA-256 is wrong)" if before == "damaged" else "is not there"
        raise DatasetUnavailable(
            f"{file.dataset}: {place} {fault}, and fetching it from {file.address} failed: "
            f"{reason(error)}. With a network, run `python3 -m bdl_teach data {file.dataset}`; or "
            "put the file there by hand; or set BDL_TEACH_DATA to a folder that has it."
        ) from error
    return place


def reason(error: Exception) -> str:
    """Return a phrase that says why a download failed."""
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
