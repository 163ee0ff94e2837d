"""Make the runs of NUTS that the presets show: ``python -m tools.store_nuts`` (some minutes).

A run that is stored already is kept: it is found by a hash of all that it depends on.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bdl_teach import widgets
from bdl_teach._support.files import write_whole
from bdl_teach.widgets._engine import stored_nuts
from bdl_teach.widgets._engine.nuts import Run
from bdl_teach.widgets._engine.stored_nuts import Stored

EXPLORERS = {"sinusoid": "SinusoidExplorer"}
HOW = "python -m tools.store_nuts"


def wanted() -> dict[str, tuple[Run, list[str]]]:
    """The runs that presets ask for, by their keys, each with the names of these presets."""
    found: dict[str, tuple[Run, list[str]]] = {}
    for name, kind in EXPLORERS.items():
        explorer = getattr(widgets, kind)
        for preset, (_, values) in explorer.PRESETS.items():
            run = explorer._run(values)
            key = stored_nuts.key(run.x_grid, run.stored)
            found.setdefault(key, (run, []))[1].append(f"{name}: {preset}")
    return found


def make(run: Run, of: list[str]) -> Stored:
    """Make a run, and keep of it what is shown."""
    fit = run.problem.sample(run.stored)
    shown = fit.predict(run.x_grid)
    mean, std = ([float(f"{v:.5g}") for v in curve] for curve in (shown.mean, shown.epistemic_std))
    return Stored(of, fit.report, float(shown.aleatoric_std[0]), mean, std)


def main(path: Path = stored_nuts.FILE) -> int:
    """Make what is missing, drop what no preset asks for, and write the file after each run."""
    there, runs = stored_nuts.read(path), {}
    asked = wanted()
    for key, (run, of) in asked.items():
        known = there.get(key)
        if known is None:
            print(f"{', '.join(of)} …", flush=True)
            known = make(run, of)
            print(f"  {known.report}", flush=True)
        runs[key] = Stored(of, known.report, known.noise_std, known.mean, known.epistemic_std)
        rest = {key: run for key, run in there.items() if key in asked}
        write_whole(path, stored_nuts.as_text({**rest, **runs}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
