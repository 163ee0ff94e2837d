"""Break the package on purpose, one mutant at a time, and see whether its tests notice.

The mutants are the tables `tests/mutants/*.toml`: which text of which file becomes what, and
which test files should fail then. Each is put into a copy of the checkout, so that the checkout
itself is never touched. First the tests are run without a mutant: only tests that pass can be
broken. Ends with 1 if a mutant lived.

    .venv/bin/python tools/mutate.py                     # all: some hours
    .venv/bin/python tools/mutate.py pbp --jobs 2        # those with "pbp" in file or words
    .venv/bin/python tools/mutate.py --sample 40         # forty of them, drawn at random
    .venv/bin/python tools/mutate.py --list
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = ROOT / "tests" / "mutants"
PARTS = (
    *("bdl_teach", "tests", "notebooks", "tools"),
    *("pyproject.toml", "README.md", "CONTRIBUTING.md"),
)
NOTICED, PASSED = 1, 0  # pytest's exit codes: some tests failed; all passed


@dataclass(frozen=True)
class Mutant:
    """One way of being wrong.

    Attributes:
        file: The file to change, from the top of the checkout.
        find: Text that is in it once.
        replace: What stands there instead.
        tests: Test files that should fail then.
        what: What is wrong with it.
    """

    file: str
    find: str
    replace: str
    tests: tuple[str, ...]
    what: str

    def apply(self, root: Path) -> str:
        """Return the file's text with the mutant in it.

        Raises:
            ValueError: The text to replace is not there exactly once.
        """
        source = (root / self.file).read_text(encoding="utf-8")
        if source.count(self.find) != 1:
            count = source.count(self.find)
            raise ValueError(f"{self.file}: expected {self.find!r} once, got it {count} times")
        return source.replace(self.find, self.replace)


def read(tables: Path = TABLES) -> list[Mutant]:
    """All mutants of the tables, in order."""
    mutants = []
    for path in sorted(tables.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]:
            mutants.append(Mutant(**{**entry, "tests": tuple(entry["tests"])}))
    return mutants


def main(argv: Sequence[str] | None = None) -> int:
    """Run the mutants that are asked for; 1 if one of them lived."""
    options = _options(argv)
    mutants = [m for m in read() if options.words in f"{m.file} {m.what}"]
    if options.sample is not None:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    if options.list:
        print("\n".join(f"{m.file}: {m.what}" for m in mutants))
        return 0
    with copies(options.jobs) as places:
        return hunt(mutants, places, options.timeout)


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="?", default="", help="only mutants that these words fit")
    parser.add_argument("--jobs", type=int, default=1, help="so many side by side")
    parser.add_argument("--sample", type=int, help="draw so many")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one mutant")
    parser.add_argument("--list", action="store_true", help="only say which there are")
    return parser.parse_args(argv)


def copy_checkout(place: Path) -> None:
    """Copy what the tests need into an empty folder."""
    ignore = shutil.ignore_patterns("__pycache__")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, place / part, ignore=ignore)
        else:
            shutil.copy(ROOT / part, place / part)


@contextmanager
def copies(count: int) -> Iterator[queue.Queue[Path]]:
    """Copies of the checkout, as many as there are jobs; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="bdl_teach-mutants-") as folder:
        places: queue.Queue[Path] = queue.Queue()
        for k in range(count):
            place = Path(folder) / str(k)
            place.mkdir()
            copy_checkout(place)
            places.put(place)
        yield places


def hunt(mutants: Sequence[Mutant], places: queue.Queue[Path], timeout: float) -> int:
    """Try every mutant and say what became of it; 1 if one lived or a test fails without any."""

    def on_a_copy(job: Mutant | tuple[str, ...]) -> tuple[str, float]:
        place, start = places.get(), time.perf_counter()
        try:
            fate = try_one(job, place, timeout) if isinstance(job, Mutant) else green(job, place)
            return fate, time.perf_counter() - start
        finally:
            places.put(place)

    with ThreadPoolExecutor(places.qsize()) as pool:
        groups = sorted({m.tests for m in mutants})
        red = [g for g, (fate, _) in zip(groups, pool.map(on_a_copy, groups), strict=True) if fate]
        for group in red:
            print(f"FAILS WITHOUT A MUTANT  {' '.join(group)}", flush=True)
        wanted = [m for m in mutants if m.tests not in red]
        lived = 0
        for mutant, (fate, spent) in zip(wanted, pool.map(on_a_copy, wanted), strict=True):
            lived += fate == "LIVED"
            print(f"{fate:7} {spent:4.0f} s  {mutant.file}: {mutant.what}", flush=True)
    print(f"{len(wanted) - lived} of {len(wanted)} mutants were noticed.")
    return 1 if lived or red else 0


def green(tests: tuple[str, ...], place: Path) -> str:
    """Say what is wrong with test files on the unchanged copy; empty if they pass."""
    return "" if run(tests, place, None) == PASSED else "red"


def try_one(mutant: Mutant, place: Path, timeout: float) -> str:
    """Put one mutant into a copy, run its tests, take it out again."""
    target = place / mutant.file
    before = target.read_text(encoding="utf-8")
    target.write_text(mutant.apply(place), encoding="utf-8")
    try:
        return "LIVED" if run(mutant.tests, place, timeout) == PASSED else "noticed"
    except subprocess.TimeoutExpired:
        return "hangs"
    finally:
        target.write_text(before, encoding="utf-8")


def run(tests: Sequence[str], place: Path, timeout: float | None) -> int:
    """Run test files in a copy, up to the first that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    env = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    env.setdefault("BDL_TEACH_DATA", str(ROOT.parent / "shared" / "data"))
    return subprocess.run(
        command, cwd=place, env=env, capture_output=True, timeout=timeout, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
