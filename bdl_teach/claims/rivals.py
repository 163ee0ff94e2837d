"""The table that compares every method with NUTS.

In a checkout, ``python3 -m bdl_teach claims --table rivals --store`` measures it, in some minutes;
the times need an otherwise idle machine.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bdl_teach._support import report
from bdl_teach.claims import Figures, measured
from bdl_teach.methods.catalogue import CATALOGUE

EXPERIMENT = "beside-nuts"  # whose results the table is made of
_rivals = [name for name, method in CATALOGUE.items() if method.rival]
_rivals.insert(_rivals.index("bbb") + 1, "trained_on")
RIVALS = tuple(_rivals)  # names of all fits beside NUTS; "trained_on" is "bbb", trained further
STOPS = {  # where the training of a mean field ends
    "bbb": "BBB, 1500 steps",
    "trained_on": "BBB, trained on",
    "local": "quiet, 1500 steps",
    "lowest": "mean field, lowest",
    "eb": "emp. Bayes, 1500 steps",
}
LABELS = {name: STOPS.get(name) or CATALOGUE[name].label for name in (*RIVALS, "hmc", "nuts")}
OTHER_MODEL = ("mle", "infinite", "eb", "pbp")
NOTES = (
    "† Another model than that of NUTS: MLE has no prior, the infinitely wide network learns no "
    "features, empirical Bayes has a prior and PBP a prior and a noise that it learnt. A distance "
    "of theirs is one between two models, and no error of an approximation.",
    "Four rows minimise the free energy F of one family: BBB, as it stops and after 1500 further "
    "steps with the quiet estimator; that estimator from the start; the lowest F of 16 starts.",
    "A world redraws the noise on y and every start; the 32 x and the sine are the same in all.",
)
REGIONS = ("data", "gap", "outside")
ENTROPY = 0.5 * math.log(2 * math.pi * math.e)  # of the noise: the lowest NLL to expect
# Heading -> ending of the number's name, factor, summand, digits.
COLUMNS: Mapping[str, tuple[str, float, float, int]] = {
    "distance to NUTS": ("", 1.0, 0.0, 2),
    "% in the 95 % interval": ("-covered", 100.0, 0.0, 1),
    "NLL": ("-lost", 1.0, ENTROPY, 2),
}


@dataclass(frozen=True)
class Rivals:
    """The measurements of all methods in all worlds, and the times of refits."""

    worlds: Sequence[Figures]  # the experiment's result in each world
    milliseconds: Figures  # time of a warm refit, by method

    def of(self, name: str) -> list[float]:
        """Return the value in each world of the quantity ``name``, such as ``"bbb-gap"``."""
        return [world[name] for world in self.worlds]

    @property
    def converged(self) -> str:
        """Return a sentence that says in how many worlds NUTS converged."""
        n = sum(self.of("converged"))
        return f"NUTS converged in {n:.0f} of {len(self.worlds)} worlds."


def read() -> Rivals:
    """Return the stored measurements."""
    return Rivals(list(measured(EXPERIMENT).values()), measured("refits")["milliseconds"])


def median_and_limits(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of some values, and two of them between which that of all worlds lies.

    They are the k-th smallest and the k-th largest value, for the largest k with which the median
    of a continuous distribution lies between them with a probability of 95 % or more (k = 6 of 20
    values); fewer than six values allow no such k, and their least and largest are returned.
    """
    ordered, n, k = sorted(values), len(values), 0
    while sum(math.comb(n, i) for i in range(k + 2)) <= 0.025 * 2**n:
        k += 1
    return statistics.median(ordered), ordered[k], ordered[-1 - k]


def as_text(table: Rivals, *columns: str) -> str:
    """Return the table as text: the named columns (by default all), and the times of refits."""
    chosen = columns or tuple(COLUMNS)
    return report.table(heads(chosen), cells(table, chosen))


def heads(columns: Sequence[str]) -> list[str]:
    """Return the headings: method, F, three for each column (data, gap, outside), and ms."""
    three = [[f"{name}: {REGIONS[0]}", *REGIONS[1:]] for name in columns]
    return ["method", "F", *(head for part in three for head in part), "ms"]


def cells(table: Rivals, columns: Sequence[str]) -> list[list[str]]:
    """Return a row for each method: label, median F, medians over worlds [limits], time in ms.

    The limits are those of ``median_and_limits``.
    """
    return [
        [
            label + " †" * (method in OTHER_MODEL),
            _energy(table, method),
            *(_cell(table, method, region, name) for name in columns for region in REGIONS),
            report.number(table.milliseconds[method]),
        ]
        for method, label in LABELS.items()
    ]


def _energy(table: Rivals, method: str) -> str:
    known = f"{method}-energy" in table.worlds[0]
    return f"{median_and_limits(table.of(f'{method}-energy'))[0]:.1f}" if known else ""


def _cell(table: Rivals, method: str, region: str, column: str) -> str:
    ending, times, plus, digits = COLUMNS[column]
    found = median_and_limits(table.of(f"{method}-{region}{ending}"))
    middle, low, high = (f"{times * value + plus:.{digits}f}" for value in found)
    return f"{middle} [{low}, {high}]"
