"""Figures that come with the package: read as they were written, and summed up as a run's are."""

from pathlib import Path

import pytest

from bdl_teach import reproduce
from bdl_teach._support.report import machine_line
from bdl_teach.reproduce import kept, tables
from bdl_teach.reproduce.tables import ood_controls

CONTROLS = Path(ood_controls.__file__).with_suffix(".csv")
FIGURES = {"a/0": {"y": 0.12344, "x": -2.0}, "b/0": {"x": 3e-7, "a": 0.0}}


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text(kept.as_csv(kept.Kept("Made by: me.", FIGURES)), encoding="utf-8")
    found = kept.read(path)
    assert found == kept.Kept("Made by: me.", {**FIGURES, "a/0": {"y": 0.1234, "x": -2.0}})
    assert path.read_text(encoding="utf-8") == kept.as_csv(found)
    heads = path.read_text(encoding="utf-8").splitlines()[1]
    assert heads == "task,y,x,a", "names as the first that has them gives them"


def test_a_file_says_on_what_machine_it_was_made() -> None:
    words = "python3 -m bdl_teach reproduce toy --figures FILE"
    assert kept.made_by("reproduce toy") == f"Made by: {words}. {machine_line()}"


def test_the_controls_are_five_seeds_of_each_network_and_say_how_they_were_made() -> None:
    found = kept.read(CONTROLS)
    made = "python3 -m bdl_teach reproduce ood-controls --only '720' --figures FILE"
    assert found.made.startswith(f"Made by: {made}.")
    wanted = {task.key for task in ood_controls.tasks(False) if task.arguments["pictures"] == "720"}
    assert set(found.figures) == wanted and len(wanted) == 15


def test_what_is_stored_is_summed_up_as_a_run_is() -> None:
    rows = reproduce.stored("ood-controls")
    labels = [row.label for row in rows if row.quantity == "NLL"]
    networks = ["ordinary", "ensemble", "BBB", "ensemble − ordinary", "BBB − ordinary"]
    assert labels == [f"720 pictures, {network}" for network in networks]
    losses = [f["nll"] for key, f in kept.read(CONTROLS).figures.items() if "/BBB/" in key]
    bbb = next(row for row in rows if (row.label, row.quantity) == ("720 pictures, BBB", "NLL"))
    assert bbb.ours == pytest.approx(sum(losses) / 5) and bbb.n == 5


def test_a_table_without_a_file_is_none_of_these() -> None:
    assert "pbp-uci" in reproduce.files()
    with pytest.raises(OSError, match="pbp_uci.csv"):
        reproduce.stored("pbp-uci")
    assert {path.stem for path in Path(tables.__path__[0]).glob("*.csv")} == {"ood_controls"}
