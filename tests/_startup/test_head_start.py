"""What a kernel loads before it is asked for anything."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from waiting import until

from bdl_teach._cli.after_install import write_settings
from bdl_teach._startup import head_start

KERNEL = (
    "import sys; sys.prefix = {!r}; from ipykernel import kernelapp as a; {}a.launch_new_instance()"
)
LOADED = f"import sys; print(all(name in sys.modules for name in {head_start.NEEDED!r}))"
BROKEN = (  # an import of it raises; what a thread raises is kept
    "sys.modules['tensorflow'] = None; sys.raised = []; "
    "import threading; threading.excepthook = sys.raised.append; "
)

Ask = Callable[[str], str]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[str], Ask]]:
    """Start a kernel of an environment that has our settings; it says what code prints."""
    write_settings(tmp_path)
    started: list[KernelManager] = []

    def start(before: str = "") -> Ask:
        manager = KernelManager()
        argv = [sys.executable, "-c", KERNEL.format(str(tmp_path), before), "-f"]
        manager._kernel_spec = KernelSpec(argv=[*argv, "{connection_file}"])
        manager.start_kernel()
        started.append(manager)
        client = manager.blocking_client()
        client.start_channels()
        client.wait_for_ready(timeout=60)

        def ask(code: str) -> str:
            said: list[str] = []
            client.execute_interactive(
                code, timeout=60, output_hook=lambda m: said.append(m["content"].get("text", ""))
            )
            return "".join(said).strip()

        return ask

    yield start
    for manager in started:
        manager.shutdown_kernel()


def test_a_kernel_loads_what_a_picture_needs_before_any_cell_has_run(
    start: Callable[[str], Ask],
) -> None:
    ask = start("")
    until(lambda: ask(LOADED) == "True", "what a picture needs")


def test_what_cannot_be_loaded_is_said_by_who_needs_it(start: Callable[[str], Ask]) -> None:
    ask = start(BROKEN)
    done = "import threading; print([t.name for t in threading.enumerate()])"
    until(lambda: "bdl_teach head start" not in ask(done), "the end of the thread")
    assert ask("import sys; print(sys.raised)") == "[]", "nobody has asked for it yet"
    assert "None in sys.modules" in ask(
        "try:\n    import bdl_teach.backend\nexcept ImportError as error:\n    print(error)"
    )
