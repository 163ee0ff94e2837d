"""Measure speed and memory: `python3 -m bdl_teach bench NAME`."""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType

ABOUT = {
    "live": "a refit and 500 predictions, and the same with Keras and TFP layers",
    "methods": "a refit of each method on the sinusoid, and PBP's growth with data and width",
    "chains": "effective draws a second of HMC, NUTS and numpyro's NUTS",
    "browser": "the time from key press to repainted plot, in JupyterLab in Chromium",
    "page": "pictures a second of the playground while a point is dragged, in Chromium",
    "ticks": "memory and errors of 1000 ticks of the sinusoid explorer",
}


def measurement(name: str) -> ModuleType:
    """Import and return the module of the named measurement."""
    return importlib.import_module(
        "browser_bench.browser" if name == "browser" else f"bench.{name}"
    )


def run(options: argparse.Namespace) -> int:
    """Run the measurement that the command's arguments name."""
    return main(options.rest)


def main(argv: list[str]) -> int:
    """Run one measurement and print its results; return the exit code."""
    parser = argparse.ArgumentParser(prog="python3 -m bdl_teach bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="measurement")
    for name, text in ABOUT.items():
        command = commands.add_parser(name, help=text, description=f"Measure {text}.")
        command.add_argument("--json", action="store_true", help="print the results for a script")
        measurement(name).add_arguments(command)
        missed = "end with 1 if a limit is missed"
        command.add_argument("--strict", action="store_true", help=missed)
    options = parser.parse_args(argv)
    code: int = measurement(options.command).run(options)
    return code
