"""Runs of NUTS that came with the package: every preset has its own, and no other is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.problems import WIDE_GRID, Problem
from bdl_teach.widgets._engine import stored_nuts
from bdl_teach.widgets._engine.beside_truth import Chains
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
    for k, (problem, _) in wanted.items():
        assert len(there[k].mean) == len(there[k].epistemic_std) == len(WIDE_GRID)
        assert min(there[k].epistemic_std) > 0 and there[k].report.startswith("NUTS ")
        assert there[k].noise_std == problem.noise_std


@pytest.mark.parametrize(
    "changes",
    [
        {"y": np.array([[1.0], [2.001]])},
        {"prior": Gaussian(1.1)},
        {"prior": ScaleMixture(1.0, 0.1, 0.5)},
        {"noise_std": 2.0},
        {"hidden_units": (2, 2)},
        {"n_samples": 9},
        {"n_thin": 2},
        {"seed": 1},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_run_is_of_its_posterior_and_its_chains(changes: dict[str, Any]) -> None:
    assert key(**changes) != key()


def write(path: Path, text: str) -> dict[str, Stored]:
    path.write_text(text, encoding="utf-8")
    return stored_nuts.read(path)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    other = replace(RUN, report="NUTS NOT converged")
    path = tmp_path / "runs.json"
    assert write(path, stored_nuts.as_text({"a": RUN, "b": other})) == {"a": RUN, "b": other}


def test_every_run_that_a_preset_shows_has_converged_or_its_posterior_has_two_modes() -> None:
    runs = stored_nuts.read()
    assert len(runs) == 5
    apart = [run.of for run in runs.values() if not run.report.startswith("NUTS converged")]
    assert apart == [["sinusoid: narrow prior"]]


def test_a_run_that_was_changed_counts_as_missing(tmp_path: Path) -> None:
    entries = json.loads(stored_nuts.as_text({"a": RUN, "b": RUN}))
    entries["a"]["mean"][1] = 1.1
    assert write(tmp_path / "runs.json", json.dumps(entries)) == {"b": RUN}
    entries["b"].pop("noise_std")
    assert write(tmp_path / "runs.json", json.dumps(entries)) == {}


def test_stored_run_is_shown_at_once_and_any_other_has_to_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = {"n_samples": 8, "n_warmup": 20}
    run = stored_nuts.key(GRID, {**Problem().given, **long})
    monkeypatch.setattr(stored_nuts, "_read", lambda _: {run: RUN})
    chains = Chains(GRID, long, bool, list)
    gold = chains.ask(Problem())
    assert gold.prediction is not None and gold.report.endswith(RUN.report)
    assert (gold.prediction.mean == RUN.mean).all()
    assert (gold.prediction.epistemic_std == RUN.epistemic_std).all()
    assert (gold.prediction.aleatoric_std == 1.5).all()
    assert chains.go_on(10**6) is None
    assert chains.ask(Problem(seed=1)).prediction is None
