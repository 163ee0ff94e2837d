"""The stored results table agrees with the code, and the page shows it."""

import os
import re
from pathlib import Path

import pytest
import snapshot

from bdl_teach import cli
from bdl_teach.claims import World, rivals
from bdl_teach.methods.catalogue import CATALOGUE
from evidence.measured import beside_nuts, chapter10

KEPT = rivals.read()
PAGE = Path(__file__).resolve().parents[2] / "docs" / "results.md"
MARKS = re.compile(r"(?<=<!-- table of the rivals -->\n\n)[^!]*(?=\n\n<!-- end of the table -->)")


def test_comparison_includes_each_method_of_the_catalogue() -> None:
    assert {CATALOGUE[name].module for name in rivals.LABELS if name in CATALOGUE} == {
        method.module for method in CATALOGUE.values()
    }


def as_markdown(table: rivals.Rivals) -> str:
    """Return the whole table with its notes."""
    every = tuple(rivals.COLUMNS)
    lines = [rivals.heads(every), *rivals.cells(table, every)]
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    ruled = [rows[0], "|---|" + "--:|" * (len(lines[0]) - 1), *rows[1:]]
    return "\n\n".join(["\n".join(ruled), *rivals.NOTES])


def test_results_page_shows_the_stored_comparison_of_methods() -> None:
    """In update mode the table is written to the page first."""
    there = PAGE.read_text(encoding="utf-8")
    assert len(MARKS.findall(there)) == 1
    wanted = MARKS.sub(lambda _: as_markdown(KEPT), there)
    if os.environ.get(snapshot.VARIABLE):
        PAGE.write_text(wanted, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == wanted


@pytest.mark.parametrize("name", ["map", "infinite", "laplace"])
def test_new_fits_match_the_stored_results(name: str) -> None:
    """Check quick methods; if one changes, compute the table again."""
    found = chapter10.judged(chapter10.fits(World(3), [name]), World(3))
    figures = {key: v for key, v in chapter10.scores(found).items() if key in KEPT.worlds[3]}
    assert len(figures) == 13
    for figure, value in figures.items():
        assert KEPT.worlds[3][figure] == pytest.approx(value, rel=0.05, abs=0.02), figure


def test_claims_command_prints_rivals_table_and_writes_its_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def kept(world: World) -> dict[str, float]:
        return {**KEPT.worlds[world.number], "converged": float(world.number > 2)}

    times = {name: 7.0 + i for i, name in enumerate(rivals.LABELS)}
    monkeypatch.setattr(beside_nuts, "beside_nuts", kept)
    monkeypatch.setattr(beside_nuts, "milliseconds", lambda world: times)
    argv = ["--table=rivals", "--first-world=2", "--worlds=3", f"--csv={tmp_path / 'made.csv'}"]
    for _ in range(2):  # the second time from what is kept
        assert cli.inside(["claims", *argv, f"--results={tmp_path}"]) == 0
    printed = capsys.readouterr().out
    row = next(line.split() for line in printed.splitlines() if line.startswith("NUTS"))
    assert row[-1] == f"{times['nuts']:.1f}" and printed.endswith(rivals.NOTES[-1] + "\n")
    assert "converged in 2 of 3 worlds" in printed
    assert "\nMLE †," in (tmp_path / "made.csv").read_text(encoding="utf-8")
