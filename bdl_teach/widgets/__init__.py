"""Explorers: sliders over a model that is refitted on every tick. No maths in here."""

from __future__ import annotations

from bdl_teach.widgets.kl_budget import KLBudgetLab
from bdl_teach.widgets.linear import LinearRegressionExplorer
from bdl_teach.widgets.sinusoid import SinusoidExplorer

__all__ = ["KLBudgetLab", "LinearRegressionExplorer", "SinusoidExplorer"]
