"""The choice of a model, from the document alone: made when a run ends, and again whenever tolerances change."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any, Protocol

import numpy as np

from fairenum.audit.cautions import cautions
from fairenum.audit.impact import counted_decisions, group_tables
from fairenum.audit.preparation import PARTS
from fairenum.audit.result import AuditResult
from fairenum.audit.scorecard import DIFFERENCES, Block, estimate
from fairenum.errors import ConfigError
from fairenum.problem import FloatArray
from fairenum.scoring import Gap, Gaps, Interval, fairlearn_metrics
from fairenum.scoring.intervals import difference
from fairenum.selection import Standing, Tolerances
from fairenum.threads import one_thread


class Live(Protocol):
    """What the choice asks of a live run."""

    def expected_optimism(self, tolerances: Tolerances) -> float:
        """Estimate how much choosing flatters."""

    def explanation(self, rank: int, tolerances: Tolerances) -> Block | None:
        """Explain a model's gain over model 1."""


@one_thread()
def select(
    result: AuditResult,
    *,
    metric: Gap | None = None,
    eps: float | None = None,
    max_accuracy_drop: float | None = None,
) -> AuditResult:
    """Choose again under other tolerances; a saved run will do, as no row of the data is needed.

    Parameters
    ----------
    result
        Of an audit, live or loaded.
    metric, eps, max_accuracy_drop
        The tolerances, as in `AuditConfig`; those of the run's last choice if not given. A run lists the models
        within its own eps only, so a larger one is refused.

    Returns
    -------
    AuditResult
        With another choice, its tables and its warnings. Verdicts hold for all models together, so looking at the
        holdout before choosing again does not spoil them.
    """
    last, within = result.document["selection"]["tolerances"], result.document["config"]["eps"]
    given: Block = {"metric": metric, "eps": eps, "max_accuracy_drop": max_accuracy_drop}
    wanted = {name: last[name] if value is None else value for name, value in given.items()}
    if wanted["metric"] not in DIFFERENCES:
        raise ConfigError(f"option 'metric' must be one of {', '.join(DIFFERENCES)}, not {metric!r}")
    if not 0.0 <= wanted["eps"] <= within:
        raise ConfigError(f"the run lists models within eps={within:g}; choose eps between 0 and that, not {eps!r}")
    if not 0.0 <= wanted["max_accuracy_drop"] <= 1.0:
        raise ConfigError(f"option 'max_accuracy_drop' must lie between 0 and 1, not {max_accuracy_drop!r}")
    return AuditResult(chosen(result.document, Tolerances(**wanted), result.live), result.live)


def chosen(document: dict[str, Any], tolerances: Tolerances, live: Live | None) -> dict[str, Any]:
    """Return the document with the choice made, and what depends on it; some of that takes a live run."""
    selection = _selection(document, tolerances, live)
    ranks = sorted({1, selection["rank"] or 1})
    fresh = {**document, "selection": selection, "group_tables": group_tables(document, ranks)}
    fresh["reference_check"] = _reference_check(document, ranks)
    fresh["explanation"] = _explanation(document, selection, tolerances, live)
    fresh["warnings"] = cautions(fresh)
    return {key: fresh[key] for key in ORDER if key in fresh}  # some are there only if asked for


ORDER = (
    "schema_version",
    "status",
    "is_exploratory",
    "is_redacted",
    "config",
    "environment",
    "dataset",
    "tuning",
    "enumeration",
    "guided",
    "models",
    "examples",
    "multiplicity",
    "range",
    "baselines",
    "selection",
    "explanation",
    "group_tables",
    "reference_check",
    "warnings",
    "attack",
    "timings",
)


def _selection(document: dict[str, Any], tolerances: Tolerances, live: Live | None) -> Block:
    standing = _standing(document["models"], tolerances.metric)
    place = int(standing.fairest(tolerances))
    if document["config"]["primary"] is None and not standing.is_constant[0]:
        place = 0
    outcome = "none" if place < 0 else "kept" if place == 0 else "selected"
    block: Block = {
        "rank": None if place < 0 else place + 1,
        "outcome": outcome,
        "reason": "",
        "tolerances": {**asdict(tolerances), "column": document["config"]["primary"]},
        "candidates": _ranks(np.flatnonzero(standing.candidates(tolerances))),
        "pareto_front": _ranks(standing.pareto_front()),
        "gap_change": None,
        "accuracy_change": None,
        "verdict": None,
        "is_fairer": False,
        "optimism": None,
    }
    if outcome == "selected":
        block |= _gain(document["models"][place], tolerances, live)
    return {**block, "reason": _reason(document, block, tolerances.metric)}


def _standing(models: list[Block], metric: Gap) -> Standing:
    return Standing(
        objective_ratio=np.array([model["objective_ratio"] for model in models]),
        accuracy=np.array([model["scores"]["selection"]["accuracy"]["value"] for model in models]),
        gap=np.array([model["scores"]["selection"][metric]["value"] for model in models], dtype=np.float64),
        is_constant=np.array([model["is_constant"] for model in models]),
    )


def _explanation(document: Block, selection: Block, tolerances: Tolerances, live: Live | None) -> Block | None:
    """Explain the selected model; a saved run still has the explanation of the model it selected."""
    if selection["outcome"] != "selected":
        return None
    if live is not None:
        return live.explanation(selection["rank"], tolerances)
    last, saved = document.get("selection"), document.get("explanation")
    is_same = (
        last is not None and last["rank"] == selection["rank"] and last["tolerances"]["metric"] == tolerances.metric
    )
    return saved if is_same else None


def _ranks(places: Any) -> list[int]:
    return [int(place) + 1 for place in places]


def _gain(model: Block, tolerances: Tolerances, live: Live | None) -> Block:
    """Return what the chosen model gains over model 1, and how much of it choosing has feigned."""
    gaps = {part: model["scores"][part][tolerances.metric] for part in PARTS}
    changes = {part: gaps[part]["change"] for part in PARTS}
    verdict = gaps["holdout"]["verdict"]
    return {
        "gap_change": changes,
        "accuracy_change": {part: model["scores"][part]["accuracy"]["change"] for part in PARTS},
        "verdict": verdict,
        "is_fairer": verdict == "fairer",
        "optimism": {
            "gap": {part: {key: gaps[part][key] for key in ("value", "low", "high")} for part in PARTS},
            "observed": _difference(changes["holdout"], changes["selection"]),
            "expected": None if live is None or model["origin"] == "guided" else live.expected_optimism(tolerances),
        },
    }


def _difference(left: Block, right: Block) -> Block:
    """Subtract two estimates from different rows."""
    parts = [[np.array(block[key], dtype=np.float64) for key in ("value", "low", "high")] for block in (left, right)]
    result = difference(Interval(*parts[0]), Interval(*parts[1]))
    return estimate(float(result.estimate), float(result.lower), float(result.upper))


def _reason(document: dict[str, Any], selection: Block, metric: Gap) -> str:
    words, models = metric.replace("_", " "), document["models"]
    if selection["outcome"] == "none":
        return "no model within the tolerances decides anything: each gives all rows of the selection split one outcome"
    if selection["outcome"] == "selected":
        return _praise(models[0], models[selection["rank"] - 1], selection, words, metric)
    if document["config"]["primary"] is None:
        return "no sensitive column was named, so there is no gap to reduce; model 1 is kept"
    if len(models) == 1:
        supports = document["enumeration"]["supports"]
        return f"there is no other model to choose: {_alike(supports)}; model 1 is kept"
    others = len(set(selection["candidates"]) - {1})
    if others == 0:
        return "no other model is within the tolerances; model 1 is kept"
    gap = _shown(models[0]["scores"]["selection"][metric]["value"])
    return (
        f"none of the {others} other models within the tolerances has a smaller {words} on the selection split than "
        f"model 1 ({gap}); model 1 is kept"
    )


def _alike(supports: int) -> str:
    return (
        f"all {supports} near-optimal models that were found decide the audited rows alike"
        if supports > 1
        else "one was listed"
    )


def _praise(first: Block, model: Block, selection: Block, words: str, metric: Gap) -> str:
    gaps = {part: [_shown(m["scores"][part][metric]["value"]) for m in (model, first)] for part in PARTS}
    accuracy = [_shown(m["scores"]["holdout"]["accuracy"]["value"]) for m in (model, first)]
    constant = " (which decides all rows alike)" if first["is_constant"] else ""
    return (
        f"of {len(selection['candidates'])} models within the tolerances, model {model['rank']} has the smallest "
        f"{words} on the selection split: {gaps['selection'][0]} against {gaps['selection'][1]} of model 1{constant}; "
        f"on the holdout {gaps['holdout'][0]} against {gaps['holdout'][1]}, {selection['verdict']}, "
        f"at an accuracy of {accuracy[0]} against {accuracy[1]}"
    )


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _reference_check(document: dict[str, Any], ranks: list[int]) -> Block:
    """Compute the shortlist's gaps in the primary column with fairlearn, and say how far ours are from them."""
    distances = [
        _distances(document["models"][rank - 1]["scores"]["holdout"], fairlearn_metrics(decisions))
        for column in document["dataset"]["sensitive"]
        if column["is_primary"]
        for rank, decisions in zip(ranks, counted_decisions(document, column, "holdout", ranks), strict=True)
    ]
    compared = np.concatenate([np.empty(0), *distances])
    return {
        "library": "fairlearn",
        "ranks": ranks,
        "compared": len(compared),
        "largest_difference": float(compared.max(initial=0.0)),
    }


def _distances(ours: Block, theirs: Gaps) -> FloatArray:
    """Compare the values that both define."""
    names = [field.name for field in fields(Gaps)]
    own = np.array([ours[name]["value"] for name in names], dtype=np.float64)
    reference = np.array([getattr(theirs, name)[0] for name in names])
    distances = np.abs(own - reference)
    return np.asarray(distances[~np.isnan(distances)])
