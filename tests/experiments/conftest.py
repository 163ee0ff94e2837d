"""The toys, as if they came with the package."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from toys import Here, Toy, forget, runs

from bdl_teach.experiments import measured, papers


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toy]:
    """Put the toys where experiments and tables are looked for; `forget` has them read again."""
    toy = Toy(tmp_path)
    monkeypatch.setattr(measured, "__path__", [str(toy.module.parent)])
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(toy.paper.parent)])
    monkeypatch.syspath_prepend(str(toy.folder))
    monkeypatch.setenv("TOY_LOG", str(toy.log))
    forget()
    yield toy
    forget()


@pytest.fixture
def here(toy: Toy, capsys: pytest.CaptureFixture[str]) -> Here:
    """Reproduce the toy table in this process."""
    return runs(toy, capsys, "reproduce", "toy")


@pytest.fixture
def claimed(toy: Toy, capsys: pytest.CaptureFixture[str]) -> Here:
    """Run the toy claims in this process."""
    return runs(toy, capsys, "claims")
