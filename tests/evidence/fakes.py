"""Fits that train nothing: they record how they were asked for, and predict planted numbers."""

import importlib
import itertools
from collections.abc import Iterator, Mapping
from functools import wraps
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.neighbors import NearestCentroid

from bdl_teach import datasets, predictive
from bdl_teach.claims import World
from bdl_teach.datasets import Images
from bdl_teach.datasets.tables import Table
from bdl_teach.methods import mcmc
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.predictive import Predictive
from bdl_teach.problems import GAP_GRID, live_fits, network_bandits
from bdl_teach.widgets import method_fits
from evidence import claim
from evidence.measured import ticks
from evidence.measured._measure import Trained

EXPERIMENTS = {one.name: one for one in claim.experiments()}
CLAIMS = [(name, one) for name, experiment in EXPERIMENTS.items() for one in experiment.claims]
N_WEIGHTS = 61  # of one hidden layer of 20 units
OTHERS = {  # functions that train and are no methods of the catalogue, by module
    "laplace": ("around", "to_mode"),
    "mcmc": ("hmc", "nuts"),
    "exact": ("nuts",),
    "bbb": ("fit",),
    "pbp.replay": ("replay", "Trail"),
    "vae": ("fit", "fit_autoencoder"),
    "image_classifier": ("fit", "ensemble"),
}
CHANGES = ("refined", "again", "longer", "tuned", "at", "pruned")  # return another fit


class Fake:
    """Stand in for any fit; the k-th one of a run always says the same."""

    __dataclass_fields__ = {"weights": mcmc.Fit.__dataclass_fields__["weights"]}  # for `replace`
    counter: Iterator[int] = itertools.count()
    record: list[str] = []
    gain = newton_decrement = 0.0
    converged, members, point, capacity = True, (), 3, None
    network = SimpleNamespace(n_weights=N_WEIGHTS)

    def __init__(self, kind: Any, *, call: str = "", data: Any = None, **more: Any) -> None:
        self.kind, self.call, self.data = kind, call, data
        self.k = self.number()
        self.record.append(call)
        rng = self.rng = np.random.default_rng(self.k)
        self.free_energy, self.noise_std, self.log_evidence = 100 * rng.random(3)
        self.mean, self.std = rng.standard_normal(N_WEIGHTS), rng.random(N_WEIGHTS)
        self.signal_to_noise = rng.random(N_WEIGHTS)
        self.prior_std = 1 + rng.random(N_WEIGHTS)
        self.weights = rng.standard_normal((4, 6, N_WEIGHTS))
        if "fit(" in call:
            self.weights = self.weights[0] if "ensemble" in call else self.weights[0, 0]
        self.history = {"free_energy": rng.standard_normal(90).cumsum()}
        if "replay" in call:
            self.noise, self.noise_std = 2 + rng.random((5, 2)), 1 + rng.random(5)
        self.starts_free_energy = self.free_energy + np.arange(3)
        vars(self).update(more)

    def number(self) -> int:
        return next(self.counter)

    @property
    def __class__(self) -> Any:  # what `isinstance` and `replace` look at
        kind, made = self.kind, type(self)
        new = {"__new__": lambda cls, **given: made(kind, call="replaced", **given)}
        return type("Real", (kind,), new)

    @property
    def problem(self) -> Any:
        return SimpleNamespace(mode=self, x=np.zeros((32, 1)))

    fit = property(lambda self: Fake(self.kind, call=f"{self.call}.fit"))
    r_hat = property(lambda self: 1 + self.rng.random(3))
    noise_draws = property(lambda self: 0.5 + np.random.default_rng(self.k).random(40))

    def cost(self, n: int) -> Any:
        return SimpleNamespace(total=self.free_energy, complexity=self.free_energy / 3)

    def pruning(self) -> Any:
        return SimpleNamespace(fraction=self.signal_to_noise[0])

    def predict(self, x: Any, n_samples: int = 0, seed: int = 0) -> Any:
        self.record.append(f"    predict({len(x)}, {n_samples}, {seed_name(seed)})")
        if "replay" in self.call and "fit" not in self.call:
            return planted(x, self, 0), planted(x, self, 1)
        return planted(x, self, 0)

    def evaluate(self, weights: Any, x: Any) -> Any:
        return evaluate(None, weights, x)

    def draw(self, n: int) -> Any:
        return np.random.default_rng(self.k).standard_normal((n, N_WEIGHTS))

    def outputs(self, x: Any) -> Any:
        return 1.0 if "longer" in self.call else 2.0  # see `largest_r_hat` in `plant`


class Painter(Fake):
    """Stand in for an image classifier."""

    members = property(lambda self: (self,))

    def logits(self, images: Any, n_samples: int = 1, seed: int = 1) -> Any:
        self.record.append(f"    logits({len(images)}, {n_samples})")
        turn = np.random.default_rng(self.k).standard_normal((8 * 8, 8))
        wobble = np.random.default_rng(self.k + 1).standard_normal((n_samples, 1, 8))
        return np.reshape(images, (len(images), -1)) @ turn + wobble

    def log_predict(self, images: Any, n_samples: int = 1, seed: int = 1) -> Any:
        logits = self.logits(images, n_samples)
        return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)

    def predict(self, images: Any, n_samples: int = 1, seed: int = 1) -> Any:
        return np.exp(self.log_predict(images, n_samples))


class Coder(Fake):
    """Stand in for a variational autoencoder."""

    def encode(self, x: Any) -> Any:
        turn = np.random.default_rng(self.k).standard_normal((64, 2))
        return x @ turn, 0.1 + np.abs(x @ turn[::-1])

    def decode(self, z: Any) -> Any:
        return np.abs(np.sin(z @ np.random.default_rng(self.k).standard_normal((2, 64))))

    def sample(self, n: int, seed: int) -> Any:
        self.record.append(f"    sample({n}, {seed_name(seed)})")
        return self.decode(np.random.default_rng(seed).standard_normal((n, 2)))

    def elbo(self, x: Any, n_samples: int) -> Any:
        kl, reconstruction = self.encode(x)[1].T - self.k
        return SimpleNamespace(kl=kl, reconstruction=reconstruction, elbo=reconstruction - kl)


def change(name: str) -> Any:
    def changed(self: Fake, *given: Any, **options: Any) -> Fake:
        asked = ", ".join([*map(str, given), *(f"{k}={v}" for k, v in options.items())])
        return type(self)(self.kind, call=f"{self.call}.{name}({asked})", data=self.data)

    return changed


for _name in CHANGES:
    setattr(Fake, _name, change(_name))


class Said(Predictive):
    """Planted predictions; ``by`` is the fit that made them."""

    by: Fake


def planted(x: Any, by: Fake, which: int) -> Said:
    """Plant predictions that differ at each input, between fits, and between mean and sds."""
    rng, place = np.random.default_rng([by.k, which]), np.asarray(x, float)[:, 0]
    a, b, c, d, e, f = rng.random(6)
    mean = 12 * a * np.sin(6 * place + b) + 3 * c * place
    if "likelihood=bernoulli" in by.call:
        mean = 1 / (1 + np.exp(-mean))
    said = Said(mean, 0.2 + 4 * np.abs(place - d) + e, np.full(len(place), 0.5 + f))
    object.__setattr__(said, "by", by)
    if "heteroscedastic" in by.call:
        object.__setattr__(said, "noise_draws", 0.5 + rng.random((40, len(place))))
    return said


def evaluate(_: Any, weights: Any, x: Any) -> Any:
    """Return outputs ``[s, m]`` to which every weight contributes otherwise."""
    waves = np.sin(np.outer(np.arange(1, weights.shape[1] + 1), np.asarray(x)[:, 0] + 1))
    return 3 * np.sin(4 * weights) @ waves


def seed_name(seed: int) -> str:
    """Name a seed by its world, such as "0/1" for the second seed of world 0."""
    return f"{seed // 1000 - 1}/{seed % 1000}" if seed >= 1000 else str(seed)


def label(value: Any) -> str:
    """Describe an argument, an array by its shape and a sum that depends on the order."""
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        return f"{value.shape}: {np.sin(np.arange(value.size)) @ value.ravel():.3f}"
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return f"({', '.join(map(label, value))})"
    return str(value)


def described(name: str, given: tuple[Any, ...], settings: Mapping[str, Any]) -> str:
    """Describe a call of a method; the sizes that it is compiled for are left out."""
    told = [label(v) if isinstance(v, int | np.ndarray) else type(v).__name__ for v in given]
    for key, value in sorted(settings.items()):
        if key != "capacity":
            told.append(f"{key}={seed_name(value) if key == 'seed' else label(value)}")
    return f"{name}({', '.join(told)})"


def recorder(module: Any, name: str) -> Any:
    """Return a stand-in for a function that trains."""
    place = module.__name__.removeprefix("bdl_teach.methods.")
    fake = {"vae": Coder, "image_classifier": Painter}.get(place, Fake)
    kind = getattr(module, "Fit", mcmc.Fit)

    @wraps(getattr(module, name))  # the catalogue asks which arguments a method takes
    def train(*given: Any, **settings: Any) -> Any:
        call = described(f"{place}.{name}", given, settings)
        return fake(kind, call=call, data=[v for v in given if isinstance(v, np.ndarray)])

    return train


def small_table() -> Table:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 3))
    return Table("alzheimers", x, (x[:, 0] + rng.standard_normal(50) > 0).astype(float))


def plant(patch: pytest.MonkeyPatch) -> list[str]:
    """Replace all that trains, and all data that must be fetched; return the record of calls."""
    Fake.counter, Fake.record = itertools.count(), []
    names = {(m.module, m.function) for m in CATALOGUE.values()}
    names |= {(module, name) for module, some in OTHERS.items() for name in some}
    for place, name in sorted(names):
        module = importlib.import_module(f"bdl_teach.methods.{place}")
        patch.setattr(module, name, recorder(module, name))
    patch.setattr(predictive, "evaluate_weights", evaluate)
    patch.setattr(mcmc, "largest_r_hat", lambda outputs: outputs)
    patch.setattr(method_fits, "shown", lambda fit: fit.predict(GAP_GRID))
    patch.setattr(
        method_fits, "quick", lambda name, problem, options: live_fits.fit(name, problem, **options)
    )
    patch.setattr(network_bandits, "functions", lambda fit, x, seed: planted(x, fit, seed).mean)
    patch.setattr(World, "parts", lambda world, n: [World(2 * world.number + k) for k in range(2)])
    patch.setattr(ticks, "N_SETTINGS", 3)
    patch.setattr(sklearn.linear_model, "LogisticRegression", lambda **_: NearestCentroid())
    pictures = np.random.default_rng(5).random((900, 8, 8))
    clothes = Images("", pictures, np.arange(900) % 8, tuple("abcdefgh"))
    patch.setattr(datasets, "fashion_sprite", lambda: clothes)
    patch.setattr(datasets, "mnist_test", lambda: Images("", pictures[::-1] ** 2, None, ()))
    patch.setattr(datasets, "alzheimers", small_table)
    return Fake.record


class Run(NamedTuple):
    """What an experiment's `fits` returned and asked for, and the figures."""

    found: Any
    record: list[str]
    figures: Any


class Place(NamedTuple):
    """Where a fit stands in what `fits` returned."""

    holder: Any  # a dictionary
    key: str

    @property
    def arm(self) -> Trained:
        return self.holder[self.key]


def places_of(found: Any) -> dict[str, Place]:
    """Return the places of fits, by the names that their figures begin with."""
    found = getattr(found, "found", found[0] if isinstance(found, tuple) else found)
    places = {}
    for name, one in found.items() if isinstance(found, dict) else ():
        if isinstance(one, Trained):
            places[name] = Place(found, name)
        elif isinstance(one, dict):
            places |= {f"{name}-{key}": Place(one, key) for key in one}
    return places
