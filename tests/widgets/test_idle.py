"""A dimmed control changes nothing that is shown."""

from __future__ import annotations

from typing import Any

import pytest
from explorer_claims import pixels

from bdl_teach import widgets

# Of an explorer: where something is dimmed, what that is, and another value of it.
IDLE: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("SinusoidExplorer", {"pi": 0.0}, {"sigma1": 3.0}),
    ("SinusoidExplorer", {"pi": 1.0}, {"sigma2": 1.0}),
    ("SinusoidExplorer", {"sigma1": 1.0, "sigma2": 1.0}, {"pi": 0.2}),
    ("EmpiricalBayesExplorer", {"prior": "per layer"}, {"prior_std": 10.0}),
    ("KLBudgetLab", {"n_batches": 1}, {"scheme": "geometric"}),
    ("LocalReparamLab", {"shared": False, "local": False}, {"parameter": "σ"}),
    ("PBPStepper", {"step": 0}, {"sorted": True}),
    ("RivalsExplorer", {}, {"temperature": 0.5, "rank": 3, "structure": "diagonal"}),
    ("VAEExplorer", {"kind": "plain autoencoder"}, {"beta": 10.0}),
]


@pytest.mark.parametrize(("name", "where", "moved"), IDLE, ids=lambda part: str(part))
def test_dimmed_controls_move_nothing(
    name: str, where: dict[str, Any], moved: dict[str, Any]
) -> None:
    explorer = getattr(widgets, name)()
    known = explorer.set(**where)._controls
    for control in moved:
        assert known[control].disabled and "bdl-idle" in known[control]._dom_classes
    before, said = pixels(explorer).astype(float), explorer.status.partition(" · ")[0]
    explorer.set(**moved)
    assert explorer.status.partition(" · ")[0] == said
    assert abs(pixels(explorer) - before).mean() < 0.1  # two equal halves round otherwise
    explorer.reset()
    assert not where or not any(known[control].disabled for control in moved)
    explorer.close()
