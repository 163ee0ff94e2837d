"""Files for the loaders: real ones if they are there, made-up ones that are given a hash."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from bdl_teach import datasets
from bdl_teach._cli import data
from bdl_teach.datasets import store


def need_data(name: str) -> None:
    """Skip a test whose real data set has not been fetched, and say how to get it."""
    if data.state(name) == "missing":
        pytest.skip(
            f"{name} is not in {datasets.folder()}: `python3 -m bdl_teach data {name}` fetches it, "
            "or set BDL_TEACH_DATA to a folder that has it"
        )


def plant(monkeypatch: pytest.MonkeyPatch, path: str, content: bytes) -> Path:
    """Put made-up bytes in the place of a file, and their hash in the register."""
    place = datasets.folder() / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    expect(monkeypatch, path, content)
    return place


def expect(monkeypatch: pytest.MonkeyPatch, path: str, content: bytes) -> None:
    """Make these bytes the right ones for a file."""
    right = replace(store.FILES[path], sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(store.FILES, path, right)
