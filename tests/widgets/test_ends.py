"""Test every explorer, with the true posterior, where its controls end, and at random places."""

import math
import re
import unicodedata
from functools import lru_cache
from typing import Any

import ipywidgets
import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from bdl_teach import DivergedError, widgets
from bdl_teach.methods import mcmc
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem, own_points
from bdl_teach.widgets._engine import background, beside_truth
from bdl_teach.widgets._engine.beside_truth import GoldStandard, ModelBesideTruth
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.own_data import Unseen
from tests.widgets.test_contract import STATES, anywhere

BAD = re.compile(r"\b(nan|inf|infinity|failed|none|not scaled)\b", re.IGNORECASE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:E-?\d+)?")
MODELS = {name: getattr(widgets, name).MODEL for name in widgets.__all__}
BESIDE_TRUTH = [name for name, model in MODELS.items() if issubclass(model, ModelBesideTruth)]


@pytest.fixture(scope="module")
def explorer(live: Explorer[Any]) -> Explorer[Any]:
    return live


def ends(control: Any) -> list[Any]:
    """Return the values of a control at its two ends; all of them if it has options."""
    if isinstance(control, Unseen):
        return []
    if isinstance(control, ipywidgets.ToggleButton):
        return [False, True]
    if hasattr(control, "options"):
        return [o[1] if isinstance(o, tuple) else o for o in control.options]
    low, high = control.min, control.max
    return [low, high] if not hasattr(control, "base") else [control.base**p for p in (low, high)]


@lru_cache(maxsize=64)
def first_draws(problem: Problem, grid: bytes) -> GoldStandard:
    """Return the posterior after the first window of HMC."""
    chains = beside_truth.Chains(np.frombuffer(grid)[:, None], bool, list)
    return chains._further(beside_truth._Run(problem, GoldStandard())).gold


def faults(explorer: Any, values: dict[str, Any]) -> list[str]:
    """Show ``values`` with the first draws of the posterior; return what is bad."""
    whole = {**explorer.DEFAULTS, **explorer.state(), **values}
    shown = explorer._worker.model.compute(whole)
    if issubclass(explorer.MODEL, ModelBesideTruth):
        gold = first_draws(explorer.MODEL.problem(whole), explorer.MODEL.GRID.tobytes())
        shown = explorer._worker.model.with_truth(shown, gold)
    with RENDER_LOCK:
        explorer._worker.model.draw(shown)
    said, readings = (
        str(explorer._worker.stage.words_of(shown)),
        explorer._worker.stage.readings_of(shown),
    )
    return [*BAD.findall(said), *(n for n, v in readings.items() if math.isinf(v))]


@pytest.mark.slow
def test_every_control_works_at_both_ends(explorer: Explorer[Any]) -> None:
    for name, control in explorer._view.controls.items():
        for end in ends(control):
            assert faults(explorer, {name: end}) == [], (name, end)


@pytest.mark.slow
def test_sentence_on_own_points_is_the_same_in_other_units(explorer: Any) -> None:
    said, scales = [], [(1.0, 1.0), (1.0, 1e-6), (1e3, 1e-3), (1e-3, 1e6)]
    x, y = np.random.default_rng(4).uniform(0, 100, (2, 20))
    for x_scale, y_scale in scales if "data" in explorer._view.controls else []:
        own, _ = own_points.read((x_scale * x, y_scale * y))
        shown = explorer._worker.model.compute({**explorer.DEFAULTS, "data": own})
        text = str(explorer._worker.stage.words_of(shown)).replace(" × 10", "E")
        said.append(unicodedata.normalize("NFKC", text).replace("−", "-"))
    for text, units in zip(said, scales, strict=False):
        assert NUMBER.split(text) == NUMBER.split(said[0])
        for a, b in zip(NUMBER.findall(said[0]), NUMBER.findall(text), strict=True):
            assert float(b) in [pytest.approx(float(a) * u, rel=0.01) for u in (1.0, *units)], text


@pytest.mark.slow
def test_no_figure_is_drawn_from_chains_that_have_not_mixed(explorer: Any) -> None:
    if not issubclass(explorer.MODEL, ModelBesideTruth):
        return
    result = explorer._worker.model.compute(explorer.DEFAULTS)
    sampled = Predictive.from_samples(
        np.random.default_rng(0).normal(size=(9, len(explorer.MODEL.GRID))), 1.0
    )
    known = [GoldStandard(), *(GoldStandard(sampled, "R-hat.", mixed) for mixed in (False, True))]
    alone, apart, beside = (explorer._worker.model.with_truth(result, gold) for gold in known)
    before, *after = (
        explorer._worker.stage.readings_of(shown).keys() for shown in (alone, apart, beside)
    )
    assert before == after[0] < after[1]
    said = str(explorer._worker.stage.words_of(apart)).removesuffix("R-hat.").strip()
    assert said == str(explorer._worker.stage.words_of(alone)) and not {*before} & {
        "nuts_gap",
        "gap_outside",
    }


def test_errors_name_the_controls_of_the_screen(idle: Any) -> None:
    said = idle.TEXTS.in_words(str(DivergedError(7, mcmc.REMEDY)))
    control = idle.TEXTS.controls.get("noise_std")
    assert ("noise_std" in said) == (control is None)
    assert control is None or f"raise the {control.label}, or" in said


@pytest.mark.slow
def test_random_states_give_numbers(explorer: Explorer[Any]) -> None:
    rng, of_six = np.random.default_rng(0), type(explorer) is widgets.ComparisonExplorer
    for _ in range(3 if of_six else STATES):
        values = {name: anywhere(c, rng) for name, c in explorer._view.controls.items()}
        assert faults(explorer, values) == [], values


@pytest.mark.parametrize("name", BESIDE_TRUTH)
def test_density_of_the_chains_is_that_of_the_controls(name: str) -> None:
    """Recompute log P(D, w) in float64 from random values of the controls, the noise told."""
    kind, rng = getattr(widgets, name), np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "start", lambda _: None)
        explorer = kind()
    for _ in range(3):
        values = {name: anywhere(c, rng) for name, c in explorer._view.controls.items()}
        if "noise" in values:
            values["noise"] = "told"  # learnt noise has oracles in test_learnt_noise.py
        problem = explorer.MODEL.problem(values)
        fit = beside_truth._begin(problem, None)
        misfit = (problem.data.y[:, 0] - fit.outputs(problem.data.x)) / values["noise_std"]
        log_y = -0.5 * misfit**2 - math.log(values["noise_std"] * math.sqrt(2 * math.pi))
        parts = [(1.0, values.get("prior_std", 3.0))]
        if "pi" in values:
            parts = [(values["pi"], values["sigma1"]), (1 - values["pi"], values["sigma2"])]
        with np.errstate(divide="ignore"):
            each = [np.log(share) + stats.norm(0, s).logpdf(fit.weights) for share, s in parts]
        log_prior = logsumexp(each, axis=0)
        expected = log_y.sum(axis=-1) + log_prior.sum(axis=-1)
        rounding = 3e-6 * (np.abs(log_y).sum(axis=-1) + np.abs(log_prior).sum(axis=-1))
        assert (np.abs(fit.log_density - expected) <= rounding).all(), values  # of float32 sums
    explorer.close()
