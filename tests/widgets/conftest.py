"""What the tests of explorers share: a picture at rest stays, unless a test wants it improved.

And it is drawn where a test looks at it: none of these has a page in its own process.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explorer_claims import SHOW_PICTURE

from bdl_teach import widgets
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem, truth
from bdl_teach.widgets._engine import live, worker
from bdl_teach.widgets._engine.beside_truth import Chains, GoldStandard
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from tests.widgets.idle import idle_explorer

HERE = Path(__file__).parent
_WAITS, _PREPARE = Chains.waits, Chains.prepare


@pytest.fixture(scope="module", autouse=True)
def nothing_is_improved_at_rest() -> Iterator[None]:
    """It would change under a test that looks at it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "REST", 3600.0)
        yield


@pytest.fixture(scope="module", autouse=True)
def chains_never_run() -> Iterator[None]:
    """A stand-in is shown for the true posterior, or nothing: its program takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Chains, "waits", lambda _: True)
        patch.setattr(Chains, "prepare", lambda *_: None)
        yield


@pytest.fixture
def chains_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The true posterior is sampled, as outside the tests."""
    monkeypatch.setattr(Chains, "waits", _WAITS)
    monkeypatch.setattr(Chains, "prepare", _PREPARE)


@pytest.fixture(scope="module", autouse=True)
def no_picture_is_drawn_for_nobody(request: pytest.FixtureRequest) -> Iterator[None]:
    """Artists are moved all the same; to draw them is half of an explorer's time in the tests."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.parent == HERE:  # what makes the pictures is tested below it
            patch.setattr(live.Explorer, "_show_picture", lambda *_, **__: None)
        yield


@pytest.fixture(scope="module", params=widgets.__all__)
def idle(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An explorer whose worker has not been started, for whom nothing waits."""
    with idle_explorer(request.param) as one:
        one._slot.take()
        yield one


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The module's ``EXPLORER``, which has a first picture."""
    one = request.module.EXPLORER().wait(300)
    yield one
    one.close()


@pytest.fixture
def explorer(made: Any, request: pytest.FixtureRequest) -> Any:
    """It at its start, or where a test asks for it: see ``set_to``."""
    values = {**made.DEFAULTS, **dict.fromkeys(made.TEXTS.stays, False)}
    own = {"data": None} if "data" in made._controls else {}
    return made.set(**{**values, **own, **getattr(request, "param", {})})


@pytest.fixture
def nuts(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A stand-in for the true posterior, as ``"gold"``; what it was asked for is kept."""
    asked: dict[str, Any] = {}

    def ask(chains: Chains, problem: Problem | None) -> GoldStandard:
        asked["problem"], x = problem, chains._x_grid
        noise = np.random.default_rng(7).normal(0, 1 + np.abs(x[:, 0]), (40, len(x)))
        asked.setdefault("gold", Predictive.from_samples(0.6 * truth(x) + noise, 1.0))
        return GoldStandard(asked["gold"], "R-hat is 1.01.") if problem else GoldStandard()

    monkeypatch.setattr(Chains, "ask", ask)
    return asked


@pytest.fixture
def drawn_unseen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every picture is drawn, as outside the tests: that before the first movement, too."""
    monkeypatch.setattr(live.Explorer, "_show_picture", SHOW_PICTURE)
    if "made" in request.fixturenames:
        with RENDER_LOCK:
            request.getfixturevalue("made")._canvas.render()
