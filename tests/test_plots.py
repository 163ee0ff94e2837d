"""What the chapters' figures share."""

import matplotlib as mpl
from matplotlib.figure import Figure

from bdl_teach import plots


def test_a_finished_panel_has_its_title_labels_and_legend() -> None:
    ax = Figure().subplots()
    ax.plot([0, 1], [2, 3], label="mean")
    plots.panel(ax, "The mean rises", "x", "y", fontsize=9)
    assert ax.get_title(loc="left") == "The mean rises"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mean"]
    assert not ax.get_legend().get_frame_on()
    assert ax.get_legend().get_texts()[0].get_fontsize() == 9


def test_lecture_style_holds_for_the_figures_made_after_it() -> None:
    with mpl.rc_context():
        mpl.rcdefaults()
        before = Figure().subplots()
        plots.lecture_style()
        after = Figure().subplots()
        assert after.title.get_fontsize() > before.title.get_fontsize()
    assert [before.spines[side].get_visible() for side in ("top", "right")] == [True, True]
    assert [after.spines[side].get_visible() for side in ("top", "right")] == [False, False]
