"""Typed documents: the saved runs, runs like them that came out otherwise, and lines of a reproduction."""

from functools import cache
from typing import get_args

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import GapChange, GuardCheck, answered, reason_for
from fairenum.document.files import AnyDocument, load
from fairenum.document.flip_facts import (
    AmbiguityFacts,
    BoundedShare,
    CurvePoint,
    Discrepancy,
    Extent,
    FlippedColumn,
    FlippedShare,
    GroupExtent,
    GroupFlipped,
    ParityRange,
    PricedRows,
    PriceEffort,
    RangeLevel,
)
from fairenum.document.models import Baseline, ChangedRows, ComparedPair, Incumbent, Tilt, TiltedRun
from fairenum.document.research_documents import (
    Bands,
    DrawLine,
    DrawVariant,
    InjectionExperiment,
    SplitLine,
    SplitVariant,
    TableExperiment,
)
from fairenum.document.scores import BaselineScores, GapEstimate
from fairenum.document.terms import Gap, Verdict
from fairenum.document.value import Estimate, Parts
from support.saved_runs import REPORTS, path

RUNS = tuple(sorted(path.stem for path in REPORTS.glob("*.json")))
METRIC = "demographic_parity_difference"


@cache
def saved(name: str) -> AnyDocument:
    return load(REPORTS / f"{name}.json")


@cache
def german() -> AuditDocument:
    """The run of `fairenum audit german --split 0.6,0.2,0.2 --always-search`, which selects one of many models."""
    return load(path("german"))


def near(value: float, margin: float = 0.04) -> Estimate:
    return Estimate(value, round(value - margin, 6), round(value + margin, 6))


def gap(value: float, verdict: str = "open", margin: float = 0.04) -> GapEstimate:
    found = near(value, margin)
    return GapEstimate(found.value, found.low, found.high, near(round(value - 0.175, 6), 0.01), Verdict(verdict))


def possible() -> ParityRange:
    """Bounds of the gap of german: exact, proven well, and too weak to tell."""
    gaps = {0.001: (0.125, 0.15, 0.2, 0.225), 0.01: (0.0, 0.05, 0.3, 0.35), 0.05: (0.0, 0.0125, 0.375, 0.875)}
    rates = ("<= 25", 38, (0.25, 0.5, 0.75, 1.0)), ("> 25", 162, (0.5, 0.625, 0.875, 0.9375))
    groups = tuple(GroupExtent(name, rows, Extent(*rate)) for name, rows, rate in rates)
    levels = (
        RangeLevel(eps, Extent(*gap), groups, round(1000 * eps) + 30, (0.0, gap[-1] + 0.05), None, 90, 12)
        for eps, gap in gaps.items()
    )
    return ParityRange("age", 200, 0, tuple(levels))


def between(least: float, most: float | None = None, margin: float = 0.05) -> BoundedShare:
    """A share, or one that lies between two numbers, with limits so far away."""
    least = round(least, 6)
    most = least if most is None else most
    return BoundedShare(least, most, round(max(0.0, least - margin), 6), round(min(1.0, most + margin), 6))


AMBIGUOUS = AmbiguityFacts(
    eps=0.05,
    threshold=0.0,
    holdout=200,
    overall=FlippedShare(200, 102, 0, between(0.51), 0.07),
    by_column={
        "age": FlippedColumn(
            (
                GroupFlipped(38, 25, 0, between(0.658), 0.053, group="<= 25"),
                GroupFlipped(162, 77, 0, between(0.475), 0.074, group="> 25"),
            ),
            between(0.183, margin=0.16),
        )
    },
    models=12,
    curve=tuple(
        CurvePoint(eps, between(share), (between(share + 0.1), between(share - 0.02)))
        for eps, share in ((0.001, 0.165), (0.01, 0.36), (0.05, 0.51), (0.1, 0.8))
    ),
    discrepancy=Discrepancy(0.085, None, 0.51),
    priced=PricedRows((3, 8, 17), (True, False, True), (0.01, 0.2, 0.04), (0.01, None, 0.06), {"age": (0, 1, 1)}),
    effort=PriceEffort(200, 60, 20, 120),
)


def full() -> AuditDocument:
    """The audit of german with all that an audit can have: other methods, and what label flips do."""
    scores = german().models[-1].scores.holdout
    found = BaselineScores(**{name: getattr(scores, name) for name in BaselineScores.__struct_fields__})
    methods = (
        Baseline("threshold_optimizer", is_randomised=True, needs_groups=True, error=None, scores=found),
        Baseline("reweighing", is_randomised=False, needs_groups=False, error=None, scores=found),
        Baseline("grid_search", is_randomised=False, needs_groups=False, error="no <b>answer</b>", scores=None),
    )
    return german().but(
        attack=saved("defences").attack, baselines=methods, ambiguity=AMBIGUOUS, parity_range=possible()
    )


def audit(
    models: int = 20, selected: int | None = 3, verdict: str = "fairer", small: bool = False, status: str = "complete"
) -> AuditDocument:
    """The audit of german, had it listed so many models and selected one whose gap is 0.150 [0.110, 0.190]."""
    base, is_other = german(), (selected or 1) > 1
    outcome = "none" if selected is None else "selected" if is_other else "kept"
    change = Parts(near(-0.025, 0.02), near(-0.025, 0.02)) if is_other else None
    selection = base.selection.but(
        rank=selected,
        outcome=outcome,
        reason=reason_for(outcome, "age", models, (1, 2, 3)),
        candidates=(1, 2, 3),
        pareto_front=tuple(sorted({1, min(3, models), models})),
        gap_change=change,
        performance_change=change,
        accuracy_change=change,
        verdict=Verdict(verdict) if is_other else None,
        optimism=None,
        strip=strip(verdict) if is_other else (),
        guards=(HELD,) if is_other else (),
        performance_floor=-0.005 if is_other else None,
        performance_ceiling=0.0 if is_other else None,
        confirmed=(),
        chance=None,
    )
    document = base.but(
        status=status,
        models=base.models[:models],
        enumeration=base.enumeration.but(models=models, ties=None),
        selection=answered(selection),
        group_tables=tuple(t.but(rank=r) for r, t in zip(selection.shortlist, base.group_tables, strict=False)),
        guided=None,
        tilted=None,
        parity_range=None,
        ambiguity=None,
        anatomy=base.anatomy and base.anatomy.only([*range(1, models + 1)]),
        explanation=None,
        flips=base.flips and base.flips.but(rank=selected or 1),
        reference_check=base.reference_check.but(ranks=tuple(selection.shortlist)),
        warnings=(),
    )
    document = with_small_group(document) if small else document
    if not is_other:
        return document
    flips = Parts(ChangedRows(2, 0.01), ChangedRows(2, 0.01))
    return scored(with_model(document, selected, predictions_changed=flips), selected, **{METRIC: gap(0.15, verdict)})


def tilted(models: int = 12, selected: int = 11) -> AuditDocument:
    """An audit whose last three models were tilted, and which selected one of them."""
    document = audit(models=models, selected=selected)
    for rank in range(models - 2, models + 1):
        document = with_model(
            document,
            rank,
            origin="tilted",
            support_rank=None,
            objective=None,
            objective_bound=None,
            objective_ratio=None,
            relative_gap=None,
            loss_ratio=0.01 * (rank - models + 3),
            left_out=(),
            tilt=Tilt(1.5 * rank, "age", ("> 25", "<= 25"), "selection_rate"),
        )
    return document.but(tilted=TiltedRun("exhausted", 0.1, 12, 3))


HELD = GuardCheck("selection_rate=+-0.1", "selection_rate", -0.1, 0.1, 0.01, near(0.02, 0.03), "holds")
BROKEN = GuardCheck("worst_group_selection_rate>=-0.1", "> 25", -0.1, None, -0.05, near(-0.2, 0.05), "broken")


def cell(metric: str, change: float, verdict: str | None, column: str = "age", first: float = 0.175) -> GapChange:
    """One line of the strip: a gap that changes from what model 1 has."""
    is_claim = (column, metric) == ("age", METRIC)
    known = None if verdict is None else Verdict(verdict)
    return GapChange(column, metric, is_claim, near(first), near(first + change), near(change, 0.02), 0.95, known)


def strip(verdict: str = "fairer", **others: tuple[float, str]) -> tuple[GapChange, ...]:
    """Every gap by age: that which the model was selected by, and others that change by 0.01 if not told otherwise."""
    found = {gap: (0.01, "open") for gap in get_args(Gap) if gap != METRIC} | others
    return (cell(METRIC, -0.025, verdict), *(cell(gap, *one) for gap, one in found.items()))


def chosen(document: AuditDocument, **changes: object) -> AuditDocument:
    """Change what is known about the choice."""
    return document.but(selection=document.selection.but(**changes))


def with_reversed_order(document: AuditDocument) -> AuditDocument:
    """Let model 3 find all of the young who pay, and fewer of the others, who were ahead."""
    found = document.models[2].scores.holdout.by_column["age"].but(selected=(30, 110), true_positives=(22, 90))
    return scored(document, 3, by_column={"age": found})


def with_columns(document: AuditDocument, *names: str) -> AuditDocument:
    """Add sensitive columns like the primary one."""
    (first,) = document.dataset.sensitive
    columns = (first, *(first.but(column=name, is_primary=False) for name in names))
    for rank in range(1, len(document.models) + 1):
        found = document.models[rank - 1].scores.holdout.by_column
        document = scored(document, rank, by_column=found | dict.fromkeys(names, found["age"]))
    return document.but(dataset=document.dataset.but(sensitive=columns))


def with_small_group(document: AuditDocument) -> AuditDocument:
    """Make the second group of the primary column a small one."""
    column, rows = document.dataset.sensitive[0], [(table, table.groups) for table in document.group_tables]
    groups = (column.groups[0], column.groups[1].but(is_small=True, holdout=20))
    tables = tuple(table.but(groups=(first, second.but(is_small=True))) for table, (first, second) in rows)
    return document.but(dataset=document.dataset.but(sensitive=(column.but(groups=groups),)), group_tables=tables)


def with_third_group(document: AuditDocument, **changes: object) -> AuditDocument:
    """Add a group to the primary column, like its first one but for some changes."""
    column = document.dataset.sensitive[0]
    groups = (*column.groups, column.groups[0].but(**{"name": "third", **changes}))
    return document.but(dataset=document.dataset.but(sensitive=(column.but(groups=groups),)))


def with_pair(
    document: AuditDocument, verdict: str = "fairer", whole: float = -0.025, other: float = 0.01, judged: str = "open"
) -> AuditDocument:
    """Let the claim be about two of three groups; the gap over all groups and that to the third change by so much."""
    claim, *others = document.selection.strip
    pairs = [ComparedPair("selection_rate", "> 25", lower) for lower in ("<= 25", "third")]
    cells = (
        claim.but(pair=pairs[0], verdict=Verdict(verdict)),
        cell(METRIC, whole, judged).but(is_claim=False),
        cell(METRIC, other, "open").but(is_claim=False, pair=pairs[1]),
    )
    return chosen(document, strip=(*cells, *others))


def with_model(document: AuditDocument, rank: int, **changes: object) -> AuditDocument:
    models = list(document.models)
    models[rank - 1] = models[rank - 1].but(**changes)
    return document.but(models=tuple(models))


def scored(document: AuditDocument, rank: int, part: str = "holdout", **changes: object) -> AuditDocument:
    """Change what one model measures on one split."""
    scores = document.models[rank - 1].scores
    return with_model(document, rank, scores=scores.but(**{part: scores.of(part).but(**changes)}))


def in_use(document: AuditDocument, against: str = "incumbent", *, kept: bool = False, **told: object) -> AuditDocument:
    """The same audit, had a tool been in use that decides as the last listed model; it may be kept."""
    last = document.models[-1]
    flips = Parts(ChangedRows(40, 0.2), ChangedRows(44, 0.22))
    incumbent = Incumbent("tool", "decisions", last.scores, 0.7, flips, is_constant=False, favourable="good")
    first = (table for table in document.group_tables if table.rank == 1)
    document = document.but(
        config=document.config.but(against=against),
        incumbent=incumbent.but(**told),
        group_tables=(*(table.but(rank=0) for table in first), *document.group_tables),
    )
    if not kept:
        return document
    reason = reason_for("kept", "age", len(document.models) + 1, document.selection.candidates)
    selection = document.selection.but(
        **{"rank": None, "outcome": "kept", "reason": reason, "verdict": None, "strip": (), "guards": ()},
        **{"gap_change": None, "performance_change": None, "accuracy_change": None},
        **{"performance_floor": None, "performance_ceiling": None},
    )
    return document.but(selection=answered(selection))


def first_in_place(document: AuditDocument) -> AuditDocument:
    """Let an audit with a model in use select model 1."""
    return chosen(document, rank=1)


# --- lines of a reproduction as its claims read them, and experiments that hold them ---

NOTHING = Bands((), (), (), (), ())


def split_line(**changes):
    return SplitLine(
        seed=0, C=1.0, spread=1e-5, best_rank=1, best_loss=1.0, lower=3, losses=(), fewer_errors=0, growth=1.0
    ).but(**changes)


def draw_line(**changes):
    return DrawLine(
        seed=0,
        C=1.0,
        tied=1,
        predictors=1,
        tied_predictors=1,
        holding=0,
        models=50,
        shortfall=0.1,
        open_rows=0.0,
        gap=0.3,
        clean_gap=0.2,
        untouched_gap=0.2,
        clean_error=0.3,
        fairer=1,
        fairer_than_untouched=1,
        rest_gap=0.3,
        rest_clean_gap=0.2,
    ).but(**changes)


def table_of(**variants):
    """A table with these lines in each variant."""
    found = {
        name: SplitVariant(tuple(lines), (), NOTHING, NOTHING, Estimate(), Estimate(), None)
        for name, lines in variants.items()
    }
    return TableExperiment(1000, 20, "0" * 64, found, None)


def injection_of(**variants):
    """The injected draws, with these lines in each variant."""
    found = {
        name: DrawVariant(tuple(lines), (), NOTHING, NOTHING, None, None, None, None)
        for name, lines in variants.items()
    }
    return InjectionExperiment(6172, 10, "0" * 64, found)
