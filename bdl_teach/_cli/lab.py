"""Open the notebooks in JupyterLab, for this machine only: `python3 -m bdl_teach lab`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from bdl_teach._cli import checkout, notebooks
from bdl_teach._support.report import say

# With jupytext, a chapter that another editor has saved would not open, because it is newer than
# its text. (Contributors write the text, and tools/refresh_notebooks.py makes the chapter.)
NO_PAIRING = "--ServerApp.jpserver_extensions=jupyterlab_jupytext=False"
FIRST_NOTEBOOK = "03_bayes_by_backprop.ipynb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-browser", action="store_true", help="print the address only")
    text = "default: the first free one from 8888 up"
    parser.add_argument("--port", type=int, help=text)


def run(options: argparse.Namespace) -> int:
    """Open JupyterLab at chapter 3 of the checkout, or else of a copy in the current folder."""
    root, folder = checkout.ROOT, Path("notebooks")
    if not checkout.is_checkout(root):
        root, folder = Path.cwd() / notebooks.FOLDER, Path()
        notebooks.copy(root)
    first = folder / FIRST_NOTEBOOK
    first = first if (root / first).is_file() else folder
    os.chdir(root)
    find_a_home()
    command = lab_command(Path(sys.executable), options.port, root, first)
    return checkout.hand_over([*command, *(["--no-browser"] if options.no_browser else [])])


def find_a_home() -> None:
    """Give JupyterLab a folder in the temporary one if the home folder is not writable."""
    if os.access(os.path.expanduser("~"), os.W_OK):
        return
    folder = tempfile.mkdtemp(prefix="bdl_teach-")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        os.environ.setdefault(name, folder)
    say(f"Nothing can be written to your home folder: JupyterLab keeps its own files in {folder}.")


def lab_command(python: Path, port: int | None, root: Path, first: Path) -> list[str]:
    """Return the command that opens ``first`` in JupyterLab (as superuser, with --allow-root)."""
    command = [str(python), "-m", "jupyterlab", "--ip=127.0.0.1", f"--ServerApp.root_dir={root}"]
    command += [f"--LabApp.default_url=/lab/tree/{first.as_posix()}", NO_PAIRING]
    if port is not None:
        command += [f"--port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return command
