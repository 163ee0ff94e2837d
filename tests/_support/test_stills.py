"""Test that JupyterLab gets live views of a notebook with a kernel, and stills without."""

import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from bdl_teach._cli.after_install import write_settings
from bdl_teach._support.stills import Stills
from bdl_teach._support.views import PICTURE, VIEW

OUTPUTS = (
    {VIEW: {"model_id": "a"}, PICTURE: "iVBO", "text/plain": "an explorer"},
    {VIEW: {"model_id": "b"}, "text/plain": "a slider of the reader's own"},
    {PICTURE: "iVBO", "text/plain": "a figure"},
)


THREAD = ThreadPoolExecutor(1)  # a browser of other tests may have a loop on the main thread


def alone(work: Any) -> Any:
    """Run a coroutine on that thread."""
    return THREAD.submit(asyncio.run, work).result()


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    outputs = [nbformat.v4.new_output("display_data", data=data) for data in OUTPUTS]
    cells = [nbformat.v4.new_markdown_cell("words"), nbformat.v4.new_code_cell(outputs=outputs)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    return tmp_path / "one.ipynb"


class Alone(Stills):
    """A contents manager whose server runs kernels for the notebooks in ``running``."""

    running: tuple[str, ...] = ()

    def _sessions(self) -> Any:
        async def list_sessions() -> list[dict[str, Any]]:
            return [{"path": name} for name in self.running]

        return SimpleNamespace(list_sessions=list_sessions)


def opened(files: Alone, *running: str) -> list[set[str]]:
    """Return the MIME types of each output that JupyterLab gets, with these kernels running."""
    files.running = running
    model = alone(files.get("one.ipynb"))
    return [set(output["data"]) for output in model["content"]["cells"][1]["outputs"]]


def test_notebook_opens_with_stills_unless_its_kernel_is_running(notebook: Path) -> None:
    before, files = notebook.read_bytes(), Alone(root_dir=str(notebook.parent))
    assert opened(files, "another.ipynb", "one.ipynb") == [set(data) for data in OUTPUTS]
    explorer, slider, figure = opened(files, "another.ipynb")
    assert explorer == {PICTURE, "text/plain"}
    assert VIEW in slider, "it has no picture"
    assert figure == {PICTURE, "text/plain"}
    assert opened(files, "one.ipynb")[0] == explorer, "its views are of an earlier kernel"
    assert notebook.read_bytes() == before


INFO = {"name": "python", "version": "3.13.1"}


@pytest.mark.parametrize("edit", [{}, {"kernelspec": {"name": "other"}}, {"title": "mine"}])
def test_only_what_a_learner_changes_is_saved(notebook: Path, edit: dict[str, Any]) -> None:
    before, files = notebook.read_bytes(), Alone(root_dir=str(notebook.parent))
    model = alone(files.get("one.ipynb"))
    model["content"]["metadata"].update({"language_info": INFO, **edit})  # JupyterLab adds the info
    alone(files.save(model, "one.ipynb"))
    assert (notebook.read_bytes() == before) == (not edit)
    model["content"]["cells"][1]["outputs"][0]["data"][VIEW] = {"model_id": "made in this kernel"}
    alone(files.save(model, "one.ipynb"))
    assert "made in this kernel" in notebook.read_text()


SERVER = """
import sys
from jupyter_server.serverapp import ServerApp

server = ServerApp()
server.initialize(["--allow-root", *sys.argv[1:]], new_httpserver=False)
files = server.web_app.settings["contents_manager"]
names = {kind.__name__ for kind in type(files).__mro__}
print("Stills" in names, files.root_dir, files.parent is server)
"""


def test_any_jupyter_server_shows_stills(tmp_path: Path) -> None:
    """As on Binder, only the settings under the prefix name the contents manager."""
    write_settings(tmp_path)
    places = {"JUPYTER_CONFIG_PATH": str(tmp_path / "etc/jupyter"), "HOME": str(tmp_path)}
    places |= {f"JUPYTER_{what}_DIR": str(tmp_path / what) for what in ("CONFIG", "RUNTIME")}
    command = [sys.executable, "-c", SERVER, f"--ServerApp.root_dir={tmp_path}"]
    ran = subprocess.run(
        command, env={**os.environ, **places}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["True", str(tmp_path), "True"]
