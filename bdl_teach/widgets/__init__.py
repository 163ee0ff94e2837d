"""Explorers: controls over a picture of a model that is refitted at each movement of a control.

An explorer is a data file, ``texts/NAME.toml``, and a module. The file defines the controls,
presets, question, missions and status line (``_engine/texts.py`` describes its format). The module
defines a frozen dataclass of results, and a class that computes and draws them
(``_engine/contract.py`` describes its methods). Read ``kl_budget_lab.py`` first: it is short.

To add a preset, add a row to ``[presets]``. If its sentence says what the picture shows, add a test
to ``tests/widgets/test_presets.py`` or a claim.

To add an explorer, add the two files, a line to ``_MODULES``, a test file for what its artists
show, and a cell in a notebook. ``tests/widgets/test_contract.py`` tests all explorers.

Each module is imported only when its explorer is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "ComparisonExplorer": "comparison",
    "EmpiricalBayesExplorer": "empirical_bayes",
    "GradientLab": "gradient_lab",
    "KLBudgetLab": "kl_budget_lab",
    "LinearRegressionExplorer": "linear",
    "LocalReparamLab": "local_reparam_lab",
    "PBPStepper": "pbp_stepper",
    "PicturesExplorer": "unseen_pictures",
    "RivalsExplorer": "rivals",
    "SinusoidExplorer": "sinusoid",
    "TruthExplorer": "truth",
    "VAEExplorer": "latent_map",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    """Import and return the explorer ``name`` when it is first used."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
