"""Explorers: sliders over a model that is refitted on every tick. No maths in here.

An explorer is a data file, ``texts/NAME.toml``, and a module, or a folder where it has parts. The
file has its controls, presets, question, missions and status line; ``_engine/texts.py`` says how it
is read. The module has a frozen dataclass of what a tick computes, and a class that computes and
draws it, and names its figures (``_readings``): ``_engine/contract.py`` says what the class
defines. ``kl_budget_lab.py`` is a short one to read first.

To add a preset: a row in its ``[presets]``; and if its sentence says more than the values do, a row
in ``tests/widgets/test_presets.py``, or a claim.

To add an explorer: its data file and its module here, a line in both lists below, what its artists
hold in a test file (what holds of each, ``test_contract.py`` asks), and a cell in a notebook.

A module loads when its explorer is named: a chapter's first picture waits for no other.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bdl_teach.widgets.empirical_bayes import EmpiricalBayesExplorer as EmpiricalBayesExplorer
    from bdl_teach.widgets.gradient_lab import GradientLab as GradientLab
    from bdl_teach.widgets.kl_budget_lab import KLBudgetLab as KLBudgetLab
    from bdl_teach.widgets.latent_map import VAEExplorer as VAEExplorer
    from bdl_teach.widgets.linear import LinearRegressionExplorer as LinearRegressionExplorer
    from bdl_teach.widgets.local_reparam_lab import LocalReparamLab as LocalReparamLab
    from bdl_teach.widgets.pbp_stepper import PBPStepper as PBPStepper
    from bdl_teach.widgets.side_by_side.comparison import ComparisonExplorer as ComparisonExplorer
    from bdl_teach.widgets.side_by_side.rivals import RivalsExplorer as RivalsExplorer
    from bdl_teach.widgets.sinusoid.explorer import SinusoidExplorer as SinusoidExplorer
    from bdl_teach.widgets.truth.explorer import TruthExplorer as TruthExplorer
    from bdl_teach.widgets.unseen_pictures import PicturesExplorer as PicturesExplorer

_MODULES = {
    "ComparisonExplorer": "side_by_side.comparison",
    "EmpiricalBayesExplorer": "empirical_bayes",
    "GradientLab": "gradient_lab",
    "KLBudgetLab": "kl_budget_lab",
    "LinearRegressionExplorer": "linear",
    "LocalReparamLab": "local_reparam_lab",
    "PBPStepper": "pbp_stepper",
    "PicturesExplorer": "unseen_pictures",
    "RivalsExplorer": "side_by_side.rivals",
    "SinusoidExplorer": "sinusoid.explorer",
    "TruthExplorer": "truth.explorer",
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
