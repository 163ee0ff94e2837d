"""Each method's file reads in the order that the docstring of ``bdl_teach.methods`` gives."""

import ast
import importlib
import inspect
from itertools import takewhile

import pytest

from bdl_teach.methods.catalogue import CATALOGUE, MODULES, OTHER_TASKS

FITS = {method.module: method.function for method in CATALOGUE.values()}
FITS |= dict.fromkeys((*OTHER_TASKS, "_mean_field"), "fit")


@pytest.mark.parametrize("module", [*MODULES, "_mean_field"])
def test_hyper_parameters_then_state_then_objective_then_fit_then_the_fitted_object(module):
    source = inspect.getsource(importlib.import_module(f"bdl_teach.methods.{module}"))
    docstring, *body = ast.parse(source).body
    assert isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant)
    assert "Source: " in docstring.value.value or module == "_mean_field"
    body = [n for n in body if not isinstance(n, ast.Import | ast.ImportFrom)]
    constants = list(takewhile(lambda n: isinstance(n, ast.Assign | ast.AnnAssign), body))
    assert all(is_constant(n) for n in constants)
    named = {n.name: n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    fit = named[FITS[module]]
    fitted = named.get(fit.returns.id)
    objective = [named[n] for n in ("_loss", "_free_energy", "_program") if n in named]
    order = [n.lineno for n in (*constants, *objective, fit, fitted) if n is not None]
    assert order == sorted(order)
    after = body[body.index(fitted) + 1 :] if fitted else []
    assert all(isinstance(n, ast.ClassDef) for n in after), "nothing but what it returns"
    state = [n for n in body if isinstance(n, ast.ClassDef) and n not in (fitted, *after)]
    last = objective[-1] if objective else fit
    assert all(n.lineno < last.lineno for n in state), "state before what computes with it"


def is_constant(node):
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return all(name == "__all__" or name.isupper() for name in names)
