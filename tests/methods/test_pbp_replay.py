"""Replay of PBP: any step can be reached from any other, with few steps recomputed."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bdl_teach import datasets
from bdl_teach.methods import pbp
from bdl_teach.methods.pbp._loop import CHUNK
from bdl_teach.methods.pbp.replay import Trail

DATA = datasets.sinusoid(n=9)
NETWORK = {"hidden_units": (5,), "seed": 3}
LAST = 2 * CHUNK + 7


@pytest.fixture(scope="module")
def taken() -> list[pbp.Step]:
    every = pbp.steps(DATA.x, DATA.y, epochs=LAST // 10 + 1, **NETWORK)
    return list(itertools.islice(every, LAST))


def weights(fit: pbp.Fit) -> np.ndarray:
    return np.concatenate([layer.ravel() for layer in (*fit.state.mean, *fit.state.var)])


def test_replay_in_any_order_equals_the_training_steps(taken):
    trail = Trail(DATA.x, DATA.y, **NETWORK)
    for n in (CHUNK + 1, 3, LAST, CHUNK, LAST - 1, 2 * CHUNK, 2 * CHUNK + 1):
        replay, step = trail.at(n), taken[n - 1]
        assert_allclose(weights(replay.fit), weights(step.fit), rtol=1e-8, atol=1e-12)
        assert_allclose(weights(replay.before), weights(taken[n - 2].fit), rtol=1e-8, atol=1e-12)
        assert_allclose(replay.noise[1:, 1], [s.fit.beta for s in taken[:n]], rtol=1e-9)
        assert (replay.epoch, replay.point) == (step.epoch, step.point)
        assert set(replay.seen) == {s.point for s in taken[:n] if s.epoch == step.epoch} - {None}


def test_replay_recomputes_at_most_one_chunk_of_steps(monkeypatch):
    trail = Trail(DATA.x, DATA.y, **NETWORK)
    trail.at(LAST)
    anew: list[int] = []
    advance = pbp.Passes.advance

    def counted(self, state, start, stop):
        anew.append(stop - start)
        return advance(self, state, start, stop)

    monkeypatch.setattr(pbp.Passes, "advance", counted)
    for n in (LAST - 1, LAST, 5, CHUNK):
        anew.clear()
        trail.at(n)
        assert sum(anew) <= CHUNK
