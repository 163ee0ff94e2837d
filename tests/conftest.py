"""Share oracles, settings of hypothesis and one data folder among all tests."""

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import required
from hypothesis import HealthCheck, settings
from imported import is_as_run

from bdl_teach._startup import loading
from bdl_teach._startup.loading import trim_heap

pytest_plugins = ["loopback"]  # the fixtures `server` and `home`

# No time limits: a busy machine must not fail a test. Derandomised: a red run can be repeated.
settings.register_profile(
    "bdl_teach",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("bdl_teach")

# A background job of a shell ignores these signals; processes started by tests must not.
for _name, _handler in {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}.items():
    if signal.getsignal(getattr(signal, _name, signal.SIGINT)) is signal.SIG_IGN:
        signal.signal(getattr(signal, _name), _handler)

# Files that take minutes start first, so that the workers finish at about the same time. The first
# one compiles the programs that the other tests of explorers use.
LONGEST = (
    "tests/widgets/test_page.py",
    "tests/exercises/test_exercises.py",
    "tests/docs/test_page_uses.py",
    "tests/notebooks/test_deck.py",
    "tests/docs/test_site.py",
    "tests/docs/test_playground.py",
    "tests/widgets/test_contract.py",
    "tests/widgets/test_ends.py",
    "tests/widgets/test_presets.py",
    "tests/methods/test_methods_together.py",
    "tests/methods/test_float64_references.py",
    "tests/widgets/test_widgets.py",
    "tests/widgets/test_truth.py",
    "tests/widgets/test_side_by_side.py",
)


def turn(file: str) -> int:
    """Return the position of a file in the run: the longest first, then notebooks, then others."""
    if file in LONGEST:
        return LONGEST.index(file)
    return len(LONGEST) + (not file.endswith(".ipynb"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--all`."""
    about = "run the slow tests, too, and every notebook, not only those that have changed"
    parser.addoption("--all", action="store_true", help=about)


def pytest_report_header(config: pytest.Config) -> str:
    """Say what is left out."""
    left_out = "slow tests, and notebooks that are as they were run"
    return "" if config.option.all else f"left out without --all: {left_out}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `--all` runs; sort the files by `turn`, each in its own order."""
    if not config.option.all:
        files = {item.path for item in items if item.path.suffix == ".ipynb"}
        same = set(filter(is_as_run, files))
        left_out = [i for i in items if i.path in same or i.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    items.sort(key=lambda item: turn(item.nodeid.partition("::")[0]))


# Switch off XLA's costly optimisations: that halves the time to compile. Results differ by rounding
# only; `bench` and the notebooks run with users' settings. Names are those of TensorFlow 2.21.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=1 "
    "--xla_cpu_parallel_codegen_split_count=1 --xla_llvm_disable_expensive_passes=true",
)

# One thread per product of matrices: a second one only waits while the other core runs a test.
for _library in ("OPENBLAS", "OMP"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# The tests neither read nor change the progress of a learner on this machine.
os.environ["BDL_TEACH_PROGRESS"] = ""

ORACLES = Path(__file__).parent / "oracles"
if os.environ.get("BDL_TEACH_DATA"):  # for kernels and commands, which run elsewhere
    os.environ["BDL_TEACH_DATA"] = os.path.abspath(os.path.expanduser(os.environ["BDL_TEACH_DATA"]))


@pytest.fixture(scope="session")
def oracle() -> Callable[[str], Any]:
    """Return a function that reads a named oracle: numbers computed without the package."""

    def read(name: str) -> Any:
        return json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))

    return read


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start Chromium, once for all tests of this process."""
    from browser_bench.lab import chromium

    with chromium(required()) as started:
        yield started


@pytest.fixture(scope="module", autouse=True)
def background_threads_end_with_their_module() -> Iterator[None]:
    """Wait until explorers have stopped compiling, which would disturb the next file."""
    yield
    if "bdl_teach.widgets._engine.background" in sys.modules:
        sys.modules["bdl_teach.widgets._engine.background"].finish()


@pytest.fixture(scope="session", autouse=True)
def heap_is_trimmed_once_per_module() -> Iterator[None]:
    """Trim the heap once per module only: after each compilation it costs a minute in all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "trim_heap", lambda: None)
        yield


@pytest.fixture(scope="module", autouse=True)
def objects_of_earlier_modules_are_not_collected() -> Iterator[None]:
    """Freeze what earlier modules left, so that no collection scans gigabytes of programs."""
    yield
    trim_heap()
    gc.freeze()
