"""The words of a report: what was found, how sure that is, and what to beware of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairenum.report.numbers import counted, estimate, percent, share, signed
from fairenum.report.tables import METRICS, NAME_WIDTH
from fairenum.report.text import plain, sentence_list, shortened

Document = Mapping[str, Any]


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
    return partial + _verdict(document["selection"])


def findings(document: Document) -> Iterator[str]:
    """Give the numbers behind the verdict, the reason for it, and how far the models disagree."""
    selection = document["selection"]
    if selection["tolerances"]["column"] is not None:
        yield _gap_sentence(document)
    yield _sentence(plain(selection["reason"]))
    if selection["verdict"] is not None:
        yield _proof_sentence(selection)
    yield _multiplicity_sentence(document)


def warnings(document: Document) -> tuple[str, ...]:
    """List what to beware of."""
    return tuple(_sentence(plain(warning["message"])) for warning in document["warnings"])


def _verdict(selection: Mapping[str, Any]) -> str:
    rank, verdict = selection["rank"], selection["verdict"]
    if rank is None:
        return "No model can be selected."
    if selection["tolerances"]["column"] is None:
        return "No sensitive column was named, so no gap was measured; model 1 is kept."
    if selection["outcome"] == "kept":
        return "No near-optimal model was found to be fairer than model 1, which is kept."
    if verdict == "fairer":
        return f"Model {rank} is fairer than model 1 and nearly as good."
    if verdict == "not fairer":
        return f"Model {rank} looked fairer than model 1 where models are selected; on the holdout it is not."
    return f"Model {rank} looked fairer than model 1 where models are selected; the holdout cannot confirm it."


def _gap_sentence(document: Document) -> str:
    tolerances, rank = document["selection"]["tolerances"], document["selection"]["rank"]
    first, rows = document["models"][0]["scores"]["holdout"], document["dataset"]["splits"]["holdout"]
    metric, column = tolerances["metric"], shortened(tolerances["column"], NAME_WIDTH)
    start = f"On the holdout ({counted(rows, 'row')}) the {METRICS[metric]} difference by {column} is"
    if rank in (None, 1):
        return f"{start} {estimate(first[metric])}; accuracy is {share(first['accuracy']['value'])}."
    scores = document["models"][rank - 1]["scores"]["holdout"]
    return (
        f"{start} {estimate(scores[metric])} instead of {estimate(first[metric])}; accuracy is "
        f"{share(scores['accuracy']['value'])} instead of {share(first['accuracy']['value'])}."
    )


def _proof_sentence(selection: Mapping[str, Any]) -> str:
    """Say what is known about the change, which is better known than the two gaps."""
    change = selection["gap_change"]["holdout"]
    text = f"The gap changes by {estimate(change, signed)}"
    if selection["verdict"] == "not distinguishable":
        text += ", which leaves open whether it is smaller"
    return text + "."


def _multiplicity_sentence(document: Document) -> str:
    found = document["multiplicity"]
    if found["models"] == 1:
        return "There is one model only, so there is nothing to compare it with."
    return (
        f"The {found['models']} models decide {found['flipped']} of {counted(found['rows'], 'holdout row')} "
        f"({percent(found['ambiguity'])}) in more than one way; one model differs from model 1 in up to "
        f"{percent(found['discrepancy'])}."
    )


def _sentence(text: str) -> str:
    """Begin with a capital letter and end with a stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
