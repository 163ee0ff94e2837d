"""Test explorers for recompilation, for crashes at exit and for leaks."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from explorer_claims import every_picture_is_drawn
from heap import in_use

from bdl_teach.widgets import KLBudgetLab

pytestmark = pytest.mark.slow

SWEEP = """
import sys
from bdl_teach import datasets
from bdl_teach._support.compiled import trace_count
from bdl_teach.methods import _fitted, _mean_field
from bdl_teach.widgets import SinusoidExplorer
from bdl_teach.widgets._engine.beside_truth import Chains
from bdl_teach.widgets._engine.stage import Stage

Chains.prepare = lambda *_: None  # the posterior is not sampled here
Stage.render = lambda *_, **__: (b"", [])  # to draw compiles nothing
_fitted.LONGER = 1600  # steps: more than 1500 need another table of noise
_mean_field.Fit.n_longer = 2  # one run that goes on, and one from a new start

def rest(explorer):
    better = explorer.result
    while better is not None:
        better = explorer._worker.model.improve(explorer.state(), better)

def show_table(n):
    table = datasets.sinusoid(n)
    explorer.set(data=(table.x, table.y))

explorer = SinusoidExplorer().warm()
traces = trace_count()
print("all is warm", file=sys.stderr, flush=True)
for name, control in explorer._view.controls.items():
    if name in ("nuts", "prior_functions", "estimator", "data"):
        continue
    low, high = (10**c if hasattr(control, "base") else c for c in (control.min, control.max))
    for value in (low, high):
        explorer.set(**{name: value})
explorer.preset("article").set(n=5, width=3, n_samples=3, n_predictions=1, prior_functions=True)
for estimator in ("weights", "article", "quiet"):
    rest(explorer.set(estimator=estimator))
show_table(100)
rest(explorer)
explorer.replay(100)
print(trace_count() - traces)
"""
# With these, XLA logs each program that it compiles or loads.
SAYS_WHAT_IT_COMPILES = {
    "TF_CPP_VMODULE": "device_compilation_profiler=1",
    "TF_CPP_MIN_LOG_LEVEL": "0",
}


def test_new_values_and_improvements_need_no_compilation() -> None:
    """XLA compiles without a new trace where it needs an argument as a constant."""
    ran = subprocess.run(
        [sys.executable, "-c", SWEEP],
        env={**os.environ, **SAYS_WHAT_IT_COMPILES},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    warming, _, sweep = ran.stderr.partition("all is warm")
    compiled = re.compile(r"Compiled (\S+) \d+ times")
    assert len(compiled.findall(warming)) > 3, "the log names no program"
    assert compiled.findall(sweep) == []
    assert ran.stdout.split() == ["0"], "traced"


def test_exit_during_compilation_does_not_crash_python() -> None:
    code = "from bdl_teach.widgets import KLBudgetLab; KLBudgetLab().wait()"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr[-2000:]


@every_picture_is_drawn
def test_refits_and_replays_leak_no_memory() -> None:
    """Memory must stop growing in one of eight rounds; caches may fill in the first."""
    lab = KLBudgetLab(n_batches=1).wait()
    used, ticks, leak = [], lab.ticks, 20 * 2e3  # bytes
    for _ in range(8):
        for k in range(20):
            lab.set(kl_weight=10 ** (0.1 * (k % 10)), n_batches=1 + k % 2)
            if k % 5 == 0:
                lab.replay(40 * k)
        used.append(in_use())
        if len(used) > 1 and used[-1] - used[-2] < leak:
            break
    assert lab.ticks - ticks == 20 * len(used)
    assert used[-1] - used[-2] < leak, np.diff(used)
    lab.close()
