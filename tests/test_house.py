"""Layers of the package, read from its imports, and what an import loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "bdl_teach"
LAYERS = (  # each imports only from layers named before it, or from itself
    "_support backend",
    "calibration densities elbo estimators expectation_gradients features likelihoods metrics mlp "
    "optimise predictive",
    "datasets methods",
    "plots problems progress _support.alt_text",
    "experiments exercises widgets",
    "claims reproduce",
    "_cli cli __main__",
)
APART = {"exercises", "widgets"}  # do not import each other
HEIGHT = {part: height for height, layer in enumerate(LAYERS) for part in layer.split()}


def height(name: str) -> int:
    """Return the layer of a module, by the longest prefix of its name that has one."""
    parts = name.split(".")
    found = (HEIGHT.get(".".join(parts[:k])) for k in range(len(parts), 0, -1))
    return next((layer for layer in found if layer is not None), 0)


def test_modules_import_only_from_lower_layers() -> None:
    for path in PACKAGE.rglob("*.py"):
        here = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bdl_teach"):
                module = str(node.module).removeprefix("bdl_teach").lstrip(".")
                for alias in node.names:
                    name = f"{module}.{alias.name}".lstrip(".")
                    assert here == "__init__" or height(name) <= height(here), (here, name)
                    both = APART & {here.split(".")[0], name.split(".")[0]}
                    assert len(both) < 2, (here, name)


LATE = ("arviz_stats", "scipy.stats", "sklearn")  # as slow to load as half of all else
OF_CHAPTERS = (  # what chapters import
    "calibration claims datasets exercises metrics plots widgets methods.exact methods.vae "
    "experiments.measured.autoencoders experiments.measured.chapter10"
)


@pytest.mark.parametrize(
    ("imported", "heavy"),
    [
        ("", ("numpy", "scipy", "tensorflow", "matplotlib", "ipywidgets")),
        ("methods.catalogue", ("tensorflow",)),
        (OF_CHAPTERS, LATE),
    ],
)
def test_import_loads_no_heavy_library(imported: str, heavy: tuple[str, ...]) -> None:
    names = ", ".join(f"bdl_teach.{name}" for name in imported.split()) or "bdl_teach"
    code = f"import sys, {names}; print([m for m in sys.argv if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
