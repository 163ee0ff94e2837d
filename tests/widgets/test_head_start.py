"""Test what a new kernel loads before its first cell."""

import base64
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from waiting import until

from bdl_teach._cli.after_install import write_settings
from bdl_teach.widgets import head_start

KERNEL = (
    "import sys; sys.prefix = {!r}; from ipykernel.kernelapp import launch_new_instance as f;f()"
)
LOADED = f"import sys; print(all(name in sys.modules for name in {head_start.NEEDED!r}))"


def test_new_kernel_preloads_the_packages_that_drawing_needs(tmp_path: Path) -> None:
    write_settings(tmp_path)
    manager, said = KernelManager(), []
    argv = [sys.executable, "-c", KERNEL.format(str(tmp_path)), "-f", "{connection_file}"]
    manager._kernel_spec = KernelSpec(argv=argv)
    manager.start_kernel()
    try:
        client = manager.blocking_client()
        client.start_channels()
        client.wait_for_ready(timeout=60)

        def loaded() -> bool:
            client.execute_interactive(LOADED, timeout=60, output_hook=said.append)
            return any("True" in message["content"].get("text", "") for message in said)

        until(loaded, "what a picture needs")
    finally:
        manager.shutdown_kernel()


def test_running_a_cell_shows_its_stored_still_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = []
    for name, still in {"KLBudgetLab": b"another", "GradientLab": b"this one"}.items():
        data = {"image/png": base64.b64encode(still).decode()}
        output = nbformat.v4.new_output("display_data", data)
        cells.append(nbformat.v4.new_code_cell(f"lab = {name}()\nlab", outputs=[output]))
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "a.ipynb"))
    shown: list[object] = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    for source in ("1 + 1", "lab = GradientLab()\nlab", "TruthExplorer()"):
        head_start._show_still(SimpleNamespace(raw_cell=source))
    assert shown == [{"image/png": base64.b64encode(b"this one").decode()}]
