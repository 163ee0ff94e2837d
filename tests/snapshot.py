"""Compare results with snapshots that a person has reviewed.

After a wanted change, write them again and review the difference before committing it:

    BDL_TEACH_UPDATE_SNAPSHOTS=1 python -m pytest tests/test_public_face.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "snapshots"
VARIABLE = "BDL_TEACH_UPDATE_SNAPSHOTS"


def kept(name: str, found: Any) -> Any:
    """Return the contents of ``snapshots/NAME.json``; first write ``found`` there in update mode.

    Raises:
        AssertionError: The snapshot does not exist.
    """
    path = FOLDER / f"{name}.json"
    if os.environ.get(VARIABLE):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(found, ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
    assert path.exists(), f"{path.name}: write it with {VARIABLE}=1"
    return json.loads(path.read_text(encoding="utf-8"))


def check(name: str, found: Any) -> None:
    """Compare a value made of JSON types with its snapshot.

    Raises:
        AssertionError: It differs, or the snapshot does not exist.
    """
    assert found == kept(name, found), f"see {VARIABLE} in snapshot.py"
