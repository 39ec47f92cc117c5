"""The three-way split: learn on train, choose on selection, report on holdout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fairenum.dataset.columns import IntArray, read_only
from fairenum.dataset.naming import option
from fairenum.dataset.table import Dataset
from fairenum.errors import SplitImpossible

SHARES = (0.6, 0.2, 0.2)
TRY = option("sizes", SHARES, "split", ",".join(map(str, SHARES)))


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Row numbers, ascending and disjoint, of the three parts, and the seed that drew them."""

    train: IntArray = field(repr=False)
    selection: IntArray = field(repr=False)
    holdout: IntArray = field(repr=False)
    seed: int


def split(dataset: Dataset, sizes: Sequence[float] = SHARES, seed: int = 0) -> Split:
    """Divide rows at random, alike in label and sensitive groups as far as their numbers allow.

    Every combination of label and (intersected) group is spread over the parts in proportion, to within a few
    rows; the sizes of the parts are exact.

    Parameters
    ----------
    dataset
        The table.
    sizes
        Train, selection, holdout: row counts if all three are integers, else shares of the table. A size of 0
        leaves selection or holdout empty; rows that no part claims are left out.
    seed
        The same seed gives the same split.
    """
    counts = row_counts(sizes, len(dataset))
    generator = np.random.default_rng(seed)
    parts = _interleaved([*counts, len(dataset) - sum(counts)])
    owner = np.empty_like(parts)
    # Turned by chance, the pattern puts every row into each part with the same probability, rare rows too.
    owner[_stratified_order(dataset, generator)] = np.roll(parts, generator.integers(len(dataset)))
    train, selection, holdout = (read_only(np.flatnonzero(owner == part)) for part in range(3))
    _require_both_labels(dataset, train)
    return Split(train, selection, holdout, seed)


def row_counts(sizes: Sequence[float], rows: int) -> list[int]:
    """Turn the sizes of the three parts, rows or shares, into rows of a table that has so many."""
    if len(sizes) != 3 or not all(size >= 0 for size in sizes) or sizes[0] == 0:
        raise SplitImpossible(f"sizes {tuple(sizes)} are not three sizes with rows to train on; try {TRY}")
    whole = rows if all(isinstance(size, int | np.integer) for size in sizes) else 1
    if sum(sizes) > whole + 1e-9:
        raise SplitImpossible(f"sizes {tuple(sizes)} sum to more than {whole}, which is all; ask for less")
    # Rounding the ends instead of the sizes makes shares that sum to 1 use every row.
    counts = np.diff(np.rint(np.cumsum([0, *sizes]) / whole * rows)).astype(int).tolist()
    if any(size > 0 and count == 0 for size, count in zip(sizes, counts, strict=True)):
        raise SplitImpossible(f"{rows} rows are too few for the shares {tuple(sizes)}: a part would be empty")
    return list(counts)


def _stratified_order(dataset: Dataset, generator: np.random.Generator) -> IntArray:
    """Order rows by label, then group, then chance."""
    # Label first: the few rows of a rare label then lie together, and every part gets its share of them.
    groups = dataset.intersection
    codes = groups.codes if groups else np.zeros(len(dataset), dtype=np.intp)
    return np.lexsort((generator.permutation(len(dataset)), codes, dataset.y))


def _interleaved(counts: Sequence[int]) -> IntArray:
    """Spread the parts evenly, so that any stretch of rows holds them in nearly the same proportions."""
    places = np.concatenate([(np.arange(count) + 0.5) / max(count, 1) for count in counts])
    return np.repeat(np.arange(len(counts)), counts)[np.argsort(places, kind="stable")]


def _require_both_labels(dataset: Dataset, train: IntArray) -> None:
    for value, name in ((1, dataset.label.favourable), (0, dataset.label.unfavourable)):
        if value not in dataset.y[train]:
            raise SplitImpossible(
                f"no training row has the label {name!r}, which {np.count_nonzero(dataset.y == value)} of "
                f"{len(dataset)} rows have; give train more rows, or the table more rows of this label"
            )
