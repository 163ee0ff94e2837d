"""The command line: `python3 -m bdl_teach lab`, `test`, `doctor`, `data`, ...

Standard library only. In a checkout a command runs in `.venv`, which is made when it is first
needed (_cli/environment.py); in an installed package it runs in the Python that has the package.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from bdl_teach._cli import environment
from bdl_teach._cli.environment import LOCK, TEST_LOCK, Trouble, is_checkout
from bdl_teach._support.report import say

ROOT = Path(__file__).resolve().parents[1]
ABOUT = (
    "Bayesian deep learning as live notebooks. In a checkout, the first command takes minutes: "
    "it makes .venv."
)
COMMANDS = {
    "lab": "open the notebooks in JupyterLab",
    "test": "check style, types, package and notebooks; arguments go to pytest, which runs alone",
    "notebooks": "copy the notebooks to a folder of your own",
    "deck": "make slides of chapters, each one file that needs no network",
    "doctor": "say what works on this machine",
    "data": "fetch the data sets ahead of a lecture",
    "reproduce": "lay a paper's figures beside ours; `reproduce --list` says which papers",
    "claims": "run what the course says of methods over many worlds; `claims --list` says what",
    "bench": "measure: live, methods, replay, ticks, or browser (key press to repainted picture)",
}
HOMES = {"claims": "bdl_teach.claims", "reproduce": "bdl_teach.reproduce"}  # the others: in _cli
INSIDE = "import sys; from bdl_teach.cli import inside; sys.exit(inside(sys.argv[1:]))"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; every foreseeable failure is one sentence and a non-zero code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that an installer ends with us
    words = sys.argv[1:] if argv is None else argv
    return in_sentences(lambda: start(words), "Stopped. The next start goes on from here.")


def inside(argv: Sequence[str]) -> int:
    """Run one command, already in the environment; a failure is a sentence there, too."""
    return in_sentences(lambda: run(parse(argv)), "Stopped.")


def in_sentences(run: Callable[[], int], stopped: str) -> int:
    """Run `run`, and print a failure as a sentence: `stopped` after ctrl-C, else the error's.

    A letter that the output's encoding does not have (a file on Windows, say) is a question mark.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = run()
        sys.stdout.flush()
        return code
    except Trouble as trouble:
        say(str(trouble))
    except KeyboardInterrupt:
        say(stopped)
        return 130
    except BrokenPipeError:  # who was reading has gone, and Python would say so at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        say(environment.fault(error))
    return 1


def make_parser() -> argparse.ArgumentParser:
    """Make the parser; every `--help` but that of `bench` works before anything is installed."""
    parser = argparse.ArgumentParser(prog="python3 -m bdl_teach", description=ABOUT)
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")
    for name, text in COMMANDS.items():
        command = commands.add_parser(
            name, help=text, description=text, allow_abbrev=False, add_help=name != "bench"
        )
        home(name).add_arguments(command)
    return parser


def home(name: str) -> ModuleType:
    """Import the module of a command: its `add_arguments` and `run`."""
    return importlib.import_module(HOMES.get(name, f"bdl_teach._cli.{name}"))


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; arguments for pytest and the benchmarks end up in `rest`."""
    parser = make_parser()
    options, rest = parser.parse_known_args(argv)
    options.rest = rest
    if rest and options.command not in ("test", "bench"):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return options


def run(options: argparse.Namespace) -> int:
    """Run a command in the current environment."""
    code: int = home(options.command).run(options)
    return code


def needed_lock(options: argparse.Namespace) -> str:
    """Return the lock that a command needs; "" if the standard library is enough."""
    command = options.command
    if command == "notebooks" or (command in HOMES and options.list):
        return ""
    tests = command == "test" or (command == "bench" and options.rest[:1] == ["browser"])
    return TEST_LOCK if tests else LOCK


def start(argv: Sequence[str]) -> int:
    """Run a command in an environment that has its packages: here, or in `.venv`."""
    options = parse(argv)
    lock, checkout = needed_lock(options), is_checkout(ROOT)
    if not checkout and options.command in ("test", "bench"):
        name = options.command
        raise Trouble(f"An installed package has no `{name}`: it comes with a checkout or sdist.")
    if not checkout and lock and options.command != "doctor":
        home("doctor").check_packages()
    if not checkout or not lock:
        settle()
        return run(options)
    python = environment.ensure(ROOT, lock)
    settle()
    return hand_over([str(python), "-c", INSIDE, *argv])


def settle() -> None:
    """Set the environment variables of commands: `.venv` first, nothing of another Python."""
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # a kernel of the user's own is not ours
    if data := os.environ.get("BDL_TEACH_DATA"):  # kernels run in other folders
        os.environ["BDL_TEACH_DATA"] = os.path.abspath(os.path.expanduser(data))
    if not is_checkout(ROOT):
        return
    for name in ("PYTHONPATH", "PYTHONHOME", "JUPYTER_PATH"):
        os.environ.pop(name, None)
    programs = environment.venv_python(ROOT / ".venv").parent
    os.environ["PATH"] = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
    os.environ["VIRTUAL_ENV"] = str(ROOT / ".venv")
    shared = ROOT.parent / "shared" / "data"
    if shared.is_dir():
        os.environ.setdefault("BDL_TEACH_DATA", str(shared))


def hand_over(command: list[str]) -> int:
    """Replace this process by `command`; on Windows run it, wait, and ignore ctrl-C meanwhile."""
    if sys.platform != "win32":
        os.execv(command[0], command)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return subprocess.call(command)
