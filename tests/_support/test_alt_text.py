"""Test the alternative text of figures."""

import re
import subprocess
import sys

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter

from bdl_teach._support import alt_text


def test_alt_text_gives_titles_axes_ranges_and_lines() -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    for ax in (left, right):
        ax.plot([0, 1], [2, 3], label="mean")
        ax.plot([0, 1], [3, 3], label="truth")
    left.set(xlim=(-0.5, 2), ylim=(1, 100), yscale="log", xlabel="x")
    left.set_title("Sure\namong the data", loc="left")
    left.set_ylabel("nats")
    right.set(xlim=(0, 1), ylim=(2, 3))
    assert alt_text.describe(figure) == (
        "2 plots. “Sure among the data”; nats from 1 to 100 (log scale); x from -0.5 to 2; shows "
        "mean, truth. y from 2 to 3; x from 0 to 1; the same lines."
    )


def test_alt_text_describes_bars_and_pictures() -> None:
    figure = Figure()
    figure.suptitle("Cost")
    bars, picture = figure.subplots(1, 2)
    bars.barh(["MLE", "NUTS"], [1, 2])
    bars.set(xlim=(0, 2))
    picture.imshow(np.zeros((2, 2)))
    picture.set(xticks=[], yticks=[], ylabel="held out")
    assert alt_text.describe(figure) == (
        "2 plots. Cost. y: MLE, NUTS; x from 0 to 2. a picture; held out."
    )


def test_alt_text_omits_hidden_artists_and_uses_axis_tick_labels() -> None:
    figure = Figure()
    shown, off, hidden = figure.subplots(1, 3)
    shown.set(xticks=[0, 1], xlabel="switch", ylim=(0, 0.12345))
    shown.xaxis.set_major_formatter(FixedFormatter(["no", "yes"]))
    shown.set_title("A", loc="right")
    shown.yaxis.set_visible(False)
    shown.set_ylabel("hidden axis")
    off.axis("off")
    off.set_title("B")
    hidden.set_visible(False)
    hidden.set_title("C")
    assert alt_text.describe(figure) == ("2 plots. “A”; hidden axis; switch: no, yes. “B”.")
    shown.yaxis.set_visible(True)
    assert "hidden axis from 0 to 0.123;" in alt_text.describe(figure)


def test_figure_in_a_notebook_has_an_alt_text() -> None:
    code = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
from matplotlib.figure import Figure
from bdl_teach import plots
from IPython.core.pylabtools import select_figure_formats
select_figure_formats(shell, {"png"})  # what `%matplotlib inline` does
figure = Figure()
plots.tidy(figure.subplots(), 'a "title"', "x", "y")
data, _ = shell.display_formatter.format(figure)
print(data["text/plain"], data["text/html"][:60], sorted(data), sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    plain, image, kinds = done.stdout.splitlines()
    assert plain.startswith('A plot. “a "title"”; y from 0 to 1')
    assert re.match(r'<img alt="A plot\. “a &quot;title&quot;”; y from', image)
    assert kinds == "['image/png', 'text/html', 'text/plain']"


def test_drawing_is_svg_unless_it_has_many_thousand_marks() -> None:
    few, many = Figure(), Figure()
    few.subplots().plot(range(9), "o")
    svg = alt_text.drawing(few, 'nine "marks"')
    assert '<svg role="img" aria-label="nine &quot;marks&quot;" ' in svg
    assert svg == alt_text.drawing(few, 'nine "marks"'), "it differs from run to run"
    many.subplots().plot(range(9000), "o")
    assert alt_text.drawing(many, "") == ""
