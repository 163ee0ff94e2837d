"""Fixtures that install a toy experiment and a toy table in the package."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import EXPERIMENTS, Run, plant
from forgetting import clear
from toys import Here, Toy, forget
from toys import runs as runner

from bdl_teach.claims import World
from evidence import measured, papers


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toy]:
    """Yield the toys, placed where the package looks for experiments and tables."""
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
    """Return a function that reproduces the toy table in this process."""
    return runner(toy, capsys, "reproduce", "toy")


@pytest.fixture
def claimed(toy: Toy, capsys: pytest.CaptureFixture[str]) -> Here:
    """Return a function that runs the toy claims in this process."""
    return runner(toy, capsys, "claims")


@pytest.fixture(scope="session")
def runs() -> Iterator[dict[str, Run]]:
    """Run every experiment with fakes."""
    found = {}
    for name, one in EXPERIMENTS.items():
        with pytest.MonkeyPatch.context() as patch:
            record = plant(patch)
            trained = one.trial.fits(World(0))
            found[name] = Run(trained, record, one.trial.measure(trained))
    clear()
    yield found
    clear()
