"""Test the NUTS runs that come with the package."""

from dataclasses import replace
from typing import Any

from bdl_teach.methods.mcmc import MIXED
from bdl_teach.problems import ARTICLE, WIDE_GRID
from bdl_teach.widgets._engine import stored_nuts
from bdl_teach.widgets._engine.beside_truth import Chains
from tools import store_nuts


def test_every_preset_has_a_stored_nuts_run() -> None:
    wanted, there = store_nuts.wanted(), stored_nuts.read()
    assert {k: of for k, (_, of) in wanted.items()} == {k: run.of for k, run in there.items()}, (
        f"a preset has changed: run {store_nuts.HOW}"
    )
    for run in there.values():
        assert len(run.mean) == len(run.epistemic_std) == len(WIDE_GRID)
        assert min(run.epistemic_std) > 0
    apart = [run.of for run in there.values() if run.r_hat > MIXED]
    assert apart == [["narrow prior"]], "the posterior of this preset has two modes"


def test_stored_nuts_run_is_shown_for_its_own_problem_only() -> None:
    chains, run = Chains(WIDE_GRID, bool, list), stored_nuts.read()[stored_nuts.key(ARTICLE)]
    gold = chains.ask(ARTICLE)
    assert gold.prediction is not None and gold.mixed
    assert gold.report.endswith(f"4 × 500 draws: mixed (R-hat {run.r_hat:.3f}).")
    assert (gold.prediction.mean == run.mean).all()
    assert (gold.prediction.epistemic_std == run.epistemic_std).all()
    assert (gold.prediction.aleatoric_std == 1.0).all()
    assert chains.go_on(10**6) is None
    others: dict[str, Any] = {"seed": 1, "scales": (1.5,), "noise_std": 2.0, "hidden_units": (20,)}
    others["own"] = ((0.0, 0.1), (1.0, 2.0), (0.0, 1.0, 0.0, 1.0))
    for name, value in others.items():
        assert chains.ask(replace(ARTICLE, **{name: value})).prediction is None, name
