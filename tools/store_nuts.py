"""Make the runs of NUTS that the sinusoid's presets show: ``python -m tools.store_nuts``.

They take some minutes each. One that is stored already is kept, unless its line is taken out.
"""

from __future__ import annotations

from bdl_teach._support.files import write_whole
from bdl_teach.methods import exact
from bdl_teach.problems import WIDE_GRID, Problem
from bdl_teach.widgets import SinusoidExplorer
from bdl_teach.widgets._engine import stored_nuts
from bdl_teach.widgets._engine.stored_nuts import Stored

HOW = "python -m tools.store_nuts"
# The article's prior leaves the log density's R-hat at 1.02 to 1.04 after 500 transitions of four
# chains, at 1.003 to 1.011 after 3000, at 1.002 to 1.005 after 5000; every tenth of them tells as
# much. (Under N(0, 0.3²) it stays at 1.3: two modes, each with two of the chains.)
CHAINS = {"n_chains": 4, "n_samples": 500, "n_thin": 10}


def wanted() -> dict[str, tuple[Problem, list[str]]]:
    """Return the problems that presets ask for, by their runs' keys, each with their names."""
    found: dict[str, tuple[Problem, list[str]]] = {}
    for preset, (_, values) in SinusoidExplorer.PRESETS.items():
        problem = SinusoidExplorer._problem(values)
        found.setdefault(stored_nuts.key(problem), (problem, []))[1].append(preset)
    return found


def make(problem: Problem, of: list[str]) -> Stored:
    """Make a run, and keep of it what is shown."""
    print(f"{', '.join(of)} …", flush=True)
    fit = exact.nuts(**problem.given, **CHAINS)
    shown = fit.predict(WIDE_GRID)
    mean, std = ([float(f"{v:.5g}") for v in curve] for curve in (shown.mean, shown.epistemic_std))
    return Stored(of, fit.report, mean, std)


def main() -> None:
    """Make what is missing, and drop what no preset asks for."""
    there = stored_nuts.read()
    runs = {
        key: there[key]._replace(of=of) if key in there else make(problem, of)
        for key, (problem, of) in wanted().items()
    }
    write_whole(stored_nuts.FILE, stored_nuts.as_text(runs))


if __name__ == "__main__":
    main()
