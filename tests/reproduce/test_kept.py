"""Figures that come with the package: read as they were written, and summed up as a run's are."""

from pathlib import Path

import pytest

from bdl_teach import reproduce
from bdl_teach.reproduce import kept
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


def test_what_is_stored_is_summed_up_as_a_run_is() -> None:
    rows = reproduce.stored("ood-controls")
    labels = [row.label for row in rows if row.quantity == "NLL"]
    networks = ["ordinary", "ensemble", "BBB", "ensemble − ordinary", "BBB − ordinary"]
    assert labels == [f"720 pictures, {network}" for network in networks]
    losses = [f["nll"] for key, f in kept.read(CONTROLS).figures.items() if "/BBB/" in key]
    bbb = next(row for row in rows if (row.label, row.quantity) == ("720 pictures, BBB", "NLL"))
    assert bbb.ours == pytest.approx(sum(losses) / 5) and bbb.n == 5
