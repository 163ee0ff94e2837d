"""Copy the notebooks to a folder of the learner: `python3 -m bdl_teach notebooks [FOLDER]`."""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from bdl_teach._cli.environment import Trouble
from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say

PACKED = Path(__file__).resolve().parents[1] / "_notebooks"  # setup.py puts it into a wheel
FOLDER = "bdl_teach-notebooks"
RECORD = ".bdl_teach.json"  # in the folder: the hash of each file's content as it was copied


def source() -> Path:
    """Return the folder of the notebooks in the installed package or the checkout."""
    return PACKED if PACKED.is_dir() else Path(__file__).resolve().parents[2] / "notebooks"


def files() -> list[Path]:
    """Return the notebooks and the lecturer's guide."""
    found = sorted(source().glob("*.ipynb"))
    if not found:
        raise Trouble(f"There are no notebooks in {source()}: install bdl_teach again.")
    return [*found, *sorted(source().glob("*.md"))]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = f"default: {FOLDER}; files that you changed in it stay"
    parser.add_argument("folder", nargs="?", type=Path, default=Path(FOLDER), help=text)


def run(options: argparse.Namespace) -> int:
    """Copy the notebooks; return 1 if one of this version is not there, else 0."""
    written, kept, missed = copy(options.folder)
    n_there = len(files()) - len({*written, *kept, *missed})
    print(f"{options.folder}: {len(written)} files written, {n_there} there already.")
    if kept:
        print(f"Kept as you changed them: {', '.join(kept)}.")
    return 1 if missed else 0


def copy(folder: Path) -> tuple[list[str], list[str], list[str]]:
    """Copy the notebooks to `folder`, but do not overwrite files that the learner has changed.

    Return three lists of names: files written; files kept because the learner changed them; and
    files that are not of this version: changed ones of another version, and broken ones.
    """
    if folder.resolve() == source():
        raise Trouble(f"{folder} is where the notebooks come from: name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    record = _read_record(folder)
    written, kept, missed = [], [], []
    for path in files():
        target, ours, before = folder / path.name, path.read_bytes(), record.get(path.name)
        if target.exists():
            theirs = target.read_bytes()
            if _content(theirs) == _content(ours):
                continue
            if path.suffix == ".ipynb" and _cells(theirs) is None:
                missed.append(f"{path.name} (broken: no whole notebook)")
                continue
            if before not in (_content(theirs), _hash(theirs)):  # version 0.1 recorded the _hash
                kept.append(path.name)
                missed += [] if before == _content(ours) else [path.name]
                continue
        write_whole(target, ours.decode("utf-8"))
        record[path.name] = _content(ours)
        written.append(path.name)
    if written:
        write_whole(folder / RECORD, json.dumps(record, indent=1) + "\n")
    if missed:
        say(
            f"Files in {folder} that may hold your work are not replaced: {', '.join(missed)}. "
            "To have this version, rename yours and give the same command again."
        )
    return written, kept, missed


def _read_record(folder: Path) -> dict[str, str]:
    """Return the recorded hash of each file by its name; {} if the record is missing or broken."""
    try:
        return dict(json.loads((folder / RECORD).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def _content(file: bytes) -> str:
    """Return the hash of a file; of a notebook, the hash of its cells without outputs."""
    cells = _cells(file)
    return _hash(file if cells is None else json.dumps(cells).encode())


def _cells(file: bytes) -> list[tuple[str, str]] | None:
    """Return the type and source of each cell of a notebook; None if the file is no notebook."""
    try:
        return [(c["cell_type"], "".join(c["source"])) for c in json.loads(file)["cells"]]
    except (ValueError, KeyError, TypeError):
        return None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
