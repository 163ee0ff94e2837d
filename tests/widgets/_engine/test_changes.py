"""Two sentences with figures: which figures stand for the same thing, and what became of them."""

from __future__ import annotations

import pytest

from bdl_teach.widgets._engine import changes

SINE = "{} fit, {} points: free energy {} nats = {} (complexity) + {} (likelihood)"


@pytest.mark.parametrize(
    ("then", "now", "marked"),
    [
        ("F 319.4 nats.", "F 404.0 nats.", "F 404.0 (+84.6) nats."),
        ("F 319 nats.", "F 319 nats.", "F 319 nats."),
        ("rate 0.5 now", "rate 0.25 now", "rate 0.25 (−0.25) now"),
        ("rate 0.25 now", "rate 0.5 now", "rate 0.5 (+0.25) now"),
        ("score 1.2, ratio 12", "score 1.2e+03, ratio 12", "score 1.2e+03 (+1.2e+03), ratio 12"),
        ("score 1.2e+03, ratio 12", "score 900, ratio 12", "score 900 (−3e+02), ratio 12"),
        ("rate 3e-05 now", "rate 1e-05 now", "rate 1e-05 (−2e-05) now"),
        ("log evidence -21.9 nats", "log evidence −10.6 nats", "log evidence −10.6 (+11.3) nats"),
        ("likelihood 1,200 nats", "likelihood 3,450 nats", "likelihood 3,450 (+2,250) nats"),
        ("52% switched off", "61% switched off", "61% (+9) switched off"),
        ("it carries 12.5 % of it", "it carries 50.2 % of it", "it carries 50.2 % (+37.7) of it"),
        (
            SINE.format("quick", 32, 319, 120, 199),
            SINE.format("refined", 6, 318, 121, 197),
            "refined fit, 6 (−26) points: free energy 318 (−1) nats = 121 (+1) (complexity) "
            "+ 197 (−2) (likelihood)",
        ),
        (SINE.format("quick", 32, 323, 277, 46), SINE.format("quick", 32, 45, "0.01 × 545.8", 40),
         "quick fit, 32 points: free energy 45 (−278) nats = 0.01 × 545.8 (complexity) "
         "+ 40 (−6) (likelihood)"),
        ("MAP 85/4/25%, PBP 99/15/58%", "MAP 91/4/5%, PBP 99/15/57%",
         "MAP 91 (+6)/4/5% (−20), PBP 99/15/57% (−1)"),
    ],
)  # fmt: skip
def test_a_figure_has_its_change_in_brackets(then: str, now: str, marked: str) -> None:
    assert changes.marked(then, now) == marked
    dated = marked.replace(")", " since A)", 1) if marked != now else now
    assert changes.marked(then, now, " since A") == dated


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ("Loading …", "F 319 nats"),
        ("BBB 12", "BBB 12; gap to NUTS 0.25"),
        ("the first carries 100.0 % of the KL", "the first 10 carry 31.2 % of the KL"),
        ("ELBO 12.0 nats", "reconstruction 25.0 nats"),
        ("σ₁ and R-hat", "σ₁ and R-hat 1.01"),
        ("3 weights", "a prior of 3.5 weights"),
        ("on a 1D toy", "on a 2D toy"),
    ],
)
def test_figures_of_different_things_are_not_compared(then: str, now: str) -> None:
    assert changes.marked(then, now) == now


def test_each_figure_is_said_with_the_words_that_it_stands_in() -> None:
    then = "6 points: F 319 nats = 120 (complexity); sd 0.8 among, 2.0 at x = ±1.5; with S = 10: 7"
    now = "6 points: F 404 nats = 120 (complexity); sd 0.9 among, 2.1 at x = ±1.5; with S = 20: 7"
    found = {str(figure): figure for figure in changes.figures(then, now)}
    said = [name for name, f in found.items() if f.named and not f.is_setting]
    assert said == [
        "6 points",
        "F 319 → 404 nats",
        "120 (complexity)",
        "sd 0.8 → 0.9 among",
        "2.0 → 2.1 at x = ±1.5",
    ]
    assert {"at x = ±1.5", "with S = 10 → 20"} <= set(found), "what others are said at"
