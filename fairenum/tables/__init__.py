"""Tables: reading and checking, splitting into parts, and encoding as a matrix fitted on the training rows.

``load_dataset`` reads a bundled dataset or a file, ``Dataset.from_frame`` a pandas frame. pandas and scikit-learn are
imported only inside the functions that need them, so listing the bundled datasets imports neither.
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
