"""Compute the runs of NUTS that the sinusoid's presets show: ``python -m tools.store_nuts``.

A run takes some minutes. To compute a stored run again, delete its line.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping

from bdl_teach._support.files import write_whole
from bdl_teach.methods import mcmc
from bdl_teach.problems import WIDE_GRID, Problem
from bdl_teach.widgets import SinusoidExplorer
from bdl_teach.widgets._engine import stored_nuts
from bdl_teach.widgets._engine.stored_nuts import Stored

HOW = "python -m tools.store_nuts"
# With the article's prior and four chains, R-hat of the log density is 1.02 to 1.04 after 500
# transitions, 1.003 to 1.011 after 3000, and 1.002 to 1.005 after 5000, of which every tenth is
# enough. (With N(0, 0.3²) it stays at 1.3: two chains in each of two modes.)
CHAINS = {"n_chains": 4, "n_samples": 500, "n_thin": 10}


def wanted() -> dict[str, tuple[Problem, list[str]]]:
    """Return {key of a run: (its problem, names of the presets that show it)}."""
    found: dict[str, tuple[Problem, list[str]]] = {}
    for preset, (_, values) in SinusoidExplorer.PRESETS.items():
        problem = SinusoidExplorer.MODEL.problem(values)
        found.setdefault(stored_nuts.key(problem), (problem, []))[1].append(preset)
    return found


def make(problem: Problem, of: list[str]) -> Stored:
    """Run NUTS on a problem; return what the presets ``of`` show of it."""
    print(f"{', '.join(of)} …", flush=True)
    fit = mcmc.nuts(**problem.given, **CHAINS)
    outputs, draws = fit.outputs(WIDE_GRID), "{n_chains} × {n_samples}".format(**CHAINS)
    curves = (outputs.mean(axis=(0, 1)), outputs.std(axis=(0, 1)))
    mean, std = ([float(f"{v:.5g}") for v in curve] for curve in curves)
    return Stored(of, draws, round(mcmc.largest_r_hat(outputs), 4), mean, std)


def main() -> None:
    """Compute missing runs, and delete runs that no preset needs."""
    there = stored_nuts.read()
    runs = {
        key: there[key]._replace(of=of) if key in there else make(problem, of)
        for key, (problem, of) in wanted().items()
    }
    write_whole(stored_nuts.FILE, as_text(runs))


def as_text(runs: Mapping[str, Stored]) -> str:
    """Return these runs as the text of their file, in lines of at most 110 characters."""
    text = json.dumps({name: run._asdict() for name, run in runs.items()}, indent=1)
    return re.sub(r"(?<=\[)[-\d., \ne]+(?=\])", _folded, text) + "\n"


def _folded(numbers: re.Match[str]) -> str:
    return "\n" + textwrap.fill(" ".join(numbers[0].split()), 110) + "\n"


if __name__ == "__main__":
    main()
