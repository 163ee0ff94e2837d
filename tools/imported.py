"""Find what a module or a chapter imports, however far down, and hash it.

Imports inside functions count, and names of modules in strings, which ``import_module`` may get.
Those that only a type checker reads do not. Nothing is imported or run.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("bdl_teach", "evidence")
KEY = "bdl_teach"  # of the hash in a notebook's metadata
ANY = "*"  # as in "bdl_teach.methods.*": a module whose name is known at run time only
MATTER = (ast.Import, ast.ImportFrom, ast.Name, ast.Attribute, ast.Constant, ast.Call)
MATTER += (ast.BinOp, ast.Dict, ast.FunctionDef)
OF_A_CHAPTER = re.compile(r"bdl_teach\.exercises\.chapter(\d+)")


def modules() -> dict[str, Path]:
    """Return the path of each module of the checkout's packages, by its dotted name."""
    found = {}
    for path in (path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def home(module: str) -> str:
    """Return the package in which a module lies; a package lies in itself."""
    is_package = MODULES[module].name == "__init__.py"
    return module if is_package else module.rpartition(".")[0]


def running(code: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree that matter here, except those that only a type checker reads."""
    todo = [code]
    while todo:
        node = todo.pop()
        if isinstance(node, MATTER):
            yield node
        if isinstance(node, ast.If) and dotted(node.test) == "TYPE_CHECKING":
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


def dotted(node: ast.AST) -> str:
    """Return the text of ``a.b.c``, or "" for any other expression."""
    if isinstance(node, ast.Attribute):
        return f"{before}.{node.attr}" if (before := dotted(node.value)) else ""
    return node.id if isinstance(node, ast.Name) else ""


@cache
def nodes(module: str) -> list[ast.AST]:
    """Return the syntax nodes of a module that run."""
    return list(running(ast.parse(MODULES[module].read_text(encoding="utf-8"))))


def names(code: Iterable[ast.AST], module: str = "") -> set[str]:
    """Return the dotted names in the checkout's packages to which nodes of code refer.

    A name may end with an attribute of a module, or with ``ANY``.
    """
    code, bound, found = list(code), {}, set()
    package = home(module).split(".") if module else []
    for node in code:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name if alias.asname else alias.name.partition(".")[0]
                bound[alias.asname or top] = top
                found.add(alias.name)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            bound |= {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}
            found |= {f"{base}.{alias.name}" for alias in node.names}
    known = {**bound, "__package__": ".".join(package), "__name__": module}
    inner = {id(node.value) for node in code if isinstance(node, ast.Attribute)}
    for node in code:
        if isinstance(node, ast.Constant):
            found |= {node.value} & MODULES.keys() - set(PACKAGES)
        elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
            first, _, rest = dotted(node).partition(".")
            if first in bound:  # whoever gets a package can ask for any of its modules
                found.add(f"{bound[first]}.{rest or ANY}")
        elif isinstance(node, ast.Call) and dotted(node.func).endswith("import_module"):
            asked = (part for argument in node.args for part in ast.walk(argument))
            found |= {pattern(text, known) for text in asked if isinstance(text, ast.JoinedStr)}
    return {name for name in found if name.partition(".")[0] in PACKAGES}


def pattern(text: ast.JoinedStr, known: dict[str, str]) -> str:
    """Return an f-string of a module's name, with ``ANY`` in place of what is not known."""
    parts = []
    for part in text.values:
        of_module = isinstance(part, ast.FormattedValue) and dotted(part.value)
        name = (of_module or "").removesuffix(".__name__")
        parts.append(str(part.value) if isinstance(part, ast.Constant) else known.get(name, ANY))
    return "".join(parts)


@cache
def refers(module: str) -> frozenset[str]:
    """Return the dotted names in the checkout's packages to which a module refers.

    What a package imports when it is asked for it, by its ``__getattr__``, is not among them.
    """
    found, code = names(nodes(module), module), nodes(module)
    if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in code):
        found.discard(f"{module}.{ANY}")
    return frozenset(found)


@cache
def lazy(package: str) -> dict[str, str]:
    """Return the table of a package's ``__getattr__``: the module that each name needs."""
    found = {}
    for table in (node for node in nodes(package) if isinstance(node, ast.Dict)):
        pairs = [pair for pair in zip(table.keys, table.values, strict=True) if all(pair)]
        found |= {getattr(k, "value", ""): _module(package, v) for k, v in pairs}
    return {name: module for name, module in found.items() if module in MODULES}


def _module(package: str, value: ast.expr) -> str:
    """Return the module of a value of that table: "module" or "module.Class"."""
    return f"{package}.{str(getattr(value, 'value', '')).partition('.')[0]}"


@cache
def resolve(name: str) -> frozenset[str]:
    """Return the modules that a dotted name needs, without the packages in which they lie."""
    module, attribute = name, ""
    while module and module not in MODULES:
        module, _, attribute = module.rpartition(".")
    if module and attribute == ANY and home(module) == module:
        return frozenset(other for other in MODULES if other.rpartition(".")[0] == module)
    return frozenset({module, lazy(module).get(attribute, module)} if module else ())


@cache
def needed(module: str) -> frozenset[str]:
    """Return the other modules to which a module refers."""
    return frozenset().union(*map(resolve, refers(module))) - {module}


def closure(asked: Iterable[str], without: Iterable[str] = ()) -> set[str]:
    """Return all modules that are imported with these dotted names, however far down.

    A module may import others by names known at run time only, as the catalogue of methods does.
    These do not count if only the ``__init__`` of its package refers to it.
    """
    todo = {("", module) for name in asked for module in resolve(name)}
    seen: set[tuple[str, str]] = set()
    while todo - seen:
        seen.add(step := (todo - seen).pop())
        importer, module = step
        parts, wild = module.split("."), f"{home(module)}.{ANY}"
        shut = importer == home(module) and wild in refers(module)
        inside = {".".join(parts[:k]) for k in range(1, len(parts))}
        more = inside | needed(module) - (resolve(wild) if shut else frozenset())
        todo |= {(module, other) for other in more - set(without)}
    return {module for _, module in seen}


@cache
def reads(module: str) -> frozenset[Path]:
    """Return the data files of a module's room that it names, with or without their endings."""
    said = {node.value for node in nodes(module) if isinstance(node, ast.Constant)}
    said -= {other.rpartition(".")[2] for other in lazy(module).values()}
    mine = room(MODULES[module])
    return frozenset(
        path for path in data() if room(path) == mine and {path.name, path.stem} & said
    )


def room(path: Path) -> str:
    """Return the folder of a package in which a file lies; the package, if it lies in none."""
    return "/".join(path.relative_to(ROOT).parts[:-1][:2])


@cache
def data() -> frozenset[Path]:
    """Return all files of the packages that are no modules."""
    found = (path for package in PACKAGES for path in (ROOT / package).rglob("*.*"))
    shown = (path for path in found if path.is_file() and not path.name.startswith("."))
    return frozenset(path for path in shown if path.suffix not in (".py", ".pyc"))


def cells(notebook: Any) -> list[str]:
    """Return the code of a notebook's cells, except of the one that installs what is missing."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell.source for cell in code if "launch" not in cell.metadata.get("tags", ())]


def imported(name: str, notebook: Any) -> set[str]:
    """Return the modules that the notebook of this name imports, however far down.

    A chapter checks its own exercises only: those of others are imported, but do not run.
    """
    code = [node for cell in cells(notebook) for node in running(ast.parse(cell))]
    chapters = {module: found for module in MODULES if (found := OF_A_CHAPTER.fullmatch(module))}
    others = {module for module, found in chapters.items() if int(found[1]) != int(name[:2])}
    return closure(names(code), others)


def files(name: str, notebook: Any) -> list[Path]:
    """Return the files of all modules that a notebook imports, and the data that these read."""
    found = imported(name, notebook)
    read = {path for module in found for path in reads(module)}
    return sorted({MODULES[module] for module in found} | read, key=Path.as_posix)


def digest(name: str, notebook: Any) -> str:
    """Return the hash of a notebook's code and of its :func:`files`."""
    return fingerprint(cells(notebook), files(name, notebook), ROOT)


def fingerprint(code: list[str], paths: list[Path], root: Path) -> str:
    """Return the hash of code and of files, by their paths in `root`, whatever ends their lines."""
    whole = hashlib.sha256("\n\0".join(code).encode())
    for path in paths:
        content = path.read_bytes().replace(b"\r\n", b"\n")
        whole.update(f"\0{path.relative_to(root).as_posix()}\0".encode() + content)
    return whole.hexdigest()


def is_as_run(path: Path) -> bool:
    """Return whether a notebook, and all that it imports, are as they were when it was run."""
    notebook = nbformat.read(path, as_version=4)
    return bool(notebook.metadata.get(KEY) == digest(path.stem, notebook))
