"""Explorers: sliders over a model that is refitted on every tick. No maths in here.

An explorer is a data file, ``texts/NAME.toml``, and a module. The file has its controls, presets,
question, missions and status line; ``_engine/texts.py`` says how it is read. The module has a
frozen dataclass of what a tick computes, and a class that computes and draws it, and names its
figures (``_readings``): ``_engine/contract.py`` says what the class defines. ``kl_budget_lab.py``
is a short one to read first.

To add a preset: a row in its ``[presets]``; and if its sentence says more than the values do, a row
in ``tests/widgets/test_presets.py``, or a claim.

To add an explorer: its data file and its module here, a line below, what its artists
hold in a test file (what holds of each, ``test_contract.py`` asks), and a cell in a notebook.

A module loads when its explorer is named: a chapter's first picture waits for no other.
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
    """Load an explorer the first time that it is named."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
