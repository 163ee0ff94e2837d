"""Run the launch cell, then chapters 0 and 3, with the package versions that Colab has.

    .venv/bin/python tools/colab.py /path/to/python3.13 [--folder FOLDER]

This makes an environment of colab.txt with that Python, in which the launch cell installs the last
commit of this checkout. Where the cell asks for it, the kernel is restarted. It takes about ten
minutes; a second run with the same folder takes less.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import refresh_notebooks
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from bdl_teach._cli.environment import venv_python

CHAPTERS = ("00_start_here", "03_bayes_by_backprop")
VERSIONS = Path(__file__).with_name("colab.txt")
LOOK = (
    "import importlib.metadata as m; print(*sorted({f'{d.name} {d.version}' for d in "
    "m.distributions() if d.name in ('tensorflow', 'tensorflow-cpu', 'traitlets', 'ipywidgets', "
    "'ipykernel')}), sep=', ')"
)


def main() -> int:
    """Make the environment if it is not there, and run the chapters; return 1 if one fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", help="the interpreter, of the version that Colab has")
    parser.add_argument("--folder", type=Path, help="where the environment goes, and stays")
    options = parser.parse_args()
    refresh_notebooks.REPOSITORY = refresh_notebooks.NOTEBOOKS.parent.as_uri()
    with tempfile.TemporaryDirectory() as temporary:
        venv = (options.folder or Path(temporary, "colab")).absolute()
        python = str(venv_python(venv))
        if not venv.is_dir():
            subprocess.run([options.python, "-m", "venv", str(venv)], check=True)
            install = [python, "-m", "pip", "install", "--quiet", "-r", str(VERSIONS)]
            subprocess.run(install, check=True)
        print("before:", look(python), flush=True)
        try:
            for name in CHAPTERS:
                notebook = refresh_notebooks.read_text(name)
                run(notebook, python, temporary)
                print(f"{name}: {len(notebook.cells)} cells ran\n{said(notebook)}", flush=True)
                if "FAIL" in said(notebook):
                    return 1
        except CellExecutionError as error:
            print(error)
            return 1
        print("after:", look(python))
    return 0


def look(python: str) -> str:
    """Return the versions of the packages in question in an environment."""
    return subprocess.check_output([python, "-I", "-c", LOOK], text=True).strip()


def run(notebook: Any, python: str, folder: str) -> None:
    """Run a notebook in `folder`; begin anew once if its first cell asks for a restart."""
    for last in (False, True):
        manager = AsyncKernelManager()
        argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        manager._kernel_spec = KernelSpec(argv=argv, language="python")
        resources = {"metadata": {"path": folder}}
        try:
            NotebookClient(notebook, km=manager, timeout=1800, resources=resources).execute()
            return
        except CellExecutionError as error:
            if last or "restart the runtime" not in str(error):
                raise
            print("the launch cell asks for a restart", flush=True)


def said(notebook: Any) -> str:
    """Return what the first two code cells printed, and all that cells wrote to standard error."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    streams = [o for cell in code for o in cell.outputs if o.output_type == "stream"]
    first = [o for cell in code[:2] for o in cell.outputs if o.output_type == "stream"]
    texts = [o.text for o in streams if o in first or o.name == "stderr"]
    return "".join(texts)


if __name__ == "__main__":
    sys.exit(main())
