"""The tables of a report: headings and cells, all of them text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairenum.report.numbers import UNDEFINED, counted, estimate, p_value, share, signed
from fairenum.report.text import shortened

Document = Mapping[str, Any]

NAME_WIDTH = 24
TITLE_WIDTH = 32
GROUP_WIDTH = 60  # two folded lines at most
VERDICTS = {"fairer": "fairer", "not fairer": "not fairer", "not distinguishable": "open", None: UNDEFINED}
METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "selection_rate": "selection rate",
    "demographic_parity_difference": "demographic parity",
    "equal_opportunity_difference": "equal opportunity",
    "equalized_odds_difference": "equalized odds",
    "predictive_parity_difference": "predictive parity",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table in words.

    Attributes
    ----------
    title
        What it shows.
    headings
        One for each column.
    rows
        Their cells.
    names
        How many columns on the left hold words; the others hold numbers.
    marked
        The row to stand out, if any.
    notes
        What a reader needs to know to read it, line by line.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    marked: int | None = None
    notes: tuple[str, ...] = ()


def ranked_models(document: Document, ranks: Sequence[int]) -> Table:
    """Show some models in their order, with what they do to the holdout."""
    metric, selected = document["selection"]["tolerances"]["metric"], document["selection"]["rank"]
    models = [document["models"][rank - 1] for rank in ranks]
    return Table(
        title="Models by objective, scored on the holdout",
        headings=("rank", "objective", "support", "accuracy", "gap", "change", "verdict", "flips"),
        rows=tuple(_ranked(model, metric, is_selected=model["rank"] == selected) for model in models),
        names=0,
        marked=ranks.index(selected) if selected in ranks else None,
        notes=(*models_notes(document), *_hidden_notes(document, len(ranks))),
    )


def side_by_side(document: Document) -> Table:
    """Show model 1 and, if another was selected, that one beside it."""
    rank = document["selection"]["rank"]
    first, models = document["models"][0], document["models"]
    if rank in (None, 1):
        return one_model(document, 1)
    other = models[rank - 1]
    rows = (
        ("objective ratio", "1", f"{other['objective_ratio']:.6f}", "", ""),
        ("support vectors", str(first["support_size"]), str(other["support_size"]), "", ""),
        *(_measure_row(first, other, metric) for metric in METRICS),
    )
    headings = ("measure", "model 1", f"model {rank}", "change", "verdict")
    return Table(f"Model {rank} against model 1 on the holdout", headings, rows)


def one_model(document: Document, rank: int) -> Table:
    """Show one model alone."""
    scores = document["models"][rank - 1]["scores"]["holdout"]
    rows = tuple((name, estimate(scores[metric])) for metric, name in METRICS.items())
    return Table(f"Model {rank} on the holdout", ("measure", f"model {rank}"), rows)


def other_methods(document: Document) -> Table:
    """Show other mitigations on the same machine and splits."""
    metric = document["selection"]["tolerances"]["metric"]
    return Table(
        title="What else one would pick, scored on the holdout",
        headings=("method", "decides", "asks for the group", "accuracy", "gap", "change", "verdict"),
        rows=tuple(_method_row(method, metric) for method in document["baselines"]),
        names=3,
        notes=(
            f"gap: {METRICS[metric]} difference; change and verdict: against model 1",
            "by chance: the same person may be decided otherwise the next time; scores are of one draw",
        ),
    )


def _method_row(method: Mapping[str, Any], metric: str) -> tuple[str, ...]:
    title = shortened(method["title"], TITLE_WIDTH)
    words = ("by chance" if method["is_randomised"] else "always alike", "yes" if method["needs_groups"] else "no")
    if not method["scores"]:
        return title, *words, *([UNDEFINED] * 3), shortened(f"failed: {method['error']}", TITLE_WIDTH)
    scores, gap = method["scores"], method["scores"][metric]
    change = UNDEFINED if not gap["change"] else signed(gap["change"]["value"])
    return title, *words, share(scores["accuracy"]["value"]), estimate(gap), change, VERDICTS[gap["verdict"]]


def adverse_impact(table: Mapping[str, Any]) -> Table:
    """Show how one model selects from the groups of one column."""
    column, most = shortened(table["column"], GROUP_WIDTH), table["most_selected"]
    return Table(
        title=f"Who is selected by model {table['rank']}, by {column}",
        headings=("group", "selected", "rate", "ratio", "difference", "p", "shortfall"),
        rows=tuple(_group_row(group, table["reference"]) for group in table["groups"]),
        notes=tuple(_group_notes(table, most)),
    )


def _group_notes(table: Mapping[str, Any], most: str | None) -> Iterator[str]:
    yield f"difference and p: against {shortened(table['reference'], GROUP_WIDTH)}"
    if most is not None:
        is_small = {group["is_small"] for group in table["groups"]}
        among = " of those that are not small" if is_small == {True, False} else ""
        yield f"ratio and shortfall: against {shortened(most, GROUP_WIDTH)}, the most selected{among}"
    if any(group["is_small"] for group in table["groups"]):
        yield "small: too few rows to say much"


def records_out(model: Mapping[str, Any]) -> int:
    """Count the training records that a model leaves out, copy by copy."""
    return sum(entry["copies"] for entry in model["left_out"])


def _ranked(model: Mapping[str, Any], metric: str, *, is_selected: bool) -> tuple[str, ...]:
    rank, *cells = model_row(model, metric)
    return (f"*{rank}" if is_selected else rank, *cells)


def model_row(model: Mapping[str, Any], metric: str) -> tuple[str, ...]:
    """Show one model: rank, objective, support, accuracy, gap, change, verdict, flips."""
    scores = model["scores"]["holdout"]
    gap, is_first = scores[metric], model["rank"] == 1
    return (
        str(model["rank"]),
        f"{model['objective_ratio']:.6f}",
        str(model["support_size"]),
        share(scores["accuracy"]["value"]),
        estimate(gap),
        UNDEFINED if is_first or not gap["change"] else signed(gap["change"]["value"]),
        UNDEFINED if is_first else _verdict(model, metric),
        UNDEFINED if is_first else str(model["predictions_changed"]["holdout"]["rows"]),
    )


def models_notes(document: Document) -> Iterator[str]:
    """Say how to read a table of models."""
    metric, level = document["selection"]["tolerances"]["metric"], 100 * document["config"]["confidence"]
    yield f"objective: as a share of model 1's; gap: {METRICS[metric]} difference [{level:g} %]"
    yield "change, verdict: against model 1; flips: rows that model 1 decides otherwise"
    if any(_verdict(model, metric) == "open" for model in document["models"][1:]):
        yield "open: these rows do not tell its gap from that of model 1"


def _hidden_notes(document: Document, shown: int) -> Iterator[str]:
    if document["selection"]["rank"] is not None:
        yield "*: the selected model"
    if hidden := len(document["models"]) - shown:
        yield f"not shown: {counted(hidden, 'model')}; `fairenum report RUN --all` shows all"


def _measure_row(first: Mapping[str, Any], other: Mapping[str, Any], metric: str) -> tuple[str, ...]:
    old, new = first["scores"]["holdout"][metric], other["scores"]["holdout"][metric]
    change = _difference(old["value"], new["value"])
    verdict = _verdict(other, metric) if "verdict" in new else ""
    return METRICS[metric], estimate(old), estimate(new), signed(change), verdict


def _verdict(model: Mapping[str, Any], metric: str) -> str:
    """Give the verdict of the holdout in a word."""
    if model["is_constant"]:
        return "constant"
    if not model["predictions_changed"]["holdout"]["rows"]:
        return "same"
    return VERDICTS[model["scores"]["holdout"][metric]["verdict"]]


def _difference(old: float | None, new: float | None) -> float | None:
    return None if old is None or new is None else new - old


def _group_row(group: Mapping[str, Any], reference: str) -> tuple[str, ...]:
    shortfall = group["shortfall"]
    is_reference = group["group"] == reference
    return (
        shortened(group["group"], GROUP_WIDTH) + (" (small)" if group["is_small"] else ""),
        f"{group['selected']}/{group['n']}",
        share(group["rate"]["value"]),
        share(group["ratio"]),
        "reference" if is_reference else estimate(group["difference"], signed),
        p_value(group["p"]),
        UNDEFINED if shortfall is None else f"{shortfall:.0f}",
    )
