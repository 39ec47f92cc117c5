"""What to beware of, in words: the codes of an audit's cautions with the numbers behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast, get_args

from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import SHARES
from fairenum.document.cautions import unused_rows
from fairenum.document.choice import Caution
from fairenum.document.models import MarginTies
from fairenum.document.terms import CautionCode, RemarkKind
from fairenum.document.training import SolverLapse
from fairenum.phrases import option, quoted, without
from fairenum.rendering.numbers import percent
from fairenum.rendering.text import shortened
from fairenum.report.wording import (
    LONGEST,
    OBSTACLES,
    arbitrariness,
    consequences,
    features,
    groups,
    incumbent,
    remarks,
    spending,
)
from fairenum.report.wording.exploration import OPENED

NARROW = 1e-9  # an interval of biases that is one number
BUDGETS = {"nodes": "nodes", "time": "seconds"}
TRY = f"sizes={SHARES} (--split {','.join(map(str, SHARES))})"


def warnings(document: AuditDocument) -> tuple[str, ...]:
    """List what to beware of."""
    return tuple(shortened(MESSAGES[caution.code](document, caution), LONGEST) for caution in document.warnings)


def _interrupted(document: AuditDocument, _caution: Caution) -> str:
    found = document.enumeration
    if found.stopped != "interrupted" and document.spending:
        return f"the run was interrupted: {spending.cut(document.spending, 'interrupt')}"
    return f"the run was interrupted after {found.models} of {document.config.k} models"


def _exploratory(document: AuditDocument, _caution: Caution) -> str:
    if document.exploration and document.exploration.look > 1:
        return OPENED
    return (
        "models were selected and reported on rows that are not separate, so the selected one looks fairer than "
        f"it is; a result that holds takes three parts: {TRY}"
    )


def _guided_skipped(document: AuditDocument, _caution: Caution) -> str:
    obstacle = document.guided.obstacle if document.guided else None
    return "there was no guided search" + (f": {OBSTACLES[obstacle]}" if obstacle else "")


def _unused_rows(document: AuditDocument, _caution: Caution) -> str:
    unused, rows = unused_rows(document), document.dataset.rows
    sizes = ",".join(f"{size:g}" for size in document.config.sizes)
    return f"of {rows} rows {unused} are in no split, as the sizes {sizes} ask for; shares of all rows are {TRY}"


def _class_weighted(document: AuditDocument, _caution: Caution) -> str:
    weights = document.class_weights
    return (
        f"without class weights the machine selects {percent(weights.plain_selection_rate)} of the selection split, so "
        f"the balanced one was audited: a violated margin costs {weights.favourable:.3g} times C for a favourable row "
        f"and {weights.unfavourable:.3g} times for an unfavourable one; class_weight='none' (--class-weight none) "
        f"keeps the machine without weights{_other_rate(document)}"
    )


def _other_rate(document: AuditDocument) -> str:
    """Say that the balanced machine selects another share than the label has, unless it is cut there."""
    counts, rate = document.dataset.class_counts, document.first.scores.selection.selection_rate.value
    if document.config.decide != "sign":
        return ""
    label = counts.favourable / (counts.favourable + counts.unfavourable)
    cut = "decide='base-rate' (--decide base-rate) cuts it there"
    return f"; model 1 selects {percent(rate)} where {percent(label)} of the rows have the label: {cut}"


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


def _solver_failed(document: AuditDocument, _caution: Caution) -> str:
    return (
        f"solver {document.config.machine.solver!r} found no proven answer after {document.enumeration.supports} "
        "models with distinct supports, so later ones are missing; try another solver or a smaller C"
    )


def _solver_replaced(document: AuditDocument, _caution: Caution) -> str:
    return replaced(document.lapse) if document.lapse else ""


def replaced(lapse: SolverLapse) -> str:
    """Say who went on for whom, and why."""
    return f"solver {lapse.fallback!r} went on where {lapse.solver!r} had failed: {lapse.message}"


def _budget_spent(document: AuditDocument, _caution: Caution) -> str:
    found = document.enumeration
    return (
        f"the enumeration stopped at its limit of {found.stopped} with {found.models} of {document.config.k} models; "
        f"raise max_{BUDGETS[found.stopped]} to look further"
    )


def _imputed(document: AuditDocument, _caution: Caution) -> str:
    return _lacking(document, "numeric", "were given the median of the training rows")


def _missing(document: AuditDocument, _caution: Caution) -> str:
    return _lacking(document, "categorical", "count as a value of their own")


def _lacking(document: AuditDocument, kind: str, fate: str) -> str:
    lacking = [feature for feature in document.dataset.features if feature.kind == kind and feature.missing]
    cells = sum(feature.missing for feature in lacking)
    return f"missing cells in {quoted(feature.name for feature in lacking)} {fate} ({cells} in all)"


def _dropped(document: AuditDocument, _caution: Caution) -> str:
    return f"features that do not vary in the training rows were left out: {quoted(document.dataset.dropped)}"


def _unseen(document: AuditDocument, _caution: Caution) -> str:
    unseen = document.dataset.unseen
    return f"values in {quoted(unseen)} that no training row has count as none ({sum(unseen.values())} in all)"


def _pooled(document: AuditDocument, _caution: Caution) -> str:
    pooled, most = document.dataset.pooled, document.config.reading.max_levels
    counts = ", ".join(f"{count} of {name!r}" for name, count in pooled.items())
    return (
        f"rare values count as one, {counts}: more than {most} values were seen in training; another limit is "
        f"{option('max_levels', 2 * most, 'max-levels', str(2 * most))}, or leave "
        f"{'it' if len(pooled) == 1 else 'them'} out with {without(*pooled)}"
    )


def _noticed(document: AuditDocument, caution: Caution) -> str:
    """Tell of all columns that the same was noticed about."""
    return remarks.words(cast(RemarkKind, caution.code), document.dataset.remarks)


def _unscaled(_document: AuditDocument, _caution: Caution) -> str:
    return "numbers were not standardised, so columns of large numbers weigh more than others"


def _sensitive_features(_document: AuditDocument, _caution: Caution) -> str:
    return "the models learn from the sensitive columns, too"


def _leak(document: AuditDocument, _caution: Caution) -> str:
    return features.leaks(document.screening) if document.screening else ""


def _one_column(document: AuditDocument, _caution: Caution) -> str:
    return features.lookalikes(document.screening) if document.screening else ""


def _proxy(document: AuditDocument, caution: Caution) -> str:
    return features.proxies(document.screening, caution.column) if document.screening else ""


def _straddling(document: AuditDocument, caution: Caution) -> str:
    origin = document.dataset.origin
    return (
        f"{caution.column}: {origin.straddling} of {origin.members} values have rows in more than one split, as "
        f"{origin.column!r} marks them, so the splits are not separate"
    )


def _related_rows(document: AuditDocument, caution: Caution) -> str:
    origin = document.dataset.origin
    return (
        f"{caution.column}: {document.dataset.rows} rows share {origin.members} values; intervals and verdicts take "
        "rows as independent, so where those of one value are alike they promise too much"
    )


def _uneven_weights(document: AuditDocument, caution: Caution) -> str:
    weights = document.dataset.weights
    worth = weights.holdout if weights else 0.0
    return (
        f"{caution.column}: weights differ so much that the {document.dataset.splits.holdout} rows of the holdout tell "
        f"no more than {worth:.0f} that count alike, and a few of them decide"
    )


def _no_sensitive(_document: AuditDocument, _caution: Caution) -> str:
    return "no sensitive column was named: accuracy and disagreement are reported, parity is not"


def _constant(document: AuditDocument, _caution: Caution) -> str:
    ranks = [model.rank for model in document.models if model.is_constant]
    these = f"model {ranks[0]} decides" if len(ranks) == 1 else f"{len(ranks)} models decide"
    return f"{these} all rows of the selection split alike, and cannot be selected"


def _missed_rate(document: AuditDocument, caution: Caution) -> str:
    model = document.models[(caution.rank or 1) - 1]
    rate, wanted = model.scores.selection.selection_rate.value, document.config.rate
    reason = f"{model.tied} of its rows are tied at the cut" if model.tied > 1 else "it has too few rows to come nearer"
    return f"model {model.rank} selects {percent(rate)} of the selection split instead of {percent(wanted)}: {reason}"


def _undetermined(document: AuditDocument, caution: Caution) -> str:
    rank = caution.rank or 1
    model = document.models[rank - 1]
    rows, (low, high) = model.undetermined.holdout, model.bias_interval
    if low is not None and high is not None and high - low <= NARROW:
        return f"{rows} holdout rows lie exactly on the plane of model {rank}; they count as favourable"
    return (
        f"the optimum of model {rank} leaves the decision on {rows} holdout rows open: every bias from {_bias(low)} to "
        f"{_bias(high)} is optimal, and its middle is used"
    )


def _bias(end: float | None) -> str:
    return "infinity" if end is None else f"{end:.4g}"


def _order(document: AuditDocument, _caution: Caution) -> str:
    uncertain = sum(not model.is_order_certified for model in document.models)
    return f"the proven intervals do not settle the order of {uncertain} models: they are ties"


def _reference(document: AuditDocument, _caution: Caution) -> str:
    check = document.reference_check
    return f"a gap differs by {check.largest_difference:.2g} from {check.library}'s; do not rely on this result"


MESSAGES: Mapping[CautionCode, Callable[[AuditDocument, Caution], str]] = {
    "reference": _reference,
    "interrupted": _interrupted,
    "exploratory": _exploratory,
    "incumbent_label": incumbent.label,
    "incumbent_constant": incumbent.constant,
    "not_confirmed": consequences.not_confirmed,
    "broken_guard": consequences.broken_guard,
    "wider_gap": consequences.wider_gap,
    "reversed": consequences.reversed_order,
    "levelled_down": consequences.levelled_down,
    "moved_selection": consequences.moved_selection,
    "lost_balance": consequences.lost_balance,
    "other_column": consequences.wider_gap,
    "incumbent_rate": incumbent.rate,
    "incumbent_copies": incumbent.copies,
    "incumbent_undecided": incumbent.undecided,
    "arbitrary_gap": arbitrariness.arbitrary_gap,
    "small_group": groups.small_group,
    "few_trials": consequences.few_rows,
    "single_group": groups.single_group,
    "low_power": groups.low_power,
    "no_sensitive": _no_sensitive,
    "set_aside": groups.set_aside,
    "no_intersection": groups.no_intersection,
    "straddling": _straddling,
    "related_rows": _related_rows,
    "uneven_weights": _uneven_weights,
    "leak": _leak,
    "one_column": _one_column,
    "proxy": _proxy,
    "sensitive_features": _sensitive_features,
    "regrouped": groups.regrouped,
    "alike_groups": groups.alike_groups,
    "unused_rows": _unused_rows,
    "class_weighted": _class_weighted,
    **dict.fromkeys(get_args(RemarkKind), _noticed),
    "imputed": _imputed,
    "missing": _missing,
    "dropped": _dropped,
    "unseen": _unseen,
    "pooled": _pooled,
    "unscaled": _unscaled,
    "missed_rate": _missed_rate,
    "undetermined": _undetermined,
    "solver_failed": _solver_failed,
    "solver_replaced": _solver_replaced,
    "over_time": spending.over_time,
    "time_spent": spending.time_spent,
    "budget_spent": _budget_spent,
    "guided_skipped": _guided_skipped,
    "constant": _constant,
    "few_predictors": _few_predictors,
    "order": _order,
}
