"""`bench replay` measures what it says; no test looks at a time."""

import gc

import bench
import pytest
from bench import replay
from bench.methods import Way
from bench.replay import Row

from bdl_teach.methods import laplace, point

ROWS = [Row("bbb", 0.02, 0.03, 0.01), Row("point, MAP", 0.01, 0.11, 0.02)]


@pytest.mark.parametrize("method", [point, laplace])
def test_replay_benchmark_pairs_fits_and_alternates_the_first(method):
    seen = []

    def fit(x, y, seed):
        made = method.fit(x, y, hidden_units=(3,), steps=60, seed=seed)
        seen.append((made.path is not None, gc.isenabled()))
        return made

    row = replay.measure(Way("small", fit), pairs=3)
    assert row.name == "small" and row.fit_s > 0 and row.error > 0
    assert [kept for kept, _ in seen] == [True, True, False, *3 * [False, True, True, False]][:9]
    assert not any(collected for _, collected in seen[3:])
    assert gc.isenabled()
    fit([[0.0]], [0.0], seed=4)
    assert seen[-1][0], "afterwards frames are kept again"


def test_missed_replay_limit_fails_a_strict_run(monkeypatch, capsys):
    monkeypatch.setattr(replay, "chosen", lambda: [0, 1, None])
    monkeypatch.setattr(replay, "measure", lambda way, _: None if way is None else ROWS[way])
    assert bench.main(["replay", "--strict"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[-1].split() == ["point,", "MAP", "10.0", "11.0", "2.0", "≤", "10.0", "%", "MISSED"]
    assert said[-2].endswith("ok")
