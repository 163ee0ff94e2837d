"""Stored results: whole or absent, tied to the code that made them, and those in the package."""

from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from toys import Here, Toy

from bdl_teach import claims
from evidence import claim, runs, store
from evidence.judge import HOLDS
from evidence.measured import wide_networks
from evidence.table import Task

FIGURES = {"a/0": {"y": 0.12344, "x": -2.0}, "b/0": {"x": 3e-7, "a": 0.0}}


@pytest.mark.parametrize("damage", ['{"key": "even/ta', "[1, 2]"])
def test_damaged_record_is_computed_again(here: Here, toy: Toy, damage: str) -> None:
    expected = here("--quick").out
    path = min(toy.store.glob("*/*.json"))
    text = path.read_text()
    path.write_text(damage)
    assert here("--quick").out == expected
    assert len(toy.ran()) == 4 and path.read_text() == text


def test_stored_result_is_used_only_for_equal_arguments(tmp_path: Path) -> None:
    kept, quick = store.Store(tmp_path, "table", "code"), Task("one", {"n_draws": 20})
    kept.put(quick, {"y": 1.0})
    assert kept.get(quick) == {"y": 1.0}
    assert kept.get(Task("one", {"n_draws": 200})) is None


def test_fingerprint_includes_only_imported_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "deep.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    code.write_text("def run():\n    from bdl_teach.methods.pbp import fit\n    import numpy\n")
    found = set(store.reached("deep"))
    assert {"deep", "bdl_teach.methods.pbp", "bdl_teach.mlp"} <= found
    assert not {"bdl_teach.methods.vae", "bdl_teach.methods.bbb", "numpy"} & found
    code.write_text("from bdl_teach.methods.catalogue import CATALOGUE\n")
    assert {"bdl_teach.methods.bbb", "bdl_teach.methods.pbp"} <= set(store.reached("deep"))


def test_fingerprint_changes_with_code_and_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "alone.py"
    monkeypatch.syspath_prepend(str(tmp_path))

    def fresh(text: str) -> str:
        code.write_text(text)
        store.fingerprint.cache_clear()
        return store.fingerprint("alone")

    one, two = fresh("def run():\n    return 1\n"), fresh("def run():\n    return 2\n")
    assert fresh("def run():\n    return 1\n") == one != two
    monkeypatch.setattr(store.bdl_teach, "__version__", "another")
    assert (other := fresh("def run():\n    return 1\n")) not in (one, two)
    asked: list[str] = []
    monkeypatch.setattr(store, "version", lambda library: asked.append(library) or "another")
    assert fresh("def run():\n    return 1\n") not in (one, two, other)
    providers = packages_distributions()
    for name in ("numpy", "scipy", "sklearn", "tensorflow", "tensorflow_probability", "tf_keras"):
        named = {provider.replace("_", "-") for provider in providers[name]}
        assert named & set(asked), name


def test_stored_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text(store.kept_as_csv(store.Kept("Made by: me.", FIGURES)), encoding="utf-8")
    found = store.read_kept(path)
    assert found == store.Kept("Made by: me.", {**FIGURES, "a/0": {"y": 0.1234, "x": -2.0}})
    assert path.read_text(encoding="utf-8") == store.kept_as_csv(found)


def test_claims_hold_in_the_stored_worlds() -> None:
    (wide,) = (one for one in claim.experiments() if one.name == "beside-the-process")
    kept = store.read_kept(runs.stored_in(wide))
    assert list(kept.figures) == [f"beside-the-process/world-000{n}" for n in range(8)]
    for figures in kept.figures.values():
        assert max(value for name, value in figures.items() if name.endswith("r-hat")) < 1.05
    for finding in claims.stored(*(one.id for one in wide.claims)):
        assert finding.verdict == HOLDS and len(finding.effects) == 8
        assert finding.claim.id in kept.made
    assert wide_networks.beyond_chance({"a": 0.3, "a-error": 0.1}, "a") == pytest.approx(0.08)


def test_no_claim_with_stored_worlds_has_fallen() -> None:
    stored = [one for one in claim.experiments() if runs.stored_in(one).exists()]
    found = claims.stored(*(claim.id for one in stored for claim in one.claims))
    assert len(stored) > 1 and [one.claim.id for one in found if one.verdict != HOLDS] == []


def test_claim_without_stored_worlds_is_refused() -> None:
    with pytest.raises(OSError, match="gap_bands.csv"):
        claims.stored("dropout-covers-little-of-the-gap")
