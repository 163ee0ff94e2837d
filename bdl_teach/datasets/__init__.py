"""Load the data of the course: toy problems drawn from a seed, downloaded data sets, pasted tables.

Downloads are stored in ``$BDL_TEACH_DATA`` or the user's cache folder.
"""

from bdl_teach.datasets.cells import Ambiguous
from bdl_teach.datasets.images import Images, digits, fashion_sprite, mnist_test
from bdl_teach.datasets.reading import ChooseColumns, Points, read_points
from bdl_teach.datasets.store import folder
from bdl_teach.datasets.tables import UCI, Table, alzheimers, california, splits, uci
from bdl_teach.datasets.toy import Regression1D, blundell_curve, sinusoid

__all__ = [
    "UCI",
    "Ambiguous",
    "ChooseColumns",
    "Images",
    "Points",
    "Regression1D",
    "Table",
    "alzheimers",
    "blundell_curve",
    "california",
    "digits",
    "fashion_sprite",
    "folder",
    "mnist_test",
    "read_points",
    "sinusoid",
    "splits",
    "uci",
]
