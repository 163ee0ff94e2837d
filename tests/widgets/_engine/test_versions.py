"""Test that an old ipywidgets is refused before anything fails because of it."""

import importlib
import sys
from types import SimpleNamespace

import pytest

from bdl_teach.widgets import _engine


def test_ipywidgets_7_is_refused_with_an_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", SimpleNamespace(__version__="7.7.1"))
    with pytest.raises(ImportError, match=r"expected version 8, got 7\.7\.1.*%pip install"):
        importlib.reload(_engine)
