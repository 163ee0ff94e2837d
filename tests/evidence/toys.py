"""A toy experiment and a toy table in a folder, run in this or another process."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from bdl_teach import cli
from bdl_teach._cli import checkout
from evidence import claim, measured, papers, results, source

WORK = '''
"""What is measured; each run writes down that it ran."""
import os, time
from bdl_teach import DatasetUnavailable

def note(number):
    with open(os.environ["TOY_LOG"], "a") as log:
        log.write(f"{os.environ.get('TOY_RUN', '0')} {number}\\n")
    time.sleep(float(os.environ.get("TOY_NAP", "0")))
    fault = dict(p.split(":") for p in os.environ.get("TOY_FAULTS", "").split()).get(str(number))
    if fault == "error":
        raise RuntimeError("it broke")
    if fault == "data":
        raise DatasetUnavailable("boston: fetch it")

def run(number):
    note(number)
    return {"value": number / 7.0}

def heights(world):
    note(world.number)
    return {"up": 1.0 + world.number % 3, "sign": (-1.0) ** world.number, "seed": world.data_seed}
'''
PAPER = '''
"""A toy table, for tests."""
from toy_work import run
from evidence.table import Row, Task

TITLE, COLUMNS, REMARKS = "A toy.", "paper", "Toys differ."

def tasks(quick):
    return [
        Task(f"{'odd' if i % 2 else 'even'}/task-{i:02}", {"number": i})
        for i in range(3 if quick else 12)
    ]

def summarise(done):
    values = [figures["value"] for _, figures in done]
    return [Row.mean("toy", "value", values, "0.79")._replace(verdict="agrees")] if values else []
'''
MEASURED = "from toy_work import heights\n"
SAID = """
about = "Toys, for tests."
[toy]
run = "toy.heights"
seconds = 0.0
[toy.toy-up]
says = "It is up."
measure = "height"
asked = { of = "up", above = 0.5, share = 0.9, unit = "cm" }
[toy.toy-down]
says = "It is down."
measure = "height"
asked = { of = "up", below = 0.5, unit = "cm" }
[toy.toy-even]
says = "It is even."
measure = "sign"
asked = { of = "sign", above = 0.0 }
[other]
run = "toy.heights"
seconds = 0.0
[other.other-seed]
says = "It is large."
measure = "seed, less the height and over it"
asked = { of = "seed", less = "up", over = "up", above = 300.0 }
"""
START = (
    "import sys; from bdl_teach import cli; from evidence import papers; "
    "papers.__path__.append(sys.argv[1]); sys.exit(cli.inside(['reproduce', *sys.argv[2:]]))"
)
Here = Callable[..., SimpleNamespace]


class Toy:
    """The files of the toys, and ways to run them and see what ran."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.results, self.log = folder, folder / "results", folder / "log"
        self.work = folder / "toy_work.py"
        self.module, self.said = folder / "measured" / "toy.py", folder / "measured" / "toy.toml"
        self.paper = folder / "papers" / "toy.py"
        texts = {self.work: WORK, self.module: MEASURED, self.said: SAID, self.paper: PAPER}
        for path, text in texts.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    def environment(self, **more: str) -> dict[str, str]:
        here = os.pathsep.join([str(self.folder), str(checkout.ROOT)])
        return {**os.environ, "PYTHONPATH": here, "TOY_LOG": str(self.log), **more}

    def start(self, *argv: str, **more: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", START, str(self.paper.parent), "toy", *argv]
        return subprocess.Popen(
            [*command, f"--results={self.results}"],
            env=self.environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *argv: str, **more: str) -> SimpleNamespace:
        process = self.start(*argv, **more)
        out, err = process.communicate(timeout=120)
        return SimpleNamespace(code=process.returncode, out=out, err=err)

    def ran(self) -> list[tuple[str, int]]:
        """Return (run, task or world) of every execution so far."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(run, int(number)) for run, number in map(str.split, lines)]

    def numbers(self) -> list[int]:
        return [number for _, number in self.ran()]

    def kept(self) -> set[int]:
        """Return the numbers of tasks with a kept result."""
        path = self.results / "toy.csv"
        found = results.read(path).figures if path.exists() else {}
        return {int(key.rpartition("-")[2]) for key in found}


def forget() -> None:
    """Clear all caches of modules, their code and claims."""
    places = (f"{measured.__name__}.", f"{papers.__name__}.", "")
    for name in (f"{place}{name}" for place in places for name in ("toy", "toy_work")):
        sys.modules.pop(name, None)
    source._names.cache_clear()
    claim.topics.cache_clear()


def runs(toy: Toy, capsys: pytest.CaptureFixture[str], *command: str) -> Here:
    def run(*argv: str) -> SimpleNamespace:
        code = cli.inside([*command, *argv, f"--results={toy.results}"])
        said = capsys.readouterr()
        return SimpleNamespace(code=code, out=said.out, err=said.err)

    return run
