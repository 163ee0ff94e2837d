"""The house: what stands where, what may import what. Read from the code's own imports."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bdl_teach

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bdl_teach"
FLOORS = (  # each imports what is named before it, or beside it
    "_support backend",
    "calibration densities elbo estimators expectation_gradients features likelihoods metrics mlp "
    "optimise predictive",
    "datasets methods",
    "plots _support.alt_text",
    "claims exercises reproduce widgets",
    "_commands __main__",
)
HEIGHT = {part: height for height, floor in enumerate(FLOORS) for part in floor.split()}
PICTURES = HEIGHT["plots"]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
PUBLIC = sorted(name for name in MODULES if name.count(".") == 1 and "._" not in name)
COMMANDS = sorted(
    name
    for name in MODULES
    if name.startswith(("bdl_teach._commands", "bdl_teach.__main__")) and name.count(".") <= 2
)


def runs_on_import(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when a module is imported: no bodies of functions, nothing for types."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from runs_on_import(node)


def imports(name: str, *, on_import: bool = False) -> set[str]:
    """What a module imports, of the package by the name of the module that is meant."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    found = set()
    for node in runs_on_import(tree) if on_import else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{name}: relative import"
            full = {alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one in MODULES else node.module for one in full.values()}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            given = node.args[0]
            if isinstance(given, ast.Constant):
                found.add(str(given.value))
    return found


GRAPH = {name: {one for one in imports(name) if one in MODULES} for name in MODULES}


def height(name: str) -> int:
    """The floor of a module, by the longest part of its name that has one."""
    parts = name.split(".")[1:]
    named = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return next(HEIGHT[part] for part in named if part in HEIGHT) if parts else 0


def needed_by(name: str) -> set[str]:
    """The modules of the package that run when this one is imported, it and its parents too."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one in MODULES and one not in seen:
            seen.add(one)
            waiting += [one.rpartition(".")[0], *imports(one, on_import=True)]
    return seen


def strangers(names: set[str]) -> set[str]:
    """Those of the imported names that are neither the standard library's nor ours."""
    return {n for n in names if n.split(".")[0] not in {*sys.stdlib_module_names, "bdl_teach"}}


def test_the_root_shows_at_most_twenty_names_and_the_package_gives_all_of_them() -> None:
    shown = [name.removeprefix("bdl_teach.") for name in PUBLIC]
    assert len(shown) <= 20
    assert shown == sorted(bdl_teach._NAMES)
    assert {part for part in HEIGHT if not part.startswith("_")} == set(shown)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_begins_with_a_sentence_about_what_it_gives(name: str) -> None:
    said = ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8"))) or ""
    first = said.partition("\n")[0]
    assert len(first.split()) >= 5 and first[0].isupper() and first.endswith(".")


@pytest.mark.parametrize("name", MODULES)
def test_imports_only_go_down(name: str) -> None:
    assert {one for one in GRAPH[name] if height(one) > height(name)} == set()


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Functions that import when they are called count, too."""
    assert list(graphlib.TopologicalSorter(GRAPH).static_order())


@pytest.mark.parametrize("name", [n for n in MODULES if height(n) < PICTURES])
def test_nothing_below_the_pictures_imports_matplotlib(name: str) -> None:
    assert {one for one in imports(name) if one.split(".")[0] == "matplotlib"} == set()


@pytest.mark.parametrize("name", [*COMMANDS, "bdl_teach._commands.bench"])
def test_a_command_can_be_imported_before_anything_is_installed(name: str) -> None:
    needed = {one: strangers(imports(one, on_import=True)) for one in needed_by(name)}
    assert {one: names for one, names in needed.items() if names} == {}


def test_what_builds_the_environment_never_needs_it() -> None:
    """The launcher and all that it imports: the standard library alone, in functions too."""
    needed = {one: strangers(imports(one)) for one in needed_by("bdl_teach._commands.launcher")}
    assert {one: names for one, names in needed.items() if names} == {}
    assert {"bdl_teach._commands.environment", "bdl_teach._support.report"} <= set(needed)


def test_importing_the_package_loads_little_and_needs_nothing_installed() -> None:
    """163 modules take some .06 s: a count does not depend on how busy the machine is."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); before = set(sys.modules); "
        "import bdl_teach, bdl_teach._commands.launcher; print(*set(sys.modules) - before)"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "bdl_teach._commands.launcher" in loaded and len(loaded) < 190
    assert loaded & {"asyncio", "http.client", "logging", "ssl", "xml", "multiprocessing"} == set()


def test_the_tests_mirror_the_package() -> None:
    """A folder of tests is named after the one that it tests; a public module has its own file."""
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")} - {ROOT / "tests"}
    within = [folder.relative_to(ROOT / "tests") for folder in sorted(folders)]
    assert [f for f in within if not ((PACKAGE / f).is_dir() or (ROOT / f).is_dir())] == []
    for name in PUBLIC:
        place = Path("tests", *name.split(".")[1:])
        lone = place.with_name(f"test_{place.name}.py")
        tests = [lone] if MODULES[name].stem != "__init__" else [*(ROOT / place).glob("test_*.py")]
        assert tests and all((ROOT / test).is_file() for test in tests), name


# Types: `Any` says nothing to who reads a signature. Where TensorFlow gives no type, `Tensor` does.


def is_public(name: str) -> bool:
    """Whether a user's module has this name: one of the mathematics, a method, a widget, data."""
    parts = name.split(".")[1:]
    shown = len(parts) == 1 or parts[:1] in (["methods"], ["datasets"], ["widgets"])
    return shown and not any(part.startswith("_") for part in parts)


def faces(node: ast.AST) -> Iterator[ast.expr]:
    """The annotations of what a module or a class shows: arguments, results, attributes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.AnnAssign) and isinstance(node, ast.ClassDef):
            yield child.annotation
        if isinstance(child, ast.FunctionDef | ast.ClassDef) and (
            not child.name.startswith("_") or child.name in ("__init__", "__call__")
        ):
            if isinstance(child, ast.ClassDef):
                yield from faces(child)
                continue
            every = [*child.args.posonlyargs, *child.args.args, *child.args.kwonlyargs]
            every += [one for one in (child.args.vararg, child.args.kwarg) if one]
            yield from (one.annotation for one in every if one.annotation)
            yield from [child.returns] if child.returns else []


def count_any(tree: ast.AST) -> int:
    """How often the public face of a module says `Any`."""
    said = [node for face in faces(tree) for node in ast.walk(face)]
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in said)


def test_the_public_face_says_what_goes_in_and_what_comes_out() -> None:
    """What TensorFlow and ipywidgets give no type has one name each: `Tensor`, `Widget`."""
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}
    said = {name: count_any(tree) for name, tree in trees.items() if is_public(name)}
    assert {name: n for name, n in said.items() if n} == {}


@pytest.mark.parametrize(
    ("line", "n"),
    [
        ("def f(x: Any, *y: list[Any]) -> Callable[[Any], int]: ...", 3),
        ("def _f(x: Any) -> Any: ...", 0),
        ("class A:\n    b: dict[str, Any]\n    def __init__(self, c: Any): self.d: Any = c", 2),
        ("class _A:\n    b: Any", 0),
    ],
)
def test_any_is_counted_where_a_user_sees_it(line: str, n: int) -> None:
    assert count_any(ast.parse(line)) == n
