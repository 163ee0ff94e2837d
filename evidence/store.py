"""Store results on disk by the version of the code that made them; read and write CSV files."""

import csv
import hashlib
import io
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Any, NamedTuple

import bdl_teach
from bdl_teach._support.files import write_whole
from bdl_teach._support.report import PACKAGES, machine_line
from bdl_teach.methods import catalogue
from evidence.table import Task

Figures = dict[str, float]
LIBRARIES = ("numpy", "scipy", "scikit-learn", *PACKAGES[:4])  # that results depend on


class Store:
    """A folder with a JSON file for each task of a table or experiment, for one code version."""

    def __init__(self, parent: Path, name: str, fingerprint: str) -> None:
        self.folder = parent / f"{name}-{fingerprint}"
        self.folder.mkdir(parents=True, exist_ok=True)

    def get(self, task: Task) -> Figures | None:
        """Return the stored result of a task; ``None`` if there is none or it is damaged."""
        try:
            figures: Figures = json.loads(self._place(task).read_text(encoding="utf-8"))["figures"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return figures

    def put(self, task: Task, figures: Figures) -> None:
        """Write a task's result to its file.

        Raises:
            OSError: The result could not be written; no partial file is left.
        """
        record = {**task._asdict(), "figures": figures}
        write_whole(self._place(task), json.dumps(record, indent=1))

    def forget(self, task: Task) -> None:
        """Remove the stored result of a task."""
        self._place(task).unlink(missing_ok=True)

    def _place(self, task: Task) -> Path:
        words = re.sub(r"[^A-Za-z0-9.]+", "-", task.key)[:80]
        digest = hashlib.sha256(json.dumps(task, sort_keys=True).encode()).hexdigest()
        return self.folder / f"{words}-{digest[:12]}.json"


# The code that a result came from


@lru_cache(maxsize=64)
def fingerprint(module: str) -> str:
    """Return a hash of a module's code, its imports (see ``reached``), and library versions."""
    digest = hashlib.sha256(bdl_teach.__version__.encode())
    for name, text in sorted(reached(module).items()):
        digest.update(f"\n{name}\n".encode() + text)
    for library in LIBRARIES:
        with suppress(PackageNotFoundError):
            digest.update(f"\n{library} {version(library)}".encode())
    return digest.hexdigest()[:16]


def reached(module: str) -> dict[str, bytes]:
    """Return the source text, by name, of a module and of the modules that it imports.

    Imports inside functions and imports of imports count, too. Modules outside this package and
    the package of ``module`` do not count. If a module uses ``CATALOGUE``, all methods count.
    """
    finder = _Finder(module)
    finder.import_hook(module)
    found = _texts(finder)
    if any(b"CATALOGUE" in text for name, text in found.items() if name != catalogue.__name__):
        for method in catalogue.CATALOGUE.values():
            finder.import_hook(f"bdl_teach.methods.{method.module}")
    return _texts(finder)


def _texts(finder: ModuleFinder) -> dict[str, bytes]:
    files = {name: getattr(found, "__file__", None) for name, found in finder.modules.items()}
    return {name: Path(file).read_bytes() for name, file in files.items() if file}


class _Finder(ModuleFinder):
    """Find imported modules, only in this package and in the top-level package of ``module``."""

    def __init__(self, module: str) -> None:
        self.roots = {name.partition(".")[0] for name in (module, bdl_teach.__name__)}
        super().__init__(path=[str(Path(str(bdl_teach.__file__)).parents[1]), *sys.path])

    def find_module(self, name: str, path: Any, parent: Any = None) -> Any:
        if path is None and name not in self.roots:
            raise ImportError(f"{name}: expected a module of {' or '.join(sorted(self.roots))}")
        if parent is not None and parent.__name__ in sys.modules:
            path = list(sys.modules[parent.__name__].__path__)  # which may have grown
        return super().find_module(name, path, parent)


# CSV files; some come with the package, since their experiments take long


class Kept(NamedTuple):
    """The contents of a CSV file: results by the task's key, and the command that computed them."""

    made: str  # the command, and the machine that it ran on
    figures: Mapping[str, Figures]


def made_by(command: str) -> str:
    """Return the sentence "Made by: ..." for a command (its words after ``bdl_teach``)."""
    return f"Made by: python3 -m bdl_teach {command} FILE. {machine_line()}"


def kept_as_csv(kept: Kept) -> str:
    """Return a CSV file as text: how it was made, then a line for each task, with four digits."""
    names = list(dict.fromkeys(name for figures in kept.figures.values() for name in figures))
    rows = [
        [key, *(f"{figures[name]:.4g}" if name in figures else "" for name in names)]
        for key, figures in kept.figures.items()
    ]
    return f"# {kept.made}\n" + as_csv([["task", *names], *rows], "\n")


def read_kept(path: Path) -> Kept:
    """Return the contents of a CSV file whose text ``kept_as_csv`` made."""
    made, *lines = path.read_text(encoding="utf-8").splitlines()
    figures = {
        row.pop("task"): {name: float(value) for name, value in row.items() if value}
        for row in csv.DictReader(lines)
    }
    return Kept(made.removeprefix("# "), figures)


def as_csv(rows: Iterable[Sequence[object]], end: str = "\r\n") -> str:
    """Return rows as the text of a CSV file."""
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerows(rows)
    return out.getvalue()
