"""Test over several seeds that what presets, questions and missions say is true."""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from bdl_teach import features, metrics, widgets
from bdl_teach.problems import INSIDE
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.missions import SEEDS, Mission, Need

pytestmark = pytest.mark.slow

AT_QUESTION = "?"  # the state to which the question leads
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt,
    "==": lambda one, other: np.isclose(one, other, rtol=1e-6),
}  # fmt: skip


class of(NamedTuple):
    """A multiple of the same number at another preset with the same seed."""

    factor: float
    preset: str


Number = str | Callable[[Any], Any]  # the name of a reading, or a function of a result
Row = tuple[str, Number, str, float | of]  # preset, number, comparison, value


def spread_of_mean(result: Any) -> float:
    return float(np.ptp(result.prediction.mean))


def off_the_prior(result: Any) -> float:
    """Return the largest relative difference between a prior sd and the best one."""
    return float(np.abs(result.prior_std / result.best_std - 1).max())


def at_the_points(result: Any) -> float:
    """Return the largest epistemic sd within 0.01 of a point."""
    away = np.abs(result.x_grid - result.data.x[:, 0]).min(axis=1)
    return float(result.prediction.epistemic_std[away < 0.01].max())


def training_error(result: Any) -> float:
    """Return the linear explorer's root mean squared error at its points."""
    phi = features.bumps(result.data.x, len(result.posterior.mean))
    return metrics.rmse(result.data.y[:, 0], phi @ result.posterior.mean)


def away_from_points(result: Any) -> float:
    """Return the mean epistemic sd further than 0.25 from every point."""
    away = np.abs(result.x_grid - result.data.x[:, 0]).min(axis=1)
    return float(result.prediction.epistemic_std[away > 0.25].mean())


def directions(result: Any) -> Any:
    """Return the sds along the two axes of the posterior ellipse, over the prior sd."""
    pair = np.ix_(result.pair, result.pair)
    return np.sqrt(np.linalg.eigvalsh(result.posterior.cov[pair])) / result.prior_std


def noise_over(result: Any, kind: str, other: str) -> Any:
    return result.theory[kind] / result.theory[other]


def peak(result: Any) -> float:
    return float(np.abs(result.prediction.mean[INSIDE]).max())


# Sentences of presets without a claim: experiments measure what a claim says.
CHECKS: dict[str, list[Row]] = {
    "GradientLab": [
        ("a bowl", "score_times", ">", 7.0),
        ("by σ", "score_times", ">", 7.0),
        ("half as certain", "pathwise", "==", of(1 / 4, "nearly certain")),
        ("half as certain", "score", ">", of(1.8**2, "nearly certain")),
        ("half as certain", "score", "<", of(2.0**2, "nearly certain")),
        ("add a constant", "exact", "==", of(1.0, "a bowl")),
        ("add a constant", "pathwise_measured", "==", of(1.0, "a bowl")),
        ("add a constant", "score_measured", ">", of(4.0, "a bowl")),
        (AT_QUESTION, "pathwise_measured", "==", of(1.0, "a bowl")),
        (AT_QUESTION, "score_measured", ">", of(4.0, "a bowl")),
        ("at the minimum", "exact", "==", 0.0),
        ("at the minimum", "pathwise", ">", 0.9),
        ("16 draws", "score", "==", of(1 / 16, "a bowl")),
        ("16 draws", "score_times", "==", of(1.0, "a bowl")),
        ("ripples", "score_times", "<", 0.1),
    ],
    "KLBudgetLab": [
        ("eight batches", "first_share", "==", 12.5),
        ("one batch", "first_share", "==", 100.0),
        ("32 uniform", "F", ">", of(1.0, "one batch")),
        ("32 geometric", "ten_share", ">", 99.9),
        ("1/M forgotten", "first_pays", ">", 0.99),
        ("1/M forgotten", peak, "<", of(0.95, "eight batches")),
        (AT_QUESTION, "ten_share", ">", 99.9),
    ],
    "LinearRegressionExplorer": [
        ("eight points", at_the_points, "<", 1.1),
        ("eight points", away_from_points, ">", 5.0),
        ("before any data", "log_evidence", "==", 0.0),
        ("one point", lambda r: directions(r)[0], "<", 0.4),
        ("one point", lambda r: directions(r)[1], ">", 0.99),
        ("one point", lambda r: at_the_points(r) / r.prediction.epistemic_std.max(), "<", 0.15),
        ("all points", "sd_middle", "<", of(0.9, "eight points")),
        ("all points", "noise_std", "==", of(1.0, "eight points")),
        ("loud noise", "sd_middle", ">", of(3.0, "all points")),
        ("prior too narrow", lambda r: np.abs(r.posterior.mean).max() / r.prior_std, ">", 5.0),
        ("prior too narrow", spread_of_mean, "<", 14.0),
        ("prior too narrow", "log_evidence", "<", of(1.0, "all points")),
        ("prior too wide", "log_evidence", "<", of(1.0, "eight points")),
        ("a wider prior", training_error, "<", of(1.0, "eight points")),
        ("a wider prior", "log_evidence", "<", of(1.0, "eight points")),
        ("sure and wrong", "sd_middle", "<", 0.5),
        ("sure and wrong", lambda r: np.abs(np.diff(r.prediction.mean, 2)).max(), "<", 1e-9),
        (AT_QUESTION, lambda r: r.prediction.epistemic_std, "<=", of(1 + 1e-9, "eight points")),
    ],
    "LocalReparamLab": [
        ("shared or local", lambda r: r.theory["shared"][5] / r.theory["shared"][-1], "<", 1.4),
        ("shared or local", lambda r: r.theory["local"][5] / r.theory["local"][-1], ">", 5.6),
        ("one point", lambda r: noise_over(r, "local", "shared")[0], "==", 1.0),
        ("one point", lambda r: noise_over(r, "flipout", "per_example")[0], "==", 1.0),
        ("all five", lambda r: noise_over(r, "score", "shared").min(), ">", 3.0),
        ("Flipout and σ", lambda r: noise_over(r, "flipout", "shared")[5:].min(), ">", 0.66),
        ("Flipout and σ", lambda r: noise_over(r, "local", "shared")[5:].max(), "<", 0.5),
        ("more inputs", "r_shared", "<", 0.999),
        ("more inputs", lambda r: noise_over(r, "flipout", "shared")[3:].max(), "<", 0.8),
        ("quiet weights", "shared_theory", "<", of(1 / 30, "all five")),
        ("quiet weights", "score_theory", ">", of(5.0, "all five")),
        (AT_QUESTION, "shared_theory", ">", of(0.7, "shared or local")),
    ],
    "EmpiricalBayesExplorer": [("learn one", off_the_prior, "<", 1e-6)],
    "PBPStepper": [
        ("before any data", "sd_data", ">", of(2.0, "40 epochs")),
        ("one epoch", "learns", "==", 0.0),
        ("one epoch", "epoch", "==", 1),
        ("left to right", lambda r: r.data.x[r.learned].max(), "<", 0.0),
    ],
    "PicturesExplorer": [
        ("only the surest", "answered", "==", 0.7),
        ("only the surest", "risk", "<", of(0.5, "one network")),
    ],
}
# States that are compared with presets.
BESIDE = {"half as certain": {"sigma": 0.5 * 10**-1.0}, "a wider prior": {"prior_std": 10**1.5}}


def values_of(explorer: Explorer[Any], name: str) -> dict[str, Any]:
    """Return the values of a preset, of a state in BESIDE, or of AT_QUESTION."""
    asked = explorer.QUESTION
    if name == AT_QUESTION and asked is not None:
        start = explorer.DEFAULTS[asked.control]
        target = start + 1 if asked.target is None else asked.target
        return {**explorer.DEFAULTS, **dict(asked.before), asked.control: target}
    if name in BESIDE:
        return {**explorer.DEFAULTS, **BESIDE[name]}
    return explorer.PRESETS[name][1]


def test_sentences_of_presets_and_questions_agree_with_the_numbers(idle: Explorer[Any]) -> None:
    results: dict[tuple[str, int], Any] = {}

    def number(name: str, what: Number, seed: int) -> Any:
        if (name, seed) not in results:
            state = {**idle.DEFAULTS, **values_of(idle, name), "seed": seed}
            results[name, seed] = idle._worker.model.compute(state)
        result = results[name, seed]
        return (
            idle._worker.stage.readings_of(result)[what] if isinstance(what, str) else what(result)
        )

    for name, what, comparison, value in CHECKS.get(type(idle).__name__, []):
        for seed in range(SEEDS):
            found, asked = number(name, what, seed), value
            if isinstance(value, of):
                asked = value.factor * number(value.preset, what, seed)
            assert np.all(COMPARE[comparison](found, asked)), (name, what, seed, found, asked)


def taken(explorer: Explorer[Any], values: Values) -> Values:
    known = explorer._view.controls
    state = {n: controls.take(known, n, value) for n, value in values.items()}
    return {**explorer.DEFAULTS, **state}


def missing(explorer: Explorer[Any], mission: Mission, state: Values) -> list[str]:
    worker = explorer._worker
    fitted = getattr(worker.model, "unseen_fit", worker.model.compute)  # the lowest, if it matters
    return mission.missing(state, worker.stage.readings_of(fitted(state)))


def test_mission_is_solved_by_its_second_hint_and_not_by_its_initial_state(
    idle: Explorer[Any],
) -> None:
    for mission in idle.MISSIONS:
        state = taken(idle, mission.way)
        if mission.way.get("nuts") or isinstance(idle, widgets.VAEExplorer):
            continue
        for seed in range(SEEDS):
            assert missing(idle, mission, {**state, "seed": seed}) == [], (mission.id, seed)
        start = taken(idle, {})
        starts = [{**start, "seed": seed} for seed in range(SEEDS)]
        assert any(missing(idle, mission, one) for one in starts), mission.id
        if "data" in mission.way:
            assert missing(idle, mission, {**state, "data": None}), mission.id


STEP = 1e-3  # relative
WITHIN = {"<": -STEP, "<=": 0.0, ">": STEP, ">=": 0.0, "==": 0.0}
OUTSIDE = {"<": 0.0, "<=": STEP, ">": 0.0, ">=": -STEP, "==": -STEP}


def near(need: Need, by: dict[str, float]) -> Any:
    """Return a value that just meets a condition (WITHIN), or just fails it (OUTSIDE)."""
    if isinstance(need.value, bool | str):
        return need.value if (by is WITHIN) is (need.comparison == "==") else "another"
    return need.value + by[need.comparison] * (abs(need.value) or 1.0)


def test_every_condition_of_a_mission_is_necessary(idle: Explorer[Any]) -> None:
    for mission in idle.MISSIONS:
        state = {**taken(idle, mission.way), **mission.leave}
        readings = {need.name: near(need, WITHIN) for need in mission.needs}
        if not mission.way.get("nuts") and not isinstance(idle, widgets.VAEExplorer):
            found = idle._worker.stage.readings_of(
                idle._worker.model.compute(taken(idle, mission.way))
            )
            assert {need.name for need in mission.needs} <= {*state, *found}, mission.id
            readings = {**found, **readings}
        assert mission.missing(state, readings) == [], mission.id
        for need in mission.needs:
            lacks = mission.missing(state, {**readings, need.name: near(need, OUTSIDE)})
            assert len(lacks) == 1, (mission.id, need)
        for name in mission.leave:
            (said,) = mission.missing({**state, name: "elsewhere"}, readings)
            assert name == "data" or f"{{{name}}}" in said
