"""Which code a figure came from: a fingerprint, so that no result outlives its code."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import bdl_teach

_ROOT = Path(bdl_teach.__file__).parent
_LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-probability",
    "tf-keras",
)


@lru_cache(maxsize=64)
def fingerprint(module: str) -> str:
    """Hash a module, every module of this package that it leads to, and the libraries' versions.

    Args:
        module: Name of the module with a table's ``run``.

    Returns:
        16 hexadecimal digits; other code gives others, a change elsewhere in the package does not.
    """
    digest = hashlib.sha256(bdl_teach.__version__.encode())
    for name, path in sorted(_reached(module).items()):
        digest.update(f"\n{name}\n".encode() + path.read_bytes())
    for library in _LIBRARIES:
        digest.update(f"\n{library} {_version(library)}".encode())
    return digest.hexdigest()[:16]


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"


def _reached(module: str) -> dict[str, Path]:
    """The modules that one leads to through its imports, itself included, with their files."""
    found: dict[str, Path] = {}
    waiting = [(module, inspect.getsourcefile(importlib.import_module(module)))]
    while waiting:
        name, path = waiting.pop()
        if path is not None and name not in found:
            found[name] = Path(path)
            tree = ast.parse(found[name].read_text(encoding="utf-8"))
            waiting += [(imported, _file(imported)) for imported in _imports(tree)]
    return found


def _imports(tree: ast.AST) -> Iterator[str]:
    """Names that may be modules of the package, also those imported inside functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield from _imports(node)


def _file(module: str) -> str | None:
    """Where the source of a module of this package is; ``None`` for any other name."""
    top, *rest = module.split(".")
    place = _ROOT.joinpath(*rest)
    options = (place.with_suffix(".py"), place / "__init__.py") if top == _ROOT.name else ()
    return next((str(path) for path in options if path.is_file()), None)
