"""Tables: read and checked once, read-only from then on; encoded and split without a leak.

``load_dataset`` takes a bundled name or a file, ``Dataset.from_frame`` a pandas frame. pandas and
scikit-learn are imported where they are needed, so that listing the bundled datasets costs neither.
"""

from fairenum.dataset.card import Card, Source, list_datasets, read_card
from fairenum.dataset.columns import Column
from fairenum.dataset.encoding import Encoding
from fairenum.dataset.files import read_table
from fairenum.dataset.groups import Groups
from fairenum.dataset.label import Label
from fairenum.dataset.loading import load_dataset
from fairenum.dataset.merging import Merged, merge_identical
from fairenum.dataset.splitting import Split, split
from fairenum.dataset.table import Dataset

__all__ = [
    "Card",
    "Column",
    "Dataset",
    "Encoding",
    "Groups",
    "Label",
    "Merged",
    "Source",
    "Split",
    "list_datasets",
    "load_dataset",
    "merge_identical",
    "read_card",
    "read_table",
    "split",
]
