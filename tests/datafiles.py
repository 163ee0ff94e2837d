"""Provide data files to tests: real ones if present, made-up ones with a matching hash."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from bdl_teach import datasets
from bdl_teach._cli import data
from bdl_teach.datasets import store


def need_data(name: str) -> None:
    """Skip the test if this data set has not been fetched, and say how to get it."""
    if data.state(name) == "missing":
        pytest.skip(
            f"{name} is not in {datasets.folder()}: `python3 -m bdl_teach data {name}` fetches it, "
            "or set BDL_TEACH_DATA to a folder that has it"
        )


def plant(monkeypatch: pytest.MonkeyPatch, path: str, content: bytes) -> Path:
    """Write made-up bytes in place of a data file and register their hash; return its path."""
    place = datasets.folder() / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    expect(monkeypatch, path, content)
    return place


def expect(monkeypatch: pytest.MonkeyPatch, path: str, content: bytes) -> None:
    """Register the hash of these bytes as the right one for a data file."""
    right = replace(store.FILES[path], sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(store.FILES, path, right)
