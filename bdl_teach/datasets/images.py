"""Load small pictures: Fashion-MNIST, the MNIST test set, scikit-learn's digits."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.datasets import store

_CLASSES = "T-shirt/top, Trouser, Pullover, Dress, Coat, Sandal, Shirt, Sneaker, Bag, Ankle boot"
FASHION = tuple(_CLASSES.split(", "))
DIGITS = tuple("0123456789")
_SIDE, _GRID = 28, 30  # pixels along a side of a picture; pictures along a side of the sprite


@one_line
@dataclass(frozen=True)
class Images:
    """Labelled grey pictures.

    Attributes:
        name: Name of the data set in the `data` command.
        images: ``[n, height, width]``, float32 in [0, 1], 1 the brightest.
        labels: Class numbers ``[n]``, from 0.
        class_names: Names of the classes, by number.
    """

    name: str
    images: Array
    labels: Array
    class_names: tuple[str, ...]


def fashion_sprite(full: bool = False) -> Images:
    """Return 900 pictures of Fashion-MNIST, 90 of class 0, then 90 of class 1, ..., or all 70,000.

    Args:
        full: Whether to return all 70,000 (30 MB to download); the first 60,000 are for training.

    Returns:
        :class:`Images` of 28 × 28 pixels. Class 0 is the T-shirt.

    Raises:
        DatasetUnavailable: The pictures are neither in the data folder nor reachable.

    Source: Xiao, Rasul & Vollgraf 2017 (arXiv:1708.07747).
    """
    if full:
        files = store.files_of("fashion-full")
        train, labels, test, more = (_read_idx(store.fetch(file.path)) for file in files)
        labels = np.concatenate([labels, more]).astype(np.int64)
        return Images("fashion-full", _unit(np.concatenate([train, test])), labels, FASHION)
    from PIL import Image

    (file,) = store.files_of("fashion-sprite")
    with Image.open(store.fetch(file.path)) as sprite:
        grey = np.asarray(sprite.convert("L"))
    tiles = grey.reshape(_GRID, _SIDE, _GRID, _SIDE).swapaxes(1, 2).reshape(-1, _SIDE, _SIDE)
    labels = np.repeat(np.arange(10), len(tiles) // 10)
    return Images("fashion-sprite", _unit(tiles), labels, FASHION)


def mnist_test() -> Images:
    """Return the 10,000 handwritten digits of the MNIST test set.

    Returns:
        :class:`Images` of 28 × 28 pixels.

    Raises:
        DatasetUnavailable: The pictures are neither in the data folder nor reachable.

    Source: LeCun, Cortes & Burges, "The MNIST database of handwritten digits", CC BY-SA 3.0.
    """
    pictures, labels = (_read_idx(store.fetch(file.path)) for file in store.files_of("mnist-test"))
    return Images("mnist-test", _unit(pictures), labels.astype(np.int64), DIGITS)


def digits() -> Images:
    """Return the 1797 handwritten digits of 8 × 8 pixels that come with scikit-learn.

    Source: Alpaydin & Kaynak 1998, through ``sklearn.datasets.load_digits``.
    """
    from sklearn.datasets import load_digits

    bundled = load_digits()
    return Images("digits", _unit(bundled.images, 16.0), bundled.target.astype(np.int64), DIGITS)


def _unit(pixels: Array, brightest: float = 255.0) -> Array:
    return np.asarray(pixels / np.float32(brightest), dtype=np.float32)


def _read_idx(path: Path) -> Array:
    """Return the array of bytes in a gzipped IDX file.

    Such a file has two zero bytes, the type, the rank, the sizes as int32, and then the values.
    """
    raw = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(raw, ">i4", count=raw[3], offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)
