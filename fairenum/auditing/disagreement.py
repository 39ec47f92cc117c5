"""How far the models disagree about the holdout."""

from __future__ import annotations

import numpy as np

from fairenum.auditing.listing import Listing
from fairenum.document.models import GroupDisagreement, Multiplicity
from fairenum.experiment import Division
from fairenum.problem import FloatArray
from fairenum.scoring import decision_multiplicity, score_multiplicity
from fairenum.scoring.calibration import calibrate
from fairenum.scoring.estimates import plain


def disagreement(division: Division, listing: Listing) -> Multiplicity:
    """Measure disagreement overall and in every group; probabilities are calibrated on the selection split."""
    chances = calibrate(listing.values["selection"], division.selection.labels, listing.values["holdout"])
    decisions = listing.decisions(division, "holdout", None)
    decided = decision_multiplicity(decisions)
    scored = score_multiplicity(chances, decisions.groups, decisions.weights)
    return Multiplicity(
        rows=len(decisions.labels),
        models=len(listing.models),
        flipped=int(decided.is_flipped.sum()),
        ambiguity=decided.ambiguity,
        discrepancy=decided.discrepancy,
        disagreement=decided.disagreement,
        viable_range=scored.mean_range,
        capacity=scored.mean_capacity,
        by_column={groups.column: _by_group(division, listing, chances, groups.column) for groups in division.columns},
    )


def _by_group(division: Division, listing: Listing, chances: FloatArray, column: str) -> tuple[GroupDisagreement, ...]:
    decisions = listing.decisions(division, "holdout", column)
    groups = decisions.groups
    decided, scored = decision_multiplicity(decisions), score_multiplicity(chances, groups, decisions.weights)
    flipped = np.bincount(groups.codes, decided.is_flipped, len(groups.names)).astype(int)
    return tuple(
        GroupDisagreement(
            group=name,
            rows=int(groups.sizes[code]),
            flipped=int(flipped[code]),
            ambiguity=plain(decided.group_ambiguity[code]),
            discrepancy=plain(decided.group_discrepancy[code]),
            disagreement=plain(decided.group_disagreement[code]),
            viable_range=plain(scored.group_range[code]),
            capacity=plain(scored.group_capacity[code]),
        )
        for code, name in enumerate(groups.names)
    )
