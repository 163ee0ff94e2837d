"""The catalogue costs nothing to read, and a method that is put in as CONTRIBUTING says is there.

The method is the guide's own, in a copy of the package; beside it stand some that break the
written face, to see that the tests which hold for every method fail them.
"""

import os
import pkgutil
import subprocess
import sys
from pathlib import Path

from bdl_teach import methods
from bdl_teach.methods import empirical_bayes, local_reparam
from bdl_teach.methods.catalogue import CATALOGUE, MODULES, OTHER_TASKS

ROOT = Path(__file__).resolve().parents[2]


def test_to_read_the_catalogue_loads_no_tensorflow() -> None:
    look = "from bdl_teach.methods import catalogue; import sys; print('tensorflow' in sys.modules)"
    assert python(ROOT, "-c", look) == "False"


def test_every_public_method_module_is_in_the_catalogue() -> None:
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


def test_the_comparison_fits_quietly_by_the_settings_of_that_name() -> None:
    """They stand in the catalogue once more, since reading it must not load TensorFlow."""
    assert CATALOGUE["local"].compared == local_reparam.QUIET
    assert CATALOGUE["eb"].compared == {"tie": "all", **empirical_bayes.QUIET}
