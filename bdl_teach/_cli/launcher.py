"""The command line: `python3 -m bdl_teach lab`, `test`, `notebooks`, `doctor`, `data`, ...

Standard library only. In a checkout each command is run by the Python of `.venv` (see
environment.py), so that any supported Python can start it and nothing has to be installed by
hand. Where the package is installed without a checkout, by the Python that it is installed for.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bdl_teach import claims, reproduce
from bdl_teach._cli import deck, environment, notebooks
from bdl_teach._cli.environment import Trouble
from bdl_teach._support.report import say

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[[argparse.Namespace, list[str]], int]

ROOT = Path(__file__).resolve().parents[2]
# Of a notebook without a kernel it gives pictures for views that nobody answers.
CONTENTS = "contents_manager_class=bdl_teach._support.stills.Stills"
# Where jupytext is installed, a chapter that another editor has saved would not open, being newer
# than its text: contributors write the text, and tools/refresh_notebooks.py makes the chapter.
NO_PAIRING = "--ServerApp.jpserver_extensions=jupyterlab_jupytext=False"
FIRST_PORT = 8888
FIRST_NOTEBOOK = "03_bayes_by_backprop.ipynb"
# Pytest, in place of the launcher: nothing outlives whoever stops it. Fails if a check did.
# One worker more than the two cores that CI has: often one waits for a browser or a kernel. Files
# go to them in the order of tests/conftest.py, the longest first.
SHARED_OUT = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")
PYTEST = "import sys, pytest; sys.exit(pytest.main(sys.argv[2:]) or min(int(sys.argv[1]), 1))"
CHECKS = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"])
ABOUT = (
    "Bayesian deep learning as live notebooks. In a checkout, the first command takes minutes: "
    "it makes .venv."
)
NO_TESTS = "An installed package has no tests: they come with a checkout, or with the sdist."
NO_BENCH = "An installed package has no `bench`: it comes with a checkout, or with the sdist."
HOMES = {  # of commands that are not in this folder
    "bench": "bench",  # in tools/
    "claims": "bdl_teach.claims",
    "reproduce": "bdl_teach.reproduce",
}
INSIDE = "import sys; from bdl_teach._cli.launcher import inside; sys.exit(inside(*sys.argv[1:]))"


def main(argv: list[str] | None = None) -> int:
    """Run one command; every foreseeable failure is one sentence and a non-zero code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that an installer ends with us
    words = sys.argv[1:] if argv is None else argv
    return in_sentences(lambda: dispatch(words), "Stopped. The next start goes on from here.")


def in_sentences(run: Callable[[], int], stopped: str) -> int:
    """Return the code of `run`; say `stopped` after ctrl-C, and a foreseeable failure.

    A letter that the output's encoding does not have (a file on Windows, say) is a question mark.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        return run()
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


def dispatch(argv: list[str]) -> int:
    """Read the command line and hand it to the command it names."""
    parser = make_parser()
    options, rest = parser.parse_known_args(argv)
    if rest and not options.passes_on:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    environment.check_python()
    code: int = options.run(options, rest)
    return code


def make_parser() -> argparse.ArgumentParser:
    """The command line; every `--help` works before anything is installed."""
    parser = argparse.ArgumentParser(prog="python3 -m bdl_teach", description=ABOUT)
    commands = parser.add_subparsers(required=True, metavar="command")
    lab = _add(commands, "lab", run_lab, "open the notebooks in JupyterLab")
    lab.add_argument("--no-browser", action="store_true", help="print the address only")
    lab.add_argument("--port", type=int, help=f"default: the first free one from {FIRST_PORT} up")
    _add(
        commands,
        "test",
        run_test,
        "check style, types, package and notebooks; arguments go to pytest, which then runs alone",
        passes_on=True,
    )
    copy = _add(commands, "notebooks", run_notebooks, "copy the notebooks to a folder of your own")
    notebooks.add_arguments(copy)
    text = "make slides of chapters, each one file that needs no network"
    deck.add_arguments(_add(commands, "deck", run_deck, text))
    doctor = _add(commands, "doctor", run_doctor, "say what works on this machine")
    doctor.add_argument("--json", action="store_true", help="print it for a script")
    data = _add(commands, "data", run_data, "fetch the data sets ahead of a lecture")
    data.add_argument("names", nargs="*", metavar="name", help="default: all of the small ones")
    data.add_argument("--list", action="store_true", help="say what is there; fetch nothing")
    text = "lay a paper's figures beside ours; `reproduce --list` says which papers"
    reproduce.add_arguments(_add(commands, "reproduce", run_reproduce, text))
    text = "run what the course says of methods over many worlds; `claims --list` says what"
    claims.add_arguments(_add(commands, "claims", run_claims, text))
    text = "measure: `bench live` a refit, `bench browser` key press to paint"
    bench = _add(commands, "bench", run_bench, text, passes_on=True, add_help=False)
    bench.set_defaults(help=bench.format_help())
    return parser


def _add(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Command,
    text: str,
    *,
    passes_on: bool = False,
    add_help: bool = True,
) -> argparse.ArgumentParser:
    """Add one command; one that `passes_on` hands unknown arguments to what it runs."""
    parser = commands.add_parser(
        name, help=text, description=text, allow_abbrev=False, add_help=add_help
    )
    parser.set_defaults(run=run, passes_on=passes_on)
    return parser


def run_lab(options: argparse.Namespace, _: list[str]) -> int:
    """Open JupyterLab on chapter 3, on this machine's loopback only."""
    port = choose_port(options.port)
    python, root, folder = interpreter(), ROOT, Path("notebooks")
    if not environment.is_checkout(ROOT):
        root, folder = Path.cwd() / notebooks.FOLDER, Path()
        notebooks.copy(root)
    first = folder / FIRST_NOTEBOOK
    first = first if (root / first).is_file() else folder
    begin_first_programs(python)
    find_a_home()
    return hand_over(lab_command(python, port, root, first, browser=not options.no_browser))


def find_a_home() -> None:
    """Give JupyterLab a folder for what it writes beside, where the home folder takes nothing."""
    try:
        with tempfile.TemporaryFile(dir=Path.home()):
            return
    except (OSError, RuntimeError):  # the latter: there is no home folder
        folder = tempfile.mkdtemp(prefix="bdl_teach-")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        os.environ.setdefault(name, folder)
    say(f"Nothing can be written to your home folder: JupyterLab keeps its own files in {folder}.")


def begin_first_programs(python: Path) -> None:
    """Compile what the first picture needs beside JupyterLab, where nothing is kept yet."""
    with suppress(OSError):  # the kernel then compiles it
        subprocess.Popen(
            [str(python), "-m", "bdl_teach._cli.first_programs"],
            cwd=ROOT if environment.is_checkout(ROOT) else None,
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def interpreter(lock: str = environment.LOCK) -> Path:
    """The Python that runs a command: that of `.venv`, or this one where there is no checkout.

    Raises:
        Trouble: What the command needs is not there, and could not be put there.
    """
    if environment.is_checkout(ROOT):
        return environment.ensure(ROOT, lock)
    lacking = environment.missing(ROOT)
    if lacking:
        raise Trouble(environment.advice(lacking))
    return Path(sys.executable)


def lab_command(python: Path, port: int, root: Path, first: Path, *, browser: bool) -> list[str]:
    """The JupyterLab command line; root has to be allowed by name."""
    command = [str(python), "-m", "jupyterlab", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}"]
    command.append(NO_PAIRING)
    command += [f"--LabApp.default_url=/lab/tree/{first.as_posix()}", f"--ServerApp.{CONTENTS}"]
    if not browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return command


def choose_port(wanted: int | None) -> int:
    """The port asked for, if it can be had, or the first free one."""
    if wanted is None:
        for port in range(FIRST_PORT, FIRST_PORT + 100):
            if port_fault(port) is None:
                return port
        raise Trouble(f"No port from {FIRST_PORT} to {FIRST_PORT + 99} is free. Try --port.")
    fault = port_fault(wanted)
    if fault:
        raise Trouble(f"Port {wanted} cannot be used: {fault}. Try another, or leave --port out.")
    return wanted


def port_fault(port: int) -> str | None:
    """Why the loopback port cannot be used, or None if it can."""
    with socket.socket() as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OverflowError:
            return "it is not between 0 and 65535"
        except OSError as error:
            return str(error.strerror).lower()
    return None


def run_test(_: argparse.Namespace, rest: list[str]) -> int:
    """Run every check, pytest last; with arguments, pytest alone on what they name."""
    if not environment.is_checkout(ROOT):
        raise Trouble(NO_TESTS)
    python = str(environment.ensure(ROOT, environment.TEST_LOCK))
    if rest:
        return hand_over([python, "-m", "pytest", *rest])
    failed = []
    for check in CHECKS:
        say(" ".join(check))
        if subprocess.call([python, "-m", *check], cwd=ROOT, env=child_environment()):
            failed.append(" ".join(check))
    if failed:
        say(f"Not clean: {', '.join(failed)} (see above). The tests run all the same.")
    return hand_over([python, "-c", PYTEST, str(len(failed)), *SHARED_OUT])


def run_notebooks(options: argparse.Namespace, _: list[str]) -> int:
    """Copy the notebooks; this needs no environment."""
    return notebooks.main(options)


def run_deck(options: argparse.Namespace, _: list[str]) -> int:
    """Make decks from inside the environment; a chapter that is not there needs none to say so."""
    return run_inside("deck", *deck.as_arguments(options))


def run_doctor(options: argparse.Namespace, _: list[str]) -> int:
    """Report on the machine from inside the environment, even if packages are missing there."""
    flags = ["--json"] if options.json else []
    if environment.is_checkout(ROOT):
        return run_inside("doctor", *flags)
    lacking = environment.missing(ROOT)
    if lacking:
        say(environment.advice(lacking))
    return run_here("doctor", *flags)


def run_data(options: argparse.Namespace, _: list[str]) -> int:
    """Fetch or list data sets from inside the environment."""
    flags = ["--list"] if options.list else []
    return run_inside("data", *flags, *options.names)


def run_reproduce(options: argparse.Namespace, _: list[str]) -> int:
    """Reproduce a table from inside the environment; listing them needs none."""
    if options.list:
        return reproduce.show()
    return run_inside("reproduce", *reproduce.as_arguments(options))


def run_claims(options: argparse.Namespace, _: list[str]) -> int:
    """Run claims from inside the environment; listing them needs none."""
    if options.list:
        return claims.print_list(options)
    return run_inside("claims", *claims.as_arguments(options))


def run_bench(options: argparse.Namespace, rest: list[str]) -> int:
    """Run one of the measurements of `bench`; asking for help builds nothing."""
    if not environment.is_checkout(ROOT):
        raise Trouble(NO_BENCH)
    asks = not rest or "-h" in rest or "--help" in rest
    if asks and not is_ready():
        print(options.help)
        return 0
    browser = rest[:1] == ["browser"]  # is driven by what a contributor has
    return run_inside("bench", *rest, lock=environment.TEST_LOCK if browser else environment.LOCK)


def is_ready() -> bool:
    """Whether everything that a command needs is there already."""
    if environment.is_checkout(ROOT):
        return environment.is_ready(ROOT / ".venv", ROOT / environment.LOCK)
    return not environment.missing(ROOT)


def run_inside(name: str, *arguments: str, lock: str = environment.LOCK) -> int:
    """Run `bdl_teach.<name>` in the environment, which without a checkout is where we are."""
    python = interpreter(lock)
    if environment.is_checkout(ROOT):
        return hand_over([str(python), "-c", INSIDE, name, *arguments])
    return run_here(name, *arguments)


def run_here(name: str, *arguments: str) -> int:
    """Run `bdl_teach.<name>` in this very process, which is where its packages are."""
    os.environ.update(child_environment())
    return inside(name, *arguments)


def inside(name: str, *arguments: str) -> int:
    """Run a command, already in the environment; a failure is a sentence there too."""
    if name == "bench":
        sys.path.append(str(ROOT / "tools"))

    def run() -> int:
        code: int = importlib.import_module(HOMES.get(name, f"bdl_teach._cli.{name}")).main(
            list(arguments)
        )
        return code

    return in_sentences(run, "Stopped.")


def hand_over(command: list[str]) -> int:
    """Become `command`; on Windows, which cannot, wait for it."""
    if sys.platform == "win32":
        return wait_for(command)
    env = child_environment()  # as seen from here, before the folder changes
    if environment.is_checkout(ROOT):
        os.chdir(ROOT)
    os.execve(command[0], command, env)


def wait_for(command: list[str]) -> int:
    """Run `command` to its end; ctrl-C is left to it, so that it can tidy up first."""
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        folder = ROOT if environment.is_checkout(ROOT) else None
        code = subprocess.call(command, cwd=folder, env=child_environment())
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
    return code


def child_environment() -> dict[str, str]:
    """The environment of a command: in a checkout `.venv` first, and nothing of another Python.

    Folders that are named by where they lie from here are named in full: kernels run elsewhere.
    """
    env = dict(os.environ, JUPYTER_PREFER_ENV_PATH="1")  # a kernel of the user's own is not ours
    if env.get("BDL_TEACH_DATA"):
        env["BDL_TEACH_DATA"] = os.path.abspath(os.path.expanduser(env["BDL_TEACH_DATA"]))
    if not environment.is_checkout(ROOT):
        if env.get("PYTHONPATH"):
            parts = env["PYTHONPATH"].split(os.pathsep)
            env["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, parts))
        return env
    for name in ("PYTHONPATH", "PYTHONHOME", "JUPYTER_PATH"):
        env.pop(name, None)
    venv = ROOT / ".venv"
    programs = str(environment.venv_python(venv).parent)
    env["PATH"] = os.pathsep.join([programs, env.get("PATH", os.defpath)])
    env["VIRTUAL_ENV"] = str(venv)
    if not os.access(ROOT, os.W_OK):  # ruff and mypy would fail for want of their caches
        env.update(RUFF_NO_CACHE="true", MYPY_CACHE_DIR=os.devnull)
    shared = ROOT.parent / "shared" / "data"
    if shared.is_dir():
        env.setdefault("BDL_TEACH_DATA", str(shared))
    return env
