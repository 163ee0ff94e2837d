"""Test which notebook `deck` takes; notebooks/test_deck.py opens decks."""

from bdl_teach._cli import deck


def test_chapter_is_found_by_number_or_name() -> None:
    for name in ("3", "03", "03_bayes_by_backprop", "03_bayes_by_backprop.ipynb"):
        assert deck.find(name).name == "03_bayes_by_backprop.ipynb"
