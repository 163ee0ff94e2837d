"""Results on disk: one small file a task, written whole or not at all.

A file holds the task that it belongs to and a hash of what it says. One that was cut short,
damaged, or written for other arguments is not believed, and its task runs again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pooch

from bdl_teach._support.files import write_whole
from bdl_teach.reproduce.table import Task

Figures = dict[str, float]


def default_folder() -> Path:
    """Where results are kept unless another folder is named."""
    return Path(pooch.os_cache("bdl_teach")) / "reproduce"


class Store:
    """The results of one table, as one version of the code computes them.

    Args:
        parent: Folder for the results of every table.
        table: Name of the table.
        fingerprint: Of the code, see ``sources.fingerprint``; other code has another folder.

    Raises:
        OSError: The folder cannot be made.
    """

    def __init__(self, parent: Path, table: str, fingerprint: str) -> None:
        self.folder = parent / f"{table}-{fingerprint}"
        self.folder.mkdir(parents=True, exist_ok=True)
        for leftover in self.folder.glob("*.tmp"):  # of a run that was killed as it wrote
            leftover.unlink(missing_ok=True)

    def get(self, task: Task) -> Figures | None:
        """Return what is kept of a task; ``None`` if there is nothing, or nothing to believe."""
        try:
            record = json.loads(self._place(task).read_text(encoding="utf-8"))
            figures: Figures = record["figures"]
            sound = record == _record(task, figures)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return figures if sound else None

    def put(self, task: Task, figures: Mapping[str, float]) -> None:
        """Keep the figures of a task: after this returns they outlive a crash of the machine.

        Raises:
            OSError: They could not be written; then nothing is left behind.
        """
        text = json.dumps(_record(task, dict(figures)), indent=1)
        write_whole(self._place(task), text)

    def forget(self, task: Task) -> None:
        """Remove what is kept of a task."""
        self._place(task).unlink(missing_ok=True)

    def _place(self, task: Task) -> Path:
        words = re.sub(r"[^A-Za-z0-9.]+", "-", task.key)[:80]
        return self.folder / f"{words}-{_hash([task.key, dict(task.arguments)])[:12]}.json"


def _record(task: Task, figures: Figures) -> dict[str, object]:
    """What a file says; figures as text too, since NaN is not equal to itself."""
    what = [task.key, json.loads(json.dumps(dict(task.arguments))), figures]
    return {"key": task.key, "arguments": what[1], "figures": figures, "sha256": _hash(what)}


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
