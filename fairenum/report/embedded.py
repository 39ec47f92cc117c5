"""The copy of the document that a page carries: the whole of it while it is small, else what the page shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fairenum.report.tables import Document, records_out
from fairenum.report.text import shortened

LARGEST_WHOLE = 60_000
SPARE = ("examples", "explanation", "attack", "range", "group_tables", "tuning")  # dropped in turn where space is short
MOST_EXAMPLES = 30
DIGITS = 6
LONGEST_TEXT = 200

WHOLE = "The whole run but for its timings; `fairenum report` reads it."
REDUCED = (
    "Reduced to what this page shows: numbers have six digits, texts at most 200 signs; models are listed without "
    "their other gaps, other sensitive columns and certificates; examples are those of the selected model; timings are "
    "left out. `--json` saves the whole run, which `fairenum report` reads."
)
DROPPED = " Also left out, as too large for a page: {}."


def embedded(document: Document, room: int) -> tuple[str, str]:
    """Return the copy as JSON that is safe within a page and fits into so many bytes, and what to say about it."""
    whole = written({**document, "timings": {}})
    return (whole, WHOLE) if len(whole) <= min(LARGEST_WHOLE, room) else _within(room, document)


def several_embedded(documents: Mapping[str, Document], room: int) -> tuple[str, str]:
    """Return the copy of several runs, always reduced, and what to say about it."""
    copies = [_within(room // len(documents), document) for document in documents.values()]
    runs = {name: json.loads(copy) for name, (copy, _) in zip(documents, copies, strict=True)}
    return written({"runs": runs}), max((note for _, note in copies), key=len)


def _within(room: int, document: Document) -> tuple[str, str]:
    """Reduce a document, and drop what is spare until it fits."""
    reduced, dropped, note = _rounded(_reduced(document)), list[str](), REDUCED
    while len(text := written(reduced)) > room and len(dropped) < len(SPARE):
        dropped.append(SPARE[len(dropped)])
        note = REDUCED + DROPPED.format(", ".join(dropped))
        reduced |= {dropped[-1]: None, "reduced": note}
    return text, note


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
        "examples": _examples(document),
        "timings": {},
    }


def _examples(document: Document) -> list[Mapping[str, Any]]:
    """Keep the examples that the selected model leaves out, as many as the page shows."""
    rank = document["selection"]["rank"] or 1
    wanted = {entry.get("row") for entry in document["models"][rank - 1]["left_out"]}
    return [example for example in document["examples"] if example["row"] in wanted][:MOST_EXAMPLES]


def _model(model: Mapping[str, Any], metric: str) -> dict[str, Any]:
    chosen_by, judged_by = model["scores"]["selection"], model["scores"]["holdout"]
    change = judged_by[metric]["change"] or {}
    return {
        **{
            key: model[key] for key in ("rank", "origin", "support_rank", "objective_ratio", "support_size", "supports")
        },
        "left_out": records_out(model),
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
