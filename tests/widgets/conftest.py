"""Fixtures for the tests of explorers: no improving at rest, no sampling, no drawing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explorer_claims import RENDER
from scipy.special import log_softmax

from bdl_teach import widgets
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem, strange_pictures, truth
from bdl_teach.widgets import latent_map, unseen_pictures, vae_trainer
from bdl_teach.widgets._engine import background, improving, stage, worker
from bdl_teach.widgets._engine.beside_truth import Chains, GoldStandard
from bdl_teach.widgets._engine.canvas import RENDER_LOCK

HERE = Path(__file__).parent
_WAITS, _PREPARE, _BETTER = Chains.waits, Chains.prepare, improving.Improver._better


@pytest.fixture(scope="session", autouse=True)
def threads_are_checked() -> None:
    """Let no thread change what belongs to another."""
    background.Owned.CHECKED = True


def _trains_only(one: improving.Improver, *job: Any) -> Any:
    """Improve nothing but the VAE, which is trained by being improved."""
    return _BETTER(one, *job) if isinstance(one.model, latent_map.VAEModel) else iter(())


@pytest.fixture(scope="module", autouse=True)
def nothing_is_improved_at_rest() -> Iterator[None]:
    """Keep results from changing while a test looks at them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "REST", 3600.0)
        patch.setattr(improving.Improver, "_better", _trains_only)
        yield


@pytest.fixture
def improved_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Improve results in this test."""
    monkeypatch.setattr(improving.Improver, "_better", _BETTER)
    monkeypatch.setattr(worker, "REST", worker.SHARPEN)


@pytest.fixture(scope="module", autouse=True)
def chains_never_run() -> Iterator[None]:
    """Do not sample the true posterior: compiling that takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Chains, "waits", lambda _: True)
        patch.setattr(Chains, "prepare", lambda *_: None)
        yield


@pytest.fixture
def chains_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sample the true posterior in this test."""
    monkeypatch.setattr(Chains, "waits", _WAITS)
    monkeypatch.setattr(Chains, "prepare", _PREPARE)


@pytest.fixture(scope="module", autouse=True)
def no_pictures_are_drawn(request: pytest.FixtureRequest) -> Iterator[None]:
    """Move the artists without drawing them, which would take half of the tests' time."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.parent == HERE:  # the tests of the engine look at pictures
            patch.setattr(stage.Stage, "render", lambda *_, **__: (b"", []))
        yield


@pytest.fixture(scope="module", params=widgets.__all__)
def idle(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Make each explorer without its worker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "start", lambda _: None)
        made = getattr(widgets, request.param)()
    made._worker.mailbox.take()
    yield made
    made.close()


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Make the module's ``EXPLORER`` and wait for its first picture."""
    one = request.module.EXPLORER().wait(300)
    yield one
    one.close()


@pytest.fixture
def explorer(made: Any, request: pytest.FixtureRequest) -> Any:
    """Return the module's explorer with its defaults, or with the values of ``set_to``."""
    values = {**made.DEFAULTS, **dict.fromkeys(made.TEXTS.stays, False)}
    own = {"data": None} if "data" in made._view.controls else {}
    return made.set(**{**values, **own, **getattr(request, "param", {})})


@pytest.fixture
def nuts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the true posterior by ``nuts["gold"]``; record the ``nuts["problem"]`` asked for."""
    asked: dict[str, Any] = {}

    def ask(chains: Chains, problem: Problem | None) -> GoldStandard:
        asked["problem"], x = problem, chains._x_grid
        noise = np.random.default_rng(7).normal(0, 1 + np.abs(x[:, 0]), (40, len(x)))
        asked.setdefault("gold", Predictive.from_samples(0.6 * truth(x) + noise, 1.0))
        asked.setdefault("mixed", True)
        gold = GoldStandard(asked["gold"], "R-hat is 1.01.", asked["mixed"])
        return gold if problem else GoldStandard()

    monkeypatch.setattr(Chains, "ask", ask)
    return asked


@pytest.fixture
def every_picture_drawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw every picture in this test."""
    monkeypatch.setattr(stage.Stage, "render", RENDER)
    if "made" in request.fixturenames:
        with RENDER_LOCK:
            request.getfixturevalue("made")._worker.stage.canvas.render()


@pytest.fixture(scope="module")
def random_answers() -> Iterator[None]:
    """Replace the trained networks of the pictures' explorer by random class probabilities."""
    pictures, rng = strange_pictures.split(0), np.random.default_rng(0)

    def answers(n_networks: int) -> strange_pictures.Answers:
        shown = pictures.choose[0], pictures.test[0], pictures.strange
        logits = [rng.normal(0.0, 3.0, (n_networks, len(part), 8)) for part in shown]
        return strange_pictures.Answers(*(log_softmax(one, axis=2) for one in logits))

    sizes = 1, strange_pictures.MEMBERS, strange_pictures.DRAWS
    made = pictures, dict(zip(strange_pictures.KINDS, map(answers, sizes), strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unseen_pictures, "shown", lambda _: made)
        yield


# The comparison of all methods shares its model with the one of two, and refits six at a movement;
# the programs of learnt noise take long to compile.
LONG = ("ComparisonExplorer", "NoiseExplorer")
LIVE = [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in widgets.__all__]


@pytest.fixture(name="live", scope="module", params=LIVE)
def each_explorer(request: pytest.FixtureRequest, random_answers: None) -> Iterator[Any]:
    """Make each explorer, with short trainings of the VAE, and wait for its first picture."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vae_trainer, "STEPS", 25)
        made = getattr(widgets, request.param)().wait()
        yield made
        made.close()
