"""Tables of numbers: nine UCI regression sets, California housing, the Alzheimer's table."""

from __future__ import annotations

import csv
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bdl_teach import checks
from bdl_teach.checks import Array
from bdl_teach.datasets import store

UCI = tuple(f.dataset for f in store.FILES.values() if f.path.startswith("uci/"))
CALIFORNIA = "california/cal_housing_py3.pkz"
_ARCHIVE = store.RemoteFile(  # what scikit-learn would download, by its own record
    "california",
    "cal_housing.tgz",
    "https://ndownloader.figshare.com/files/5976036",
    "aaa5c9a6afe2225cc2aed2723682ae403280c4a3695a2ddda4ffb5d8215ea681",
)
_CALIFORNIA_SHA256 = (
    "9b9082ab86651a01d663a8e4a70ea14c0b41d0b2bd693bccd3221dcd111e15ca"  # of x and y
)
_NO_FEATURES = ("PatientID", "DoctorInCharge", "Diagnosis")


@dataclass(frozen=True)
class Table:
    """A supervised data set.

    Attributes:
        name: What the `data` command calls it.
        x: Features ``[n, d]``.
        y: Targets ``[n]``, in their own units; 0 or 1 in a binary classification.
        feature_names: ``d`` of them; empty where the source has none.
        n_splits: Number of splits that papers average over.
        train_share: Share of the rows that a split trains on.
    """

    name: str
    x: Array
    y: Array
    feature_names: tuple[str, ...] = ()
    n_splits: int = 20
    train_share: float = 0.9

    def splits(self, n_splits: int | None = None) -> list[tuple[Array, Array]]:
        """Return [(train rows, test rows)]; for the UCI sets the published ones, in order."""
        wanted = self.n_splits if n_splits is None else n_splits
        return splits(len(self.y), wanted, self.train_share)


def splits(
    n: int, n_splits: int = 20, train_share: float = 0.9, seed: int = 1
) -> list[tuple[Array, Array]]:
    """Split n rows at random, as the published UCI splits were made.

    One stream of NumPy's legacy generator draws a permutation for each split; its first
    ``round(train_share · n)`` entries are for training.

    Args:
        n: Number of rows, >= 2.
        n_splits: Number of splits, >= 1; the first ones do not depend on it.
        train_share: Share of the rows that trains, inside (0, 1).
        seed: Seed of the stream; 1 for the published splits.

    Returns:
        A list of (train rows, test rows), integer arrays.

    Raises:
        ValueError: An argument is out of range, or a side would be empty.

    Source: Hernández-Lobato & Adams 2015, the authors' program.
    """
    n = checks.count("n", n, minimum=2)
    n_train = round(checks.probability("train_share", train_share) * n)
    if not 0 < n_train < n:
        raise ValueError(f"train_share: expected rows on both sides, got {train_share} of {n}")
    rng = np.random.RandomState(checks.count("seed", seed, 0))
    orders = [rng.choice(n, n, replace=False) for _ in range(checks.count("n_splits", n_splits))]
    return [(order[:n_train], order[n_train:]) for order in orders]


def uci(name: str) -> Table:
    """One of the nine UCI regression sets, with its published splits.

    Args:
        name: boston, concrete, energy, kin8nm, naval, power, protein, wine or yacht.

    Returns:
        A :class:`Table` of 20 splits (protein 5), 90 % for training.

    Raises:
        ValueError: There is no such set.
        DatasetUnavailable: It is neither in the data folder nor reachable.

    Source: UCI Machine Learning Repository; splits of Hernández-Lobato & Adams 2015.
    """
    (file,) = store.files_of(checks.choice("name", name, UCI))
    rows = np.loadtxt(store.fetch(file.path))
    x, y = rows[:, :-1], rows[:, -1]
    if name == "naval":  # two targets, of which the papers use the first
        x, y = rows[:, :16], rows[:, 16]
    return Table(name, np.ascontiguousarray(x), y.copy(), n_splits=5 if name == "protein" else 20)


def alzheimers() -> Table:
    """2149 patients and whether they were diagnosed with Alzheimer's disease (synthetic).

    Returns:
        A :class:`Table` with 32 features and y in {0, 1}; five splits, 80 % for training.

    Raises:
        DatasetUnavailable: It is neither in the data folder nor reachable.

    Source: R. El Kharoua, "Alzheimer's Disease Dataset" (Kaggle, 2024), CC BY 4.0.
    """
    (file,) = store.files_of("alzheimers")
    with store.fetch(file.path).open(encoding="utf-8", newline="") as lines:
        patients = list(csv.DictReader(lines))
    names = tuple(name for name in patients[0] if name not in _NO_FEATURES)
    x = np.array([[float(patient[name]) for name in names] for patient in patients])
    y = np.array([float(patient["Diagnosis"]) for patient in patients])
    return Table("alzheimers", x, y, names, n_splits=5, train_share=0.8)


def california(progress: Any = False) -> Table:
    """House prices of 20,640 districts of California, in units of 100,000 dollars.

    scikit-learn reads and keeps the set, inside the data folder.

    Args:
        progress: A tqdm bar that follows a download, if wanted.

    Returns:
        A :class:`Table` with 8 features.

    Raises:
        DatasetUnavailable: It is neither in the data folder nor reachable.

    Source: Pace & Barry 1997, through ``sklearn.datasets.fetch_california_housing``.
    """
    place = store.folder() / CALIFORNIA
    housing, damaged = _read_california(place.parent), place.exists()
    if housing is None:
        try:
            _fetch_california(place, progress)
        except (OSError, ValueError) as error:
            why = store.reason(error)
            raise store.unavailable(_ARCHIVE, place, why, damaged=damaged) from error
        housing = _read_california(place.parent)
    if housing is None:
        raise store.unavailable(_ARCHIVE, place, "scikit-learn made another table of it")
    x, y = np.ascontiguousarray(housing.data), np.ascontiguousarray(housing.target)
    return Table("california", x, y, tuple(housing.feature_names))


def california_state() -> str:
    """Say whether the California table is ``"there"``, ``"missing"`` or ``"damaged"``."""
    place = store.folder() / CALIFORNIA
    if not place.exists():
        return "missing"
    return "damaged" if _read_california(place.parent) is None else "there"


def _read_california(home: Path) -> Any:
    """Read what scikit-learn keeps in ``home``; None if it is missing or not whole."""
    from sklearn.datasets import fetch_california_housing

    if not (home / Path(CALIFORNIA).name).is_file():
        return None
    try:
        housing = fetch_california_housing(data_home=str(home), download_if_missing=False)
        content = np.column_stack([housing.data, housing.target]).astype("<f8").tobytes()
    except Exception:  # a pickle that was cut short fails in any way it likes
        return None
    return housing if hashlib.sha256(content).hexdigest() == _CALIFORNIA_SHA256 else None


def _fetch_california(place: Path, progress: Any) -> None:
    """Fetch the archive into a folder apart; scikit-learn makes of it what moves into place."""
    from sklearn.datasets import fetch_california_housing

    with store.apart(place.parent) as away:
        store.download(_ARCHIVE, away, progress)
        fetch_california_housing(data_home=str(away), n_retries=1)
        os.replace(away / place.name, place)
