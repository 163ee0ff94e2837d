"""Explorers, driven from Python: what a slider moves, and what it must never do."""

from __future__ import annotations

import base64
import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import ipywidgets
import numpy as np
import pytest
from explorer_claims import (
    every_picture_is_drawn,
    pixels,
)
from heap import in_use
from PIL import Image

from bdl_teach import DivergedError
from bdl_teach.widgets import KLBudgetLab, SinusoidExplorer
from bdl_teach.widgets._engine.latest import LatestValue
from bdl_teach.widgets.sinusoid import fits as sinusoid_fits


@pytest.fixture(scope="module")
def explorer() -> Iterator[SinusoidExplorer]:
    made = SinusoidExplorer().warm()
    yield made
    made.close()


def test_resample_changes_data_and_noise(explorer: SinusoidExplorer) -> None:
    before = explorer.preset("article").result.data.y
    explorer._resample()
    explorer.wait()
    assert explorer.state()["seed"] == 1
    assert (explorer.result.data.y != before).all()


def test_divergence_is_said_over_the_plot_and_the_next_tick_works(
    explorer: SinusoidExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pixels(explorer.preset("article"))

    def diverge(*_: Any) -> Any:
        raise DivergedError(315, "lower the learning rate")

    with monkeypatch.context() as patch:
        patch.setattr(sinusoid_fits, "refit", diverge)
        with pytest.raises(DivergedError):
            explorer.set(sigma1=2.0)
        assert "diverged by step 315: lower the learning rate" in explorer.status
        assert (pixels(explorer) != before).any(), "the sentence is drawn over the plot"
    assert (pixels(explorer.set(sigma1=1.5)) == before).all()
    assert "diverged" not in explorer.status


SWEEP = """
import sys
from bdl_teach import datasets
from bdl_teach._support.compiled import trace_count
from bdl_teach.methods import _mean_field
from bdl_teach.widgets import KLBudgetLab, SinusoidExplorer
from bdl_teach.widgets._engine.live import Explorer

Explorer._show_picture = lambda *_, **__: None  # to draw compiles nothing
_mean_field._LONGER = 1600  # steps, from over 1500 on with a table of noise of their own

def rest(explorer):
    # Have what is shown improved until that is over, as while nothing moves.
    better = explorer.result
    while better is not None:
        better = explorer._improve(explorer.state(), better)

explorer, lab = SinusoidExplorer().warm(), KLBudgetLab().warm()
traces = trace_count()
print("all is warm", file=sys.stderr, flush=True)
for name, control in explorer._controls.items():
    if name in ("nuts", "prior_functions", "estimator", "data"):
        continue
    low, high = (10**c if hasattr(control, "base") else c for c in (control.min, control.max))
    for value in (low, high):
        explorer.set(**{name: value})
        if name in ("n", "width", "n_samples"):  # sizes; of the others a rest sees values
            rest(explorer)
for name in explorer.presets[1:]:
    explorer.preset(name)
explorer.preset("article").set(n=5, width=3, n_samples=3, n_predictions=1, prior_functions=True)
for estimator in ("weights", "article", "quiet"):
    rest(explorer.set(estimator=estimator))
for n in (33, 200):  # a point more than there were, and as many as there may be
    table = datasets.sinusoid(n)
    for touched in (explorer, lab):
        rest(touched.set(data=(table.x, table.y)))
lab.reset()
for m in (1, 2, 4, 16, 32):
    lab.set(n_batches=m, scheme="uniform")
    rest(lab.set(n_batches=m, scheme="geometric"))
for trained in (explorer, lab):
    for step in (0, 100, 1500):
        trained.replay(step)
print(trace_count() - traces)
"""
# XLA says then which program it compiles, or takes from those that were kept: both are new to it.
SAYS_WHAT_IT_COMPILES = {
    "TF_CPP_VMODULE": "device_compilation_profiler=1",
    "TF_CPP_MIN_LOG_LEVEL": "0",
}


def test_no_value_of_any_slider_nor_a_rest_traces_or_compiles_again() -> None:
    """XLA can compile without a new trace, when an argument must be a constant to it."""
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
    assert len(compiled.findall(warming)) > 3, "it says what it compiles"
    assert compiled.findall(sweep) == []
    assert ran.stdout.split() == ["0"], "traced"


def test_creating_an_explorer_closes_the_one_before_it() -> None:
    first = KLBudgetLab().wait()
    alive = len(ipywidgets.widgets.widget._instances)
    for _ in range(5):
        last = KLBudgetLab().wait()
    assert len(ipywidgets.widgets.widget._instances) == alive
    assert first._slot.closed
    last.close()
    assert len(ipywidgets.widgets.widget._instances) < alive


@every_picture_is_drawn
def test_the_live_picture_is_a_jpeg_that_a_browser_needs_no_second_look_up_for() -> None:
    explorer = KLBudgetLab().wait()
    head, data = bytes(explorer._picture.value).split(b",")
    assert head == b"data:image/jpeg;base64"
    live, still = (Image.open(io.BytesIO(p)) for p in (base64.b64decode(data), explorer.png()))
    assert (live.format, live.size) == ("JPEG", still.size)
    difference = np.asarray(live.convert("RGB"), float) - np.asarray(still.convert("RGB"), float)
    assert np.sqrt((difference**2).mean()) < 5  # of 255: what the compression costs
    explorer.close()


def test_a_newer_value_replaces_an_older_one_and_the_last_is_never_lost() -> None:
    slot, seen = LatestValue(), []

    def work() -> None:
        while (job := slot.take()) is not None:
            seen.append(job[1])
            slot.done(job[0], None)

    worker = threading.Thread(target=work, daemon=True)  # if this fails, Python still ends
    worker.start()
    for value in range(20_000):
        slot.put(value)
    slot.wait(120)
    assert seen[-1] == 19_999
    assert seen == sorted(set(seen))  # and none twice
    slot.close()
    worker.join(120)
    assert not worker.is_alive()


def test_two_explorers_render_at_the_same_time(explorer: SinusoidExplorer) -> None:
    lab = KLBudgetLab().wait()
    for k in range(15):
        explorer._controls["sigma1"].value = 1.0 + 0.05 * k
        lab._controls["kl_weight"].value = 10 ** (0.1 * (k % 10))
    explorer.wait()
    lab.wait()
    assert explorer.result.prior.sigma1 == explorer.state()["sigma1"]
    lab.close()


def test_leaving_python_while_compiling_is_not_a_crash() -> None:
    code = "from bdl_teach.widgets import SinusoidExplorer; SinusoidExplorer().wait()"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr[-2000:]


@every_picture_is_drawn
def test_ticks_leave_nothing_behind(explorer: SinusoidExplorer) -> None:
    """What leaks does so in every round; what fills a cache, or is given back late, in one."""
    explorer.preset("article")
    used, ticks, leak = [], explorer.ticks, 30 * 2e3  # bytes
    for _ in range(8):  # in the first, caches fill; others' last compilations end meanwhile
        for k in range(30):
            explorer.set(sigma1=0.5 + 0.1 * k, pi=0.05 * (k % 20), seed=k % 6)
            if k % 6 == 0:
                explorer.replay(40 * k)
        used.append(in_use())
        if len(used) > 1 and used[-1] - used[-2] < leak:
            break
    assert explorer.ticks - ticks == 30 * len(used)
    assert explorer.result.prior.sigma1 == explorer.state()["sigma1"]
    assert used[-1] - used[-2] < leak, np.diff(used)
