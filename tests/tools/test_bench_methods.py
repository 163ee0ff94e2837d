"""`bench methods` measures what it says; no test looks at a time."""

import functools
import importlib

import bench
from bench import methods
from bench.methods import Growth, Row

from bdl_teach.densities import ScaleMixture
from bdl_teach.methods.catalogue import CATALOGUE

ROWS = [Row("bbb", 1.5, 0.03, 0.02, -1.5, 1.1), Row("mcmc.nuts", float("nan"), 60.0, 0.1, -1, 1)]


def test_benchmarked_fits_share_the_network_and_use_method_settings(monkeypatch):
    given = {}
    for way, method in zip(methods.ways(), CATALOGUE.values(), strict=True):
        module = importlib.import_module(f"bdl_teach.methods.{method.module}")
        original = getattr(module, method.function)
        remember = functools.wraps(original)(lambda *_, **values: given.update(values))
        monkeypatch.setattr(module, method.function, remember)
        given.clear()
        way.fit([[0.0]], [0.0], seed=3)
        monkeypatch.setattr(module, method.function, original)
        common = {"prior": ScaleMixture(), "noise_std": 1.0, "hidden_units": (20, 20), "seed": 3}
        taken = {name: value for name, value in common.items() if name in method.takes}
        assert given == {**taken, **method.options}, way.name


def test_a_missed_limit_fails_a_strict_run(monkeypatch, capsys):
    monkeypatch.setattr(methods, "measure", lambda way, repeats: ROWS[0])
    monkeypatch.setattr(methods, "grow", lambda n, width: Growth(n, width, 1e-3 * n * width))
    monkeypatch.setattr(methods, "pbp_seconds", lambda n, *_: 1.5)
    assert bench.main(["methods", "--strict"]) == 1
    assert "MISSED" in capsys.readouterr().out
    assert bench.main(["methods"]) == 0
