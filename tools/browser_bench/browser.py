"""`bench browser`: measure the time from key press to repainted plot, in JupyterLab."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from bench.verdicts import Verdict, finish

from bdl_teach._cli.notebooks import source
from bdl_teach._support import report
from browser_bench.lab import LabError, Server, chromium, find_chromium
from browser_bench.page import Effect, ExplorerView, Flood, Notebook

NOTEBOOK = source() / "03_bayes_by_backprop.ipynb"
NO_CHROMIUM = "No Chromium on PATH: install one to measure in a browser (Debian: chromium)."
FIRST_S, FROM_RUN_S, MEMORY_GB = 8.0, 3.5, 1.0
P50_MS, P95_MS, PER_SECOND, LAST_MS = 80.0, 105.0, 10.0, 150.0
WARM_UP = 3


@dataclass(frozen=True)
class SliderFigures:
    """The measurements of one slider.

    Attributes:
        explorer: Number of its explorer in the notebook, from 0.
        label: Its label.
        paints: Time from each key press to the first repaint, in ms.
        unchanged: Number of steps that moved the slider but repainted nothing.
        flood: Result of a drag; ``None`` if the slider cannot be moved.
    """

    explorer: int
    label: str
    paints: list[float]
    unchanged: int
    flood: Flood | None


@dataclass
class Session:
    """What a run measured in the notebook, and the faults it found."""

    first_picture_s: float | None = None
    from_run_s: float | None = None
    run_all_s: float | None = None
    kernel_gb: float | None = None
    sliders: list[SliderFigures] = field(default_factory=list)
    points: dict[int, Flood] = field(default_factory=dict)  # by explorer: a drag of a data point
    faults: list[str] = field(default_factory=list)

    def verdicts(self) -> list[Verdict]:
        """Return verdicts that compare the whole notebook's measurements with their limits."""
        whole = [
            Verdict("opening to first live plot", self.first_picture_s, "s", FIRST_S),
            Verdict("of which from Run All", self.from_run_s, "s", FROM_RUN_S),
            Verdict("kernel memory, chapter run", self.kernel_gb, "GB", MEMORY_GB),
        ]
        for number, flood in self.points.items():
            name, rate, last = f"{number}: a point dragged", flood.pictures_per_s, flood.last_ms
            whole.append(Verdict(f"{name}, pictures", rate, "/s", PER_SECOND, False))
            whole.append(Verdict(f"{name}, the last", last, "ms", LAST_MS))
        return whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench browser`."""
    parser.add_argument("--notebook", type=Path, default=NOTEBOOK, help="default: chapter 3")
    parser.add_argument("--steps", type=int, default=40, help="key presses for each slider")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of each drag")
    parser.add_argument("--slider", default="", help="only sliders whose label contains this")
    parser.add_argument("--screenshot", type=Path, metavar="DIR", help="save pictures of the page")


def run(options: argparse.Namespace) -> int:
    """Measure the sliders, print the results and verdicts; return 2 if nothing can be measured."""
    path = find_chromium()
    if path is None:
        print(NO_CHROMIUM, file=sys.stderr)
        return 2
    if not options.notebook.is_file():
        print(f"No such notebook: {options.notebook}.", file=sys.stderr)
        return 2
    try:
        session = measure(path, options)
    except LabError as error:
        print(error, file=sys.stderr)
        return 2
    rows = [row(figures) for figures in session.sliders]
    results = {**asdict(session), "rows": rows}
    code = finish(options, results, as_text(rows, session.faults), session.verdicts())
    missed = any(cells[-1] != "ok" for cells in rows)
    return 1 if session.faults or (options.strict and missed) else code


def measure(path: str, options: argparse.Namespace) -> Session:
    """Open the notebook, run it, and move every slider."""
    session = Session()
    file = options.notebook.resolve()
    served = file.parent if file.parent == NOTEBOOK.parent.resolve() else file
    with Server(served) as server, chromium(path) as browser:
        notebook = Notebook(browser, server, file.name)
        open_and_run(notebook, server, session)
        notebook.show_all_controls()
        snapshot(notebook, options.screenshot, "run")
        for view in notebook.distinct_explorers():
            for slider, label in enumerate(view.sliders):
                if options.slider in label:
                    say(f"{label} ...")
                    figures = drive(notebook, view, slider, options.steps, options.seconds)
                    session.sliders.append(figures)
                    snapshot(notebook, options.screenshot, f"{view.number}-{slider}")
            if (flood := notebook.drag_point(view.number, options.seconds)) is not None:
                session.points[view.number] = flood
            session.faults += status_faults(notebook, view)
        session.kernel_gb = max((k.memory_info().rss / 1e9 for k in server.kernels()), default=None)
        session.faults += [f"a cell raised: {text[-300:]}" for text in notebook.cell_errors()]
    still = [s for s in session.sliders if not s.paints]
    session.faults += [f"the slider {s.label!r} changes no picture" for s in still]
    return session


def open_and_run(notebook: Notebook, server: Server, session: Session) -> None:
    """Run all cells, and record the time of the first picture; then wait for background work."""
    start, began_s = time.monotonic(), notebook.age_s()
    notebook.start_all()
    session.first_picture_s = notebook.first_picture_s()
    session.from_run_s = session.first_picture_s - began_s
    notebook.await_all()
    session.run_all_s = time.monotonic() - start
    if not server.await_calm():
        session.faults.append("the kernel did not come to rest after the last cell")
    session.kernel_gb = max((k.memory_info().rss / 1e9 for k in server.kernels()), default=None)


def drive(
    notebook: Notebook, view: ExplorerView, slider: int, steps: int, seconds: float
) -> SliderFigures:
    """Move a slider by steps and by a drag; return the measurements, and restore its value."""
    notebook.focus(view.number, slider)
    start = notebook.value(view.number, slider)
    effects = walk(notebook, view.number, slider, steps + WARM_UP)
    taken = [e for e in effects if e.moved][WARM_UP:]
    flood = notebook.flood(view.number, slider, seconds) if taken else None
    notebook.restore(view.number, slider, start)
    paints = [e.paints[0] for e in taken if e.paints]
    label = view.sliders[slider]
    return SliderFigures(view.number, label, paints, len(taken) - len(paints), flood)


def walk(notebook: Notebook, explorer: int, slider: int, steps: int) -> list[Effect]:
    """Press arrow keys, right until the range ends, then left, and so on; return each effect."""
    keys = ["ArrowRight", "ArrowLeft"]
    effects: list[Effect] = []
    for _ in range(steps):
        effects.append(notebook.press(explorer, slider, keys[0]))
        if not effects[-1].moved:
            keys.reverse()
        if len(effects) > 4 and not any(effect.paints for effect in effects):
            break  # the slider does not move, or the picture does not follow
    return effects


def status_faults(notebook: Notebook, view: ExplorerView) -> list[str]:
    """Return a list with the explorer's status line if it mentions an error, else []."""
    text = notebook.status(view.number)
    return [f"status line: {text}"] if "error" in text.lower() else []


def snapshot(notebook: Notebook, folder: Path | None, name: str) -> None:
    """Save a picture of the page, if a folder is given."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        notebook.page.screenshot(path=folder / f"{name}.png")


def say(text: str) -> None:
    """Print progress on a terminal."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def row(s: SliderFigures) -> list[str]:
    """Return a slider's measurements; the last cell names those that miss their limit."""
    flood = s.flood
    p50, p95 = np.quantile(s.paints, [0.5, 0.95]) if s.paints else (None, None)
    judged = {
        "p50": Verdict("p50", p50, "ms", P50_MS),
        "p95": Verdict("p95", p95, "ms", P95_MS),
        "rate": Verdict("rate", flood.pictures_per_s if flood else None, "/s", PER_SECOND, False),
        "last": Verdict("last", flood.last_ms if flood else None, "ms", LAST_MS),
    }
    figures = ["-" if v.value is None else report.number(v.value) for v in judged.values()]
    missed = [name for name, verdict in judged.items() if not verdict.ok]
    verdict = "ok" if not missed else f"missed: {', '.join(missed)}"
    return [f"{s.explorer}: {s.label}", str(len(s.paints)), str(s.unchanged), *figures, verdict]


def as_text(rows: list[list[str]], faults: list[str]) -> list[str]:
    """Return the measurements of the sliders as a list of texts."""
    heads = ["explorer: slider", "steps", "no change", "p50 ms", "p95 ms", "drag /s", "last ms", ""]
    limits = ["(limit)", "", "", *(f"≤ {x:.0f}" for x in (P50_MS, P95_MS))]
    limits += [f"≥ {PER_SECOND:.0f}", f"≤ {LAST_MS:.0f}", ""]
    about = "Key press to the first repaint with other pixels; then a drag of 60 events a second."
    return [about, report.table(heads, [limits, *rows]), *(f"FAULT: {fault}" for fault in faults)]
