"""Layers of the package, read from its imports, and what an import loads."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter

import imported
import nbformat
import pytest
from imported import MODULES, ROOT, data, names, needed, nodes, reads, resolve, room

LAYERS = (  # each imports only from layers named before it, or from itself
    "_startup _support backend",
    "calibration densities elbo estimators expectation_gradients features likelihoods metrics mlp "
    "optimise predictive",
    "datasets methods",
    "claims plots problems progress _support.alt_text",
    "widgets",
    "exercises",
    "_cli cli __main__",
)
HEIGHT = {f"bdl_teach.{part}": height for height, row in enumerate(LAYERS) for part in row.split()}
HEIGHT |= {"bdl_teach": 0, "evidence": len(LAYERS)}
STARTER = (
    "bdl_teach.cli"  # imports what a checkout's commands need by name, when they are asked for
)


def part(module: str) -> str:
    """Return the longest beginning of a module's name that has a layer."""
    return next(name for name in beginnings(module) if name in HEIGHT)


def beginnings(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[:k]) for k in range(len(parts), 0, -1))


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_from_lower_layers(module: str) -> None:
    """Imports for the type checker count, too."""
    mine = part(module)
    assert module in ("bdl_teach", "evidence") or mine != "bdl_teach", "it has no layer"
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    asked = {other for name in names(ast.walk(tree), module) for other in resolve(name)}
    theirs = {part(other) for other in asked} - ({"evidence"} if module == STARTER else set())
    assert all(HEIGHT[other] <= HEIGHT[mine] for other in theirs), theirs


def test_no_modules_import_each_other() -> None:
    TopologicalSorter({module: needed(module) for module in MODULES}).prepare()


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_no_chapter_imports_what_a_learner_does_not_have(path: str) -> None:
    found = imported.imported(path.stem, nbformat.read(path, as_version=4))
    assert [module for module in found if module.startswith("evidence")] == []


def paths(module: str) -> set[str]:
    """Return the names of files and folders of which a module makes paths."""
    found: list[ast.AST] = []
    for node in nodes(module):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            found.append(node.right)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found += node.args if node.func.attr in ("with_name", "joinpath", "glob") else ()
    inside = [inner for node in found for inner in ast.walk(node)]
    return {part for n in inside if isinstance(n, ast.Constant) for part in str(n.value).split("/")}


@pytest.mark.parametrize("module", MODULES)
def test_no_module_reads_data_of_another_room(module: str) -> None:
    mine = room(MODULES[module])
    others = {room(path) for path in MODULES.values()} - {mine, "bdl_teach"}
    theirs = {path.name for path in data() if room(path) != mine}
    assert paths(module) & (theirs | {other.rpartition("/")[2] for other in others}) == set()


def test_every_data_file_of_the_package_is_named_where_it_is_read() -> None:
    """Otherwise a change of it would run no chapter."""
    unread = data() - {path for module in MODULES for path in reads(module)}
    assert [path.name for path in unread if path.is_relative_to(ROOT / "bdl_teach")] == ["py.typed"]


A = "bdl_teach.methods"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import bdl_teach.methods.bbb", f"{A}.bbb"),
        ("def f():\n    from . import bbb", f"{A}.bbb"),
        ("from ..methods.bbb import fit as g", f"{A}.bbb"),
        ("from bdl_teach import methods as m\nm.bbb.fit", f"{A}.bbb"),
        ("import importlib\nimportlib.import_module('bdl_teach.methods.bbb')", f"{A}.bbb"),
        ("NEEDED = ('bdl_teach.methods.bbb',)", f"{A}.bbb"),
        ("from importlib import import_module\nimport_module(f'{__package__}.{x}')", f"{A}.bbb"),
        ("from bdl_teach import methods\ngetattr(methods, name)", f"{A}.bbb"),
        ("from bdl_teach import widgets\nwidgets.KLBudgetLab()", "bdl_teach.widgets.kl_budget_lab"),
        ("from bdl_teach.widgets import GradientLab", "bdl_teach.widgets.gradient_lab"),
        ("if TYPE_CHECKING:\n    from bdl_teach.methods import bbb", ""),
        ("from bdl_teach import widgets\nwidgets.KLBudgetLab", ""),
    ],
)
def test_every_form_of_import_is_seen(code: str, found: str) -> None:
    asked = names(imported.running(ast.parse(code)), "bdl_teach.methods.exact")
    modules = set().union(*map(resolve, asked))
    assert (
        found in modules if found else modules.isdisjoint([f"{A}.bbb", "bdl_teach.widgets.truth"])
    )


LATE = ("arviz_stats", "scipy.stats", "sklearn")  # as slow to load as half of all else
OF_CHAPTERS = (  # what chapters import
    "calibration claims datasets exercises metrics plots widgets methods.exact methods.vae"
)


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("", ("numpy", "scipy", "tensorflow", "matplotlib", "ipywidgets")),
        ("methods.catalogue", ("tensorflow",)),
        (OF_CHAPTERS, LATE),
    ],
)
def test_import_loads_no_heavy_library(modules: str, heavy: tuple[str, ...]) -> None:
    loaded = ", ".join(f"bdl_teach.{name}" for name in modules.split()) or "bdl_teach"
    code = f"import sys, {loaded}; print([m for m in sys.argv if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
