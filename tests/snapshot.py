"""Compare results with stored ones.

After an intended change, write them anew and read the difference before committing it:

    BDL_TEACH_UPDATE_SNAPSHOTS=1 python -m pytest tests/test_public_face.py
"""

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "snapshots"
VARIABLE = "BDL_TEACH_UPDATE_SNAPSHOTS"


def kept(name: str, found: Any) -> Any:
    """Return the content of ``snapshots/NAME.json``, after writing ``found`` if asked to."""
    path = FOLDER / f"{name}.json"
    if os.environ.get(VARIABLE):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(found, ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
    assert path.exists(), f"{path.name}: write it with {VARIABLE}=1"
    return json.loads(path.read_text(encoding="utf-8"))


def check(name: str, found: Any) -> None:
    """Compare something made of JSON's types with its snapshot."""
    assert found == kept(name, found), f"see {VARIABLE} in snapshot.py"
