"""Explorers: sliders over a model that is refitted on every tick. No maths in here."""

from __future__ import annotations

from bdl_teach.widgets.comparison.explorer import ComparisonExplorer
from bdl_teach.widgets.empirical_bayes import EmpiricalBayesExplorer
from bdl_teach.widgets.gradient_lab import GradientLab
from bdl_teach.widgets.kl_budget_lab import KLBudgetLab
from bdl_teach.widgets.linear import LinearRegressionExplorer
from bdl_teach.widgets.local_reparam_lab import LocalReparamLab
from bdl_teach.widgets.pbp_stepper import PBPStepper
from bdl_teach.widgets.sinusoid.explorer import SinusoidExplorer
from bdl_teach.widgets.vae.explorer import VAEExplorer

__all__ = [
    "ComparisonExplorer",
    "EmpiricalBayesExplorer",
    "GradientLab",
    "KLBudgetLab",
    "LinearRegressionExplorer",
    "LocalReparamLab",
    "PBPStepper",
    "SinusoidExplorer",
    "VAEExplorer",
]
