"""The panel of the parts of a distance, as bars."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill

from matplotlib.axes import Axes

from bdl_teach import plots

_LINE = 14  # letters of a line of words in place of a bar
EDGE = 1.06  # of the limit: room for the last label of the x axis


class PartsPanel(plots.Artists):
    """A bar for each part of a distance, or words if the part is unknown.

    Args:
        ax: The panel.
        title: Its title.
        along: Label of the x axis.
        rows: The name of each part, its label and the colour of its bar, from above.
        limits: Rising values; the x axis ends at the first that is large enough.
    """

    def __init__(
        self,
        ax: Axes,
        title: str,
        along: str,
        rows: Sequence[tuple[str, str, str]],
        limits: Sequence[float] = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0),
    ) -> None:
        plots.tidy(ax, title, along, "")
        self._ax, self._limits, self._limit, n = ax, limits, limits[0], len(rows)
        self._names, labels, colours = zip(*rows, strict=True)
        ax.set(xlim=(0, EDGE * self._limit), ylim=(n - 0.4, -0.6))
        ax.set_yticks(range(n), labels)
        self._bars = ax.barh(range(n), [0.0] * n, height=0.62, color=colours)
        self._words = [ax.text(0, i, "", va="center", fontsize=plots.LETTERS) for i in range(n)]
        self.artists = [*self._bars, *self._words]
        self.frame = [ax.xaxis, *ax.spines.values()]  # drawn anew when the limit changes

    def update(self, known: Mapping[str, float], missing: Callable[[str], str]) -> bool:
        """Show the ``known`` parts, and what ``missing`` says of others; return if x changed."""
        longest = max([0.0, *(known.get(name, 0.0) for name in self._names)])
        # An axis that shrinks until the missing parts come would take as long as a refit, twice.
        at_least = 0.0 if known.keys() >= {*self._names} else self._limit
        limit = plots.step_above(max(longest, at_least), self._limits)
        for bar, words, name in zip(self._bars, self._words, self._names, strict=True):
            length = known.get(name, 0.0)
            bar.set_width(length)
            words.set_text(f"{length:.2f}" if name in known else fill(missing(name), _LINE))
            inside = length > 0.6 * limit
            words.set(x=length + (-0.02 if inside else 0.02) * limit)
            words.set(ha="right" if inside else "left", color="white" if inside else plots.BLACK)
        changed, self._limit = limit != self._limit, limit
        if changed:
            self._ax.set_xlim(0, EDGE * limit)
        return changed
