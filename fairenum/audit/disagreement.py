"""How far the models disagree about the holdout, as a block of the document."""

from __future__ import annotations

import numpy as np

from fairenum.audit.listing import Listing
from fairenum.audit.preparation import Prepared
from fairenum.audit.scorecard import Block, plain
from fairenum.problem import FloatArray
from fairenum.scoring import decision_multiplicity, score_multiplicity


def disagreement(prepared: Prepared, listing: Listing, chances: FloatArray) -> Block:
    """Measure disagreement overall and in every group.

    Parameters
    ----------
    prepared, listing
        The rows and the models.
    chances
        Calibrated probabilities of the holdout's rows, shape (models, rows).
    """
    decisions = listing.decisions(prepared, "holdout", None)
    decided, scored = decision_multiplicity(decisions), score_multiplicity(chances, decisions.groups)
    return {
        "rows": len(decisions.labels),
        "models": len(listing.models),
        "flipped": int(decided.is_flipped.sum()),
        "ambiguity": decided.ambiguity,
        "discrepancy": decided.discrepancy,
        "disagreement": decided.disagreement,
        "viable_range": scored.mean_range,
        "capacity": scored.mean_capacity,
        "by_column": {
            groups.column: _by_group(prepared, listing, chances, groups.column) for groups in prepared.columns
        },
    }


def _by_group(prepared: Prepared, listing: Listing, chances: FloatArray, column: str) -> list[Block]:
    decisions = listing.decisions(prepared, "holdout", column)
    groups = decisions.groups
    decided, scored = decision_multiplicity(decisions), score_multiplicity(chances, groups)
    flipped = np.bincount(groups.codes, decided.is_flipped, len(groups.names)).astype(int)
    return [
        {
            "group": name,
            "rows": int(groups.sizes[code]),
            "flipped": int(flipped[code]),
            "ambiguity": plain(decided.group_ambiguity[code]),
            "discrepancy": plain(decided.group_discrepancy[code]),
            "disagreement": plain(decided.group_disagreement[code]),
            "viable_range": plain(scored.group_range[code]),
            "capacity": plain(scored.group_capacity[code]),
        }
        for code, name in enumerate(groups.names)
    ]
