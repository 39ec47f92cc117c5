"""The default split, chosen for power, and the smallest change of a gap that a holdout can confirm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Literal, NamedTuple

from fairenum.document.audit_document import AuditDocument
from fairenum.document.options import Sizes
from fairenum.document.table_facts import SensitiveColumn
from fairenum.document.terms import AUTO, Against, AnswerReason, Verdict
from fairenum.document.words import short
from fairenum.runtime.formatting import percent

# Training needs this number of rows of the rarer label for each encoded column, within these shares of all rows.
PER_COLUMN = 20
LEAST_TRAINED, MOST_TRAINED = 0.3, 0.5
SELECTING = 0.2  # share of rows that choose the model
STEP = 20  # shares are multiples of one twentieth

NOTABLY_MORE = 1.25  # times the rows of a holdout
POWER = 0.8  # chance that a change is confirmed
UNSHOWN: frozenset[AnswerReason] = frozenset({"fairness_not_shown", "performance_not_shown"})
SECOND_SPLIT = "It is a second claim about the same table, with an error of its own: report both"
# Assumed share of rows about which the selected model and the reference decide alike.
AGREEMENT: Mapping[Against, float] = {"best": 0.95, "incumbent": 0.8}


def powerful_shares(rarer: int, columns: int, *, is_linear: bool = True) -> Sizes:
    """Return the shares of train, selection and holdout by the rule of the default split.

    A linear model has one number to learn for each encoded column. Twenty rows of the rarer label for each of them
    leave it about half a point short of the accuracy that it would have with many more rows. Training gets these rows,
    but at least 30 % and at most 50 % of the table; for other kernels, which can make use of every row, 50 %. A fifth
    chooses the model, and all other rows confirm the choice. Nothing here depends on any model.

    Parameters
    ----------
    rarer
        Number of rows with the rarer label.
    columns
        Number of encoded columns.
    is_linear
        Whether the kernel is linear.
    """
    needed = PER_COLUMN * columns / rarer if is_linear and rarer else MOST_TRAINED
    trained = min(max(math.ceil(STEP * needed - 1e-9) / STEP, LEAST_TRAINED), MOST_TRAINED)
    return trained, SELECTING, round(1.0 - trained - SELECTING, 2)


def confirmable_change(first: float, other: float, confidence: float, agreement: float) -> float:
    """Return the smallest narrowing of a gap between two groups that is confirmed with power 0.8; at most 1.

    The change of the gap is the difference between two groups of the mean of b - a, the decisions of two models about a
    row. If the models disagree about a share q of the rows, b - a has variance at most q, so the change has a standard
    error of at most sqrt(q S) with S = 1 / n + 1 / m for n and m rows. It is confirmed with power 0.8 if it is z = (the
    quantiles of confidence and power) standard errors. Models that disagree about a share q change the gap by at most
    2 q; beyond that, q is half of the change, which gives z^2 S / 2.

    Parameters
    ----------
    first, other
        Numbers of holdout rows of the two groups, or effective ones, that the compared rate is a share of.
    confidence
        Two-sided confidence of the verdict.
    agreement
        Share of the rows about which the two models decide alike.
    """
    if min(first, other) <= 0.0:
        return 1.0
    normal = NormalDist()
    z = normal.inv_cdf(0.5 + confidence / 2.0) + normal.inv_cdf(POWER)
    return _detected(z * z * (1.0 / first + 1.0 / other), 1.0 - agreement)


def _detected(spread: float, disputed: float) -> float:
    """Return the change that equals z standard errors; `spread` is z^2 S as in :func:`confirmable_change`."""
    return min(max(math.sqrt(disputed * spread), spread / 2.0), 1.0)


class StrongerSplit(NamedTuple):
    """A split that confirms smaller changes: its sizes, its holdout rows, and the smallest change that they confirm."""

    sizes: Sizes
    holdout: int
    confirmable: float


def confirmable(document: AuditDocument) -> float | None:
    """Return the smallest change of the gap that the holdout confirms, for the smallest group; None if unknown."""
    primary = document.dataset.primary
    changes = [group.confirmable for group in primary.compared if group.confirmable is not None] if primary else []
    return max(changes, default=None)


def stronger_split(document: AuditDocument) -> StrongerSplit | None:
    """Return the split that the rule gives, if sizes were asked for that leave the holdout much smaller; else None."""
    table, own = document.dataset, confirmable(document)
    is_free = document.requested.sizes != AUTO and table.origin.how == "random" and not document.is_exploratory
    if not is_free or own is None:
        return None
    counts, is_linear = table.class_counts, document.config.svm.kernel == "linear"
    rarer = min(counts.favourable, counts.unfavourable)
    added = document.features.added if document.features else 0  # columns learned from labels do not count
    sizes = powerful_shares(rarer, len(table.encoded) - added, is_linear=is_linear)
    holdout = round(sizes[2] * table.rows)
    if holdout < NOTABLY_MORE * table.splits.holdout:
        return None
    disputed = 1.0 - AGREEMENT[document.config.against or "best"]
    spread = 2.0 * own if own > 2.0 * disputed else own * own / disputed  # which `_detected` turns into `own`
    return StrongerSplit(sizes, holdout, _detected(spread * table.splits.holdout / holdout, disputed))


def helpful_split(document: AuditDocument) -> StrongerSplit | None:
    """Return the stronger split of a candidate about which more rows would tell; None if there is none.

    They would if what is not shown is fairness or performance alone, and nothing is shown to be less fair.
    """
    selection = document.selection
    is_harmed = any(cell.verdict is Verdict.LESS_FAIR for cell in selection.strip)
    if selection.answer != "candidate" or is_harmed or not {*selection.reasons} <= UNSHOWN:
        return None
    return stronger_split(document)


def spelled_sizes(sizes: Sizes | Literal["auto"]) -> str:
    """Return the sizes of a split as the command line takes them."""
    return sizes if isinstance(sizes, str) else ",".join(f"{size:g}" for size in sizes)


def confirmable_words(column: SensitiveColumn, against: Against | None) -> str:
    """Return a clause about the smallest change of the gap that the holdout can confirm; empty if none is known."""
    changes = [group.confirmable for group in column.compared if group.confirmable is not None]
    if not changes:
        return ""
    least, most = (f"{limit:.2f}" for limit in (min(changes), max(changes)))
    size = least if least == most else f"{least} (largest groups) to {most} (smallest)"
    return (
        f"a gap in {short(column.column)} that narrows by {size} or more can be confirmed (power "
        f"{percent(POWER, 0)}; models that decide alike about {percent(AGREEMENT[against or 'best'], 0)} of the rows)"
    )
