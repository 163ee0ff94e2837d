"""The floors of the house, read from the code's own imports, and what an import costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "bdl_teach"
FLOORS = (  # each imports what is named before it, or beside it
    "_support backend",
    "calibration densities elbo estimators expectation_gradients features likelihoods metrics mlp "
    "optimise predictive",
    "datasets methods",
    "plots problems progress _support.alt_text",
    "experiments exercises widgets",
    "claims reproduce",
    "_cli cli __main__",
)
ROOMS = {"exercises", "widgets", "experiments"}  # of one floor, which do not know each other
HEIGHT = {part: height for height, floor in enumerate(FLOORS) for part in floor.split()}


def height(name: str) -> int:
    """The floor of a module, by the longest part of its name that has one."""
    parts = name.split(".")
    found = (HEIGHT.get(".".join(parts[:k])) for k in range(len(parts), 0, -1))
    return next((floor for floor in found if floor is not None), 0)


def test_imports_go_down_the_floors_only() -> None:
    for path in PACKAGE.rglob("*.py"):
        here = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bdl_teach"):
                module = str(node.module).removeprefix("bdl_teach").lstrip(".")
                for alias in node.names:
                    name = f"{module}.{alias.name}".lstrip(".")
                    assert here == "__init__" or height(name) <= height(here), (here, name)
                    rooms = ROOMS & {here.split(".")[0], name.split(".")[0]}
                    assert len(rooms) < 2, (here, name)


@pytest.mark.parametrize(
    ("imported", "heavy"),
    [
        ("bdl_teach", ("numpy", "scipy", "tensorflow", "matplotlib", "ipywidgets")),
        ("bdl_teach.methods.catalogue", ("tensorflow",)),
    ],
)
def test_import_does_not_load_what_is_heavy(imported: str, heavy: tuple[str, ...]) -> None:
    code = f"import sys, {imported}; print([m for m in sys.argv if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
