"""Start commands such as `python3 -m bdl_teach lab`, with the standard library only."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from bdl_teach._cli import environment
from bdl_teach._cli.checkout import (
    LOCK,
    ROOT,
    TEST_LOCK,
    Trouble,
    describe,
    hand_over,
    is_checkout,
)
from bdl_teach._support.report import say

ABOUT = (
    "Bayesian deep learning as live notebooks. In a checkout, the first command makes .venv, "
    "which takes minutes."
)
COMMANDS = {
    "lab": "open the notebooks in JupyterLab",
    "test": "check what a change may break; --all: everything; other arguments go to pytest",
    "notebooks": "copy the notebooks to a folder of your own",
    "deck": "write slides of chapters: a file each, which needs no network",
    "doctor": "check what works on this machine",
    "data": "fetch the data sets before a lecture",
    "reproduce": "compute a paper's table again; `reproduce --list` lists the tables",
    "claims": "test the course's claims about methods in many worlds; `claims --list` lists them",
    "bench": "measure speed or memory: live, methods, chains, ticks, or browser",
}
FORWARD = ("test", "bench")  # pass their arguments on
EVIDENCE = ("claims", "reproduce")  # are in the package of that name, in the checkout
MODULES = {"bench": "bench", "claims": "evidence.claims", "reproduce": "evidence.reproduce"}
INSIDE = "import sys; from bdl_teach.cli import inside; sys.exit(inside(sys.argv[1:]))"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; print an expected failure as one sentence."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that an installer ends, too
    words = sys.argv[1:] if argv is None else argv
    return report_failures(lambda: start(words), "Stopped. The next start goes on from here.")


def inside(argv: Sequence[str]) -> int:
    """Run one command in this Python, which :func:`start` has started, and return its exit code."""
    return report_failures(lambda: run(parse(argv)), "Stopped.")


def report_failures(command: Callable[[], int], stopped: str) -> int:
    """Run a command and return its exit code.

    If it raises an expected error, print the message and return 1; after ctrl-C, print `stopped`
    and return 130.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what a terminal lacks becomes "?"
    try:
        code = command()
        sys.stdout.flush()
        return code
    except Trouble as trouble:
        say(str(trouble))
    except KeyboardInterrupt:
        say(stopped)
        return 130
    except BrokenPipeError:  # nobody reads the output; Python would report that at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        say(describe(error))
    return 1


def module(name: str) -> ModuleType:
    """Import and return the module that runs the command of this name."""
    if name == "bench":
        sys.path.append(str(ROOT / "tools"))
    return importlib.import_module(MODULES.get(name, f"bdl_teach._cli.{name}"))


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; the arguments that pytest or a benchmark gets are in `rest`.

    Every `--help` except that of `bench` works before anything is installed.
    """
    forward = FORWARD if is_checkout(ROOT) else (*FORWARD, *EVIDENCE)
    parser = argparse.ArgumentParser(prog="python3 -m bdl_teach", description=ABOUT)
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")
    for name, text in COMMANDS.items():
        command = commands.add_parser(
            name, help=text, description=text, allow_abbrev=False, add_help=name != "bench"
        )
        if name not in forward:
            module(name).add_arguments(command)
    options, rest = parser.parse_known_args(argv)
    if rest and options.command not in forward:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.rest = rest
    return options


def run(options: argparse.Namespace) -> int:
    """Run the parsed command in this Python, and return its exit code."""
    code: int = module(options.command).run(options)
    return code


def needed_lock(options: argparse.Namespace) -> str:
    """Return the name of the file that lists the packages a command needs; "" if it needs none."""
    command = options.command
    if command == "notebooks" or (command in EVIDENCE and options.list):
        return ""
    tests = command == "test" or (command == "bench" and options.rest[:1] == ["browser"])
    return TEST_LOCK if tests else LOCK


def start(argv: Sequence[str]) -> int:
    """Run a command with the Python of the checkout's `.venv`, and return its exit code.

    The `.venv` is made if necessary. A command that needs no libraries runs in the Python that
    called this function. So do all commands if bdl_teach is an installed package, not a checkout.
    """
    options = parse(argv)
    name, checkout = options.command, is_checkout(ROOT)
    if not checkout and name in (*FORWARD, *EVIDENCE):
        raise Trouble(f"`{name}` works only in a checkout or sdist of bdl_teach: run it there.")
    lock = needed_lock(options)
    if not checkout and lock and name != "doctor":
        module("doctor").check_packages()
    if not checkout or not lock:
        set_environment()
        return run(options)
    python = environment.ensure(ROOT, lock)
    set_environment()
    return hand_over([str(python), "-c", INSIDE, *argv])


def set_environment() -> None:
    """Set environment variables by which programs find the data folder and a checkout's `.venv`."""
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # before kernels in the user's home folder
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
