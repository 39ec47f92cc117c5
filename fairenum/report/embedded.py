"""The copy of the document that a page carries: the whole of it while it is small, else what the page shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fairenum.report.tables import Document
from fairenum.report.text import shortened

LARGEST_WHOLE = 60_000
DIGITS = 6
LONGEST_TEXT = 200

WHOLE = "The whole run but for its timings; `fairenum report` reads it."
REDUCED = (
    "Reduced to what this page shows: numbers have six digits, and models are listed without their other gaps, other "
    "sensitive columns, certificates and timings; texts are cut at 200 signs. `--json` saves the whole "
    "run, which `fairenum report` reads."
)


def embedded(document: Document) -> tuple[str, str]:
    """Return the copy as JSON that is safe within a page, and what to say about it."""
    whole = written({**document, "timings": {}})
    if len(whole) <= LARGEST_WHOLE:
        return whole, WHOLE
    return written(_rounded(_reduced(document))), REDUCED


def comparison_copy(documents: Mapping[str, Document]) -> tuple[str, str]:
    """Return the copy of several runs, always reduced, and what to say about it."""
    return written({"runs": {name: _rounded(_reduced(document)) for name, document in documents.items()}}), REDUCED


def written(document: Mapping[str, Any]) -> str:
    """Write JSON in which no browser can find a tag."""
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _reduced(document: Document) -> dict[str, Any]:
    metric = document["selection"]["tolerances"]["metric"]
    rows = [_model(model, metric) for model in document["models"]]
    return {
        **document,
        "reduced": REDUCED,
        "models": {"fields": list(rows[0]), "rows": [list(row.values()) for row in rows]},
        "timings": {},
    }


def _model(model: Mapping[str, Any], metric: str) -> dict[str, Any]:
    chosen_by, judged_by = model["scores"]["selection"], model["scores"]["holdout"]
    change = judged_by[metric]["change"] or {}
    return {
        **{
            key: model[key] for key in ("rank", "origin", "support_rank", "objective_ratio", "support_size", "supports")
        },
        "left_out": [entry.get("row") for entry in model["left_out"]],
        "is_constant": model["is_constant"],
        "flips": model["predictions_changed"]["holdout"]["rows"],
        "selection_accuracy": chosen_by["accuracy"]["value"],
        "selection_gap": chosen_by[metric]["value"],
        **{f"accuracy_{end}": judged_by["accuracy"][end] for end in ("value", "low", "high")},
        **{f"gap_{end}": judged_by[metric][end] for end in ("value", "low", "high")},
        **{f"change_{end}": change.get(end) for end in ("value", "low", "high")},
        "verdict": judged_by[metric]["verdict"],
    }


def _rounded(value: Any) -> Any:
    """Cut numbers and texts to a length that a page can carry."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, str):
        return shortened(value, LONGEST_TEXT) if len(value) > LONGEST_TEXT else value
    if isinstance(value, dict):
        return {_rounded(key): _rounded(part) for key, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list | tuple) else value
