"""The words of a test that fails for want of fairness: which rules are not kept, by which groups, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairenum.document.audit import AuditDocument
from fairenum.document.impact import GroupTable
from fairenum.document.kinds import JudgedDocument
from fairenum.document.terms import Measure
from fairenum.rendering.numbers import counted, estimate
from fairenum.report.wording import short
from fairenum.report.wording.measure import title

NAMED = 6  # groups of a rule
RATES: Mapping[str, Mapping[str, str]] = {
    "demographic_parity": {"selection rate": "rate"},
    "equal_opportunity": {"true positive rate": "true_positive_rate"},
    "equalized_odds": {"true positive rate": "true_positive_rate", "false positive rate": "false_positive_rate"},
    "predictive_parity": {"precision": "precision"},
}
WITHOUT_LABEL = ("demographic_parity_difference", "demographic_parity_ratio", "selection_rate", "auc")
INTERRUPTED = "the run was interrupted, and rules are judged by whole ones; run it again"
VIOLATED = (
    "violated: the whole interval is beyond the limit, so these rows show it; change the decisions, or the limit if it "
    "was not meant"
)
OPEN = (
    "open: these rows show neither that the rule is kept nor that it is violated; give more rows, or let open rules "
    "pass with a warning (when_open='warn')"
)
NO_LABEL = "without a label, only whom decisions select can be judged; name what was true in the end with label=..."


def subject(document: JudgedDocument) -> str:
    """Say what rules were judged by."""
    name = short(document.dataset.name)
    if isinstance(document, AuditDocument):
        # with a model in use every rule says whom it is about
        rank = None if document.incumbent else document.selection.rank
        return f"{'' if rank is None else f'model {rank} of '}the audit of {name}, on its holdout"
    whose = ", ".join(title(one, document) for one in document.decisions)
    by = short(document.dataset.primary.column)
    return f"{whose} in {name}, {counted(document.dataset.rows, 'row')}, groups by {by}"


def unkept(document: JudgedDocument, found: int, rules: int) -> str:
    """Count the judgements that are not what was asked for."""
    return f"{found} of {counted(rules, 'rule')} {'is' if found == 1 else 'are'} not kept ({subject(document)}):"


def group_rates(table: GroupTable, measure: Measure) -> Iterator[str]:
    """Give the rates that a rule compares, group by group, the lowest first; groups that have none are left out."""
    names = next(rates for prefix, rates in RATES.items() if measure.startswith(prefix))
    first = next(iter(names.values()))
    found = {group: getattr(group, first).value for group in table.groups if group.is_compared}
    compared = sorted((group for group, rate in found.items() if rate is not None), key=found.__getitem__)
    for group in compared[:NAMED]:
        rates = ", ".join(f"{name} {estimate(getattr(group, field))}" for name, field in names.items())
        yield f"{short(table.column)} = {short(group.group)}: {rates}, {counted(group.n, 'row')}"
    if len(compared) > NAMED:
        yield f"and {counted(len(compared) - NAMED, 'more group')}"


def advice(document: JudgedDocument, violated: bool, opened: list[Measure]) -> Iterator[str]:
    """Say what to do."""
    if violated:
        yield VIOLATED
    if opened:
        yield OPEN
    lacks_label = not isinstance(document, AuditDocument) and not document.has_label
    if lacks_label and any(measure not in WITHOUT_LABEL for measure in opened):
        yield NO_LABEL
