"""bdl_teach: learn Bayesian deep learning with models that are refitted live.

Submodules are imported on first use, and TensorFlow with the first method, so that importing the
package takes almost no time. Any Python 3 can read this file (see _cli/python_version.py).
"""

import importlib
from types import ModuleType

from bdl_teach._support.errors import DatasetUnavailable, DivergedError

__version__ = "1.1.0"

_NAMES = (
    "backend",
    "calibration",
    "claims",
    "datasets",
    "densities",
    "elbo",
    "estimators",
    "exercises",
    "expectation_gradients",
    "features",
    "likelihoods",
    "methods",
    "metrics",
    "mlp",
    "optimise",
    "plots",
    "predictive",
    "widgets",
)
_ELSEWHERE = {"doctor": "_cli.doctor"}  # chapter 0 calls it

__all__ = ["DatasetUnavailable", "DivergedError", "__version__", *_NAMES, *_ELSEWHERE]


def __getattr__(name: str) -> ModuleType:
    """Import a submodule on first use."""
    if name in _NAMES or name in _ELSEWHERE:
        return importlib.import_module("bdl_teach." + _ELSEWHERE.get(name, name))
    raise AttributeError("module 'bdl_teach' has no attribute " + repr(name))


def __dir__() -> "list[str]":
    return sorted(__all__)
