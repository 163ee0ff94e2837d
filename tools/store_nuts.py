"""Make the runs of NUTS that the sinusoid's presets show: ``python -m tools.store_nuts`` (minutes).

A run that is stored already is kept: it is found by a hash of all that it depends on.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bdl_teach._support.files import write_whole
from bdl_teach.problems import WIDE_GRID, Problem
from bdl_teach.widgets import SinusoidExplorer
from bdl_teach.widgets._engine import stored_nuts
from bdl_teach.widgets._engine.stored_nuts import Stored
from bdl_teach.widgets.sinusoid.fits import CHAINS

HOW = "python -m tools.store_nuts"


def wanted() -> dict[str, tuple[Problem, list[str]]]:
    """The problems that presets ask for, by their runs' keys, each with the presets' names."""
    found: dict[str, tuple[Problem, list[str]]] = {}
    for preset, (_, values) in SinusoidExplorer.PRESETS.items():
        problem = SinusoidExplorer._problem(values)
        key = stored_nuts.key(WIDE_GRID, {**problem.given, **CHAINS})
        found.setdefault(key, (problem, []))[1].append(f"sinusoid: {preset}")
    return found


def make(problem: Problem, of: list[str]) -> Stored:
    """Make a run, and keep of it what is shown."""
    fit = problem.sample({**problem.given, **CHAINS})
    shown = fit.predict(WIDE_GRID)
    mean, std = ([float(f"{v:.5g}") for v in curve] for curve in (shown.mean, shown.epistemic_std))
    return Stored(of, fit.report, float(shown.aleatoric_std[0]), mean, std)


def main(path: Path = stored_nuts.FILE) -> int:
    """Make what is missing, drop what no preset asks for, and write the file after each run."""
    there, runs = stored_nuts.read(path), {}
    asked = wanted()
    for key, (problem, of) in asked.items():
        known = there.get(key)
        if known is None:
            print(f"{', '.join(of)} …", flush=True)
            known = make(problem, of)
            print(f"  {known.report}", flush=True)
        runs[key] = Stored(of, known.report, known.noise_std, known.mean, known.epistemic_std)
        rest = {key: run for key, run in there.items() if key in asked}
        write_whole(path, stored_nuts.as_text({**rest, **runs}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
