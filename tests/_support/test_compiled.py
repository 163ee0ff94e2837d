"""Test compiled programs: their names, and plain graphs without XLA."""

import logging
from functools import lru_cache

import numpy as np
import pytest

from bdl_teach import datasets, predictive
from bdl_teach._startup import steady_names
from bdl_teach._support import compiled
from bdl_teach._support.compiled import Compiled
from bdl_teach.backend import tf
from bdl_teach.methods import bbb

GRID = np.linspace(-1.0, 1.0, 11)[:, None]


@pytest.fixture(autouse=True)
def stored_programs_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tests that pretend that XLA fails from clearing this machine's stored programs."""
    monkeypatch.setattr(compiled.kept_programs, "clear", lambda: False)


def refit() -> np.ndarray:
    """Fit a small network, and return its predictions."""
    data = datasets.sinusoid(n=8)
    return bbb.fit(data.x, data.y, hidden_units=(4, 4), steps=20).predict(GRID, 20).mean


def test_programs_with_the_same_name_stay_separate():
    class Factor(float):
        def __repr__(self):
            return "a factor"

    def times(k):
        return Compiled(lambda x: float(k) * x)

    programs = [times(Factor(k)) for k in (3, 4)]
    identities = {steady_names.identity(p._function) for p in programs}
    assert len(identities) == 1
    assert [float(p(tf.constant(2.0))) for p in programs] == [6.0, 8.0]


def test_only_retracing_warnings_are_hidden():
    logger = tf.get_logger()
    texts = ("5 out of the last 5 calls to f triggered tf.function retracing.", "Out of memory")
    records = [logger.makeRecord("tf", logging.WARNING, "", 0, text, (), None) for text in texts]
    assert [bool(logger.filter(record)) for record in records] == [False, True]


@pytest.fixture
def no_xla(monkeypatch) -> None:
    """Pretend that XLA cannot compile, and that nothing has been compiled yet."""
    graph = tf.function

    def function(body, jit_compile=False, **options):
        if jit_compile:
            raise tf.errors.UnimplementedError(None, None, "no compiler on this platform")
        return graph(body, **options)

    monkeypatch.setattr(compiled.tf, "function", function)
    for module, name in (
        (compiled, "xla_available"),
        (bbb, "_program"),
        (predictive, "_evaluator"),
    ):
        fresh = lru_cache(getattr(module, name).__wrapped__)
        monkeypatch.setattr(module, name, fresh)


def test_fit_without_xla_agrees_and_warns_once(request, caplog):
    fast = refit()
    request.getfixturevalue("no_xla")
    with caplog.at_level(logging.WARNING):
        slow, again = refit(), refit()
    assert not compiled.xla_available()
    np.testing.assert_allclose(slow, fast, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(slow, again)
    assert [record.name for record in caplog.records] == ["bdl_teach"]
    assert "XLA is not available" in caplog.text


@pytest.mark.parametrize("wrong", [0.0, 4.0])
def test_wrong_result_of_the_xla_probe_disables_xla(monkeypatch, caplog, wrong):
    monkeypatch.setattr(compiled.tf, "function", lambda *_, **__: lambda x: wrong)
    fresh = lru_cache(compiled.xla_available.__wrapped__)
    with caplog.at_level(logging.WARNING):
        assert [fresh() for _ in range(3)] == [False] * 3
    assert len(caplog.records) == 1
