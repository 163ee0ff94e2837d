"""Every claim, by what its experiment asks to be trained and by its pure measure; nothing trains.

`fits` runs with fakes of all methods (see fakes.py), whose record is compared with
snapshots/fits.json; what the fakes predict is measured and compared with snapshots/effects.json.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pytest
import snapshot
from fakes import CLAIMS, EXPERIMENTS, Fake, Place, Run, Said, places_of, plant
from scipy import stats

from bdl_teach import calibration
from bdl_teach.claims import World
from bdl_teach.predictive import Predictive
from bdl_teach.problems import WIDE_GRID, truth
from bdl_teach.problems import network_bandits as bandits
from bdl_teach.problems.strange_pictures import Answers, Split
from evidence.claim import Claim, Trial
from evidence.measured import (
    autoencoders,
    chapter4,
    chapter8,
    chapter10,
    network_bandits,
    pictures,
    ticks,
    wide_networks,
)
from evidence.measured._measure import Trained, figures, halves, new_targets

# These compare data sets or starts, as their names say.
OTHER_DATA = {"few", "many", "loud", "eight", "noise", "thirty", "dropout-320", "laplace-320"}
OTHER_START = {"again", "again-on"}
SEED = re.compile(r"\bseed=([^,)]+)")


def figures_of(one: Claim) -> list[str]:
    return [name for name in (one.of, one.less, one.over) if name]


def arm_of(figure: str, arms: Iterable[str]) -> str:
    """Return the longest name of a fit that a figure begins with; "" if there is none."""
    return max((name for name in arms if figure.startswith(f"{name}-")), key=len, default="")


def pair_of(one: Claim, arms: Iterable[str]) -> tuple[str, str]:
    """Return the two fits that a claim compares by the same figure, or two empty texts."""
    first, second = one.of, one.less or one.over
    pair = arm_of(first, arms), arm_of(second, arms)
    alike = all(pair) and first.removeprefix(pair[0]) == second.removeprefix(pair[1])
    return pair if alike and pair[0] != pair[1] and not (one.less and one.over) else ("", "")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_measure_gives_every_figure_that_a_claim_names(name: str, runs: dict[str, Run]) -> None:
    experiment, (_, _, figures) = EXPERIMENTS[name], runs[name]
    assert isinstance(experiment.trial, Trial) and experiment.claims
    named = {figure for one in experiment.claims for figure in figures_of(one)}
    assert named <= set(figures)
    assert all(np.isfinite(float(value)) for value in figures.values())


def test_measures_are_pure(runs: dict[str, Run]) -> None:
    """They read no seed, train nothing, and leave what they are given as it was."""
    for name, run in runs.items():
        with pytest.MonkeyPatch.context() as patch:
            record = plant(patch)
            patch.setattr(World, "seed", None)
            again = EXPERIMENTS[name].trial.measure(run.found)
        assert again == run.figures and record == []


def test_fits_are_asked_for_as_before(runs: dict[str, Run]) -> None:
    found = {name: counted(run.record) for name, run in runs.items()}
    before = snapshot.kept("fits", found)
    for name, record in found.items():
        assert record == before.get(name), name


def counted(lines: list[str]) -> list[str]:
    """Write equal lines that follow each other once, with their number, and floats to ten digits.

    Powers differ in the last digit from one processor to another.
    """
    lines = [re.sub(r"\d+\.\d{11,}", lambda one: f"{float(one[0]):.10g}", line) for line in lines]
    groups = ((line, len(list(same))) for line, same in groupby(lines))
    return [f"{line} × {n}" if n > 1 else line for line, n in groups]


def test_effects_of_planted_fits_are_as_before(runs: dict[str, Run]) -> None:
    found = {one.id: effect(one, runs[name].figures) for name, one in CLAIMS}
    before = snapshot.kept("effects", found)
    changed = {
        id: (before.get(id), value)
        for id, value in found.items()
        if value != pytest.approx(before.get(id), rel=1e-5, abs=1e-9)
    }
    assert not changed and found.keys() == before.keys()


def effect(one: Claim, figures: Any) -> float:
    try:
        return one.effect(figures)
    except ZeroDivisionError:
        return 0.0


def test_compared_fits_saw_the_same_data_and_start(runs: dict[str, Run]) -> None:
    seen = 0
    for name, one in CLAIMS:
        places = places_of(runs[name].found)
        names = {arm for figure in figures_of(one) if (arm := arm_of(figure, places))}
        arms = {name: places[name].arm for name in names}
        by = {name: arm.prediction.by for name, arm in arms.items() if is_trained(arm)}
        same = [name for name in by if not OTHER_DATA & {name, *name.split("-")}]
        assert len({data_of(by[name]) for name in same}) <= 1, one.id
        assert len({str(arms[name].new) for name in same}) <= 1, one.id
        starts = [SEED.findall(fit.call)[:1] for name, fit in by.items() if name not in OTHER_START]
        assert len({start[0] for start in starts if start}) <= 1, one.id
        seen += len(by) > 1
    assert seen > 80


def is_trained(one: Trained) -> bool:
    return isinstance(one.prediction, Said)


def data_of(fit: Fake) -> tuple[Any, ...]:
    return tuple(np.asarray(part, float).tobytes() for part in fit.data)


def test_swapping_two_fits_turns_the_effect_round(runs: dict[str, Run]) -> None:
    swapped, measured = 0, dict[Any, Any]()
    for name, one in CLAIMS:
        run, places = runs[name], places_of(runs[name].found)
        first, second = map(places.get, pair := pair_of(one, places))
        if not first or not second or first.arm.regions.keys() != second.arm.regions.keys():
            continue
        if (turned := measured.get((name, *pair))) is None:
            swap(first, second)
            turned = measured[name, *pair] = EXPERIMENTS[name].trial.measure(run.found)
            swap(first, second)
        before, after = one.effect(run.figures), one.effect(turned)
        assert after == pytest.approx(-before if one.less else 1 / before), one.id
        swapped += 1
    assert swapped > 80


def swap(one: Place, other: Place) -> None:
    """Swap two fits; only their predictions if they do not tell the same numbers."""
    a, b = one.arm, other.arm
    if a.numbers.keys() != b.numbers.keys():
        a, b = replace(b, prediction=a.prediction), replace(a, prediction=b.prediction)
    one.holder[one.key], other.holder[other.key] = b, a


def test_words_of_a_measure_say_difference_or_quotient() -> None:
    for _, one in CLAIMS:
        assert not one.less or " − " in one.measure, one.id
        assert not one.over or " over " in one.measure, one.id


# Figures of planted predictions, in closed form

LEFT = np.array([-1.0, -0.4, 0.0, 0.4, 1.0])[:, None]  # inputs, two of them outside the data


def flat(value: Any, x: Any = LEFT) -> Any:
    return np.full(len(x), float(value))


def arm(
    off: Any, sd: Any, noise: float = 1.0, x: Any = LEFT, regions: Any = None, **more: Any
) -> Trained:
    """Plant a fit whose mean is `off` above the sine, with an epistemic sd and a noise sd."""
    prediction = Predictive(truth(x) + off, sd + flat(0, x), flat(noise, x))
    return Trained(prediction=prediction, x=x, regions=regions or halves(x), **more)


def test_figures_of_a_planted_fit_follow_their_definitions() -> None:
    off, sd = np.array([9.0, 3.0, -1.0, 4.0, -12.0]), np.array([1.0, 2.0, 3.0, 1.6, 7.0])
    new = np.stack([truth(LEFT) - 1.0, truth(LEFT) + 1.0])
    told = figures({"a": arm(off, sd, noise=0.7, new=new, numbers={"F": 4.0})})
    log_p = stats.norm(off, np.hypot(sd, 0.7)).logpdf([flat(-1), flat(1)]).mean(axis=0)
    assert told == pytest.approx(
        {
            "a-F": 4.0,
            "a-noise": 0.7,
            "a-among-sd": 2.2,
            "a-outside-sd": 4.0,
            "a-among-error": math.sqrt(26 / 3),
            "a-outside-error": math.sqrt(112.5),
            "a-among-bias": 2.0,
            "a-outside-bias": -1.5,
            "a-among-held": 2 / 3,
            "a-outside-held": 0.5,
            "a-among-score": log_p[1:4].mean(),
            "a-outside-score": log_p[[0, 4]].mean(),
        }
    )


def test_new_targets_are_the_sine_and_noise_of_its_sd() -> None:
    new = new_targets(LEFT, 3, n=4000, noise_std=2.0) - truth(LEFT)
    assert new.shape == (4000, 5)
    assert new.mean(axis=0) == pytest.approx(flat(0), abs=0.15)
    assert new.std(axis=0) == pytest.approx(flat(2), abs=0.15)
    assert np.abs(np.corrcoef(new.T) - np.eye(5)).max() < 0.1


def test_parts_of_the_error_in_a_gap_are_distances_and_what_is_beyond() -> None:
    x, regions = chapter4.X, chapter4.REGIONS
    offs = {"fit": 11.0, "on": 6.0, "lowest": 9.0, "mode": 0.0, "posterior": 5.0}
    found = {key: arm(off, 1.0, x=x, regions=regions) for key, off in offs.items()}
    told = chapter4.three_parts(found)
    assert [told[key] for key in ("optimisation", "lowest-distance", "prior")] == [2.0, 4.0, 3.0]
    assert (told["prior-ahead"], told["further"]) == (-1.0, 1.0)
    assert chapter4.three_parts({**found, "lowest": found["on"]})["further"] == 0.0
    assert chapter4.coverage(arm(1.9, 1.0, x=x)) == 1.0
    assert chapter4.coverage(arm(2.1, 1.0, x=x)) == 0.0


def test_lost_score_and_coverage_of_the_true_density_are_perfect() -> None:
    x = chapter10.X
    new = np.stack([truth(x) - 1.0, truth(x) + 1.0])
    known = arm(0.0, 0.0, x=x, regions=chapter10.REGIONS, new=new)
    off = arm(2.0, 0.0, x=x, regions=chapter10.REGIONS, new=new)
    told = chapter10.scores({"known": known, "off": off})
    beyond = stats.norm.cdf([1.96 + 2, -1.96 + 2])
    for region in ("data", "gap", "outside"):
        assert told[f"known-{region}-lost"] == pytest.approx(0.0, abs=1e-9)
        assert told[f"known-{region}-covered"] == pytest.approx(0.95)
        assert told[f"off-{region}-lost"] == pytest.approx(2.0)
        assert told[f"off-{region}-covered"] == pytest.approx(beyond[0] - beyond[1], abs=1e-3)


def test_conformal_bands_hold_their_level_whatever_the_sd() -> None:
    y, x = np.arange(1.0, 100.0), chapter10.X
    there = Predictive(truth(x), flat(0.0, x), flat(0.02, x))
    one = chapter10.Counted(y, Predictive(0 * y, 0 * y, 0 * y + 1.0), there)
    told = chapter10.conformal_coverage(dict.fromkeys(chapter10.THREE, one))
    for level, rank in ((90, 90), (95, 95), (99, 99)):
        reach = 0.02 * rank
        assert told[f"map-gap-{level}"] == pytest.approx(1 - 2 * stats.norm.cdf(-reach))


def test_barrier_is_the_top_of_a_line_above_its_higher_end() -> None:
    heights = np.array([[1.0, 9.0, 4.0], [5.0, 5.5, 2.0], [3.0, 2.0, 1.0]])
    assert chapter8.barriers(heights).tolist() == [5.0, 0.5, 0.0]
    found = chapter8.Heights(10 * heights[:2], heights[:2], np.array([1.0, 2.0, 9.0]), heights[0])
    told = chapter8.barriers_and_level(found)
    assert told == pytest.approx(
        {"barrier": 27.5, "left": 0.1, "ten": 0.0, "level": 14 / 3 - 2, "below-level": 0.5}
    )


def test_distance_from_a_process_is_in_its_sds_with_the_error_of_four_chains() -> None:
    x, draws = wide_networks.X, np.array([-2.0, 2.0])
    limit = Predictive(flat(1.0, x), flat(2.0, x), flat(0.0, x))
    means = np.array([3.0, 5.0, 3.0, 5.0])
    f = means[:, None, None] + draws[:, None] + np.zeros(len(x))
    told = wide_networks.beside_the_process(
        {f"own-{width}": wide_networks.Chains(limit, f, 1.0) for width in (10, 100, 1000)}
    )
    assert told["own-10-mean"] == pytest.approx(1.5)
    assert told["own-10-mean-error"] == pytest.approx(math.sqrt(1 / 3) / 2)
    assert told["own-10-sd"] == told["own-10-sd-error"] == pytest.approx(0.0)
    assert told["own-1000-beyond-chance"] == pytest.approx(1.5**2 - 1 / 12)


def test_a_tick_is_compared_with_the_lowest_of_it_and_the_long_runs() -> None:
    one = Predictive(flat(0, WIDE_GRID), *np.ones((2, len(WIDE_GRID))))
    nudged = [replace(one, mean=one.mean + shift) for shift in (0.1, -0.1, 10.0, 0.001)]
    told = ticks.above_the_lowest(ticks.Tick(3.0, 5.0, [4.0, 9.0], one, nudged))
    assert told == pytest.approx({"quiet": 0.0, "paper": 2.0, "log-moved": -1.0})
    told = ticks.above_the_lowest(ticks.Tick(8.0, 5.0, [4.0, 9.0], one, nudged))
    assert (told["quiet"], told["paper"]) == (4.0, 1.0)


def test_a_fit_has_arrived_within_20_nats_of_the_lowest_long_run() -> None:
    each = [(19.0, True), (21.0, True), (21.0, False), (19.0, False)]
    told = ticks.shares_of_fits([ticks.Arrival(f, [0.0, 30.0], said) for f, said in each])
    assert told == {"arrived": 0.5, "on-the-way": 0.5, "knows": 0.5, "mistaken": 0.25}


def test_mixture_of_prior_codes_is_the_prior() -> None:
    z = np.random.default_rng(0).standard_normal((400, 2))
    assert autoencoders._misfit(0 * z, 0 * z + 1, z) == pytest.approx(0.0)
    narrow = autoencoders._misfit(0 * z, 0 * z + 0.5, 0.5 * z)
    assert narrow == pytest.approx(2 * math.log(2) - 0.75, abs=0.06)


def test_bandit_learns_only_the_rewards_of_what_it_ate(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(bandits, "fitted", lambda _, x, y, seed: seen.append(x[32:]))
    monkeypatch.setattr(bandits, "functions", lambda _, x, seed: 99 * np.sign(x[:, 0]))
    bandits.play("greedy", World(0))
    assert len(seen[-1]) > 20 and (seen[-1] > 0).all(), "it eats where x > 0"


def test_bandits_are_compared_data_set_by_data_set() -> None:
    lost = {agent: [1.0, 3.0] for agent in bandits.AGENTS} | {"bbb": [1.0, 2.0]}
    told = network_bandits.mean_regrets(lost)
    assert told["bbb-less"] == told["bbb-same"] == 0.5
    assert told["bbb"] == 1.5 and told["laplace-part"] == 2.0 / 3.5
    rounds = {name: k * np.arange(1.0, 2001.0) for k, name in enumerate(network_bandits.POLICIES)}
    told = network_bandits.total_and_late(rounds)
    assert (told["thompson"], told["thompson-late"], told["least"]) == (4000.0, 2.0, 0.0)


def test_distance_of_nuts_is_between_two_halves_of_its_chains(runs: dict[str, Run]) -> None:
    beside = runs["beside-nuts"].found
    for region, mask in chapter10.REGIONS.items():
        apart = calibration.distance(*beside.halves, mask)
        assert runs["beside-nuts"].figures[f"nuts-{region}"] == apart > 0


def test_conformal_bands_are_calibrated_on_unseen_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chapter10, "_counted", lambda learn, count, seed: (learn.x, count.x))
    learn, count = chapter10.on_held_out(World(0))
    assert len(learn) == len(count) == 32 and not np.isin(count, learn).any()


def test_temperature_is_chosen_on_other_pictures_than_it_is_scored_on() -> None:
    """A classifier that is right on the test pictures only loses by the temperature of others."""
    certain = np.broadcast_to(np.log([0.9, 0.1]), (1, 40, 2))
    six_of_ten, right = np.arange(40) % 10 // 6, np.zeros(40, int)
    none = np.zeros((40, 8, 8))
    split = Split((none, right), (none, six_of_ten), (none, right), none, ("a", "b"))
    found = pictures._of_kind(Answers(certain, certain, certain), split)
    assert found["nll"] == pytest.approx(-np.log(0.9))
    assert found["tuned-nll"] == pytest.approx(-np.log(0.6), rel=1e-3)
