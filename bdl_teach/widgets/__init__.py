"""Explorers: pictures of a model, with controls; the model is refitted when a control moves.

The data file of an explorer, ``texts/NAME.toml``, defines its controls and all texts; its module
defines a frozen dataclass of results, and a class that computes and draws them with the methods
that ``_engine/contract.py`` describes. Read ``kl_budget_lab.py`` first: it is short. Each module
is imported only when its explorer is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "ComparisonExplorer": "side_by_side",
    "EmpiricalBayesExplorer": "empirical_bayes",
    "GradientLab": "gradient_lab",
    "KLBudgetLab": "kl_budget_lab",
    "LinearRegressionExplorer": "linear",
    "LocalReparamLab": "local_reparam_lab",
    "PBPStepper": "pbp_stepper",
    "PicturesExplorer": "unseen_pictures",
    "RivalsExplorer": "side_by_side",
    "SinusoidExplorer": "sinusoid",
    "TruthExplorer": "truth",
    "VAEExplorer": "latent_map",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
