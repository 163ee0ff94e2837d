"""Check what works on this machine: `python3 -m bdl_teach doctor`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import platform
import re
import sys
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from bdl_teach._cli.checkout import ROOT, Trouble, is_checkout
from bdl_teach._cli.python_version import SUPPORTED

FRONT_END = "@jupyter-widgets/jupyterlab-manager"  # version 5 goes with ipywidgets 8
MODULES = {  # packages imported under another name
    "django-static-mathjax": "mathjax",
    "pillow": "PIL",
    "scikit-learn": "sklearn",
}
MEMORY_GB = 1.5  # for a kernel after chapter 3, JupyterLab and a browser's tab
ONLY_FILES = ("mathjax", "pyreveal")  # what decks contain; none of their code runs
Look = Callable[[], str | tuple[float, str]]  # returns a text, or a measured value and its unit


@dataclass(frozen=True)
class Finding:
    """One line of the report: a check and its result."""

    name: str
    text: str  # what was found, or what to do about it
    ok: bool
    needed: bool  # whether the course fails without it
    number: float | None = None  # a measured value, for scripts

    def __str__(self) -> str:
        mark = "ok" if self.ok else "FAIL" if self.needed else "note"
        return f"{mark:<5}{self.name:<24}{self.text}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the report for a script")


def run(options: argparse.Namespace) -> int:
    """Print the report line by line; return 1 if something needed is missing."""
    findings = []
    for name, needed, look in LOOKS:
        findings.append(examine(name, needed, look))
        if not options.json:
            print(findings[-1], flush=True)
    well = all(finding.ok for finding in findings if finding.needed)
    if options.json:
        report = {finding.name: asdict(finding) for finding in findings}
        print(json.dumps({"ok": well, "findings": report}, indent=2))
    else:
        print("All that is needed is here." if well else "Something needed is missing (FAIL).")
    return 0 if well else 1


def examine(name: str, needed: bool, look: Look) -> Finding:
    """Run one check and return its finding; an exception gives a finding that is not ok."""
    try:
        found = look()
    except Exception as error:  # a broken package can raise anything on import
        text = str(error) if isinstance(error, Trouble) else f"{type(error).__name__}: {error}"
        return Finding(name, text, False, needed)
    if isinstance(found, str):
        return Finding(name, found, True, needed)
    number, unit = found
    return Finding(name, f"{number:g} {unit}", True, needed, number)


def python() -> str:
    """Return the version and path of this Python; raise ``Trouble`` if it is not supported."""
    found = platform.python_version()
    if found.rpartition(".")[0] not in SUPPORTED:
        raise Trouble(f"{found}, but only {', '.join(SUPPORTED)} are supported")
    return f"{found} ({sys.executable})"


def tensorflow() -> str:
    """Return TensorFlow's version; raise ``Trouble`` if the course was not tried with it."""
    from bdl_teach._startup import kept_programs
    from bdl_teach.backend import tf

    found = str(tf.__version__)
    if not kept_programs.was_tried(found):
        tried = " and ".join(kept_programs.TRIED)
        fault = f"{found}, but the course was tried with {tried}"
        raise Trouble(f"{fault}: programs are not stored, so each kernel compiles them again")
    return found


def xla() -> str:
    from bdl_teach._support import compiled

    if not compiled.xla_available():
        raise Trouble("XLA cannot compile here: the course works without it, but fits take longer")
    return "compiles"


def required() -> dict[str, str]:
    """Return {module to import: requirement as pip writes it} for the package's requirements."""
    if is_checkout(ROOT):
        with (ROOT / "pyproject.toml").open("rb") as file:
            lines = tomllib.load(file)["project"]["dependencies"]
    else:
        lines = [line for line in requires("bdl_teach") or [] if "extra ==" not in line]
    names = {line: _name(line) for line in lines}
    return {MODULES.get(n, n.replace("-", "_")): line.strip() for line, n in names.items()}


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def unmet() -> list[str]:
    """Return the requirements whose package is missing, too old or too new."""
    wanted = required()
    if missing := [line for name, line in wanted.items() if not importlib.util.find_spec(name)]:
        return missing
    from packaging.requirements import Requirement  # TensorFlow requires it

    found = {line: _version(line) for line in wanted.values()}
    return [
        line for line in found if found[line] and found[line] not in Requirement(line).specifier
    ]


def _version(requirement: str) -> str:
    """Return the installed version; "" for `tensorflow` where tensorflow-cpu is in its place."""
    with suppress(PackageNotFoundError):
        return version(_name(requirement))
    return ""


def check_packages() -> None:
    """Raise ``Trouble`` if a package is missing, too old or too new, or loaded in another version.

    What a kernel has loaded it keeps, even if a newer version is installed meanwhile.
    """
    if lines := unmet():
        command = f"{sys.executable} -m pip install " + " ".join(f'"{line}"' for line in lines)
        raise Trouble(f"Packages are missing, too old or too new. Install others: {command}")
    for module, line in required().items():
        loaded = str(getattr(sys.modules.get(module), "__version__", "")).removeprefix("v")
        if loaded and _version(line) not in ("", loaded):
            fault = f"{module} {loaded} is loaded, but {_version(line)} is installed"
            raise Trouble(f"{fault}: restart the runtime, then run this cell again.")


def packages() -> str:
    """Import the required packages and return "n are imported"; raise ``Trouble`` if some lack."""
    check_packages()
    modules = [name for name in required() if name not in ONLY_FILES]
    for name in modules:
        importlib.import_module(name)
    return f"{len(modules)} are imported"


def front_end(package: str, extension: str, begins: str = "") -> str:
    """Return a widget package's version and that of its front end in JupyterLab.

    The extension fits if its version starts with ``begins``, or by default with the package's.

    Raises:
        Trouble: JupyterLab has no such extension, or one that does not fit.
    """
    from jupyter_core.paths import jupyter_path

    here, found = version(package), "none"
    for folder in map(Path, jupyter_path("labextensions")):
        with suppress(OSError):
            file = folder / extension / "package.json"
            found = str(json.loads(file.read_text(encoding="utf-8"))["version"])
            break
    if not found.startswith(begins or here):
        fault = f"{here} does not fit its front end in JupyterLab ({extension}: {found})"
        raise Trouble(f"{fault}: install {package} again in JupyterLab's environment")
    return f"{here}, front end {found}"


def memory() -> tuple[float, str]:
    """Return the free memory in GB, and its unit; raise ``Trouble`` if it is too little."""
    import psutil

    found = round(psutil.virtual_memory().available / 1e9, 1)
    if found < MEMORY_GB:
        raise Trouble(f"{found} GB free; the course wants {MEMORY_GB} GB: free some")
    return found, "GB free"


def explorer() -> str:
    """Make the explorer of chapter 3, and close it when it has drawn its first picture."""
    from bdl_teach.widgets import SinusoidExplorer

    SinusoidExplorer().wait().close()
    return "draws"


def refit() -> tuple[float, str]:
    """Return the milliseconds of one refit of the sinusoid, without compilation, and their unit."""
    from bdl_teach import datasets, densities
    from bdl_teach.methods import bbb

    data = datasets.sinusoid()
    prior = densities.ScaleMixture(sigma1=1.5, sigma2=0.1, pi=0.5)
    for _ in range(2):  # the first one compiles
        start = time.perf_counter()
        bbb.fit(data.x, data.y, prior=prior, noise_std=data.noise_std)
        seconds = time.perf_counter() - start
    return round(1000 * seconds), "ms (1500 steps, 32 points)"


LOOKS: tuple[tuple[str, bool, Look], ...] = (
    ("Python", True, python),
    ("TensorFlow", True, tensorflow),
    ("XLA", False, xla),
    ("packages", True, packages),
    ("ipywidgets", True, partial(front_end, "ipywidgets", FRONT_END, "5.")),
    ("anywidget", True, partial(front_end, "anywidget", "anywidget")),
    ("memory", False, memory),
    ("explorer", True, explorer),
    ("refit", True, refit),
)
