"""What the tests of explorers share: a picture at rest stays, unless a test wants it improved."""

from collections.abc import Iterator

import pytest

from bdl_teach.widgets._engine import live

_REST = live.REST


@pytest.fixture(scope="module", autouse=True)
def nothing_is_improved_at_rest() -> Iterator[None]:
    """It would change under a test that looks at it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live, "REST", 3600.0)
        yield


@pytest.fixture
def improved_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """What moves from now on is improved once it rests, as in a page."""
    monkeypatch.setattr(live, "REST", _REST)
