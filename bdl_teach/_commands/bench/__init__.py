"""What it costs: `python3 -m bdl_teach bench live`, `methods`, `browser` and `ticks`."""

from __future__ import annotations

import argparse
import importlib

ABOUT = {
    "live": "a refit and 500 predictions, beside the article's Keras way and TFP's layers",
    "methods": "a refit of each method on the sinusoid, and how PBP grows with data and width",
    "browser": "key press to repainted plot, in JupyterLab in Chromium",
    "ticks": "memory and errors of 1000 ticks of the sinusoid explorer",
}


def make_parser() -> argparse.ArgumentParser:
    """The command line of `bench`; each measurement adds its own arguments."""
    parser = argparse.ArgumentParser(prog="python3 -m bdl_teach bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="measurement")
    for name, text in ABOUT.items():
        command = commands.add_parser(name, help=text, description=f"Measure {text}.")
        command.add_argument("--json", action="store_true", help="print it for a script")
        importlib.import_module(f"bdl_teach._commands.bench.{name}").add_arguments(command)
    return parser


def main(argv: list[str]) -> int:
    """Run one measurement and print it; return its exit code."""
    options = make_parser().parse_args(argv)
    measurement = importlib.import_module(f"bdl_teach._commands.bench.{options.command}")
    code: int = measurement.run(options)
    return code
