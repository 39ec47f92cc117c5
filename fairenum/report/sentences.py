"""The words of a report: what was found, how sure that is, and what to beware of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairenum.report.numbers import counted, estimate, percent, share, signed
from fairenum.report.tables import METRICS, NAME_WIDTH
from fairenum.report.text import sentence_list, shortened

Document = Mapping[str, Any]

LONGEST = 400  # a message may quote names of any length


def subject(document: Document) -> str:
    """Say what was audited."""
    data = document["dataset"]
    columns = [shortened(column["column"], NAME_WIDTH) for column in data["sensitive"] if not column["is_intersection"]]
    label, favourable = (shortened(data[part], NAME_WIDTH) for part in ("label", "favourable"))
    compared = f"groups by {sentence_list(columns)}" if columns else "no sensitive column"
    size = f"{counted(data['rows'], 'row')}, {counted(len(data['features']), 'feature')}"
    return f"{shortened(data['name'], 40)}: {size}; favourable: {label} = {favourable}; {compared}"


def headline(document: Document) -> str:
    """Give the verdict in one sentence."""
    partial = "Interrupted: " if document["status"] == "interrupted" else ""
    return partial + _verdict(document)


def findings(document: Document) -> Iterator[str]:
    """Give the numbers behind the verdict, the reason for it, and how far the models disagree."""
    selection = document["selection"]
    if selection["verdict"] is None and selection["tolerances"]["column"] is not None:
        yield _gap_sentence(document)
    yield _sentence(shortened(selection["reason"], LONGEST))
    if selection["verdict"] is not None:
        yield _change_sentence(document)
    if document["explanation"]:
        yield left_out_sentence(document["explanation"])
    if document["multiplicity"]["models"] > 1:
        yield _multiplicity_sentence(document["multiplicity"])


def warnings(document: Document) -> tuple[str, ...]:
    """List what to beware of."""
    return tuple(shortened(warning["message"], LONGEST) for warning in document["warnings"])


def _verdict(document: Document) -> str:
    selection = document["selection"]
    rank, verdict = selection["rank"], selection["verdict"]
    if rank is None:
        return "No model can be selected."
    if selection["tolerances"]["column"] is None:
        return "No sensitive column was named, so no gap was measured; model 1 is kept."
    if selection["outcome"] == "kept":
        return "No near-optimal model was found to be fairer than model 1, which is kept."
    if verdict == "fairer":
        return f"Model {rank} is fairer than model 1{_price(document)}"
    if verdict == "not fairer":
        return f"Model {rank} looked fairer than model 1 on the selection split; on the holdout it is not."
    return f"Model {rank} looked fairer than model 1 on the selection split; the holdout cannot confirm it."


def _price(document: Document) -> str:
    """Say what the fairer model costs: it is called as accurate only if the holdout shows that."""
    selection = document["selection"]
    change = document["models"][selection["rank"] - 1]["scores"]["holdout"]["accuracy"]["change"]
    if change["low"] is not None and change["low"] >= -selection["tolerances"]["max_accuracy_drop"]:
        return " and nearly as accurate."
    return f"; its accuracy changes by {estimate(change, signed)}."


def _gap_sentence(document: Document) -> str:
    tolerances, rows = document["selection"]["tolerances"], document["dataset"]["splits"]["holdout"]
    scores, metric = document["models"][0]["scores"]["holdout"], tolerances["metric"]
    return (
        f"On the holdout ({counted(rows, 'row')}) the {METRICS[metric]} difference of model 1 by "
        f"{shortened(tolerances['column'], NAME_WIDTH)} is {estimate(scores[metric])}; its accuracy is "
        f"{share(scores['accuracy']['value'])}."
    )


def _change_sentence(document: Document) -> str:
    """Say what is known about the change, which is better known than the two gaps."""
    selection, rows = document["selection"], document["dataset"]["splits"]["holdout"]
    flips = document["models"][selection["rank"] - 1]["predictions_changed"]["holdout"]["rows"]
    if not flips:
        return f"It decides all {counted(rows, 'row')} of the holdout as model 1 does."
    change = estimate(selection["gap_change"]["holdout"], signed)
    return f"It decides {flips} of {counted(rows, 'row')} of the holdout otherwise; the gap changes by {change}."


def left_out_sentence(found: Mapping[str, Any]) -> str:
    """Say how much the selected model leaves out, and how little of it matters."""
    core = found["core"]
    return (
        f"It leaves out {counted(found['records'], 'training record')}. Leaving out {core['records']} of them alone "
        f"gives {percent(core['share_of_gain'])} of its gain on the selection split, at an objective of "
        f"{core['objective_ratio']:.6f} and a gap of {share(core['gap']['selection'])} there and "
        f"{share(core['gap']['holdout'])} on the holdout."
    )


def _multiplicity_sentence(found: Mapping[str, Any]) -> str:
    return (
        f"The {found['models']} models decide {found['flipped']} of {counted(found['rows'], 'holdout row')} "
        f"({percent(found['ambiguity'])}) in more than one way; one model differs from model 1 in up to "
        f"{percent(found['discrepancy'])}."
    )


def _sentence(text: str) -> str:
    """Begin with a capital letter and end with a stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
