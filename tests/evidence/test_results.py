"""Results that are kept, and the verdicts of the package that are made of them."""

import json
import re
import warnings
from pathlib import Path

import pytest
from toys import SAID, Here, Toy, forget

from bdl_teach import claims as package
from evidence import claim, claims, results, source
from evidence.judge import ENOUGH
from evidence.results import Kept

ROOT = Path(__file__).resolve().parents[2]
FIGURES = {"b/0": {"x": 3e-7, "a": 0.0}, "a/0": {"y": 0.1234567, "x": -2.0}}


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.csv"
    results.write(path, Kept("1f", FIGURES))
    found = results.read(path)
    assert found == Kept("1f", {**FIGURES, "a/0": {"y": 0.123457, "x": -2.0}})
    results.write(path, found)
    assert results.read(path) == found


CODE = """
from bdl_teach.methods import bbb
from evidence.measured.toy_work import LIMIT, other
SIZE = 3  # of it
NAMES = ["a"]
NAMES.append("b")

def helper(x):
    return x + SIZE

def fits(world):
    '''Fit.'''
    return helper(world) + LIMIT + len(NAMES)

def beside(world):
    return other(world) - 1
"""
WORK = "LIMIT = 1\n\ndef other(x):\n    return 7\n"


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("SIZE = 3", "SIZE = 4", True),
        ("x + SIZE", "x - SIZE", True),
        ('append("b")', 'append("c")', True),
        ("+ LIMIT", "- LIMIT", True),
        ("LIMIT = 1", "LIMIT = 2", True),
        ("'''Fit.'''", "'''Fit it.'''", False),
        ("# of it", "# of them", False),
        ("(world) - 1", "(world) - 2", False),
        ("return 7", "return 8", False),
    ],
)
def test_hash_changes_with_code_that_the_function_uses(
    toy: Toy, old: str, new: str, changes: bool
) -> None:
    """Docstrings, comments and functions beside it do not count."""
    found = []
    for code, work in ((CODE, WORK), (CODE.replace(old, new), WORK.replace(old, new))):
        assert (code, work) != (CODE, WORK) or not found
        toy.module.write_text(code)
        toy.module.with_name("toy_work.py").write_text(work)
        forget()
        found.append(source.hash_of("evidence.measured.toy", "fits"))
    assert (found[0] != found[1]) is changes


def test_changed_code_that_measures_the_same_may_keep_its_results(claimed: Here, toy: Toy) -> None:
    """The first world is run to see that; if it does not, all are run."""
    text = toy.work.read_text()
    toy.module.write_text(text)
    claimed("toy-up", "--worlds=3")
    for now, ran in (("2.0 / 2 + world", [0]), ("1.5 + world", [0, 0, 1, 2])):
        forget()
        before = len(toy.ran())
        toy.module.write_text(text.replace("1.0 + world", now))
        claimed("toy-up", "--worlds=3", "--unchanged")
        assert toy.numbers()[before:] == ran


# What the package keeps


def test_package_has_the_verdicts_that_follow_from_the_results() -> None:
    assert package.FILE.read_text(encoding="utf-8") == claims.contents()


def test_stored_verdicts_are_of_the_present_code(pytestconfig: pytest.Config) -> None:
    """A stale one is a warning; with ``--all`` it is an error."""
    if old := claims.stale():
        said = f"measured by other code: {', '.join(old)}; run `claims --store`, maybe --unchanged"
        assert not pytestconfig.getoption("--all", default=False), said
        warnings.warn(said, stacklevel=1)


def test_changed_experiment_is_stale_and_one_without_results_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other, *_ = claim.experiments()
    for known, expected in (({one.name: "other code"}, [one.name]), ({one.name: one.source}, [])):
        monkeypatch.setattr(package, "stored", lambda known=known: {"sources": known})
        assert claims.stale() == expected and other.name not in known


def test_no_stored_verdict_has_fallen() -> None:
    found = {one: verdict for one, verdict in package.stored()["verdicts"].items() if verdict}
    assert len(found) > 100
    assert [one for one, verdict in found.items() if verdict["falls"]] == []
    (wide,) = (one for one in claim.experiments() if one.name == "beside-the-process")
    few = {one for one, verdict in found.items() if verdict["worlds"] < ENOUGH}
    assert few <= {one.id for one in wide.claims}


def test_chapters_show_only_what_is_stored() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "notebooks" / "text").glob("*.py")]
    listed = re.compile(r"(?:\bclaims\.show|^ids = )\(([^)*]*)\)", re.MULTILINE)
    calls = [call for text in texts for call in listed.findall(text)]
    shown = {one for call in calls for one in re.findall('"(.+?)"', call)}
    assert len(shown) > 30
    assert [one for one in shown if not package.stored()["verdicts"][one]] == []
    drawn = {name for text in texts for name in re.findall(r'claims\.measured\("(.+?)"\)', text)}
    assert drawn | {"beside-nuts", "refits"} == set(claims.DRAWN)
    for name in claims.DRAWN:
        assert package.measured(name) == results.read(results.FOLDER / f"{name}.csv").figures


def test_verdicts_are_shown_in_the_order_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    ids = ["evidence-loses-little", "evidence-can-prefer-a-worse-test"]
    found = package.show(*ids)
    assert [one.id for one in found] == ids and found[0].worlds == ENOUGH
    out = capsys.readouterr().out
    rows = [" ".join(line.split()) for line in out.splitlines()[2:]]
    first, met = found[0], f"{found[0].met} of {found[0].worlds}"
    assert rows[0] == f"evidence loses little {first.effect} < 0.05 {met} {first.verdict}"
    assert rows[1] == found[0].measure and rows[3] == found[1].measure
    assert len(rows) == 4 and rows[2].startswith("evidence can prefer a worse test 69.0 ± 2.8 % of")
    assert not any(one.claim in out for one in found)
    assert found[0].claim == claim.claims()[ids[0]].sentence and not found[0].falls


def test_verdicts_that_are_not_stored_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "stored", lambda: {"verdicts": {"a": None}, "figures": {}})
    with pytest.raises(LookupError, match="bdl_teach claims --store a$"):
        package.show("a")
    for ids in (["b"], []):
        with pytest.raises(ValueError, match="ids: expected some of a; got"):
            package.show(*ids)
    with pytest.raises(ValueError, match="name: expected one of"):
        package.measured("b")


def test_store_option_writes_the_verdicts_of_the_package(
    claimed: Here, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = toy.folder / "stored.json"
    monkeypatch.setattr(package, "FILE", file)
    monkeypatch.setattr(results, "FOLDER", toy.folder / "kept")
    assert claimed("toy-up", "--store", "--worlds=19").code == 2 and not file.exists()
    assert claimed("toy-up", "--store").code == 0
    found = json.loads(file.read_text("utf-8"))
    assert found["verdicts"]["other-seed"] is None and list(found["sources"]) == ["toy"]
    assert found["verdicts"]["toy-up"]["worlds"] == found["verdicts"]["toy-up"]["met"] == 20
    assert found["verdicts"]["toy-down"]["falls"]
    forget()
    toy.said.write_text(SAID.replace("above = 0.5", "above = 1.9"))
    assert claimed("toy-up", "--store").code == 1 and len(toy.ran()) == 20
    monkeypatch.undo()
    package.stored.cache_clear()
