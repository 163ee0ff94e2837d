"""What the tests of explorers share: a picture at rest stays, unless a test wants it improved.

And it is drawn where a test looks at it: none of these has a page in its own process.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from explorer_claims import SHOW_PICTURE

from bdl_teach.widgets._engine import live, worker
from bdl_teach.widgets._engine.beside_truth import Chains
from bdl_teach.widgets._engine.canvas import RENDER_LOCK

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


@pytest.fixture
def drawn_unseen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every picture is drawn, as outside the tests: that before the first movement, too."""
    monkeypatch.setattr(live.Explorer, "_show_picture", SHOW_PICTURE)
    for name in {"explorer", "lab"} & set(request.fixturenames):
        explorer = request.getfixturevalue(name)
        with RENDER_LOCK:
            explorer._canvas.render()
