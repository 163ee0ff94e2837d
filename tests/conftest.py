"""What the tests share: the oracles, which live outside this repository, and quiet hypotheses."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# No time limits: a busy machine must not fail a test. Derandomised: a red run can be repeated.
settings.register_profile(
    "bdl_teach",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("bdl_teach")

# What a learner solved on this machine is neither read nor changed by the tests.
os.environ["BDL_TEACH_PROGRESS"] = str(
    Path(tempfile.mkdtemp(prefix="bdl_teach-")) / "progress.json"
)

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def oracle() -> Callable[[str], Any]:
    """Read an oracle by name from $BDL_TEACH_ORACLES, or from ../shared/oracles."""
    folder = Path(os.environ.get("BDL_TEACH_ORACLES") or SHARED / "oracles")

    def read(name: str) -> Any:
        path = folder / f"{name}.json"
        if not path.is_file():
            pytest.skip(f"no oracle at {path}; set BDL_TEACH_ORACLES to the folder that has it")
        return json.loads(path.read_text(encoding="utf-8"))

    return read
