"""Run two checkouts on one machine and say where what they compute, show or accept differs.

    python tools/compare_trees.py OLD NEW [--part claims|explorers|answers] [--only PATTERN ...]

Three parts are compared:

- ``claims``: the effect of each claim in worlds 0-2, as ``claims --csv`` writes it,
- ``explorers``: the status line and ``state()`` of each explorer at its start and at each preset,
  and ``readings()`` where both trees have it,
- ``answers``: whether each answer planted in OLD/tests/exercises/answers is accepted.

Everything is kept in a folder under the hash of the tree's sources, so that the same command goes
on where it was stopped, and a tree that has changed is computed anew. Exits with 1 if anything
differs.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

PARTS = ("claims", "explorers", "answers")
NUMBER = re.compile(r"[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")

# What runs in a tree, in a process of its own: each prints one JSON text as its last line.
LIST_EXPLORERS = "import json; from bdl_teach import widgets; print(json.dumps(widgets.__all__))"
RUN_CLAIMS = (
    "import sys; from bdl_teach import cli; sys.exit(cli.inside(['claims', *sys.argv[1:]]))"
)
SHOW_EXPLORER = """
import json, sys, time
from bdl_teach import widgets

def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)

def settled(explorer):
    # What runs beside has come and a fit at rest has been improved: nothing computes any more.
    end, before = time.monotonic() + 1200, None
    while time.monotonic() < end:
        busy = time.process_time()
        time.sleep(4)
        status = explorer.status.partition(" · ")[0]
        if status == before and time.process_time() - busy < 0.08:
            break
        before = status
    return status

def seen(explorer):
    found = {"status": settled(explorer), "state": plain(explorer.state())}
    if hasattr(explorer, "readings"):
        found["readings"] = plain(explorer.readings())
    return found

explorer = getattr(widgets, sys.argv[1])().wait(1200)
found = {"start": seen(explorer)}
for name in explorer.presets:
    found["preset " + name] = seen(explorer.preset(name))
explorer.close()
print(json.dumps(found))
"""

CHECK_ANSWERS = """
import contextlib, importlib, io, json, sys
from pathlib import Path
sys.path.insert(0, str(Path(sys.argv[1]).parent))
answers = importlib.import_module("answers." + sys.argv[2])
from bdl_teach import exercises

def verdict(number, answer):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        right = bool(exercises.check(number, answer, record=False))
    return {"accepted": right, "said": said.getvalue().strip()}

found = {}
for name in ("RIGHT", "ALSO", "WRONG"):
    rows = getattr(answers, name, [])
    rows = list(rows.items()) if isinstance(rows, dict) else rows
    for k, row in enumerate(rows):
        try:
            found[f"{row[0]} {name} {k}"] = verdict(row[0], row[-1])
        except Exception as error:
            found[f"{row[0]} {name} {k}"] = {"accepted": repr(error), "said": ""}
print(json.dumps(found))
"""


class Tree:
    """A checkout, and what it was seen to do.

    Args:
        folder: The checkout.
        python: The interpreter that runs it; every package but bdl_teach is that one's.
        kept: The folder for what was computed.
    """

    def __init__(self, folder: Path, python: str, kept: Path) -> None:
        self.folder, self.python = folder.resolve(), python
        digest = hashlib.sha256()
        for path in sorted((self.folder / "bdl_teach").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(str(path.relative_to(self.folder)).encode() + path.read_bytes())
        self.kept = kept / digest.hexdigest()[:16]
        self.kept.mkdir(parents=True, exist_ok=True)

    def start(self, code: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program that imports this tree's package."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "BDL_TEACH_PROGRESS": ""}
        command = [self.python, "-c", code, *words]
        with (self.kept / "log.txt").open("a", encoding="utf-8") as log:
            return subprocess.run(
                command, cwd=self.folder, env=environment, stdout=-1, stderr=log, text=True
            )

    def ask(self, name: str, code: str, *words: str) -> Any:
        """Return what a program prints as JSON; what it printed once is read from its file.

        One that fails gives ``{"failed": …}``, is tried again the next time, and said why in
        ``log.txt``.
        """
        file = self.kept / f"{name}.json"
        if not file.exists():
            print(f"  {self.folder}: {name}", file=sys.stderr, flush=True)
            done = self.start(code, *words)
            if done.returncode:
                return {"failed": {"exit code": done.returncode}}
            file.write_text(done.stdout.splitlines()[-1] + "\n", encoding="utf-8")
        return json.loads(file.read_text(encoding="utf-8"))

    def effects(self, world: int, patterns: list[str], jobs: int) -> dict[str, Any]:
        """Return the effect and the verdict of each claim in a world.

        The command keeps its own results by the fingerprint of the code, so that it goes on too.
        """
        file = self.kept / "claims.csv"
        file.unlink(missing_ok=True)
        words = ["--worlds", "1", "--first-world", str(world), "--jobs", str(jobs)]
        words += ["--store", str(self.kept / "claims"), "--csv", str(file)]
        print(f"  {self.folder}: claims, world {world}", file=sys.stderr, flush=True)
        self.start(RUN_CLAIMS, *patterns, *words)
        if not file.exists():
            return {"failed": {"no csv": True}}
        with file.open(encoding="utf-8", newline="") as rows:
            read = list(csv.DictReader(rows))
        return {
            row["claim"]: {
                "effect": float(row["mean"]) if int(row["worlds"]) else None,
                "asked": row["asked"],
                "sentence": row["sentence"],
            }
            for row in read
        }


def differences(where: str, old: Any, new: Any) -> Iterator[str]:
    """Yield a line for each place where two JSON values differ, with the size where they count."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            if key not in new or key not in old:
                yield f"{where} / {key}: only in {'OLD' if key in old else 'NEW'}"
            else:
                yield from differences(f"{where} / {key}", old[key], new[key])
    elif old != new and not (old != old and new != new):  # two NaN are alike
        yield f"{where}: {old!r} → {new!r}{size(old, new)}"


def size(old: Any, new: Any) -> str:
    """Say how far two numbers, or the numbers in two texts, are apart."""
    if isinstance(old, str) and isinstance(new, str):
        texts = [NUMBER.findall(text) for text in (old, new)]
        if NUMBER.sub("#", old) != NUMBER.sub("#", new):
            return " (other words)"
        pairs = [[float(n.replace("−", "-")) for n in pair] for pair in zip(*texts, strict=True)]
        return f" (largest change {max(abs(a - b) for a, b in pairs):.2g})"
    if isinstance(old, float | int) and isinstance(new, float | int):
        relative = abs(new - old) / max(abs(old), abs(new), 1e-300)
        return f" (by {new - old:.3g}, {relative:.1e} of it)"
    return ""


def chosen(names: list[str], patterns: list[str]) -> list[str]:
    """Those names that some pattern fits; all of them if there are no patterns."""
    return [n for n in names if not patterns or any(fnmatchcase(n, p) for p in patterns)]


def compared(old: Tree, new: Tree, options: argparse.Namespace) -> Iterator[tuple[str, Any, Any]]:
    """Yield what is compared, with what each tree says, one piece after another."""
    if "claims" in options.part:
        for world in options.worlds:
            found = [tree.effects(world, options.only, options.jobs) for tree in (old, new)]
            yield f"world {world}", *found
    if "explorers" in options.part:
        names = dict.fromkeys(n for t in (old, new) for n in t.ask("explorers", LIST_EXPLORERS))
        for name in chosen(list(names), options.only):
            yield name, *(tree.ask(name, SHOW_EXPLORER, name) for tree in (old, new))
    if "answers" in options.part:
        planted = old.folder / "tests" / "exercises" / "answers"
        files = sorted(planted.glob("*.py"))
        tag = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:8]
        names = [path.stem for path in files if path.stem.startswith("chapter")]
        for name in chosen(names, options.only):
            words = f"{name}-{tag}", CHECK_ANSWERS, str(planted), name
            said = [tree.ask(*words) for tree in (old, new)]
            if not options.messages:
                said = [{k: v.get("accepted", v) for k, v in one.items()} for one in said]
            yield name, *said


def main() -> int:
    """Compare what is asked for; 1 if something differs or fails."""
    parser = argparse.ArgumentParser(description="Compare what two checkouts compute.")
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all three")
    parser.add_argument(
        "--only", nargs="+", default=[], help="ids, explorers, chapters, or 'pbp-*'"
    )
    parser.add_argument("--worlds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1, help="processes of the claims")
    parser.add_argument("--messages", action="store_true", help="compare the checks' words, too")
    parser.add_argument("--python", default=sys.executable, help="for both; default: this one")
    parser.add_argument("--keep", type=Path, default=Path("compared-trees"), help="folder")
    options = parser.parse_args()
    options.part = options.part or list(PARTS)
    folders, kept = (options.old, options.new), options.keep.resolve()
    trees = [Tree(folder, options.python, kept) for folder in folders]
    n_compared = n_different = 0
    for name, old, new in compared(*trees, options):
        lines = list(differences(name, old, new))
        if "failed" in old and not lines:
            lines = [f"{name}: failed in both"]
        n_compared, n_different = n_compared + len(old), n_different + len(lines)
        print(*(f"{line}\n" for line in lines), sep="", end="", flush=True)
    print(f"{n_compared} compared, {n_different} differences")
    return int(n_different > 0)


if __name__ == "__main__":
    sys.exit(main())
