"""What is known about the models of a run beside their scores: what is proven, and what each leaves out."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from fairenum.auditing.incumbent import InPlace
from fairenum.auditing.lineup import Lineup
from fairenum.auditing.listing import Listing
from fairenum.auditing.screening import copies_of
from fairenum.auditing.training import Training
from fairenum.document.audit_config import AuditConfig
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel, Cell, ChangedRows, Example, LeftOut
from fairenum.document.scores import SplitScores
from fairenum.document.terms import Part
from fairenum.document.tilted import Tilt
from fairenum.document.value import Parts
from fairenum.enumeration.model import Model
from fairenum.experiment import PARTS, Division
from fairenum.problem import IntArray
from fairenum.scoring.estimates import plain


def audited_models(
    division: Division, training: Training, listing: Listing, scores: dict[Part, list[SplitScores]]
) -> tuple[AuditedModel, ...]:
    """Return what is proven about each model, what it leaves out and changes, and how it scores."""
    ratios = listing.objective_ratio
    undetermined = {part: _undetermined(division, listing, part) for part in PARTS}
    bits = {part: listing.values[part] >= 0.0 for part in PARTS}
    changed = {part: (bits[part] != bits[part][0]).sum(1) for part in PARTS}
    is_constant = listing.decisions(division, "selection", division.column).is_constant
    known: dict[int, LeftOut] = {}
    return tuple(
        AuditedModel(
            rank=place + 1,
            origin=listing.origins[place],
            support_rank=model.rank if listing.origins[place] == "exact" else None,
            objective=None if model.tilt else model.objective,
            objective_bound=None if model.tilt else model.certificate.bound,
            objective_ratio=plain(ratios[place]),
            relative_gap=None if model.tilt else model.certificate.relative_gap,
            is_order_certified=model.is_order_certified,
            loss_ratio=model.loss_ratio,
            support_size=len(model.support),
            supports=listing.sizes[place],
            left_out=left_out(model, division, training, known),
            bias=model.intercept,
            bias_interval=(plain(model.bias_interval[0]), plain(model.bias_interval[1])),
            cut=listing.cuts[place].value,
            tied=listing.cuts[place].tied,
            undetermined=Parts(*(undetermined[part][place] for part in PARTS)),
            predictions_changed=Parts(*(_changed(int(changed[part][place]), bits[part].shape[1]) for part in PARTS)),
            is_constant=bool(is_constant[place]),
            scores=Parts(*(scores[part][place] for part in PARTS)),
            tilt=_tilt(model, division),
        )
        for place, model in enumerate(listing.models)
    )


def incumbent(found: InPlace, lineup: Lineup, scores: Parts[SplitScores], config: AuditConfig) -> Incumbent:
    """Return where the decisions of the model in use come from, and how it scores."""
    told, bits, rows = found.told, found.bits, lineup.division.rows
    decisions = lineup.decisions("selection", lineup.division.column)
    first = {part: lineup.listing.values[part][0] >= 0.0 for part in PARTS}
    changed = (int(np.count_nonzero(bits[rows[part]] != first[part])) for part in PARTS)
    return Incumbent(
        name=told.name,
        source=told.source,
        scores=scores,
        agreement=float(np.mean(bits == lineup.division.dataset.y)),
        predictions_changed=Parts(*(_changed(one, len(rows[part])) for one, part in zip(changed, PARTS, strict=True))),
        is_constant=bool(decisions.is_constant[lineup.ranks.index(0)]),
        has_score=told.scores is not None,
        favourable=told.favourable,
        unfavourable=told.unfavourable,
        cutoff=found.cutoff,
        is_lower_better=told.is_lower_better,
        undecided=told.undecided,
        copies=copies_of(found, lineup.division, config),
    )


def _tilt(model: Model, division: Division) -> Tilt | None:
    """Say what the machine of a tilted model pays for."""
    tilt = model.tilt
    return None if tilt is None else Tilt(tilt.price, str(division.column), tilt.axis.groups, tilt.axis.rate)


def _undetermined(division: Division, listing: Listing, part: Part) -> list[int]:
    """Count the rows of a split that lie on the cut, or between the cuts of two optimal biases.

    A model that selects a share of the selection split does so with any bias: its cut makes up for it.
    """
    if listing.point.share is not None:
        return [int(rows) for rows in np.count_nonzero(listing.values[part] == 0.0, axis=1)]
    rows, threshold = division.part(part).X, listing.point.threshold
    return [int(model.undetermined(rows, threshold).sum()) for model in listing.models]


def _changed(rows: int, of: int) -> ChangedRows:
    return ChangedRows(rows, rows / of)


def left_out(
    model: Model, division: Division, training: Training, known: dict[int, LeftOut] | None = None
) -> tuple[LeftOut, ...]:
    """Return the training examples that a model was not shown, or not all copies of.

    Models of one search leave out much the same: what was stated of one of them is known to the next.
    """
    known = {} if known is None else known
    return tuple(
        _left_out(example, copies, division, training, known) for example, copies in sorted(model.left_out.items())
    )


def _left_out(example: int, copies: int, division: Division, training: Training, known: dict[int, LeftOut]) -> LeftOut:
    if example not in known:
        records = training.records[example]
        known[example] = LeftOut(
            copies=copies,
            of=len(records),
            row=int(division.dataset.numbered(records).min()),
            label=_label(division, records),
            groups=_groups(division, records),
        )
    found = known[example]
    return found if found.copies == copies else found.but(copies=copies)


def examples(division: Division, training: Training, listing: Listing) -> tuple[Example, ...]:
    """Return the training examples that some model leaves out, as their owner knows them."""
    wanted = sorted({example for model in listing.models for example in model.left_out})
    return tuple(
        Example(
            row=int(division.dataset.numbered(records).min()),
            rows=tuple(division.dataset.numbered(records).tolist()),
            label=_label(division, records),
            groups=_groups(division, records),
            values={column.name: cell(column.values[records[0]]) for column in division.dataset.features},
        )
        for records in (training.records[example] for example in wanted)
    )


def _label(division: Division, records: IntArray) -> str:
    label = division.dataset.label
    return label.favourable if label.y[records[0]] == 1 else label.unfavourable


def _groups(division: Division, records: IntArray) -> dict[str, dict[str, int]]:
    """Count the groups of identical records: features and label are the same, sensitive columns need not be."""
    return {
        groups.column: dict(sorted(Counter(groups.names[code] for code in groups.codes[records]).items()))
        for groups in division.dataset.sensitive
    }


def cell(value: float | str) -> Cell:
    """Return a cell of the table as the document holds it; None if it is missing."""
    if isinstance(value, str):
        return value
    return None if math.isnan(value) else float(value)
