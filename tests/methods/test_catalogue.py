"""The catalogue costs nothing to read, and a method that is put in as CONTRIBUTING says is there.

The method is the guide's own, in a copy of the package; beside it stand some that break the
written face, to see that the tests which hold for every method fail them.
"""

import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import guide
import pytest

from bdl_teach import methods
from bdl_teach.methods import empirical_bayes, local_reparam
from bdl_teach.methods.catalogue import CATALOGUE, MODULES, OTHER_TASKS

ROOT = Path(__file__).resolve().parents[2]
SECTION, BLOCKS = guide.section("A method"), guide.blocks("A method")
FILES = MODULE, TEST, ENTRY = (
    "bdl_teach/methods/random_features.py",
    "tests/methods/test_random_features.py",
    "bdl_teach/methods/catalogue.py",
)

SEED = 'default_rng(checks.count("seed", seed, 0))'
WRONG = {  # what stands in the guide, and what a careless method has in its place
    "one_draw": (f"{SEED}\n        v", "default_rng(0 * checks.count('seed', seed, 0))\n        v"),
    "new_draws": (f"{SEED}\n        v", "default_rng()\n        v"),
    "new_start": (f"{SEED}\n    shape", "default_rng()\n    shape"),
    "any_count": ('checks.count("n_samples", n_samples)', "int(n_samples)"),
    "one_place": ("_features(x, self.hidden).T,", "_features(x, self.hidden).T[:, :1],"),
    "by_place": ("    *,\n", ""),
    "not_frozen": ("@dataclass(frozen=True)", "@dataclass"),
}

# Run in the copy: what the comparison and the bench say of the new method.
LOOK = """
import json
from bdl_teach._commands.bench import methods
from bdl_teach.widgets import ComparisonExplorer

explorer = ComparisonExplorer().warm()
explorer.set(random=False)
before = explorer.png()
explorer.set(random=True)
(panel,) = [ax for ax in explorer._canvas.figure.axes if ax.get_title("left") == "random feat."]
(mean,) = [line for line in panel.lines if line.get_label() == "mean"]
told = {
    "button": explorer._controls["random"].tooltip,
    "status": explorer.status,
    "drawn": before != explorer.png(),
    "alt": explorer.ALT,
    "words": [text.get_text() for text in panel.texts],
    "visible": mean.get_visible(),
    "mean": (mean.get_ydata() == explorer.result.predictions["random"].mean).all(),
    "presets": [explorer.preset(name).state()["random"] for name in explorer.presets],
}
explorer.close()
(way,) = [way for way in methods.ways() if way.name == "random_features"]
told["bench"] = methods.as_text([methods.measure(way, 1)], [], [])
print(json.dumps(told, default=bool))
"""


def test_to_read_the_catalogue_loads_no_tensorflow() -> None:
    look = "from bdl_teach.methods import catalogue; import sys; print('tensorflow' in sys.modules)"
    assert python(ROOT, "-c", look) == "False"


def test_every_public_module_of_methods_is_in_it() -> None:
    found = {m.name for m in pkgutil.iter_modules(methods.__path__) if not m.name.startswith("_")}
    assert found - {"catalogue"} == set(MODULES)
    assert not set(OTHER_TASKS) & {method.module for method in CATALOGUE.values()}


def python(folder: Path, *arguments: str, fails: bool = False) -> str:
    """Run Python on a copy of the package; return what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the package and its tests with the guide's method in it, and the wrong ones."""
    folder = tmp_path_factory.mktemp("house")
    guide.copy_checkout(folder)
    entries = [BLOCKS[ENTRY]]
    for name, (right, wrong) in WRONG.items():
        assert BLOCKS[MODULE].count(right) == 1, right
        text = BLOCKS[MODULE].replace(right, wrong)
        (folder / f"bdl_teach/methods/{name}.py").write_text(text, encoding="utf-8")
        entries.append(f'    "{name}": Method("{name}", "", "", compared=None),\n')
    for path in (MODULE, TEST):
        assert not (folder / path).exists()
        (folder / path).write_text(BLOCKS[path], encoding="utf-8")
    before, end, after = (folder / ENTRY).read_text(encoding="utf-8").partition("}  # fmt: skip\n")
    (folder / ENTRY).write_text("".join([before, *entries, end, after]), encoding="utf-8")
    yield folder
    shutil.rmtree(folder)


def test_the_guide_names_three_files_and_shows_each() -> None:
    assert tuple(BLOCKS) == FILES
    named = re.findall(r"^\d\. `([\w/.]+)`", SECTION, re.MULTILINE)
    assert [path.replace("NAME", "random_features") for path in named] == list(FILES)
    assert BLOCKS[ENTRY].count("\n") == 1


@pytest.mark.slow
def test_a_new_method_is_in_the_comparison_and_in_the_bench(copy: Path) -> None:
    told = json.loads(python(copy, "-c", LOOK).splitlines()[-1])
    assert told["button"] == "a network with a random hidden layer"
    assert re.search(r"random feat\. \d+/\d+/\d+%", told["status"])
    assert told["drawn"] and told["visible"] and told["mean"] and not any(told["words"])
    assert told["alt"].startswith("Up to thirteen plots")
    assert not any(told["presets"]), "their sentences are about the six"
    assert re.search(r"\nrandom_features( +[\d.]+){3} +-\d\.\d+ +\d\.\d+", told["bench"])


@pytest.mark.slow
def test_the_tests_for_every_method_pass_the_new_one_and_fail_the_wrong_ones(copy: Path) -> None:
    names = " or ".join(("random", *WRONG))
    tests = (TEST, "tests/methods/test_methods_together.py")
    told = python(copy, "-m", "pytest", "-q", "-rA", "--tb=no", "-k", names, *tests, fails=True)
    assert len(re.findall(r"^PASSED .*random", told, re.MULTILINE)) >= 10
    assert not re.findall(r"^(?:FAILED|ERROR) .*random", told, re.MULTILINE)
    failed = dict.fromkeys(WRONG, "")
    for test, name in re.findall(r"^FAILED [^:]*::(\w+)\[(\w+)\]", told, re.MULTILINE):
        failed[name] += f"{test} "
    assert "another_seed_of_a_prediction" in failed["one_draw"]
    assert "repeats_itself_from_its_seed" in failed["new_draws"]
    assert "repeats_itself_from_its_seed" in failed["new_start"]
    assert "wrong_counts" in failed["any_count"]
    assert "same_kind_of_prediction" in failed["one_place"]
    assert "given_by_name" in failed["by_place"]
    assert "cannot_be_changed" in failed["not_frozen"]


def test_the_comparison_fits_quietly_by_the_settings_of_that_name() -> None:
    """They stand in the catalogue once more, since reading it must not load TensorFlow."""
    assert CATALOGUE["local"].compared == local_reparam.QUIET
    assert CATALOGUE["eb"].compared == {"tie": "all", **empirical_bayes.QUIET}
