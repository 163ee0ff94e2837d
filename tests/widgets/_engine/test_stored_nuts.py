"""Runs of NUTS that came with the package: every preset has its own, and no other is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.problems import Problem
from bdl_teach.widgets._engine import stored_nuts
from bdl_teach.widgets._engine.nuts import NutsRunner, Run
from bdl_teach.widgets._engine.stored_nuts import Stored
from tools import store_nuts

GRID = np.linspace(-1.0, 1.0, 3)[:, None]
CHAINS: dict[str, Any] = {
    "x": np.array([[0.0], [1.0]]),
    "y": np.array([[1.0], [2.0]]),
    "prior": Gaussian(1.0),
    "noise_std": 1.0,
    "hidden_units": (2,),
    "n_samples": 8,
    "n_warmup": 20,
}
RUN = Stored(["toy: one"], "NUTS converged", 1.5, [0.0, 1.0, 2.0], [0.1, 0.2, 0.3])


def key(**changes: Any) -> str:
    return stored_nuts.key(GRID, {**CHAINS, **changes})


def test_every_preset_s_run_is_there() -> None:
    wanted, there = store_nuts.wanted(), stored_nuts.read()
    assert {k: of for k, (_, of) in wanted.items()} == {k: run.of for k, run in there.items()}, (
        f"a preset, its chains or the sampler has changed: run {store_nuts.HOW}"
    )
    for k, (run, _) in wanted.items():
        assert len(there[k].mean) == len(there[k].epistemic_std) == len(run.x_grid)
        assert min(there[k].epistemic_std) > 0 and there[k].report.startswith("NUTS ")
        noise = run.problem.noise_std
        assert there[k].noise_std == noise, "that of the problem, however its points are given"


def test_a_run_is_of_its_posterior_and_its_chains() -> None:
    for changes in (
        {"y": np.array([[1.0], [2.001]])},
        {"prior": Gaussian(1.1)},
        {"prior": ScaleMixture(1.0, 0.1, 0.5)},
        {"noise_std": 2.0},
        {"hidden_units": (2, 2)},
        {"n_samples": 9},
        {"n_thin": 2},
        {"seed": 1},
    ):
        assert key(**changes) != key(), changes


def write(path: Path, text: str) -> dict[str, Stored]:
    path.write_text(text, encoding="utf-8")
    return stored_nuts.read(path)


def test_every_run_that_a_preset_shows_has_converged_or_its_posterior_has_two_modes() -> None:
    runs = stored_nuts.read()
    assert len(runs) == 13
    apart = [run.of for run in runs.values() if not run.report.startswith("NUTS converged")]
    assert apart == [["sinusoid: narrow prior"]]


def test_a_run_that_was_changed_counts_as_missing(tmp_path: Path) -> None:
    path, text = tmp_path / "runs.json", stored_nuts.as_text({"a": RUN, "b": RUN})
    assert write(path, text) == {"a": RUN, "b": RUN}
    entries = json.loads(text)
    entries["a"]["mean"][1] = 1.1
    assert write(path, json.dumps(entries)) == {"b": RUN}
    entries["b"].pop("noise_std")
    assert write(path, json.dumps(entries)) == {}


def test_a_stored_run_is_shown_at_once_and_any_other_is_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NutsRunner, "_results", {})
    monkeypatch.setattr(stored_nuts, "_read", lambda _: {key(): RUN})
    wanted: list[Run] = []
    monkeypatch.setattr(NutsRunner, "_want", lambda _, run: wanted.append(run))
    runner = NutsRunner(list, list)
    gold = runner.ask(True, Run(GRID, Problem(), CHAINS))
    assert gold.prediction is not None and gold.report == RUN.report
    assert (gold.prediction.mean == RUN.mean).all()
    assert (gold.prediction.epistemic_std == RUN.epistemic_std).all()
    assert (gold.prediction.aleatoric_std == 1.5).all()
    assert runner.ask(False, Run(GRID, Problem(), CHAINS)).prediction is None
    other = Run(GRID, Problem(), {**CHAINS, "seed": 1})
    assert runner.ask(True, other).prediction is None
    assert wanted == [other]
