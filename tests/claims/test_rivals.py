"""The table of the rivals: what is kept is what the code measures, and what its page shows."""

from dataclasses import replace
from pathlib import Path

import pytest

from bdl_teach import claims
from bdl_teach.claims import rivals, runner
from bdl_teach.claims.claim import World
from bdl_teach.claims.experiments import beside_nuts, chapter10
from bdl_teach.claims.judge import HOLDS
from bdl_teach.methods.catalogue import CATALOGUE

KEPT = rivals.read()


def kept(world: World) -> dict[str, float]:
    """The stored figures in the place of the experiment's."""
    return {**KEPT.worlds[world.number], "converged": float(world.number > 2)}


def times(world: World) -> dict[str, float]:
    return {name: 7.0 + i for i, name in enumerate(rivals.LABELS)}


kept.__module__ = times.__module__ = rivals.__name__  # whose text the store's fingerprint reads


def test_it_has_every_method_that_is_measured_and_each_of_the_catalogues_twelve_modules() -> None:
    assert tuple(rivals.LABELS) == (*beside_nuts.RIVALS, "nuts")
    asked = {"last_layer": "laplace", "local": "local", "eb": "eb"}
    there = {CATALOGUE[asked.get(name, name)].module for name in rivals.LABELS}
    assert there == {method.module for method in CATALOGUE.values()} and len(there) == 12


def test_the_file_has_twenty_worlds_and_is_written_as_it_is_read() -> None:
    assert len(KEPT.worlds) == 20 and "Made by: python3 -m bdl_teach claims" in KEPT.made
    assert rivals.as_csv(KEPT) == rivals.FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["map", "infinite", "laplace"])
def test_what_is_kept_is_what_the_code_gives(name: str) -> None:
    """Of the quick ones: a change of a method asks for a new table."""
    figures = chapter10.scores(chapter10.predictives(World(3), [name]), World(3))
    assert len(figures) == 13
    for figure, value in figures.items():
        assert KEPT.worlds[3][figure] == pytest.approx(value, rel=0.05, abs=0.02), figure


def test_the_claims_hold_in_the_worlds_that_are_kept() -> None:
    """They are twenty: no sample of them need be run again."""
    found = runner.judged(beside_nuts.BESIDE_NUTS, [], KEPT.worlds)
    assert len(found) > 5 and [f.claim.id for f in found if f.verdict != HOLDS] == []


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside_nuts, "BESIDE_NUTS", replace(beside_nuts.BESIDE_NUTS, run=kept))
    monkeypatch.setattr(beside_nuts, "milliseconds", times)


def test_the_command_prints_the_table_and_writes_the_file(
    quick: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "made.csv"
    argv = ["--table=rivals", "--first-world=2", "--worlds=3", f"--csv={made}"]
    for _ in range(2):  # the second time from the store
        assert claims.main([*argv, f"--store={tmp_path}"]) == 0
    printed = capsys.readouterr().out
    row = next(line.split() for line in printed.splitlines() if line.startswith("NUTS"))
    assert row[-1] == "22.0" and printed.endswith(rivals.NOTES[-1] + "\n")
    table = rivals.read(made)
    assert table.worlds == KEPT.worlds[2:5] and "converged in 2 of 3 worlds" in table.made
    assert "--worlds 3 --first-world 2" in table.made and table.milliseconds["mle"] == 7.0
    assert "\nmap,4,8," in made.read_text(encoding="utf-8")
