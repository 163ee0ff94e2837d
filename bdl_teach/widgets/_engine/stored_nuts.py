"""Runs of NUTS that came with the package: those that the presets of the explorers ask for.

A run is found by a hash of all that its draws depend on, so that none is ever shown for another
posterior, other chains or another sampler: whoever changes one of these makes the runs anew, with
``tools/store_nuts.py``. Kept are the two curves that an explorer shows, as text.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from bdl_teach._support.checks import Array

FILE = Path(__file__).with_name("stored_nuts.json")
_DIGITS = 6  # significant ones of what is hashed: the last bits of a sine differ between machines


@dataclass(frozen=True)
class Stored:
    """What is kept of a run.

    Attributes:
        of: The presets that ask for it, for who reads the file.
        report: R-hat and effective sample size, as a sentence.
        noise_std: Standard deviation of the noise on y.
        mean: Predictive mean at the explorer's grid ``[m]``.
        epistemic_std: Standard deviation of the network's output there ``[m]``.
    """

    of: list[str]
    report: str
    noise_std: float
    mean: list[float]
    epistemic_std: list[float]

    @property
    def sha256(self) -> str:
        """Of all that it holds."""
        return _hash(asdict(self))


def key(x_grid: Array, chains: Mapping[str, object]) -> str:
    """SHA-256 of what a predictive of NUTS depends on.

    Args:
        x_grid: Where it predicts ``[m, 1]``.
        chains: What ``exact.nuts`` is given; its defaults count, too.
    """
    from bdl_teach.methods import mcmc

    given = inspect.signature(mcmc.nuts).bind(**chains)
    given.apply_defaults()
    of = {**given.arguments, "x_grid": x_grid, "sampler": mcmc.SAMPLER_VERSION}
    del of["progress"], of["likelihood"]  # no explorer has labels
    return _hash({"tfp": _tfp_version(), **{name: _plain(value) for name, value in of.items()}})


def load(wanted: str) -> Stored | None:
    """The run of this key; ``None`` where there is none, or it is not what was stored."""
    return _read(FILE).get(wanted)


def read(path: Path = FILE) -> dict[str, Stored]:
    """All runs of a file by their keys; a damaged one is left out, as if it were not there."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        return {name: run for name, entry in entries.items() if (run := _checked(entry))}
    except (OSError, ValueError, AttributeError):  # no file, no JSON, or no table
        return {}


_read = lru_cache(maxsize=1)(read)


def as_text(runs: Mapping[str, Stored]) -> str:
    """What the file of these runs says: one run a line, so that a change is seen as one."""
    lines = [
        f"{json.dumps(name)}: {json.dumps({**asdict(run), 'sha256': run.sha256})}"
        for name, run in runs.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _checked(entry: dict[str, Any]) -> Stored | None:
    """The run that an entry holds, if its hash says that it is as it was."""
    try:
        said = entry.pop("sha256")
        run = Stored(**entry)
    except (AttributeError, KeyError, TypeError):
        return None
    return run if run.sha256 == said else None


@lru_cache(maxsize=1)
def _tfp_version() -> str:
    return metadata.version("tensorflow-probability")


def _plain(value: Any) -> object:
    """An argument as JSON can write it, numbers to so many digits."""
    if hasattr(value, "mixture"):  # a prior
        value = value.mixture
    if isinstance(value, int | tuple) and not np.ndim(value):
        return value
    return [f"{number:.{_DIGITS}g}" for number in np.ravel(np.asarray(value, dtype=float))]


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
