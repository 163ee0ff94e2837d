"""The catalogue costs nothing to read."""

import pkgutil
import subprocess
import sys

from bdl_teach import methods
from bdl_teach.methods.catalogue import CATALOGUE, MODULES, OTHER_TASKS


def test_to_read_the_catalogue_loads_no_tensorflow() -> None:
    told = "from bdl_teach.methods import catalogue; import sys; print('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_public_module_of_methods_is_in_it_once() -> None:
    found = {m.name for m in pkgutil.iter_modules(methods.__path__) if not m.name.startswith("_")}
    assert found - {"catalogue"} == set(MODULES)
    assert not set(OTHER_TASKS) & {method.module for method in CATALOGUE.values()}
