"""`bench chains`: effective draws in the gap, per second, of HMC, NUTS and numpyro's NUTS."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from bdl_teach._support import report
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, Problem
from bench.verdicts import Verdict, finish, seconds

LIMITS = {"NUTS": 10.0, "numpyro's NUTS": 3.0}  # least ratio of HMC's rate to that of the sampler
NUTS = {"n_chains": 2, "n_warmup": 500, "n_samples": 500}  # the defaults of ``mcmc.nuts``

Drawn = tuple[float, Array]  # seconds of a run without compilation, and values [chains, s, m]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench chains`."""
    parser.add_argument("--worlds", type=int, default=6, help="number of data sets, for medians")
    numpyro = "a Python that has numpyro, to run its NUTS, too"
    parser.add_argument("--numpyro", type=Path, metavar="PYTHON", help=numpyro)


def run(options: argparse.Namespace) -> int:
    """Measure the samplers, print the results, and compare them with the limits."""
    from bdl_teach.methods import mcmc

    ways: dict[str, Callable[[Problem], Drawn]] = {
        "HMC": partial(run_package, mcmc.hmc),
        "NUTS": partial(run_package, mcmc.nuts),
    }
    rates: dict[str, list[float]] = {}
    with ExitStack() as stack:
        if options.numpyro:
            file = Path(__file__).with_name("numpyro_nuts.py")
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            other = subprocess.Popen([options.numpyro, "-P", file], text=True, **pipes)
            stack.enter_context(other)
            assert other.stdin is not None and other.stdout is not None
            ways["numpyro's NUTS"] = partial(run_numpyro, other.stdin, other.stdout)
        for seed in range(options.worlds):
            for name, sample in ways.items():
                print(f"world {seed}, {name} ...", file=sys.stderr, flush=True)
                rates.setdefault(name, []).append(rate(Problem(seed=seed), sample))
    hmc = np.array(rates["HMC"])
    verdicts = [
        Verdict(f"effective draws, HMC / {name}", np.median(hmc / rates[name]), "x", limit, False)
        for name, limit in LIMITS.items()
        if name in rates
    ]
    rows = [[name, report.number(statistics.median(each))] for name, each in rates.items()]
    text = [
        "Effective draws a second of the function in the gap, warm-up included, 1-20-1.",
        report.table(["sampler", "effective draws a second"], rows),
    ]
    return finish(options, {"effective_draws_a_second": rates}, text, verdicts)


def rate(problem: Problem, sample: Callable[[Problem], Drawn]) -> float:
    """Return the sampler's effective draws per second: the median over x in the gap."""
    from bdl_teach.methods import mcmc

    spent, outputs = sample(problem)
    _, ess = mcmc.diagnose(outputs[:, :, problem.regions(GAP_GRID[:, 0])["gap"]])
    return float(np.median(ess)) / spent


def run_package(sampler: Callable[..., Any], problem: Problem) -> Drawn:
    """Run a sampler of this package with its defaults, after a short run that compiles."""
    sampler(**problem.given, n_samples=4, seed=problem.seed)
    fits: list[Any] = []
    spent = seconds(lambda: fits.append(sampler(**problem.given, seed=problem.seed)))
    return spent, fits[0].outputs(GAP_GRID)


def run_numpyro(ask: IO[str], answers: IO[str], problem: Problem) -> Drawn:
    """Let numpyro run as many chains as ``mcmc.nuts`` does, all at once; return its draws."""
    points = {name: getattr(problem.data, name)[:, 0].tolist() for name in ("x", "y")}
    model = {"prior_std": problem.scales[0], "noise_std": problem.noise_std}
    shape = {"units": problem.hidden_units[0], "grid": GAP_GRID[:, 0].tolist()}
    ask.write(json.dumps(points | model | shape | NUTS | {"seed": problem.seed}) + "\n")
    ask.flush()
    answer = json.loads(answers.readline())
    return answer["seconds"], np.array(answer["outputs"])
