"""The table of mutants is in step with the code; `tools/mutate.py` runs it."""

import ast
import re
from pathlib import Path

import mutate
import pytest

ROOT = Path(__file__).resolve().parent.parent


MUTANTS = mutate.read()


def test_each_mutant_changes_one_place_and_its_tests_are_there() -> None:
    for mutant in MUTANTS:
        ast.parse(mutant.apply(ROOT))
        assert mutant.find != mutant.replace, mutant
        assert mutant.tests and all((ROOT / test).is_file() for test in mutant.tests), mutant
        assert mutant.what == mutant.what.strip(), mutant


def test_no_mutant_stands_twice() -> None:
    assert len({(m.file, m.find, m.replace) for m in MUTANTS}) == len(MUTANTS)


@pytest.fixture(autouse=True)
def plain_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs below needs none of the plugins, which take seconds to load."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def test_a_mutant_that_is_noticed_and_one_that_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "bdl_teach"
    package.mkdir()
    (package / "__init__.py").write_text("TWO = 2\nUNSEEN = 3\n", encoding="utf-8")
    test = tmp_path / "test_two.py"
    test.write_text("from bdl_teach import TWO\n\n\ndef test_two(): assert TWO == 2\n", "utf-8")
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    monkeypatch.setattr(mutate, "PARTS", ("bdl_teach", "test_two.py"))
    noticed = mutate.Mutant("bdl_teach/__init__.py", "= 2", "= 4", ("test_two.py",), "four")
    lives = mutate.Mutant("bdl_teach/__init__.py", "= 3", "= 4", ("test_two.py",), "unseen")
    with mutate.copies(2) as places:
        assert mutate.hunt([noticed, lives], places, 60) == 1
    said = capsys.readouterr().out
    assert re.search(r"noticed .*: four", said) and re.search(r"LIVED .*: unseen", said)
    assert "1 of 2 mutants were noticed." in said
    assert package.joinpath("__init__.py").read_text("utf-8") == "TWO = 2\nUNSEEN = 3\n"


def test_tests_that_fail_without_a_mutant_prove_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_red.py").write_text("def test_red(): assert False\n", "utf-8")
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    monkeypatch.setattr(mutate, "PARTS", ("test_red.py",))
    mutant = mutate.Mutant("test_red.py", "False", "None", ("test_red.py",), "none")
    with mutate.copies(1) as places:
        assert mutate.hunt([mutant], places, 60) == 1
    assert "FAILS WITHOUT A MUTANT  test_red.py" in capsys.readouterr().out
