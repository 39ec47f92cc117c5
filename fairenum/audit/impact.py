"""Group tables in adverse-impact form, from the counts that the document holds: no row of the data is needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairenum.audit.preparation import Part
from fairenum.audit.scorecard import Block, estimates, plain
from fairenum.problem import FloatArray
from fairenum.scoring import (
    Decisions,
    Groups,
    Scores,
    detectable_differences,
    parity_p_values,
    rate_intervals,
    score,
    signed_differences,
)


def counted_decisions(document: dict[str, Any], column: Block, part: Part, ranks: list[int]) -> list[Decisions]:
    """Rebuild what each model decides about a split, one row for each counted one; their order is not known."""
    return [_rebuilt(document["models"][rank - 1]["scores"][part], column, part) for rank in ranks]


def _rebuilt(scores: Block, column: Block, part: Part) -> Decisions:
    groups, counts = column["groups"], scores["by_column"][column["column"]]
    cells = []
    for code, group in enumerate(groups):
        positives, right = group[f"{part}_positives"], counts["true_positives"][code]
        negatives, wrong = group[part] - positives, counts["selected"][code] - right
        cells += [(code, 1, 1, right), (code, 1, 0, positives - right)]
        cells += [(code, 0, 1, wrong), (code, 0, 0, negatives - wrong)]
    code, label, decision, count = np.array(cells).T
    names = tuple(group["name"] for group in groups)
    return Decisions(np.repeat(decision, count)[None], np.repeat(label, count), Groups(np.repeat(code, count), names))


def group_tables(document: dict[str, Any], ranks: list[int]) -> list[Block]:
    """Return the holdout's table for every sensitive column and each of these models."""
    config = document["config"]
    return [
        _table(rank, column, score(decisions), config["confidence"], config["min_group_size"])
        for column in document["dataset"]["sensitive"]
        for rank, decisions in zip(ranks, counted_decisions(document, column, "holdout", ranks), strict=True)
    ]


def _table(rank: int, column: Block, scores: Scores, confidence: float, minimum: int) -> Block:
    reference, rate = column["reference"], scores.by_group.selection_rate[0]
    best = _most_selected(rate, scores.groups.small(minimum))
    rates = estimates(rate_intervals(scores.counts, confidence=confidence)[0])
    differences = estimates(signed_differences(scores, reference=reference, confidence=confidence)[0])
    p_values = parity_p_values(scores, reference=reference)[0]
    detectable = detectable_differences(scores, reference=reference, confidence=confidence)
    sizes, selected = scores.groups.sizes, scores.counts.selected[0].sum(-1)
    top = rate[best] if best is not None else np.nan
    return {
        "rank": rank,
        "column": column["column"],
        "reference": reference,
        "most_selected": None if best is None else scores.groups.names[best],
        "groups": [
            {
                "group": name,
                "n": int(sizes[code]),
                "selected": int(selected[code]),
                "rate": rates[code],
                "ratio": plain(rate[code] / top) if top > 0 else None,
                "difference": differences[code],
                "p": plain(p_values[code]),
                "shortfall": plain(max(0.0, sizes[code] * top - selected[code])) if sizes[code] else None,
                "detectable": plain(detectable[code]) if sizes[code] else None,
                "is_small": bool(sizes[code] < minimum),
            }
            for code, name in enumerate(scores.groups.names)
        ],
    }


def _most_selected(rate: FloatArray, is_small: Any) -> int | None:
    """Find the group of the highest rate: a group of one with a rate of 1 is no measure for the others."""
    known = ~np.isnan(rate)
    eligible = known & ~is_small if (known & ~is_small).any() else known
    return int(np.where(eligible, rate, -1.0).argmax()) if eligible.any() else None
