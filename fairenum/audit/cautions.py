"""What to beware of when reading a result: a pure function of the document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fairenum.dataset.naming import quoted
from fairenum.dataset.splitting import TRY

# Differences that a sample of the holdout's size should show; a larger limit deserves a warning.
NOTABLE_DIFFERENCE = 0.1
NOTABLE_GROWTH = 0.05  # of a gap that the model was not selected by
REFERENCE_AGREES = 1e-9
NARROW = 1e-9  # an interval of biases that is one number
BUDGETS = {"nodes": "nodes", "time": "seconds"}

Caution = tuple[str, str]


def cautions(document: dict[str, Any]) -> list[dict[str, str]]:
    """List the warnings of a document, each with a code to look for and a message to read."""
    found = (*_run(document), *_table(document), *_groups(document), *_models(document), *_choice(document))
    return [{"code": code, "message": message} for code, message in found]


def _run(document: dict[str, Any]) -> Iterator[Caution]:
    enumeration, config = document["enumeration"], document["config"]
    if document["status"] == "interrupted":
        yield "interrupted", f"the run was interrupted after {enumeration['models']} of {config['k']} models"
    if document["is_exploratory"]:
        yield (
            "exploratory",
            "models were selected and reported on rows that are not separate, so the selected one looks fairer than "
            f"it is; a result that holds takes three parts: {TRY}",
        )
    if (guided := document["guided"]) and guided["note"] and config["primary"] is not None:
        yield "guided_skipped", f"there was no guided search: {guided['note']}"
    if enumeration["note"]:
        yield "few_predictors", enumeration["note"]
    if enumeration["stopped"] == "solver":
        yield (
            "solver_failed",
            f"solver {config['solver']!r} found no proven answer after {enumeration['supports']} models with distinct "
            "supports, so later ones are missing; try another solver or a smaller C",
        )
    if enumeration["stopped"] in BUDGETS:
        yield (
            "budget_spent",
            f"the enumeration stopped at its limit of {enumeration['stopped']} with {enumeration['models']} of "
            f"{config['k']} models; raise max_{BUDGETS[enumeration['stopped']]} to look further",
        )


def _table(document: dict[str, Any]) -> Iterator[Caution]:
    dataset, config = document["dataset"], document["config"]
    for kind, code, fate in (
        ("numeric", "imputed", "were given the median of the training rows"),
        ("categorical", "missing", "count as a value of their own"),
    ):
        lacking = [feature for feature in dataset["features"] if feature["kind"] == kind and feature["missing"]]
        if lacking:
            names, cells = quoted(feature["name"] for feature in lacking), sum(f["missing"] for f in lacking)
            yield code, f"missing cells in {names} {fate} ({cells} in all)"
    if dataset["dropped"]:
        yield "dropped", f"features that do not vary in the training rows were left out: {quoted(dataset['dropped'])}"
    if dataset["unseen"]:
        cells = sum(dataset["unseen"].values())
        yield "unseen", f"values in {quoted(dataset['unseen'])} that no training row has count as none ({cells} in all)"
    if not config["standardise"]:
        yield "unscaled", "numbers were not standardised, so columns of large numbers weigh more than others"
    if config["use_sensitive"]:
        yield "sensitive_features", "the models learn from the sensitive columns, too"


def _groups(document: dict[str, Any]) -> Iterator[Caution]:
    columns, minimum = document["dataset"]["sensitive"], document["config"]["min_group_size"]
    if not columns:
        yield "no_sensitive", "no sensitive column was named: accuracy and disagreement are reported, parity is not"
    for column in columns:
        small = [group for group in column["groups"] if group["is_small"]]
        if small:
            names = quoted(group["name"] for group in small)
            yield "small_group", f"{column['column']}: groups with fewer than {minimum} rows in a split: {names}"
        for part in ("selection", "holdout"):
            if sum(group[part] > 0 for group in column["groups"]) < 2:
                yield "single_group", f"{column['column']}: the {part} holds one group only, so its gaps say nothing"
    yield from _power(document)


def _power(document: dict[str, Any]) -> Iterator[Caution]:
    primary = document["config"]["primary"]
    for table in document["group_tables"]:
        if table["rank"] == 1 and table["column"] == primary:
            limits = [group["detectable"] for group in table["groups"] if group["detectable"] is not None]
            if limits and max(limits) > NOTABLE_DIFFERENCE:
                yield (
                    "low_power",
                    f"{primary}: with these group sizes a difference in selection rate below {max(limits):.2f} can "
                    "go unseen",
                )


def _models(document: dict[str, Any]) -> Iterator[Caution]:
    models, shown = document["models"], sorted({1, document["selection"]["rank"] or 1})
    constant = [model["rank"] for model in models if model["is_constant"]]
    if constant:
        yield "constant", f"{_these(constant)} all rows of the selection split alike, and cannot be selected"
    for rank in shown:
        rows = models[rank - 1]["undetermined"]["holdout"]
        if rows:
            yield "undetermined", _open_decisions(rank, rows, *models[rank - 1]["bias_interval"])
    uncertain = [model["rank"] for model in models if not model["is_order_certified"]]
    if uncertain:
        yield "order", f"the proven intervals do not settle the order of {len(uncertain)} models: they are ties"


def _open_decisions(rank: int, rows: int, low: float | None, high: float | None) -> str:
    if low is not None and high is not None and high - low <= NARROW:
        return f"{rows} holdout rows lie exactly on the plane of model {rank}; they count as favourable"
    return (
        f"the optimum of model {rank} leaves the decision on {rows} holdout rows open: every bias from {_end(low)} to "
        f"{_end(high)} is optimal, and its middle is used"
    )


def _these(ranks: list[int]) -> str:
    return f"model {ranks[0]} decides" if len(ranks) == 1 else f"{len(ranks)} models decide"


def _end(bias: float | None) -> str:
    return "infinity" if bias is None else f"{bias:.4g}"


def _choice(document: dict[str, Any]) -> Iterable[Caution]:
    selection = document["selection"]
    if selection["outcome"] == "selected" and not selection["is_fairer"]:
        yield (
            "not_confirmed",
            f"the selected model looks fairer on the rows it was selected by, but is {selection['verdict']} on the "
            "holdout",
        )
    yield from _other_columns(document)
    distance = document["reference_check"]["largest_difference"]
    if distance > REFERENCE_AGREES:
        yield "reference", f"a gap differs by {distance:.2g} from fairlearn's; do not rely on this result"


def _other_columns(document: dict[str, Any]) -> Iterator[Caution]:
    """Look at the columns that the model was not selected by: what helps one group may cost another."""
    selection, models = document["selection"], document["models"]
    if selection["outcome"] != "selected":
        return
    metric, rank = selection["tolerances"]["metric"], selection["rank"]
    for column in document["dataset"]["sensitive"]:
        before, after = (models[place]["scores"]["holdout"]["by_column"][column["column"]] for place in (0, rank - 1))
        change = after[metric]["change"]
        if not column["is_primary"] and change and (change["value"] or 0.0) >= NOTABLE_GROWTH:
            yield (
                "other_column",
                f"{column['column']}: the {metric.replace('_', ' ')} of model {rank} is {after[metric]['value']:.3f} "
                f"against {before[metric]['value']:.3f} of model 1 on the holdout, {after[metric]['verdict']}",
            )
