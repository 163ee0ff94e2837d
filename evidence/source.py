"""Hash the code that an experiment consists of: its own function, and what that uses here."""

import ast
import hashlib
import importlib
import importlib.util
from functools import lru_cache
from pathlib import Path

Names = dict[str, list[ast.stmt]]  # statements of a module that bind or change a name


def hash_of(module: str, name: str) -> str:
    """Return a hash of a function's code and of all that it uses of its top-level package.

    Comments, docstrings and layout do not count, nor does any other code, such as the methods'.

    Args:
        module: Full name of a module.
        name: Name of the function, or of another object of that module.
    """
    found: dict[tuple[str, str], str] = {}
    _collect(module, name, found)
    text = "\n".join(f"{key}: {code}" for key, code in sorted(found.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _collect(module: str, name: str, found: dict[tuple[str, str], str]) -> None:
    """Add the code of a name, and of the names that it uses, to ``found``."""
    bound, imported = _names(module)
    if (module, name) in found:
        return
    if name in imported:
        origin, original = imported[name]
        _collect(origin, original or "*", found)
        return
    statements = bound.get(name, []) if name != "*" else []
    found[module, name] = "\n".join(map(_code, statements))
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Name) and (node.id in bound or node.id in imported):
            _collect(module, node.id, found)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            origin, original = imported.get(node.value.id, ("", None))
            if origin and original is None:  # an attribute of an imported module
                _collect(origin, node.attr, found)


@lru_cache(maxsize=256)
def _names(module: str) -> tuple[Names, dict[str, tuple[str, str | None]]]:
    """Return a module's names: bound in it, and imported from its top-level package.

    The second is {name: (module, name there)}; the last is None if the name is the module itself.
    """
    file, top = importlib.import_module(module).__file__, module.partition(".")[0]
    bound: Names = {}
    imported: dict[str, tuple[str, str | None]] = {}
    for statement in ast.parse(Path(str(file)).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom):
            if str(statement.module).partition(".")[0] == top:
                for alias in statement.names:
                    path = f"{statement.module}.{alias.name}"
                    inner = importlib.util.find_spec(path) if _is_package(statement) else None
                    origin = (path, None) if inner else (str(statement.module), alias.name)
                    imported[alias.asname or alias.name] = origin
            continue
        for name in _bound_by(statement):
            bound.setdefault(name, []).append(statement)
    return bound, imported


def _is_package(statement: ast.ImportFrom) -> bool:
    return hasattr(importlib.import_module(str(statement.module)), "__path__")


def _bound_by(statement: ast.stmt) -> set[str]:
    """Return the names that a statement of a module binds, or, if it binds none, that it uses."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return stored or {node.id for node in names}


def _code(statement: ast.stmt) -> str:
    """Return a statement's code without comments and docstrings, in one layout."""
    copy = ast.parse(ast.unparse(statement))
    for node in ast.walk(copy):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(copy)
