"""Each loader on a small made-up file, so that none needs real data."""

import gzip
import io
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from datafiles import plant
from PIL import Image

from bdl_teach import DatasetUnavailable, datasets
from bdl_teach.datasets import store


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BDL_TEACH_DATA", str(tmp_path / "data"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # any download fails
    return tmp_path / "data"


@pytest.mark.parametrize("name", ["yacht", "protein"])
def test_last_column_of_a_uci_file_is_the_target(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (file,) = store.files_of(name)
    plant(monkeypatch, file.path, b"1 2 3\n4 5 6.5\n-7 8e1 9\n" + 7 * b"0 0 1\n")
    table = datasets.uci(name)
    np.testing.assert_array_equal(table.x, [[1, 2], [4, 5], [-7, 80], *7 * [[0, 0]]])
    np.testing.assert_array_equal(table.y, [3, 6.5, 9, *7 * [1]])
    assert table.x.flags.c_contiguous and table.y.flags.owndata
    n_splits = 5 if name == "protein" else 20
    assert (table.n_splits, table.train_share, table.feature_names) == (n_splits, 0.9, ())
    assert len(table.splits()) == n_splits and len(table.splits(3)) == 3
    for split, published in zip(table.splits(), datasets.splits(10, n_splits), strict=True):
        np.testing.assert_array_equal(np.concatenate(split), np.concatenate(published))


def test_naval_keeps_sixteen_features_and_the_first_of_two_targets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (file,) = store.files_of("naval")
    rows = np.arange(36.0).reshape(2, 18)
    text = "\n".join(" ".join(map(str, row)) for row in rows)
    plant(monkeypatch, file.path, text.encode())
    table = datasets.uci("naval")
    np.testing.assert_array_equal(table.x, rows[:, :16])
    np.testing.assert_array_equal(table.y, rows[:, 16])
    assert table.n_splits == 20


def test_alzheimers_omits_patient_and_doctor_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ("PatientID,Age,Diagnosis,BMI,DoctorInCharge", "1,60,1,22.5,X", "2,90,0,31,X")
    (file,) = store.files_of("alzheimers")
    plant(monkeypatch, file.path, "\r\n".join(lines).encode())
    table = datasets.alzheimers()
    assert table.feature_names == ("Age", "BMI")
    np.testing.assert_array_equal(table.x, [[60, 22.5], [90, 31]])
    np.testing.assert_array_equal(table.y, [1, 0])
    assert (table.name, table.n_splits, table.train_share) == ("alzheimers", 5, 0.8)


def test_fashion_sprite_is_cut_into_ninety_pictures_per_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each tile has its own grey and one white pixel near its top right corner."""
    grey = np.arange(900) % 200
    tiles = np.broadcast_to(grey[:, None, None], (900, 28, 28)).astype(np.uint8)
    tiles = tiles.copy()
    tiles[:, 2, 25] = 255
    sheet = tiles.reshape(30, 30, 28, 28).swapaxes(1, 2).reshape(840, 840)
    png = io.BytesIO()
    Image.fromarray(sheet).convert("RGBA").save(png, "PNG")
    (file,) = store.files_of("fashion-sprite")
    plant(monkeypatch, file.path, png.getvalue())
    fashion = datasets.fashion_sprite()
    np.testing.assert_array_equal(fashion.images, (tiles / 255).astype(np.float32))
    np.testing.assert_array_equal(fashion.labels, np.repeat(np.arange(10), 90))
    assert fashion.name == "fashion-sprite"
    classes = "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot"
    assert ",".join(fashion.class_names) == classes, "as the source numbers them"


@pytest.mark.parametrize("name", ["mnist-test", "fashion-full"])
def test_pictures_and_labels_equal_the_files(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fashion-MNIST has four files: training pictures, their labels, test pictures, theirs."""
    rng, files, given = np.random.default_rng(0), store.files_of(name), ([], [])
    for i, file in enumerate(files):
        n = 300 - i // 2
        shape, largest = ((n,), 10) if i % 2 else ((n, 28, 28), 256)
        given[i % 2].append(rng.integers(0, largest, shape, dtype=np.uint8))
        head = bytes([0, 0, 8, len(shape)]) + b"".join(k.to_bytes(4, "big") for k in shape)
        plant(monkeypatch, file.path, gzip.compress(head + given[i % 2][-1].tobytes(), 1))
    data = datasets.fashion_sprite(full=True) if len(files) == 4 else datasets.mnist_test()
    pixels, labels = map(np.concatenate, given)
    np.testing.assert_array_equal(data.images, pixels.astype(np.float32) / np.float32(255))
    np.testing.assert_array_equal(data.labels, labels)
    assert (data.name, data.labels.dtype, len(data.class_names)) == (name, np.int64, 10)


def test_loaders_refuse_files_with_a_wrong_hash(home: Path) -> None:
    for file in store.FILES.values():
        place = home / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"1 2 3\n")
    one = partial(datasets.uci, "boston"), partial(datasets.fashion_sprite, full=True)
    for load in (*one, datasets.alzheimers, datasets.fashion_sprite, datasets.mnist_test):
        with pytest.raises(DatasetUnavailable, match=r"is damaged \(its SHA-256 is wrong\)"):
            load()
