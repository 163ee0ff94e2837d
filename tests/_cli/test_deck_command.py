"""Test which notebook `deck` takes and what it needs; notebooks/test_deck.py opens decks."""

from importlib import metadata

import pytest

from bdl_teach._cli import deck
from bdl_teach._cli.deck import page
from bdl_teach._cli.environment import Trouble


def test_chapter_is_found_by_number_or_name() -> None:
    for name in ("3", "03", "03_bayes_by_backprop", "03_bayes_by_backprop.ipynb"):
        assert deck.find(name).name == "03_bayes_by_backprop.ipynb"


def test_deck_command_names_the_packages_that_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    def distribution(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(page.metadata, "distribution", distribution)
    with pytest.raises(Trouble, match='pip install "django-static-mathjax" "pyreveal"'):
        page.make(deck.find("3"))
