"""The table that compares every method with NUTS, read from ``rivals.csv``.

``python3 -m bdl_teach claims --table rivals --csv evidence/rivals.csv`` makes the file
in some minutes; the times need an otherwise idle machine.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bdl_teach._support import report
from bdl_teach.methods.catalogue import CATALOGUE
from evidence.measured.beside_nuts import RIVALS
from evidence.store import Kept, kept_as_csv, read_kept
from evidence.table import median_and_limits

EXPERIMENT = "beside-nuts"  # which measures the table
FILE = Path(__file__).with_name("rivals.csv")
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

    worlds: Sequence[Mapping[str, float]]  # the experiment's result in each world
    milliseconds: Mapping[str, float]  # time of a warm refit, by method
    made: str  # the command and the machine that made them

    def of(self, name: str) -> list[float]:
        """Return the value in each world of the quantity ``name``, such as ``"bbb-gap"``."""
        return [world[name] for world in self.worlds]


def read(path: Path = FILE) -> Rivals:
    """Read the measurements from a CSV file that :func:`as_csv` made."""
    kept, times = read_kept(path), dict[str, float]()
    worlds: dict[str, dict[str, float]] = {}
    for key, figures in kept.figures.items():
        method, _, number = key.partition("/")
        times[method] = figures.pop("ms")
        named = {f"{method}-{name}": value for name, value in figures.items()}
        worlds.setdefault(number, {}).update(named)
    return Rivals(tuple(worlds.values()), times, kept.made)


def as_csv(table: Rivals, first_world: int = 0) -> str:
    """Return the text of the CSV file: how it was made, then a line for each method and world."""
    parts = (name.partition("-") for name in table.worlds[0])
    names = dict.fromkeys(rest for method, _, rest in parts if method in LABELS)
    figures = {
        f"{method}/{number}": {"ms": table.milliseconds[method]}
        | {name: world[key] for name in names if (key := f"{method}-{name}") in world}
        for method in LABELS
        for number, world in enumerate(table.worlds, first_world)
    }
    return kept_as_csv(Kept(table.made, figures))


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
