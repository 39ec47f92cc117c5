"""How the result of an audit came about, why it leaves a rule open, whom it is arranged for, what its copy holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.audit import AuditDocument
from fairenum.document.table import GroupSizes, SensitiveColumn
from fairenum.document.value import Estimate
from fairenum.rendering.numbers import counted, estimate
from fairenum.report.wording import GAPS, STOPPED, short

NO_ADVICE = "It reports measurements and is no legal advice."
MEMO = f"Arranged as a memo on the search for a less discriminatory alternative. {NO_ADVICE}"
BIAS_AUDIT = f"Arranged as a bias audit under New York City Local Law 144 of 2021 (6 RCNY § 5-300 ff.). {NO_ADVICE}"
WHOLE_COPY = "The whole run but for its timings; `fairenum report` reads it."
SHORT_MODELS = (
    "models are listed without their other gaps, other sensitive columns and certificates; examples are those of the "
    "selected model; "
)
# What leaves a rule open: the ends of a sentence that begins with what was measured.
NO_MODEL = "no model was selected"
NOT_SEPARATE = ", but these rows also chose the model; give --split a holdout"
WITHOUT_LIMITS = " has no limits to judge by"
STRADDLES = " straddles the limit"
NAMED = 3  # small groups that a sentence names


def steps(document: AuditDocument) -> Iterator[str]:
    """Say how the numbers came about."""
    metric = GAPS[document.selection.tolerances.metric]
    yield _division(document)
    yield _enumeration(document)
    if document.guided:
        yield (
            f"A guided search over the same machines, led by the {metric} gap on the selection split, added "
            f"{counted(document.guided.models, 'model')} that decide otherwise. Being made to look fair there, "
            "only their holdout numbers count."
        )
    tolerances = document.selection.tolerances
    yield (
        f"The selected model is the one of least {metric} gap on the selection split among those that lose at most "
        f"{tolerances.eps:g} of the objective and {tolerances.max_accuracy_drop:g} of accuracy there; ties go to "
        "model 1, else to the more accurate one."
    )
    yield (
        f"Intervals have a level of {100 * document.config.confidence:g} %. Changes against model 1 are paired, and "
        "their limits hold for all models together, so looking at many of them makes no gain appear."
    )
    check = document.reference_check
    yield (
        f"The gaps of the shortlist were computed again by {short(check.library)}; the largest difference over "
        f"{counted(check.compared, 'number')} was {check.largest_difference:.1g}."
    )


def _division(document: AuditDocument) -> str:
    splits = document.dataset.splits
    return (
        f"The table was split into {splits.train} training, {splits.selection} selection and {splits.holdout} holdout "
        f"rows (seed {document.config.seed}). Features were encoded by what the training rows show."
    )


def _enumeration(document: AuditDocument) -> str:
    machine, found = document.config.machine, document.enumeration
    return (
        f"Support vector machines with a {machine.kernel} kernel and C = {machine.cost:g} were enumerated best first "
        f"by EnumSV (Kanamori et al. 2019) with solver {short(machine.solver)}: each differs from the best one in the "
        f"training examples it is not shown. The search saw {counted(found.supports, 'model')} with distinct supports, "
        f"lists {found.models}, and ended at {STOPPED[found.stopped]}. Every objective is proven by weak duality."
    )


def limits(document: AuditDocument) -> Iterator[str]:
    """Say what the numbers cannot say."""
    yield (
        "This is a statement about near-optimal support vector machines of one kernel on one table. It says nothing "
        "about other kinds of models, about rows that were never collected, or about the law."
    )
    yield "Not distinguishable is not the same as fair: small groups hide large differences."
    yield (
        "Labels are taken as they are. Where they carry the bias of those who gave them, a model that fits them well "
        "carries it on."
    )
    if document.is_exploratory:
        yield "Selection and holdout are not separate here, so the selected model looks fairer than it is."


def reduced_copy(dropped: Sequence[str], *, is_audit: bool) -> str:
    """Say what the copy that a page carries leaves out."""
    models = SHORT_MODELS if is_audit else ""
    more = f" Also left out, as too large for a page: {', '.join(dropped)}." if dropped else ""
    return (
        f"Reduced to what this page shows: numbers have six digits, texts at most 200 signs; {models}timings are left "
        f"out. `--json` saves the whole run, which `fairenum report` reads.{more}"
    )


def judged_by(numbers: Estimate) -> str:
    """Say what a rule is judged by."""
    return f"{estimate(numbers)} on the holdout"


def small_groups(column: SensitiveColumn, small: Sequence[GroupSizes]) -> str:
    """Say which groups are too small to judge a rule by."""
    named = ", ".join(f"{short(group.name)} ({counted(group.holdout, 'row')})" for group in small[:NAMED])
    few = f"{counted(len(small), 'group')} of {short(column.column)} too small: {named}"
    return f", but {few}; --min-group-size sets the minimum"


def single_group(column: SensitiveColumn) -> str:
    """Say that there is only one group to judge a rule by."""
    return f", but the holdout holds one group of {short(column.column)} only"
