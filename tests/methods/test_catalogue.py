"""The catalogue lists every method and repeats the settings of modules it must not load."""

import pkgutil

from bdl_teach import methods
from bdl_teach.methods import empirical_bayes, local_reparam
from bdl_teach.methods.catalogue import CATALOGUE, MODULES, OTHER_TASKS


def test_every_public_method_module_is_in_the_catalogue() -> None:
    found = {m.name for m in pkgutil.iter_modules(methods.__path__) if not m.name.startswith("_")}
    assert found - {"catalogue"} == set(MODULES)
    assert not set(OTHER_TASKS) & {method.module for method in CATALOGUE.values()}


def test_settings_in_the_catalogue_equal_those_of_the_methods() -> None:
    """Reading the catalogue must not load TensorFlow."""
    assert CATALOGUE["local"].compared == local_reparam.QUIET
    assert CATALOGUE["lowest"].options == local_reparam.LOWEST
    assert CATALOGUE["eb"].compared == {"tie": "all", **empirical_bayes.QUIET}
