"""Load tables of numbers: nine UCI regression sets, California housing, the Alzheimer's table."""

from __future__ import annotations

import csv
import hashlib
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.errors import DatasetUnavailable
from bdl_teach._support.one_line import one_line
from bdl_teach.datasets import store

UCI = tuple(f.dataset for f in store.FILES.values() if f.path.startswith("uci/"))
_ARCHIVE = store.files_of("california")[0].path
CALIFORNIA = "california/cal_housing_py3.pkz"  # scikit-learn's copy of the set, a pickle
_CALIFORNIA_SHAPE = (9, 20_640)  # of the numbers in that pickle, column by column
_CALIFORNIA_SHA256 = "5a6e1850914c2dc94eba36c5f025d01a90c49c13269281ea222a3c38a957ab60"  # of these
_HOUSES = "MedInc HouseAge AveRooms AveBedrms Population AveOccup Latitude Longitude"
_NO_FEATURES = ("PatientID", "DoctorInCharge", "Diagnosis")


@one_line
@dataclass(frozen=True)
class Table:
    """The features and targets of a data set, and how papers split its rows.

    Attributes:
        name: Name of the data set in the `data` command.
        x: Features ``[n, d]``.
        y: Targets ``[n]`` in their original units; 0 or 1 for two classes.
        feature_names: Names of the ``d`` features; empty if the source has none.
        n_splits: Number of splits that papers average over.
        train_share: Share of the rows for training.
    """

    name: str
    x: Array
    y: Array
    feature_names: tuple[str, ...] = ()
    n_splits: int = 20
    train_share: float = 0.9

    def splits(self, n_splits: int | None = None) -> list[tuple[Array, Array]]:
        """Return (train rows, test rows) of each split; for the UCI sets the published ones.

        Args:
            n_splits: Number of splits, >= 1; ``self.n_splits`` if not given.
        """
        wanted = self.n_splits if n_splits is None else n_splits
        return splits(len(self.y), wanted, self.train_share)


def splits(
    n: int, n_splits: int = 20, train_share: float = 0.9, seed: int = 1
) -> list[tuple[Array, Array]]:
    """Split n rows at random in the way of the published UCI splits.

    NumPy's legacy generator draws a permutation for each split; its first
    ``round(train_share · n)`` entries are for training.

    Args:
        n: Number of rows, >= 2.
        n_splits: Number of splits, >= 1; the first splits do not depend on this number.
        train_share: Share of the rows for training, inside (0, 1).
        seed: Seed of the generator; 1 for the published splits.

    Returns:
        A list of (train rows, test rows), integer arrays.

    Raises:
        ValueError: An argument is out of range, or no row is left for training or for testing.

    Source: Hernández-Lobato & Adams 2015, the authors' program.
    """
    n = checks.count("n", n, minimum=2)
    n_train = round(checks.probability("train_share", train_share) * n)
    if not 0 < n_train < n:
        some = "at least one row for training and one for test"
        raise ValueError(f"train_share: expected {some}, got {train_share} of {n} rows")
    rng = np.random.RandomState(checks.count("seed", seed, 0))
    orders = [rng.choice(n, n, replace=False) for _ in range(checks.count("n_splits", n_splits))]
    return [(order[:n_train], order[n_train:]) for order in orders]


def uci(name: str) -> Table:
    """Return one of the nine UCI regression sets, with its published splits.

    Args:
        name: boston, concrete, energy, kin8nm, naval, power, protein, wine or yacht.

    Returns:
        A :class:`Table` of 20 splits (protein 5), 90 % for training.

    Raises:
        ValueError: The name is none of these.
        DatasetUnavailable: The table is neither in the data folder nor reachable.

    Source: UCI Machine Learning Repository; splits of Hernández-Lobato & Adams 2015.
    """
    (file,) = store.files_of(checks.choice("name", name, UCI))
    rows = np.loadtxt(store.fetch(file.path))
    x, y = rows[:, :-1], rows[:, -1]
    if name == "naval":  # it has two targets; papers use the first
        x, y = rows[:, :16], rows[:, 16]
    return Table(name, np.ascontiguousarray(x), y.copy(), n_splits=5 if name == "protein" else 20)


def alzheimers() -> Table:
    """Return 2149 synthetic patients, with or without a diagnosis of Alzheimer's disease.

    Returns:
        A :class:`Table` with 32 features and y in {0, 1}; five splits, 80 % for training.

    Raises:
        DatasetUnavailable: The table is neither in the data folder nor reachable.

    Source: R. El Kharoua, "Alzheimer's Disease Dataset" (Kaggle, 2024), CC BY 4.0.
    """
    (file,) = store.files_of("alzheimers")
    with store.fetch(file.path).open(encoding="utf-8", newline="") as lines:
        patients = list(csv.DictReader(lines))
    names = tuple(name for name in patients[0] if name not in _NO_FEATURES)
    x = np.array([[float(patient[name]) for name in names] for patient in patients])
    y = np.array([float(patient["Diagnosis"]) for patient in patients])
    return Table("alzheimers", x, y, names, n_splits=5, train_share=0.8)


def california() -> Table:
    """Return house prices of 20,640 districts of California, in units of 100,000 dollars.

    Returns:
        A :class:`Table` with the 8 features of ``sklearn.datasets.fetch_california_housing``.

    Raises:
        DatasetUnavailable: The table is neither in the data folder nor reachable.

    Source: Pace & Barry 1997.
    """
    columns = _kept_by_sklearn()
    if columns is None:
        try:
            archive = store.fetch(_ARCHIVE)
        except DatasetUnavailable as error:
            if not _pickle().exists():
                raise
            damaged = f"{error} {_pickle()} is damaged (its SHA-256 is wrong)."
            raise DatasetUnavailable(damaged) from error
        with tarfile.open(archive) as files:
            lines: Any = files.extractfile("CaliforniaHousing/cal_housing.data")
            rows = np.loadtxt(lines, delimiter=",")
        columns = rows.T[[8, 7, 2, 3, 4, 5, 6, 1, 0]]
    price, income, age, rooms, bedrooms, people, households, latitude, longitude = columns
    shares = (rooms / households, bedrooms / households, people, people / households)
    x = np.column_stack([income, age, *shares, latitude, longitude])
    return Table("california", x, price / 100_000.0, tuple(_HOUSES.split()))


def california_state() -> str:
    """Return whether the California table is ``"there"``, ``"missing"`` or ``"damaged"``."""
    if _kept_by_sklearn() is not None:
        return "there"
    archive = store.state(_ARCHIVE)
    return "damaged" if archive == "missing" and _pickle().exists() else archive


def california_path() -> str:
    """Return the path of the California table inside the data folder, whether it exists or not."""
    by_sklearn = _pickle().exists() and not (store.folder() / _ARCHIVE).exists()
    return CALIFORNIA if by_sklearn else _ARCHIVE


def _pickle() -> Path:
    return store.folder() / CALIFORNIA


def _kept_by_sklearn() -> Array | None:
    """Return California's numbers ``[9, n]`` from scikit-learn's data file, or ``None``.

    It is ``None`` if the file is missing or damaged. The numbers are the last bytes of the pickle
    before its STOP opcode; the file is not unpickled, because that could run any code.
    """
    n_bytes = 8 * _CALIFORNIA_SHAPE[0] * _CALIFORNIA_SHAPE[1]
    try:
        pickle = zlib.decompressobj().decompress(_pickle().read_bytes(), 2 * n_bytes)
    except (OSError, zlib.error):
        return None
    numbers = pickle[-n_bytes - 1 : -1]
    if hashlib.sha256(numbers).hexdigest() != _CALIFORNIA_SHA256:
        return None
    return np.frombuffer(numbers, "<f8").reshape(_CALIFORNIA_SHAPE)
