"""Names of measures, methods, models, verdicts and other terms in reports, and the widths to which texts are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import GapChange, GuardCheck, Incomparable
from fairenum.document.consequences import Reversal, whole_of
from fairenum.document.flip_facts import BoundedShare, FlippedColumn
from fairenum.document.header import OptionalStage
from fairenum.document.measure_document import MeasuredDecisions, MeasureDocument
from fairenum.document.metric_registry import METRICS
from fairenum.document.research_documents import Case
from fairenum.document.terms import (
    GAP_RATES,
    RATES,
    Basis,
    ClaimVerdict,
    Gap,
    GrowthAxis,
    ListingEnd,
    Measure,
    Obstacle,
    Part,
    PerformanceName,
    Verdict,
)
from fairenum.runtime.formatting import UNDEFINED, percent, share, shortened, signed

# Largest widths, in terminal columns, of texts that users provide.
NAME_WIDTH = 24
TITLE_WIDTH = 32
TABLE_WIDTH = 40
GROUP_WIDTH = 60  # two folded lines at most
VALUE_WIDTH = 200
MOST_DIGITS = 12  # of a difference that hardly exceeds what is allowed
LONGEST = 400  # a message may quote names of any length
VERDICTS: Mapping[Verdict | None, str] = {
    Verdict.FAIRER: "fairer",
    Verdict.LESS_FAIR: "less fair",
    Verdict.SAME: "same",
    Verdict.OPEN: "open",
    None: UNDEFINED,
}
GAP_NAMES: Mapping[Measure, str] = {metric.key: metric.name for metric in METRICS}
MEASURES: Mapping[Measure, str] = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "selection_rate": "selection rate",
    **GAP_NAMES,
}
PERFORMANCES: Mapping[PerformanceName, str] = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "cost": "cost-weighted accuracy",
}
# Names for narrow columns; a note explains the shortened ones.
NARROW: Mapping[PerformanceName, str] = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced",
    "auc": "AUC",
    "cost": "by cost",
}
PARTS: Mapping[Part, str] = {"selection": "selection split", "holdout": "holdout"}
METHODS = {
    "model_1": "model 1",
    "exact": "exact top-50",
    "guided": "guided search",
    "reweighing": "reweighing",
    "grid_search": "fairlearn GridSearch",
    "exponentiated_gradient": "fairlearn ExponentiatedGradient",
    "threshold_optimizer": "fairlearn ThresholdOptimizer",
}
STOPPED: Mapping[ListingEnd, str] = {
    "models": "as many models as asked for",
    "objective": "no further model within the tolerance of the objective",
    "nodes": "the limit on solved problems",
    "time": "the time limit",
    "exhausted": "no further model exists",
    "caller": "enough was seen",
    "alike": "only models that decide alike, one after another",
    "interrupted": "an interruption",
    "solver": "a problem that the solver could not solve",
}
OBSTACLES: Mapping[Obstacle, str] = {
    "no_sensitive_column": "no sensitive column was named",
    "no_holdout": "it uses the rows that models are selected by, so it needs a separate holdout",
    "cut_short": "the enumeration was cut short",
    "no_time": "no time was left for it",
}
STAGES: Mapping[OptionalStage, str] = {
    "enumerate": "the list of models",
    "guide": "the guided search",
    "tilt": "the search among tilted models",
    "cross": "the decisions of tilted models about training rows that they did not learn from",
    "baselines": "the other mitigations",
    "screen": "the screening of single features",
    "score": "the scores (of the models found, those of least gap on the selection split were kept)",
    "disagree": "the disagreement of the models",
    "prices": "the search for decisions that depend on the choice of model",
    "range": "the parity range over all near-optimal models",
    "explain": "the explanation of the selected model",
    "weigh": "the estimate of selection bias",
    "attack": "the simulated attacks",
}
AXES: Mapping[GrowthAxis, str] = {"n": "examples n", "d": "features d", "k": "models k"}
SIGNS: Mapping[Basis, str] = {"measured": "", "extrapolated": "~", "at least": ">"}
CLAIM_VERDICTS: Mapping[ClaimVerdict, tuple[str, str]] = {
    "holds": ("holds", "hold"),
    "holds sometimes": ("holds sometimes", "hold sometimes"),
    "does not hold": ("does not hold", "do not hold"),
}
IMPACT_RATIO = "impact ratio"
IN_USE = "the model in use"
PAPER_TABLES = {"german": "German", "ionosphere": "Ionosphere", "sonar": "Sonar"}


def short(text: str) -> str:
    """Return a name, shortened to `NAME_WIDTH` terminal columns."""
    return shortened(text, NAME_WIDTH)


def model_name(rank: int) -> str:
    """Return the name of a model for a sentence; the model in use has rank 0."""
    return f"model {rank}" if rank else IN_USE


def model_heading(rank: int) -> str:
    """Return the name of a model for a narrow heading; the model in use has rank 0."""
    return f"model {rank}" if rank else "in use"


def model_cell(rank: int) -> str:
    """Return the entry for a model in a column of ranks; the model in use has rank 0."""
    return str(rank) if rank else "in use"


def model_title(document: AuditDocument, rank: int) -> str:
    """Return the name of a model; for the model in use, with the column or file of its decisions in parentheses."""
    used = document.incumbent
    return f"{IN_USE} ({short(used.name)})" if used and rank == 0 and used.name != IN_USE else model_name(rank)


def reference_name(document: AuditDocument) -> str:
    """Return the name of the model that others are compared with: model 1, or the model in use."""
    return model_name(document.reference.rank)


def reference_title(document: AuditDocument) -> str:
    """Return the full name, for its first mention, of the model that others are compared with."""
    return model_title(document, document.reference.rank)


def reference_own(document: AuditDocument) -> str:
    """Return the possessive for a number of the reference: "model 1's", or "that of the model in use"."""
    return f"that of {IN_USE}" if document.is_against_incumbent else "model 1's"


def apart(found: Sequence[Incomparable], reference: str, performance: PerformanceName) -> str:
    """Return clauses on the measures in which no model comes near enough to the reference to be compared with it."""
    return "; ".join(
        _rates_apart(one, reference)
        if one.measure == "selection_rate"
        else _performance_apart(one, reference, PERFORMANCES[performance])
        for one in found
    )


def _rates_apart(found: Incomparable, reference: str) -> str:
    selects = f"{reference} selects {percent(found.reference)} of the selection split"
    if found.closest in (0.0, 1.0):
        return f"{selects}, and every model decides all rows alike"
    return (
        f"{selects}, the model that comes closest "
        f"{percent(found.closest)}, and the guardrail allows a difference of {percent(found.limit)}"
    )


def _performance_apart(found: Incomparable, reference: str, performance: str) -> str:
    digits = 3  # or as many as it takes to tell the miss from what is allowed
    while digits < MOST_DIGITS and round(found.difference, digits) <= found.limit:
        digits += 1
    return (
        f"{reference} reaches {with_article(performance)} of {share(found.reference)} on the selection split, the "
        f"model that comes closest {share(found.closest)}, which is {found.difference:.{digits}f} less, and "
        f"{found.limit:g} is allowed"
    )


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article."""
    return f"{'an' if noun[0] in 'aA' else 'a'} {noun}"


def allowed_loss(document: AuditDocument) -> str:
    """Return the largest allowed rise of the loss on all training rows, in percent."""
    return f"{100 * document.selection.tolerances.eps:g} %"


def performance_of(document: AuditDocument) -> str:
    """Return the name of the performance measure of an audit."""
    return PERFORMANCES[document.selection.tolerances.measure.name]


def performance_heading(document: AuditDocument) -> str:
    """Return the name of the performance measure for a narrow column heading."""
    return NARROW[document.selection.tolerances.measure.name]


def performance_notes(document: AuditDocument) -> tuple[str, ...]:
    """Return a note that explains the narrow heading of the performance measure; no note if it is the full name."""
    heading, name = performance_heading(document), performance_of(document)
    measure = document.selection.tolerances.measure
    costs = f"; a false negative costs {measure.false_negative:g}, a false positive {measure.false_positive:g}"
    return () if heading == name else (f"{heading}: {name}" + costs * (measure.name == "cost"),)


def measures_of(document: AuditDocument) -> Mapping[Measure, str]:
    """Return the names of the measures of an audit by key: those in `MEASURES`, and others that this audit has."""
    name = performance_of(document)
    own = MEASURES if name in MEASURES.values() else {"performance": name, **MEASURES}
    return {**own, "demographic_parity_ratio": IMPACT_RATIO} if document.incumbent else own


def method_title(name: str) -> str:
    """Return the name of a mitigation method in reports; an unknown method keeps its own name."""
    return shortened(METHODS.get(name, name), TITLE_WIDTH)


def manner(*, is_randomised: bool) -> str:
    """Return "by chance" for a method that decides at random, else "always alike"."""
    return "by chance" if is_randomised else "always alike"


def case_title(case: Case) -> str:
    """Return the name of a case (table and options) of the comparison of mitigations."""
    columns = "with" if case.use_sensitive else "without"
    rate = ", at equal selection rates" if case.decide != "sign" else ""
    return f"{shortened(case.data, TABLE_WIDTH)}, {case.rows} training rows, {columns} the sensitive columns{rate}"


def short_case(case: Case) -> str:
    """Return the name of a case (table and options) of the comparison of mitigations, for a narrow heading."""
    used = ", sensitive columns used" if case.use_sensitive else ""
    return f"{short(case.data)}, {case.rows} rows{used}" + (", equal rates" if case.decide != "sign" else "")


def decisions_title(decisions: MeasuredDecisions, document: MeasureDocument) -> str:
    """Return the name of decisions: their column, or the score with its cutoff."""
    column = short(decisions.name)
    if decisions.how == "column" or decisions.cutoff is None:
        return column
    is_low = document.config.lower_is_better
    if decisions.how == "median":
        return f"{column} {'below' if is_low else 'above'} its median"
    return f"{column} {'<=' if is_low else '>='} {decisions.cutoff:.6g}"


def guard_name(check: GuardCheck) -> str:
    """Return a guardrail's text, with the measure that comes closest to its limit and that measure's holdout value."""
    measure, value = guarded_measure(check.subject), guarded_value(check, check.holdout.value)
    return f"{shortened(check.guard, TABLE_WIDTH)} ({measure}: {value})"


def guarded_measure(subject: str) -> str:
    """Return the name of a measure that a guardrail limits, with its sensitive column or its group if it has one."""
    measure, _, place = subject.partition("@")
    column, _, group = place.partition(": ")
    name = GAP_NAMES[measure] if measure in GAP_NAMES else measure.replace("_", " ")
    of = f" of {shortened(group, GROUP_WIDTH)}" if group else f" by {shortened(column, GROUP_WIDTH)}" if column else ""
    return shortened(f"{name}{of}", TABLE_WIDTH + GROUP_WIDTH)


def guarded_value(check: GuardCheck, value: float | None) -> str:
    """Return the text of a value that a guardrail limits, with a plus or minus sign if it is a change."""
    return signed(value) if check.is_change else share(value)


def groups_between(cell: GapChange, cells: Sequence[GapChange]) -> str:
    """Return a phrase on the groups that a gap is between: two of them, or all where the strip also has a pair.

    It starts with a blank; it is empty where the gap in this column is named only once.
    """
    if pair := cell.pair:
        rate = f" in {RATES[pair.rate].name}" if len(GAP_RATES[cell.metric]) > 1 else ""
        return f" between {short(pair.higher)} and {short(pair.lower)}{rate}"
    return f" over {every_group(cell.metric)}" if whole_of(cell, cells) is cell else ""


def every_group(metric: Gap) -> str:
    """Return what a gap is over if it is not between two groups in one rate."""
    return "all groups and rates" if len(GAP_RATES[metric]) > 1 else "all groups"


def reversal(found: Reversal) -> str:
    """Return a clause that says in which rate two groups change their order, with the rates before and after."""
    (behind, ahead), low, high = map(short, found.names), found.behind, found.ahead
    return (
        f"the order is reversed in {GAP_NAMES[found.cell.metric]}: {RATES[found.rate].name} of {behind} "
        f"{share(low.first)} to {share(low.selected)}, of {ahead} {share(high.first)} to {share(high.selected)}"
    )


def bounded_gap(found: BoundedShare) -> str:
    """Return the text of a gap, or of its lower and upper bound if it is not exact, with its confidence limits."""
    value = share(found.least) if found.is_exact else f"{share(found.least)} to {share(found.most)}"
    return f"{value} [{share(found.low)}, {share(found.high)}]"


def most_and_least_affected(found: FlippedColumn) -> str | None:
    """Return a phrase with the groups of most and of least ambiguity; None if fewer than two groups are compared."""
    shares = [(one.ambiguity.least, one) for one in found.groups if one.is_compared and one.ambiguity.least is not None]
    if len(shares) < 2:
        return None
    ordered = sorted(shares, key=lambda one: one[0])
    most, least = (
        f"{percent(value)} of group {shortened(one.group, GROUP_WIDTH)}" for value, one in ordered[:: 1 - len(ordered)]
    )
    return f"{most} and {least}"
