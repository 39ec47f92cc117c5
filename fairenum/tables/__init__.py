"""Tables: read and checked once, then read-only; encoded by the training rows alone, and split.

``load_dataset`` takes a bundled name or a file, ``Dataset.from_frame`` a pandas frame. pandas and scikit-learn are
imported only where they are needed, so that listing the bundled datasets costs neither.
"""

from fairenum.tables.columns import Column
from fairenum.tables.encoding import Encoding, merge_identical
from fairenum.tables.groups import Groups
from fairenum.tables.loading import load_dataset
from fairenum.tables.splitting import Split, split
from fairenum.tables.table import Dataset
from fairenum.tables.table_files import Card, list_datasets, read_card, read_table

__all__ = [
    "Card",
    "Column",
    "Dataset",
    "Encoding",
    "Groups",
    "Split",
    "list_datasets",
    "load_dataset",
    "merge_identical",
    "read_card",
    "read_table",
    "split",
]
