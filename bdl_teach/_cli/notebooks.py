"""Copy the notebooks to a folder of the learner: `python3 -m bdl_teach notebooks [FOLDER]`."""

from __future__ import annotations

import argparse
import hashlib
import json
from contextlib import suppress
from pathlib import Path

from bdl_teach._cli.checkout import ROOT, Trouble
from bdl_teach._support.files import write_whole
from bdl_teach._support.report import say

PACKED = ROOT / "bdl_teach" / "_notebooks"  # setup.py puts it into a wheel
FOLDER = "bdl_teach-notebooks"
RECORD = ".bdl_teach.json"  # in the folder: the hash of each file's content as it was copied


def source() -> Path:
    """Return the folder of the notebooks in the installed package or the checkout."""
    return PACKED if PACKED.is_dir() else ROOT / "notebooks"


def files() -> list[Path]:
    """Return the notebooks and the lecturer's guide."""
    found = sorted(source().glob("*.ipynb"))
    if not found:
        raise Trouble(f"There are no notebooks in {source()}: install bdl_teach again.")
    return [*found, *sorted(source().glob("*.md"))]


def chapters() -> list[Path]:
    """Return the notebooks of the chapters, in their order."""
    return [path for path in files() if path.suffix == ".ipynb"]


def find(name: str) -> Path:
    """Find a notebook by path, or by chapter number or name; raise ``Trouble`` if there is none."""
    if Path(name).suffix == ".ipynb" and Path(name).is_file():
        return Path(name)
    for path in chapters():
        if name in (path.stem, path.name) or (name.isdigit() and int(path.stem[:2]) == int(name)):
            return path
    wanted = f"a number from 0 to {len(chapters()) - 1}, or the name of a notebook"
    raise Trouble(f"chapter: expected {wanted}, got {name}")


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
    those of the kept ones that come from another version.
    """
    if folder.resolve() == source():
        raise Trouble(f"{folder} is where the notebooks come from: name another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    record = _read_record(folder)
    written, kept, missed = [], [], []
    for path in files():
        target, name, ours = folder / path.name, path.name, _content(path)
        theirs = _content(target) if target.exists() else None
        if theirs == ours:
            continue
        if theirs not in (None, record.get(name)):
            kept.append(name)
            missed += [] if record.get(name) == ours else [name]
            continue
        write_whole(target, path.read_bytes().decode("utf-8"))
        record[name] = ours
        written.append(name)
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


def _content(path: Path) -> str:
    """Return the hash of a file; of a notebook, the hash of its cells without outputs."""
    content = path.read_bytes()
    with suppress(ValueError, KeyError, TypeError):  # it is no whole notebook
        cells = [(c["cell_type"], "".join(c["source"])) for c in json.loads(content)["cells"]]
        content = json.dumps(cells).encode()
    return hashlib.sha256(content).hexdigest()
