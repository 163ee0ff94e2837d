"""What the tests share: the oracles, one data folder for all, and quiet hypotheses."""

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from bdl_teach._startup import memory
from bdl_teach._startup.memory import release

pytest_plugins = ["loopback"]  # a server of data, for who asks for it

# No time limits: a busy machine must not fail a test. Derandomised: a red run can be repeated.
settings.register_profile(
    "bdl_teach",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("bdl_teach")

# A shell's background job and nohup hand on "ignored"; what the tests start must hear them.
for _name, _handler in {"SIGINT": signal.default_int_handler, "SIGHUP": signal.SIG_DFL}.items():
    if signal.getsignal(getattr(signal, _name, signal.SIGINT)) is signal.SIG_IGN:
        signal.signal(getattr(signal, _name), _handler)

# Minutes each: begun first, so that no worker is left with one of them when the others have ended.
# The first compiles what all explorers need: what is of explorers, too, finds it done.
LONGEST = (
    "tests/widgets/test_page.py",
    "tests/widgets/test_contract.py",
    "tests/experiments/test_measured.py",
    "tests/exercises/test_exercises.py",
    "tests/methods/test_methods_together.py",
    "tests/methods/test_twins.py",
    "tests/widgets/test_widgets.py",
    "tests/widgets/test_truth.py",
    "tests/widgets/test_side_by_side.py",
)


def turn(file: str) -> int:
    """When a file's tests begin: the longest, the notebooks, all others."""
    if file in LONGEST:
        return LONGEST.index(file)
    return len(LONGEST) + (not file.endswith(".ipynb"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files; the order in a file stays."""
    items.sort(key=lambda item: turn(item.nodeid.partition("::")[0]))


# XLA takes longer to make a program fast than most tests take to run it: half the compile time
# goes without, and a fifth of the whole run. The programs are the same, rounded otherwise; `bench`
# and the notebooks' stored outputs have what users have. Names are those of TensorFlow 2.21.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=1 "
    "--xla_cpu_parallel_codegen_split_count=1 --xla_llvm_disable_expensive_passes=true",
)

# A second thread for a product of matrices waits in vain, and at full speed, where the other core
# has a test of its own: without it four times the same fit cost 155 s of processor and not 184.
for _library in ("OPENBLAS", "OMP"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# What a learner solved on this machine is neither read nor changed by the tests.
os.environ["BDL_TEACH_PROGRESS"] = ""

ORACLES = Path(__file__).parent / "oracles"
if os.environ.get("BDL_TEACH_DATA"):  # kernels and commands that a test starts run elsewhere
    os.environ["BDL_TEACH_DATA"] = os.path.abspath(os.path.expanduser(os.environ["BDL_TEACH_DATA"]))


@pytest.fixture(scope="session")
def oracle() -> Callable[[str], Any]:
    """Read an oracle by name: figures worked out by other means than the package's."""

    def read(name: str) -> Any:
        return json.loads((ORACLES / f"{name}.json").read_text(encoding="utf-8"))

    return read


@pytest.fixture(scope="module", autouse=True)
def no_thread_outlives_its_module() -> Iterator[None]:
    """Else what an explorer still compiles would count, and slow, in the tests of the next file."""
    yield
    if "bdl_teach.widgets._engine.background" in sys.modules:
        sys.modules["bdl_teach.widgets._engine.background"].finish()


@pytest.fixture(scope="session", autouse=True)
def memory_is_not_given_back_after_each_compilation() -> Iterator[None]:
    """Looking through all that a worker holds takes a minute in all; each module's end does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "release", lambda: None)
        yield


@pytest.fixture(scope="module", autouse=True)
def garbage_is_not_looked_for_in_what_earlier_modules_left() -> Iterator[None]:
    """A worker comes to hold gigabytes of traced programs, and each compilation collects."""
    yield
    release()
    gc.freeze()
