"""Explorers: pictures of a model, with controls; the model is refitted when a control moves.

The data file of an explorer, ``texts/NAME.toml``, defines its controls and all texts; its module
defines a frozen dataclass of results, and a class that computes and draws them with the methods
that ``_engine/model.py`` describes. Read ``kl_budget_lab.py`` first: it is short. Each module
is imported only when its explorer is first used.
"""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from typing import Any

_MODELS = {
    "ComparisonExplorer": "side_by_side.ComparisonModel",
    "EmpiricalBayesExplorer": "empirical_bayes.EmpiricalBayesModel",
    "GradientLab": "gradient_lab.GradientModel",
    "KLBudgetLab": "kl_budget_lab.KLBudgetModel",
    "LinearRegressionExplorer": "linear.LinearRegressionModel",
    "LocalReparamLab": "local_reparam_lab.LocalReparamModel",
    "NoiseExplorer": "noise.NoiseModel",
    "PBPStepper": "pbp_stepper.PBPModel",
    "PicturesExplorer": "unseen_pictures.PicturesModel",
    "RivalsExplorer": "side_by_side.RivalsModel",
    "SinusoidExplorer": "sinusoid.SinusoidModel",
    "TruthExplorer": "truth.TruthModel",
    "VAEExplorer": "latent_map.VAEModel",
}

__all__ = list(_MODELS)


def missions() -> list[str]:
    """Return the ids of all missions in the explorers' data files."""
    folder = Path(__file__).with_name("texts")
    files = [tomllib.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.toml")]
    return [name for file in files for name in file.get("missions", {})]


def __getattr__(name: str) -> Any:
    """Make the class of an explorer when it is first asked for."""
    if name not in _MODELS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from bdl_teach.widgets._engine.live import Explorer

    module, _, model = _MODELS[name].partition(".")
    made = Explorer.of(name, getattr(importlib.import_module(f"{__name__}.{module}"), model))
    globals()[name] = made
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
