"""The table of cautions about audits and measurements, the gravest first.

Each kind of caution is one decorated function: the arguments of the decorator are its code, the condition under which
it holds and its remedy, and the function returns its sentence. Documents list their cautions in the order of this file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast, get_args, overload

from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.caution_entry import (
    TABLE,
    Entry,
    Subject,
    audited,
    each_column,
    each_decision,
    each_split,
    measured,
    primary_column,
    screened_column,
    shared,
    shortlisted,
)
from fairenum.document.choice import AnyCaution, Caution, GapChange, MeasureCaution
from fairenum.document.consequences import (
    EVERYBODY,
    NOBODY,
    NOTABLE_MOVE,
    ROUNDING,
    Moved,
    balance_lost,
    broken_guards,
    claim_of,
    column_named,
    few_trials,
    is_levelled_down,
    other_model,
    reversals,
    selection_moved,
    strip_of,
    whole_of,
    wider,
)
from fairenum.document.correction_facts import LeakCheck
from fairenum.document.feature_facts import NEARLY_ALL, Screening, SingleFeature
from fairenum.document.flip_facts import FlippedColumn
from fairenum.document.header import CutBy, Spending
from fairenum.document.measure_document import MeasuredDecisions, MeasureDocument
from fairenum.document.models import AuditedModel, MarginTies
from fairenum.document.period_facts import WatchedRate
from fairenum.document.reading import Cutoff
from fairenum.document.remark_words import remark_sentence
from fairenum.document.split_power import SECOND_SPLIT, confirmable, helpful_split, spelled_sizes
from fairenum.document.strata_facts import FactorHint
from fairenum.document.table_facts import Regrouped
from fairenum.document.telling_names import is_protected, looks_swapped
from fairenum.document.terms import AUTO, RATES, RemarkKind, Verdict
from fairenum.document.training import SolverLapse
from fairenum.document.value import Estimate
from fairenum.document.words import (
    GAP_NAMES,
    LONGEST,
    OBSTACLES,
    STAGES,
    TABLE_WIDTH,
    allowed_loss,
    bounded_gap,
    decisions_title,
    every_group,
    groups_between,
    guard_name,
    most_and_least_affected,
    performance_of,
    reference_name,
    reference_own,
    reversal,
    short,
)
from fairenum.runtime.formatting import counted, percent, sentence_list, share, shortened, signed
from fairenum.runtime.hints import option, quoted, without

NOTABLE_DIFFERENCE = 0.1  # of selection rates: group sizes should be large enough to show it
NOTABLE_MISS = 0.01  # distance from the share that models are to select
REFERENCE_AGREES = 1e-9
TELLING_SHARE = 0.5  # smallest effective number of rows, as a share of the rows of the holdout, without a caution
CHANCE = 0.5  # AUC, and balanced accuracy, of decisions that have nothing to do with the label
NARROW = 1e-9  # an interval of biases of at most this width is a single number
WHICH = {"reverses": "is reversed", "removes": "is not shown"}  # what a factor does to a difference
NAMED = 3  # columns, features or groups that a sentence names at most
UNMOVED = Moved(0.0, 0.0)
BUDGETS = {"nodes": "nodes", "time": "seconds"}
TRY = option("sizes", AUTO, "split", AUTO)


def entries(kind: type) -> dict[str, Entry]:
    """Return the kinds of caution that a document of type `kind` can have, by code, the gravest first."""
    return {entry.code: entry for entry in TABLE if kind in entry.documents}


@overload
def cautions(document: AuditDocument) -> tuple[Caution, ...]: ...


@overload
def cautions(document: MeasureDocument) -> tuple[MeasureCaution, ...]: ...


def cautions(document: JudgedDocument) -> tuple[AnyCaution, ...]:
    """Return the cautions that hold for an audit or a measurement, the gravest first."""
    kind = Caution if isinstance(document, AuditDocument) else MeasureCaution
    table = entries(type(document)).values()
    found = [(entry, kind(entry.code, **subject)) for entry in table for subject in entry.about(document)]
    return tuple(caution for entry, caution in found if entry.when(document, caution))


def caution_texts(document: JudgedDocument) -> tuple[str, ...]:
    """Return one text for each caution of a document, in the same order."""
    table = entries(type(document))
    texts = (table[caution.code].words(document, caution) for caution in document.warnings)
    return tuple(shortened(text, LONGEST) for text in texts)


def _name(column: str) -> str:
    return repr(shortened(column, TABLE_WIDTH))


@audited(
    "reference",
    when=lambda document, _: document.reference_check.largest_difference > REFERENCE_AGREES,
    remedy="do not rely on this result",
)
def _reference(document: AuditDocument, _caution: Caution) -> str:
    check = document.reference_check
    return f"a gap differs by {check.largest_difference:.2g} from {check.library}'s"


def _is_interrupted(document: AuditDocument, _caution: Caution) -> bool:
    stopped, spending = document.enumeration.stopped, document.spending
    return stopped == "interrupted" or bool(spending and spending.is_cut_by("interrupt"))


def _cut_stages(spending: Spending, by: CutBy) -> str:
    early = [STAGES[stage] for stage in spending.stages(by, is_skipped=False)]
    missing = [STAGES[stage] for stage in spending.stages(by, is_skipped=True)]
    parts = (("cut short", early), ("left out", missing))
    return "; ".join(f"{how}: {sentence_list(stages)}" for how, stages in parts if stages)


@audited("interrupted", when=_is_interrupted)
def _interrupted(document: AuditDocument, _caution: Caution) -> str:
    found = document.enumeration
    if found.stopped != "interrupted" and document.spending:
        return f"the run was interrupted: {_cut_stages(document.spending, 'interrupt')}"
    return f"the run was interrupted after {found.models} of {document.config.k} models"


@audited("exploratory", when=lambda document, _: document.is_exploratory)
def _exploratory(document: AuditDocument, _caution: Caution) -> str:
    if document.exploration and document.exploration.look > 1:
        return (
            "the holdout was opened before this was decided, so that nothing here confirms it: verdicts hold for all "
            "models together, and the model is no proposal; a new audit of other rows can confirm it"
        )
    return (
        "models were selected and reported on rows that are not separate, so the selected one looks fairer than "
        f"it is; a result that holds takes three parts: {TRY}"
    )


@audited("incumbent_label", when=lambda document, _: bool(document.incumbent and document.incumbent.agreement == 1.0))
def _incumbent_label(_document: AuditDocument, _caution: Caution) -> str:
    return (
        "every decision of the model in use equals the label: check that its decisions were not made from the "
        "label, or the label from its decisions; no other model can be as accurate"
    )


@audited("incumbent_constant", when=lambda document, _: bool(document.incumbent and document.incumbent.is_constant))
def _incumbent_constant(_document: AuditDocument, _caution: Caution) -> str:
    return "the model in use decides all rows of the selection split alike, where any gap is 0: nothing can be fairer"


def _score_leak(document: AuditDocument) -> LeakCheck | None:
    return document.correction.leak if document.correction else None


def _name_fitted_rows(document: AuditDocument, _caution: Caution) -> str:
    if (found := _score_leak(document)) and found.kind == "marked":
        return "check which rows are marked, as a correction of such a score is worth nothing on new people"
    return (
        "if it was fitted on some of these rows, name them with incumbent_trained_on=... (--incumbent-trained-on "
        "COLUMN), as a correction of such a score is worth nothing on new people"
    )


@audited("leaked_score", when=lambda document, _: _score_leak(document) is not None, remedy=_name_fitted_rows)
def _leaked_score(document: AuditDocument, _caution: Caution) -> str:
    found = cast(LeakCheck, _score_leak(document))
    score, expected = f"AUC {share(found.auc)}", share(found.expected)
    rows, others = counted(found.rows, "row"), counted(found.expected_rows, "row")
    sentences = {
        "features": f"the score of the model in use ranks {rows} much better ({score}) than models of the features, "
        f"cross-validated on them, do ({expected}): it was fitted on these rows, or knows what the table does not tell",
        "training": f"the score of the model in use ranks the {rows} to train on much better ({score}) than the other "
        f"{others} ({expected}): it was probably fitted on them",
        "refitted": f"the score of the model in use ranks {rows} much better ({score}) than the same kind of model, "
        f"fitted again, ranks rows that it was not fitted on ({expected}): it was probably fitted on these rows",
        "marked": f"the score of the model in use ranks {rows} much better ({score}) than the {others} that it is said "
        f"to have been fitted on ({expected}): the marks may be the wrong way round",
    }
    return sentences[found.kind]


def _whose(document: MeasureDocument, caution: MeasureCaution) -> MeasuredDecisions:
    return document.decisions[(caution.decision or 1) - 1]


@measured("follows_label", about=each_decision, when=lambda *about: _whose(*about).follows_label)
def _follows_label(document: MeasureDocument, caution: MeasureCaution) -> str:
    found = decisions_title(_whose(document, caution), document)
    return (
        f"{found} equals the label {document.dataset.label!r} in every row: either the label was made from the "
        "decisions, or one column was named in place of the other"
    )


@measured("constant", about=each_decision, when=lambda *about: _whose(*about).is_constant)
def _constant_decisions(document: MeasureDocument, caution: MeasureCaution) -> str:
    return (
        f"{decisions_title(_whose(document, caution), document)} decides all rows alike, so there is no gap to measure"
    )


def _score_auc(document: JudgedDocument) -> Estimate:
    """Return the AUC of the score of the model in use, or of the measured score; empty without a score or a label."""
    scored = document.incumbent if isinstance(document, AuditDocument) else document.score
    return scored.auc if scored else Estimate()


def _other_way(document: JudgedDocument, _caution: AnyCaution) -> str:
    name, is_lower = "lower_is_better", False
    if isinstance(document, AuditDocument):
        name, is_lower = f"incumbent_{name}", bool(document.incumbent and document.incumbent.is_lower_better)
        is_asked = document.config.reading.incumbent_lower_is_better
    else:
        is_lower = is_asked = document.config.lower_is_better
    if is_lower and not is_asked:
        return "check which class the score of the model stands for"
    how = "leave out" if is_lower else "if lower scores are favourable, say so with"
    return f"{how} {name}=True (--lower-is-better)"


@shared("reversed_score", when=lambda document, _: _is_below_chance(_score_auc(document)), remedy=_other_way)
def _reversed_score(document: JudgedDocument, _caution: AnyCaution) -> str:
    whose = "the score of the model in use" if isinstance(document, AuditDocument) else "the score"
    found = f"AUC {_with_limits(_score_auc(document))}, where 0.5 is chance"
    return f"{whose} ranks the wrong way round: rows with a favourable label score lower than the others ({found})"


def _is_below_chance(found: Estimate) -> bool:
    return found.high is not None and found.high < CHANCE


def _with_limits(found: Estimate) -> str:
    return f"{share(found.value)} [{share(found.low)}, {share(found.high)}]"


def _each_given(document: JudgedDocument) -> Iterable[Subject]:
    return each_decision(document) if isinstance(document, MeasureDocument) else [{}]


def _agreement(document: JudgedDocument, caution: AnyCaution) -> Estimate:
    """Return the balanced accuracy of decisions that were given; empty where they were made from a score."""
    if isinstance(document, MeasureDocument):
        found = _whose(document, cast(MeasureCaution, caution))
        return found.balanced_accuracy if found.how == "column" else Estimate()
    incumbent = document.incumbent
    return incumbent.balanced_agreement if incumbent and incumbent.cutoff is None else Estimate()


class _Values(NamedTuple):
    """The two values of a label or of decisions, and the option that names the favourable one."""

    column: str
    option: str
    favourable: str | None
    unfavourable: str | None

    @property
    def other(self) -> str:
        """The option that names the other value as the favourable one."""
        value = str(self.unfavourable)
        return option(self.option, value, self.option.replace("_", "-"), value)

    @property
    def is_swapped(self) -> bool:
        """Whether the favourable value sounds like the unfavourable one."""
        return bool(
            self.favourable and self.unfavourable and looks_swapped(self.column, self.favourable, self.unfavourable)
        )


def _values(document: JudgedDocument) -> list[_Values]:
    """Return the values of the label and of given decisions; decisions with the label's values are not repeated."""
    table = document.dataset
    found = [_Values(table.label, "favourable", table.favourable, table.unfavourable)] if table.label else []
    if isinstance(document, MeasureDocument):
        given = [one for one in document.decisions if one.how == "column"]
        found += [_Values(one.name, "decision_favourable", one.favourable, one.unfavourable) for one in given]
    elif tool := document.incumbent:
        name = table.label if tool.source == "model" else tool.name
        found.append(_Values(str(name), "incumbent_favourable", tool.favourable, tool.unfavourable))
    own = (table.favourable, table.unfavourable)
    return [one for one in found if one.option == "favourable" or (one.favourable, one.unfavourable) != own]


def _other_values(document: JudgedDocument, caution: AnyCaution) -> str:
    found = [one for one in _values(document) if one.favourable and one.unfavourable]
    if isinstance(document, MeasureDocument):
        own = _whose(document, cast(MeasureCaution, caution)).name
        found = [one for one in found if one.option == "favourable" or one.column == own]
    ways = [one.other for one in found]
    return f"if a favourable value was mistaken for the other, give {' or '.join(ways)}" if ways else ""


@shared(
    "reversed_decisions",
    about=_each_given,
    when=lambda document, caution: _is_below_chance(_agreement(document, caution)),
    remedy=_other_values,
)
def _reversed_decisions(document: JudgedDocument, caution: AnyCaution) -> str:
    who = "the model in use"
    if isinstance(document, MeasureDocument):
        who = decisions_title(_whose(document, cast(MeasureCaution, caution)), document)
    found = f"balanced accuracy {_with_limits(_agreement(document, caution))}"
    return f"{who} agrees with the label {_name(str(document.dataset.label))} less often than chance would ({found})"


def _swapped(document: JudgedDocument) -> list[_Values]:
    return [one for one in _values(document) if one.is_swapped][:NAMED]


@shared(
    "swapped_favourable",
    when=lambda document, _: bool(_swapped(document)),
    remedy=lambda document, _: f"if not, give {' and '.join(one.other for one in _swapped(document))}",
)
def _swapped_favourable(document: JudgedDocument, _caution: AnyCaution) -> str:
    found = sentence_list(
        f"{one.favourable!r} counts as favourable in {_name(one.column)} and {one.unfavourable!r} as unfavourable"
        for one in _swapped(document)
    )
    return f"{found}: check that this is meant"


@measured(
    "no_cutoff",
    about=each_decision,
    when=lambda document, caution: document.config.cutoff is None and _whose(document, caution).how == "median",
    remedy="give the one in use with cutoff=... (--cutoff)",
)
def _no_cutoff(_document: MeasureDocument, _caution: MeasureCaution) -> str:
    return "no cutoff was given, so rows that score above the median count as selected"


def missed_rate(document: MeasureDocument, decisions: MeasuredDecisions) -> float | None:
    """Return the share of rows that a cutoff was to select; None if it selects about as many, or had no such share."""
    cutoff = Cutoff.of(document.config.cutoff) if decisions.how == "cutoff" else None
    if cutoff is None or cutoff.rule != "rate" or cutoff.number is None:
        return None
    missed = abs((decisions.selection_rate.value or 0.0) - cutoff.number)
    return cutoff.number if missed > NOTABLE_MISS else None


@measured(
    "missed_rate",
    about=each_decision,
    when=lambda document, caution: bool(missed_rate(document, _whose(document, caution))),
)
def _missed_cut(document: MeasureDocument, caution: MeasureCaution) -> str:
    found = _whose(document, caution)
    wanted, selected = percent(missed_rate(document, found)), percent(found.selection_rate.value)
    tied = f"as {found.tied} rows share the score at the cutoff"
    return f"{decisions_title(found, document)} selects {selected} instead of {wanted}, {tied}"


def _alarms(document: MeasureDocument, caution: MeasureCaution) -> tuple[WatchedRate, ...]:
    found = [one.of_column(str(caution.column)).periods for one in document.decisions]
    return tuple(alarm for periods in found if periods for alarm in periods.alarms)


@measured("alarm", about=each_column, when=lambda *about: bool(_alarms(*about)))
def _alarm(document: MeasureDocument, caution: MeasureCaution) -> str:
    found = _alarms(document, caution)
    names = sentence_list(dict.fromkeys(short(one.group) for one in found))
    return (
        f"{caution.column}: the difference of {names} to the control group exceeds its limit; first noticed after "
        f"{found[0].alarm}"
    )


@measured("guessed_groups", when=lambda document, _: bool(document.config.group_probabilities))
def _guessed_groups(_document: MeasureDocument, _caution: MeasureCaution) -> str:
    return (
        "groups are known by probability only: weighted rates understate a difference that also exists among people of "
        "the same probabilities, and groups by their most likely value can be biased either way"
    )


def _hinted(document: MeasureDocument, caution: MeasureCaution) -> list[FactorHint]:
    return [one for one in document.factors if one.column == caution.column]


def _to_give(document: MeasureDocument, caution: MeasureCaution) -> str:
    factor = _hinted(document, caution)[0].factor
    return f"if that is a fair reason, {option('given', factor, 'given', factor)} compares groups within its values"


@measured("factor", about=each_column, when=lambda *about: bool(_hinted(*about)), remedy=_to_give)
def _factor(document: MeasureDocument, caution: MeasureCaution) -> str:
    first, *others = _hinted(document, caution)
    group, reference = short(first.group), short(first.reference)
    becomes = f"{signed(first.given.value)} [{signed(first.given.low)}, {signed(first.given.high)}]"
    more = f"; so with {quoted((one.factor for one in others), NAMED)}" if others else ""
    return (
        f"{caution.column}: the difference of {signed(first.raw.value)} ({group} against {reference}) "
        f"{WHICH[first.effect]} among rows with the same {first.factor!r}, where it is {becomes}{more}"
    )


def _is_unconfirmed(document: AuditDocument, _caution: Caution) -> bool:
    selection = document.selection
    return selection.outcome == "selected" and selection.reason == "smallest_gap" and not selection.is_fairer


@audited("not_confirmed", when=_is_unconfirmed)
def _not_confirmed(document: AuditDocument, _caution: Caution) -> str:
    claim, margin = claim_of(document), document.config.same_within
    match document.selection.verdict:
        case Verdict.LESS_FAIR:
            found = "it is less fair on the holdout"
        case Verdict.SAME:
            found = f"it has the gap of {reference_name(document)} within {margin:g} on the holdout"
        case _:
            is_larger = claim is not None and (claim.change.value or 0.0) > 0.0
            larger = f"its gap on the holdout is larger than {reference_own(document)}"
            found = larger if is_larger else "the holdout leaves that open"
    return f"the selected model looks fairer on the rows it was selected by, but {found}"


def _open_whole(document: AuditDocument) -> GapChange | None:
    """Return the gap over all groups that is neither shown smaller nor larger, if that of the claim's pair is shown."""
    claim = claim_of(document)
    if claim is None or claim.pair is None or claim.verdict is not Verdict.FAIRER:
        return None
    whole = whole_of(claim, strip_of(document))
    return whole if whole and whole.verdict not in (Verdict.FAIRER, Verdict.LESS_FAIR) else None


@audited("others_open", about=primary_column, when=lambda document, _: _open_whole(document) is not None)
def _others_open(document: AuditDocument, caution: Caution) -> str:
    claim, whole = claim_of(document), _open_whole(document)
    if claim is None or whole is None:
        return ""
    is_of_two = sum(group.is_compared for group in column_named(document, claim.column).groups) == 2
    what = "they are now farther apart in the other rate" if is_of_two else "another group is now worst off"
    return (
        f"{caution.column}: the {GAP_NAMES[claim.metric]} gap{groups_between(claim, ())} is shown to be smaller, that "
        f"over {every_group(claim.metric)} is not ({_moved(whole)}): whether {what} is open"
    )


@audited("broken_guard", when=lambda document, _: bool(other_model(document) and broken_guards(document)))
def _broken_guard(document: AuditDocument, _caution: Caution) -> str:
    broken = broken_guards(document)
    how = "is shown to break" if any(check.status == "broken" for check in broken) else "goes beyond"
    return f"on the holdout the selected model {how} {sentence_list(map(guard_name, broken))}"


@audited(
    "wider_gap",
    about=each_column,
    when=lambda document, caution: bool(wider(document, caution.column)),
)
def _wider_gap(document: AuditDocument, caution: Caution) -> str:
    cells = wider(document, caution.column)
    proven = [cell for cell in cells if cell.verdict is Verdict.LESS_FAIR]
    doubtful = [cell for cell in cells if cell not in proven]
    every = strip_of(document)
    parts = [f"{verb} wider in {_gaps(some, every)}" for verb, some in (("is", proven), ("looks", doubtful)) if some]
    found = "; it ".join(parts)
    models = f"from {reference_name(document)} to model {document.selection.rank}"
    return f"{caution.column}: {models} the gap on the holdout {found}"


def _gaps(cells: Sequence[GapChange], every: Sequence[GapChange]) -> str:
    return sentence_list(f"{GAP_NAMES[cell.metric]}{groups_between(cell, every)} ({_moved(cell)})" for cell in cells)


def _moved(cell: GapChange) -> str:
    return f"{share(cell.first.value)} to {share(cell.selected.value)}"


@audited(
    "reversed",
    about=each_column,
    when=lambda document, caution: any(reversals(document, caution.column)),
)
def _reversed(document: AuditDocument, caution: Caution) -> str:
    return f"{caution.column}: {'; '.join(map(reversal, reversals(document, caution.column)))}"


@audited("levelled_down", about=primary_column, when=lambda document, _: is_levelled_down(document))
def _levelled_down(_document: AuditDocument, caution: Caution) -> str:
    return (
        f"{caution.column}: levelling down: the gap is smaller because the group that was best off lost, and no group "
        "has gained"
    )


def _equal_rates(document: AuditDocument, _caution: Caution) -> str:
    decide = "like-incumbent" if document.is_against_incumbent else "base-rate"
    return f"decide={decide!r} (--decide {decide}) compares models at equal rates"


@audited("moved_selection", when=lambda document, _: bool(selection_moved(document)), remedy=_equal_rates)
def _moved_selection(document: AuditDocument, _caution: Caution) -> str:
    moved = selection_moved(document) or UNMOVED
    number = "more" if moved.change > 0.0 else "fewer"
    extreme = "; it selects nearly everybody, where any gap is small" if moved.selected >= EVERYBODY else ""
    extreme = "; it selects nearly nobody, where any gap is small" if moved.selected <= NOBODY else extreme
    return (
        f"the selected model selects {number}: {percent(moved.selected)} of the holdout instead of "
        f"{percent(moved.first)}{extreme}"
    )


@audited(
    "lost_balance",
    when=lambda document, _: bool(balance_lost(document)),
    remedy=lambda document, _: _limited_loss(document),
)
def _lost_balance(document: AuditDocument, _caution: Caution) -> str:
    moved = balance_lost(document) or UNMOVED
    return (
        f"balanced accuracy changes by {signed(moved.change)} on the holdout, from {share(moved.first)} to "
        f"{share(moved.selected)}"
    )


def _limited_loss(document: AuditDocument) -> str:
    tolerances = document.selection.tolerances
    if tolerances.performance != "balanced_accuracy":
        return "performance='balanced_accuracy' (--performance balanced_accuracy) limits that loss"
    drop = tolerances.max_performance_drop
    return f"a max_performance_drop (--max-performance-drop) below {drop:g} allows less of it on the selection split"


def _has_other_rate(document: AuditDocument, _caution: Caution) -> bool:
    """Tell whether model 1 and the model in use select notably different shares of the holdout.

    False if models are not cut at 0, if the model in use selects everybody or nobody, which no cut of another model can
    imitate, and if the caution moved_selection already reports a difference.
    """
    if (incumbent := document.incumbent) is None:
        return False
    rates = [one.scores.holdout.selection_rate.value for one in (incumbent, document.first)]
    own, first = (math.nan if rate is None else rate for rate in rates)
    is_far = abs(first - own) >= NOTABLE_MOVE - ROUNDING and not selection_moved(document)
    return is_far and document.config.decide == "sign" and not incumbent.is_constant


@audited(
    "incumbent_rate",
    when=_has_other_rate,
    remedy="decide='like-incumbent' (--decide like-incumbent) lets every model select as many as the model in use",
)
def _incumbent_rate(document: AuditDocument, _caution: Caution) -> str:
    own, first = (document.member(rank).scores.holdout.selection_rate.value for rank in (0, 1))
    return (
        f"model 1 selects {percent(first)} of the holdout and the model in use {percent(own)}, so they "
        "are not compared at equal selection rates"
    )


def _is_slack_used(document: AuditDocument, _caution: Caution) -> bool:
    return document.is_against_incumbent and document.selection.tolerances.eps > document.reach


@audited(
    "weak_incumbent",
    when=_is_slack_used,
    remedy=lambda document, _: f"eps={document.reach:g} (--eps {document.reach:g}) keeps to that",
)
def _weak_incumbent(document: AuditDocument, _caution: Caution) -> str:
    used, first = (document.member(rank).scores.selection.performance.value for rank in (0, 1))
    return (
        f"the training loss of models may rise by {allowed_loss(document)} instead of "
        f"{100 * document.reach:g} %, as the model in use performs worse than model 1 on the selection split: "
        f"{performance_of(document)} {share(used)} against {share(first)}"
    )


def _copies(document: AuditDocument) -> tuple[str, ...]:
    return document.incumbent.copies[:NAMED] if document.incumbent else ()


def _leave_out(names: Sequence[str]) -> str:
    return f"leave {'it' if len(names) == 1 else 'them'} out with {without(*names)}"


@audited(
    "incumbent_copies",
    when=lambda document, _: bool(_copies(document)),
    remedy=lambda document, _: _leave_out(_copies(document)),
)
def _incumbent_copies(document: AuditDocument, _caution: Caution) -> str:
    names = _copies(document)
    verb = "reveals" if len(names) == 1 else "reveal"
    listed = sentence_list(map(_name, names))
    return f"{listed} alone nearly {verb} the decisions of the model in use, so models can learn to copy it"


@audited("incumbent_undecided", when=lambda document, _: bool(document.incumbent and document.incumbent.undecided))
def _incumbent_undecided(document: AuditDocument, _caution: Caution) -> str:
    rows = document.incumbent.undecided if document.incumbent else 0
    return (
        f"the model in use has no decision for {counted(rows, 'row')}, which were left out of this audit of "
        f"{document.dataset.rows} rows: these numbers say nothing about them"
    )


@measured("undecided", when=lambda document, _: bool(document.dataset.undecided))
def _undecided(document: MeasureDocument, _caution: MeasureCaution) -> str:
    data = document.dataset
    everyone = max(data.rows + data.undecided, 1)
    columns = ", ".join(f"{rows} in {column!r}" for column, rows in data.left_out.items())
    return (
        f"{counted(data.undecided, 'row')} of {everyone} ({percent(data.undecided / everyone)}) without a "
        f"decision or a score were left out ({columns}); if that happens to some groups more often than to others, "
        "rates mislead"
    )


def _ambiguous_column(document: AuditDocument, caution: Caution) -> FlippedColumn | None:
    return document.ambiguity.by_column.get(caution.column or "") if document.ambiguity else None


@audited(
    "arbitrary_gap",
    about=primary_column,
    when=lambda *about: bool((found := _ambiguous_column(*about)) and found.gap.low),
)
def _arbitrary_gap(document: AuditDocument, caution: Caution) -> str:
    column = caution.column or ""
    if (found := _ambiguous_column(document, caution)) is None:
        return f"which model is used matters more to some groups by {short(column)} than to others"
    return (
        f"by {short(column)} the decision depends on which of the near-optimal models is used for "
        f"{most_and_least_affected(found)}: an ambiguity gap of {bounded_gap(found.gap)}"
    )


class _Group(NamedTuple):
    """The facts about a group that audits and measurements have in common."""

    name: str
    is_small: bool
    is_compared: bool
    rows: int


def _groups(document: JudgedDocument, caution: AnyCaution) -> list[_Group]:
    """Return the groups of a caution's column, with their rows in its split; in the holdout if it names no split."""
    column = str(caution.column)
    if isinstance(document, AuditDocument):
        part = (isinstance(caution, Caution) and caution.part) or "holdout"
        found = column_named(document, column).groups
        return [_Group(group.name, group.is_small, group.is_compared, group.rows(part)) for group in found]
    rows = document.decisions[0].of_column(column).impact.groups
    return [_Group(group.group, group.is_small, group.is_compared, group.n) for group in rows]


def _compared(document: JudgedDocument, caution: AnyCaution) -> list[_Group]:
    return [group for group in _groups(document, caution) if group.is_compared]


@shared(
    "small_group",
    about=each_column,
    when=lambda document, caution: any(group.is_small for group in _compared(document, caution)),
)
def _small_group(document: JudgedDocument, caution: AnyCaution) -> str:
    compared, is_audit = _compared(document, caution), isinstance(document, AuditDocument)
    names = quoted(group.name for group in compared if group.is_small)
    rows = f"{document.config.min_group_size} rows{' in a split' if is_audit else ''}"
    few = f"{caution.column}: groups with fewer than {rows}: {names}"
    is_kept = document.config.small_groups == "keep" or sum(not group.is_small for group in compared) >= 2
    if is_kept or not is_audit:
        return few
    return f"{few}; fewer than two groups are larger, so all are compared: do not rely on these gaps"


@audited(
    "few_trials",
    about=each_column,
    when=lambda document, caution: bool(few_trials(document, column_named(document, str(caution.column)))),
)
def _few_trials(document: AuditDocument, caution: Caution) -> str:
    found = few_trials(document, column_named(document, str(caution.column)))
    named = [f"{RATES[rate].name} of {short(name)} ({counted(trials, 'row')})" for name, trials, rate in found[:NAMED]]
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    least = document.config.min_group_size
    return f"{caution.column}: fewer than {least} rows of the holdout stand behind {', '.join(named)}{more}"


@shared(
    "single_group",
    about=each_split,
    when=lambda document, caution: sum(group.rows > 0 for group in _compared(document, caution)) < 2,
)
def _single_group(_document: JudgedDocument, caution: AnyCaution) -> str:
    where = f"the {caution.part} holds " if isinstance(caution, Caution) else ""
    return f"{caution.column}: {where}one group only, so its gaps say nothing"


def unseen_difference(document: JudgedDocument, column: str | None) -> float | None:
    """Return the largest `detectable` difference in selection rate of all compared groups; None if none is known."""
    if isinstance(document, AuditDocument):
        tables = [table for table in document.group_tables if table.rank == 1 and table.column == column]
    else:
        tables = [document.decisions[0].of_column(str(column)).impact]
    compared = [group for table in tables for group in table.groups if group.is_compared]
    return max((group.detectable for group in compared if group.detectable is not None), default=None)


@shared(
    "low_power",
    about=primary_column,
    when=lambda document, caution: (unseen_difference(document, caution.column) or 0.0) > NOTABLE_DIFFERENCE,
)
def _low_power(document: JudgedDocument, caution: AnyCaution) -> str:
    limit = unseen_difference(document, caution.column) or 0.0
    return f"{caution.column}: with these group sizes a difference in selection rate below {limit:.2f} can go unseen"


@audited("no_sensitive", when=lambda document, _: not document.dataset.sensitive)
def _no_sensitive(_document: AuditDocument, _caution: Caution) -> str:
    return "no sensitive column was named: accuracy and disagreement are reported, parity is not"


def _brought_back(document: JudgedDocument, caution: AnyCaution) -> str:
    is_audit = isinstance(document, AuditDocument)
    can_join = is_audit and not any(
        column.is_intersection for column in document.dataset.sensitive if column.column == caution.column
    )
    joins = ", merge (--merge) joins them" if can_join else ""
    return f"small_groups='keep' (--small-groups keep) brings them back{joins}"


@shared(
    "set_aside",
    about=each_column,
    when=lambda document, caution: not all(group.is_compared for group in _groups(document, caution)),
    remedy=_brought_back,
)
def _set_aside(document: JudgedDocument, caution: AnyCaution) -> str:
    aside = [group for group in _groups(document, caution) if not group.is_compared]
    least = document.config.min_group_size
    if isinstance(document, MeasureDocument):
        why = f"from gaps, as they have fewer than {least} rows or no value: {quoted(group.name for group in aside)}"
        return f"{caution.column}: shown, but set aside {why}"
    # if small groups are compared, as there are too few others, no group was set aside for its size
    sizes_matter = not any(group.is_small for group in _compared(document, caution))
    few = quoted(group.name for group in aside if group.is_small and sizes_matter)
    unknown = quoted(group.name for group in aside if not (group.is_small and sizes_matter))
    reasons = [f"fewer than {least} rows in a split: {few}"] if few else []
    reasons += [f"without a value: {unknown}"] if unknown else []
    return f"{caution.column}: shown, but set aside from gaps, search and choice: {'; '.join(reasons)}"


def _lacks_intersection(document: JudgedDocument, _caution: AnyCaution) -> bool:
    columns = document.dataset.sensitive
    return len(columns) > 1 and not any(column.is_intersection for column in columns)


@shared("no_intersection", when=_lacks_intersection, remedy="join some with merge (--merge)")
def _no_intersection(document: JudgedDocument, _caution: AnyCaution) -> str:
    return f"{' & '.join(document.dataset.sensitive_columns)}: too many groups to compare two by two or to show"


def _kept_together(document: AuditDocument) -> list[Subject]:
    return [{"column": document.dataset.origin.group_column}]


@audited("straddling", about=_kept_together, when=lambda document, _: bool(document.dataset.origin.straddling))
def _straddling(document: AuditDocument, caution: Caution) -> str:
    origin = document.dataset.origin
    return (
        f"{caution.column}: {origin.straddling} of {origin.members} values have rows in more than one split, as "
        f"{origin.column!r} marks them, so the splits are not separate"
    )


@audited(
    "related_rows",
    about=_kept_together,
    when=lambda document, _: 0 < document.dataset.origin.members < document.dataset.rows,
)
def _related_rows(document: AuditDocument, caution: Caution) -> str:
    shares = f"{caution.column}: {document.dataset.rows} rows share {document.dataset.origin.members} values"
    but = "; those of the shares of people whose decision can flip do not" if document.ambiguity else ""
    return f"{shares}; intervals and verdicts allow for rows of one value that resemble each other{but}"


def _weights(document: AuditDocument) -> list[Subject]:
    return [{"column": document.dataset.weights.column}] if document.dataset.weights else []


def _effective_rows(document: AuditDocument) -> float:
    return document.dataset.weights.holdout if document.dataset.weights else 0.0


@audited(
    "uneven_weights",
    about=_weights,
    when=lambda document, _: _effective_rows(document) < TELLING_SHARE * document.dataset.splits.holdout,
)
def _uneven_weights(document: AuditDocument, caution: Caution) -> str:
    return (
        f"{caution.column}: weights differ so much that the {document.dataset.splits.holdout} rows of the holdout "
        f"are worth only {_effective_rows(document):.0f} rows of equal weight, and a few rows decide the results"
    )


def _hits(one: SingleFeature, found: Screening) -> str:
    if one.auc >= NEARLY_ALL or not found.is_right_too_often(one):
        return ""
    return f", right for {percent(one.accuracy)} of rows where a guess is for {percent(found.commoner)}"


@audited("leak", when=lambda document, _: bool(document.screening and document.screening.other_leaks))
def _leak(document: AuditDocument, _caution: Caution) -> str:
    if (found := document.screening) is None:
        return ""
    named = found.other_leaks[:NAMED]
    alone = [
        f"{_name(one.feature)} alone predicts the label with AUC {share(one.auc)}{_hits(one, found)}" for one in named
    ]
    they, them = ("it is", "it") if len(named) == 1 else ("they are", "them")
    return (
        f"{sentence_list(alone)}, model 1 with AUC {share(found.model_auc)}: check that {they} known before "
        f"the decision, else leave {them} out with {without(*(one.feature for one in named))}"
    )


@audited("one_column", when=lambda document, _: bool(document.screening and document.screening.lookalikes))
def _one_column(document: AuditDocument, _caution: Caution) -> str:
    if (found := document.screening) is None:
        return ""
    names = [one.feature for one in found.lookalikes[:NAMED]]
    agreement = min(one.agreement for one in found.lookalikes[:NAMED])
    listed = " or ".join(_name(name) for name in names)
    return (
        f"model 1 decides as {listed} alone would ({percent(agreement)} of the selection split, with both "
        "decisions weighted equally): check that it is known before the decision, else leave it out with "
        f"{without(*names)}"
    )


def _proxies(document: AuditDocument, caution: Caution) -> list[SingleFeature]:
    """Return at most `NAMED` features that each alone almost perfectly predict the groups of a caution's column."""
    columns = document.screening.columns if document.screening else ()
    found = [column for column in columns if column.column == caution.column]
    return [one for column in found for one in column.features if one.feature in column.copies[:NAMED]]


@audited(
    "proxy",
    about=screened_column,
    when=lambda document, caution: bool(_proxies(document, caution)),
    remedy=lambda document, caution: _leave_out([one.feature for one in _proxies(document, caution)]),
)
def _proxy(document: AuditDocument, caution: Caution) -> str:
    copies = _proxies(document, caution)
    listed = sentence_list(f"{_name(one.feature)} (AUC {share(one.auc)})" for one in copies)
    verb = "is nearly a copy" if len(copies) == 1 else "are nearly copies"
    return f"{listed} {verb} of the sensitive column {short(str(caution.column))!r}"


def _tells(document: AuditDocument) -> list[tuple[str, SingleFeature]]:
    """Return features that alone tell groups apart and are no copies, with the sensitive column, strongest first."""
    columns = document.screening.columns if document.screening else ()
    found = [(column.column, one) for column in columns for one in column.proxies]
    return sorted(found, key=lambda tell: -tell[1].auc)


def _without_tells(document: AuditDocument, _caution: Caution) -> str:
    names = dict.fromkeys(one.feature for _, one in _tells(document)[:NAMED])
    return f"{without(*names)} shows what models can do without {'it' if len(names) == 1 else 'them'}"


def _told(one: SingleFeature) -> str:
    return "" if one.group is None else f": {short(one.group)}"


@audited("partial_proxy", when=lambda document, _: bool(_tells(document)), remedy=_without_tells)
def _partial_proxy(document: AuditDocument, _caution: Caution) -> str:
    found = _tells(document)
    named = [
        f"{_name(one.feature)} ({short(column)}{_told(one)}, AUC {share(one.auc)})" for column, one in found[:NAMED]
    ]
    more = [f"{len(found) - NAMED} more"] if len(found) > NAMED else []
    return f"by these features models can tell sensitive groups apart: {sentence_list([*named, *more])}"


def _protected(document: AuditDocument) -> list[str]:
    """Return the names of features that are protected characteristics and not compared as sensitive columns."""
    table = document.dataset
    aside = {*table.sensitive_columns, *table.dropped}
    return [one.name for one in table.features if one.name not in aside and is_protected(one.name)]


def _measured_or_left_out(document: AuditDocument, _caution: Caution) -> str:
    names = _protected(document)
    return f"name {'it' if len(names) == 1 else 'them'} as sensitive (--sensitive), too, or {_leave_out(names)}"


@audited("protected_features", when=lambda document, _: bool(_protected(document)), remedy=_measured_or_left_out)
def _protected_features(document: AuditDocument, _caution: Caution) -> str:
    names = _protected(document)
    what = "a protected characteristic" if len(names) == 1 else "protected characteristics"
    return f"the models learn from {quoted(names)}, by name {what}, and no gap by that is measured"


@audited("sensitive_features", when=lambda document, _: document.config.reading.use_sensitive)
def _sensitive_features(_document: AuditDocument, _caution: Caution) -> str:
    return "the models learn from the sensitive columns, too"


def _regrouping(document: JudgedDocument, caution: AnyCaution) -> Regrouped:
    return next(column.regrouped for column in document.dataset.sensitive if column.column == caution.column)


@shared(
    "regrouped",
    about=each_column,
    when=lambda *about: bool(_regrouping(*about).merged or _regrouping(*about).left_out),
)
def _regrouped(document: JudgedDocument, caution: AnyCaution) -> str:
    made = _regrouping(document, caution)
    joined = [f"{name!r} joins {quoted(members)}" for name, members in made.merged.items()]
    left = [f"{rows} of {name!r}" for name, rows in made.left_out.items()]
    rows = [f"rows left out of the audit: {', '.join(left)}"] if left else []
    return f"{caution.column}: {'; '.join([*joined, *rows])}"


@shared(
    "alike_groups",
    about=each_column,
    when=lambda *about: bool(_regrouping(*about).alike),
    remedy="tidy_groups=True (--tidy-groups) joins them",
)
def _alike_groups(document: JudgedDocument, caution: AnyCaution) -> str:
    alike = "; ".join(quoted(names) for names in _regrouping(document, caution).alike)
    return f"{caution.column}: groups that differ by case or blanks only: {alike}"


def unused_rows(document: AuditDocument) -> int:
    """Return the number of rows that are in no split because the configured sizes do not add up to all rows."""
    sizes, rows = document.config.sizes, document.dataset.rows
    if document.dataset.origin.how != "random" or sizes == AUTO:
        return 0
    whole = rows if all(isinstance(size, int) for size in sizes) else 1
    return rows - round(sum(sizes) / whole * rows)


@audited(
    "unused_rows",
    when=lambda document, _: bool(unused_rows(document)),
    remedy=f"{TRY} uses all of them",
)
def _unused_rows(document: AuditDocument, _caution: Caution) -> str:
    sizes = spelled_sizes(document.config.sizes)
    return f"of {document.dataset.rows} rows {unused_rows(document)} are in no split, as the sizes {sizes} ask for"


def _is_split_weak(document: AuditDocument, _caution: Caution) -> bool:
    return helpful_split(document) is not None


def _stronger_split(document: AuditDocument, _caution: Caution) -> str:
    stronger = helpful_split(document)
    if stronger is None:
        return ""
    asked = option("sizes", stronger.sizes, "split", spelled_sizes(stronger.sizes))
    return f"{asked} asks for it. {SECOND_SPLIT}"


@audited("weak_split", when=_is_split_weak, remedy=_stronger_split)
def _weak_split(document: AuditDocument, _caution: Caution) -> str:
    table, stronger = document.dataset, helpful_split(document)
    rows, narrowing = (stronger.holdout, f"{stronger.confirmable:.2f}") if stronger else (0, "")
    return (
        f"the split leaves {counted(table.splits.holdout, 'row')} to confirm the choice; one chosen for power leaves "
        f"{rows}, which confirm a gap that narrows by {narrowing} instead of {confirmable(document) or 0.0:.2f}"
    )


@audited(
    "class_weighted",
    when=lambda document, _: document.requested.class_weight == "auto" and document.config.svm.class_weight != "none",
)
def _class_weighted(document: AuditDocument, _caution: Caution) -> str:
    weights = document.class_weights
    return (
        f"without class weights the model selects {percent(weights.plain_selection_rate)} of the selection "
        f"split, so the balanced one was audited: a violated margin costs {weights.favourable:.3g} times C for a "
        f"favourable row and {weights.unfavourable:.3g} times for an unfavourable one; class_weight='none' "
        f"(--class-weight none) keeps the model without weights{_other_rate(document)}"
    )


def _other_rate(document: AuditDocument) -> str:
    counts, rate = document.dataset.class_counts, document.first.scores.selection.selection_rate.value
    if document.config.decide != "sign":
        return ""
    label = counts.favourable / (counts.favourable + counts.unfavourable)
    cut = "decide='base-rate' (--decide base-rate) cuts it there"
    return f"; model 1 selects {percent(rate)} where {percent(label)} of the rows have the label: {cut}"


def _remarked(document: JudgedDocument, caution: AnyCaution) -> str:
    return remark_sentence(cast(RemarkKind, caution.code), document.dataset.remarks)


for _kind in get_args(RemarkKind):
    shared(_kind, when=lambda document, caution: caution.code in {one.kind for one in document.dataset.remarks})(
        _remarked
    )


def _lacking(document: AuditDocument, kind: str) -> dict[str, int]:
    features = document.dataset.features
    return {feature.name: feature.missing for feature in features if feature.kind == kind and feature.missing}


@audited("imputed", when=lambda document, _: bool(_lacking(document, "numeric")))
def _imputed(document: AuditDocument, _caution: Caution) -> str:
    cells = _lacking(document, "numeric")
    fate = "were given the median of the training rows"
    return f"missing cells in {quoted(cells)} {fate} ({sum(cells.values())} in all)"


@audited("missing", when=lambda document, _: bool(_lacking(document, "categorical")))
def _missing(document: AuditDocument, _caution: Caution) -> str:
    cells = _lacking(document, "categorical")
    return f"missing cells in {quoted(cells)} count as a value of their own ({sum(cells.values())} in all)"


@audited("dropped", when=lambda document, _: bool(document.dataset.dropped))
def _dropped(document: AuditDocument, _caution: Caution) -> str:
    return f"features that do not vary in the training rows were left out: {quoted(document.dataset.dropped)}"


@audited("unseen", when=lambda document, _: bool(document.dataset.unseen))
def _unseen(document: AuditDocument, _caution: Caution) -> str:
    unseen = document.dataset.unseen
    return f"values in {quoted(unseen)} that no training row has count as none ({sum(unseen.values())} in all)"


def _more_levels(document: AuditDocument, _caution: Caution) -> str:
    pooled, more = document.dataset.pooled, 2 * document.config.reading.max_levels
    them = "it" if len(pooled) == 1 else "them"
    limit = option("max_levels", more, "max-levels", str(more))
    return f"another limit is {limit}, or leave {them} out with {without(*pooled)}"


@audited("pooled", when=lambda document, _: bool(document.dataset.pooled), remedy=_more_levels)
def _pooled(document: AuditDocument, _caution: Caution) -> str:
    counts = ", ".join(f"{count} of {name!r}" for name, count in document.dataset.pooled.items())
    most = document.config.reading.max_levels
    return f"rare values count as one, {counts}: more than {most} values were seen in training"


@audited("unscaled", when=lambda document, _: not document.config.standardise)
def _unscaled(_document: AuditDocument, _caution: Caution) -> str:
    return "numbers were not standardised, so columns of large numbers weigh more than others"


def _ranked(document: AuditDocument, caution: Caution) -> AuditedModel:
    return document.models[(caution.rank or 1) - 1]


def _misses_rate(document: AuditDocument, caution: Caution) -> bool:
    """Tell whether a model selects a notably different share of the selection split than it was to select."""
    wanted, rows, model = document.config.rate, document.dataset.splits.selection, _ranked(document, caution)
    if wanted is None:
        return False
    missed = abs((model.scores.selection.selection_rate.value or 0.0) - wanted) * rows
    return missed > max(NOTABLE_MISS * rows, 0.5) or (model.tied > 1 and missed > 0.5)


@audited("missed_rate", about=shortlisted, when=_misses_rate)
def _missed_rate(document: AuditDocument, caution: Caution) -> str:
    model = _ranked(document, caution)
    rate, wanted = (percent(one) for one in (model.scores.selection.selection_rate.value, document.config.rate))
    reason = f"{model.tied} of its rows are tied at the cut" if model.tied > 1 else "it has too few rows to come nearer"
    return f"model {model.rank} selects {rate} of the selection split instead of {wanted}: {reason}"


@audited(
    "undetermined",
    about=shortlisted,
    when=lambda document, caution: bool(_ranked(document, caution).undetermined.holdout),
)
def _undetermined(document: AuditDocument, caution: Caution) -> str:
    rank, model = caution.rank or 1, _ranked(document, caution)
    rows, (low, high) = model.undetermined.holdout, model.bias_interval
    if low is not None and high is not None and high - low <= NARROW:
        return f"{rows} holdout rows lie exactly on the plane of model {rank}; they count as favourable"
    return (
        f"the optimum of model {rank} leaves the decision on {rows} holdout rows open: every bias from {_bias(low)} to "
        f"{_bias(high)} is optimal, and its middle is used"
    )


def _bias(end: float | None) -> str:
    return "infinity" if end is None else f"{end:.4g}"


@audited(
    "solver_failed",
    when=lambda document, _: document.enumeration.stopped == "solver",
    remedy="try another solver or a smaller C",
)
def _solver_failed(document: AuditDocument, _caution: Caution) -> str:
    return (
        f"solver {document.config.svm.solver!r} found no proven answer after {document.enumeration.supports} "
        "models with distinct supports, so later ones are missing"
    )


@audited("solver_replaced", when=lambda document, _: document.lapse is not None)
def _solver_replaced(document: AuditDocument, _caution: Caution) -> str:
    return replaced(document.lapse) if document.lapse else ""


def replaced(lapse: SolverLapse) -> str:
    """Return a sentence that names the solver that failed, its error message and the solver that took over."""
    return f"solver {lapse.fallback!r} went on where {lapse.solver!r} had failed: {lapse.message}"


@audited("over_time", when=lambda document, _: bool(document.spending and document.spending.is_over))
def _over_time(document: AuditDocument, _caution: Caution) -> str:
    spending = document.spending or Spending(None)
    return (
        f"the time limit of {spending.limit:g} s could not be kept: the run took {spending.seconds:.1f} s, of which "
        f"{spending.required:.1f} s went to stages that no audit can skip (imports, the table, model 1, scores, choice)"
    )


def _limit(document: AuditDocument) -> float:
    return (document.spending and document.spending.limit) or 0.0


def _longer(document: AuditDocument, _caution: Caution) -> str:
    longer = 4.0 * _limit(document)
    return f"{option('max_seconds', longer, 'time-limit', f'{longer:g}')} gives it more time"


@audited(
    "time_spent",
    when=lambda document, _: bool(document.spending and document.spending.is_cut_by("time")),
    remedy=_longer,
)
def _time_spent(document: AuditDocument, _caution: Caution) -> str:
    cut = _cut_stages(document.spending or Spending(None), "time")
    return f"the time limit of {_limit(document):g} s ended the run early ({cut})"


def _is_budget_spent(document: AuditDocument, _caution: Caution) -> bool:
    stopped = document.enumeration.stopped
    return stopped == "nodes" or (stopped == "time" and document.spending is None)


@audited(
    "budget_spent",
    when=_is_budget_spent,
    remedy=lambda document, _: f"raise max_{BUDGETS[document.enumeration.stopped]} to look further",
)
def _budget_spent(document: AuditDocument, _caution: Caution) -> str:
    found = document.enumeration
    return f"the enumeration stopped at its limit of {found.stopped} with {found.models} of {document.config.k} models"


def _is_guide_skipped(document: AuditDocument, _caution: Caution) -> bool:
    obstacle = document.guided.obstacle if document.guided else None
    return obstacle not in (None, "no_time") and document.column is not None  # time_spent reports no_time


@audited("guided_skipped", when=_is_guide_skipped)
def _guided_skipped(document: AuditDocument, _caution: Caution) -> str:
    obstacle = document.guided.obstacle if document.guided else None
    return "there was no guided search" + (f": {OBSTACLES[obstacle]}" if obstacle else "")


@audited("constant", when=lambda document, _: any(model.is_constant for model in document.models))
def _constant(document: AuditDocument, _caution: Caution) -> str:
    ranks = [model.rank for model in document.models if model.is_constant]
    these = f"model {ranks[0]} decides" if len(ranks) == 1 else f"{len(ranks)} models decide"
    return f"{these} all rows of the selection split alike, and cannot be selected"


@audited("few_predictors", when=lambda document, _: bool(document.enumeration.ties))
def _few_predictors(document: AuditDocument, _caution: Caution) -> str:
    found, ties = document.enumeration, document.enumeration.ties or MarginTies(0, 0)
    reason = (
        f"{ties.examples} examples lie on the margin of the best model where {ties.independent} determine it, so many "
        "of them can be left out without any change"
        if ties.examples > ties.independent
        else "leaving out a supporting example moves these planes less than the distance to the next audited row"
    )
    if ties.records > 1:
        reason += (
            f"; it is proven that no decision about anyone changes unless at least {ties.records} training records are "
            "left out, whichever they are"
        )
    predictors = "one predictor" if found.models == 1 else f"only {found.models} different predictors"
    return f"{found.supports} models with distinct supports are {predictors}: {reason}"


@audited("order", when=lambda document, _: not all(model.is_order_certified for model in document.models))
def _order(document: AuditDocument, _caution: Caution) -> str:
    uncertain = sum(not model.is_order_certified for model in document.models)
    return f"the proven intervals do not settle the order of {uncertain} models: they are ties"
