"""Run the contributors' examples: each meets the contract of its kind."""

import importlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

from bdl_teach import datasets
from bdl_teach.exercises import Session
from bdl_teach.exercises._engine import DEFINED
from bdl_teach.methods.catalogue import Fitted
from evidence import claim, claims, judge, measured

FOLDER = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture
def example(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module(request.param)


@pytest.mark.parametrize("example", ["random_features"], indirect=True)
def test_example_method_interpolates_and_is_unsure_in_a_gap(example: ModuleType) -> None:
    x = np.linspace(-0.5, 0.5, 21)[:, None]
    exact = example.fit(x, np.sin(5 * x), noise_std=1e-3)
    np.testing.assert_allclose(exact.predict(x).mean, np.sin(5 * x[:, 0]), atol=0.02)
    data = datasets.sinusoid(gap=(0.1, 0.4))
    fit = example.fit(data.x, data.y)
    assert isinstance(fit, Fitted)
    inside, gap = fit.predict([[-0.25], [0.25]]).epistemic_std
    assert gap > 2 * inside
    np.testing.assert_array_equal(fit.predict(x, seed=3).mean, fit.predict(x, seed=3).mean)
    with pytest.raises(ValueError, match=r"^x: expected"):
        fit.predict(np.zeros((3, 2)))


@pytest.mark.parametrize("example", ["coin"], indirect=True)
def test_example_explorer_draws_result_and_restores_its_state(example: ModuleType) -> None:
    coin = example.CoinExplorer().wait().set(n=10, share=0.2)
    posterior = stats.beta(3, 9)
    np.testing.assert_allclose(coin._worker.model._curve.get_ydata(), posterior.pdf(example.P_GRID))
    assert coin.status.startswith(f"2 heads: posterior sd {posterior.std():.3f}.")
    few, many = (coin.preset(name).result for name in coin.presets)
    assert few.std > 0.15 and many.std < 0.03
    rebuilt = example.CoinExplorer(**coin.state()).wait()
    assert coin.status.startswith(rebuilt.status)
    rebuilt.close()


@pytest.mark.parametrize("example", ["how_sure"], indirect=True)
def test_example_exercise_accepts_right_answers_and_names_mistakes(example: ModuleType) -> None:
    exercise = next(e for e in DEFINED if e.reference is example.std_after)
    session = Session({exercise.number: exercise})
    assert session.check(exercise.number, lambda p, s, n: p * s / np.hypot(s, p * np.sqrt(n)))
    squared = session.check(exercise.number, lambda p, s, n: example.std_after(p, s, n) ** 2)
    assert not squared and "the square" in squared.message
    for mistake in exercise.mistakes:
        said = session.check(exercise.number, mistake.formulas[0])
        assert not said and mistake.name in said.message


def test_example_claim_is_not_contradicted_by_four_worlds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Use both files of the example, in a folder like the one of the package."""
    for name in ("two_starts.py", "two_starts.toml"):
        shutil.copy(FOLDER / name, tmp_path)
    monkeypatch.setattr(measured, "__path__", [str(tmp_path)])
    claim.topics.cache_clear()
    run = claim.experiments()[0].trial
    seen = [claims.in_world(run, n) for n in range(4)]
    (finding,) = claims.judged(["starts-disagree-outside"], lambda _: seen)
    assert finding.verdict != judge.FALLS and len(finding.effects) == 4
    monkeypatch.undo()
    claim.topics.cache_clear()
