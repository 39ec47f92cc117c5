"""What to beware of: each code follows from one change to a document that calls for no caution."""

from typing import get_args

import pytest
from versions import read

from fairenum.document.audit import AuditDocument
from fairenum.document.cautions import NOTABLE_DIFFERENCE, NOTABLE_GROWTH, cautions, unseen_difference
from fairenum.document.choice import Caution
from fairenum.document.models import GuidedRun, MarginTies
from fairenum.document.remark import Remark
from fairenum.document.screening import Alone, GroupTell, Lookalike, Screening
from fairenum.document.table import Regrouped, SplitOrigin, WeightFacts
from fairenum.document.terms import CautionCode, RemarkKind, Verdict
from fairenum.document.value import Estimate, Parts

METRIC = "demographic_parity_difference"
COLUMN = "African_American"


def calm() -> AuditDocument:
    """An audit that nothing has to be said about."""
    document = read("audit")
    columns = (
        column.but(groups=tuple(group.but(is_small=False) for group in column.groups))
        for column in document.dataset.sensitive
    )
    tables = (
        table.but(groups=tuple(row.but(detectable=NOTABLE_DIFFERENCE) for row in table.groups))
        for table in document.group_tables
    )
    return document.but(
        config=document.config.but(sizes=(0.6, 0.2, 0.2)),
        dataset=document.dataset.but(sensitive=tuple(columns)),
        enumeration=document.enumeration.but(ties=None),
        group_tables=tuple(tables),
        selection=document.selection.but(verdict=Verdict.FAIRER),
    )


def with_model(rank: int, **changes: object) -> AuditDocument:
    models = list(calm().models)
    models[rank - 1] = models[rank - 1].but(**changes)
    return calm().but(models=tuple(models))


def with_column(place: int, **changes: object) -> AuditDocument:
    columns = list(calm().dataset.sensitive)
    columns[place] = columns[place].but(**changes)
    return with_table(sensitive=tuple(columns))


def with_group(place: int, **changes: object) -> AuditDocument:
    """Change the first group of a sensitive column."""
    first, *others = calm().dataset.sensitive[place].groups
    return with_column(place, groups=(first.but(**changes), *others))


def with_third_group(**changes: object) -> AuditDocument:
    """Add a group to the primary column."""
    groups = calm().dataset.sensitive[0].groups
    return with_column(0, groups=(*groups, groups[0].but(name="other", **changes)))


def with_table(**changes: object) -> AuditDocument:
    return calm().but(dataset=calm().dataset.but(**changes))


def with_feature(**changes: object) -> AuditDocument:
    first, *others = calm().dataset.features
    return with_table(features=(first.but(**changes), *others))


def with_part(name: str, **changes: object) -> AuditDocument:
    part = getattr(calm(), name)
    return calm().but(**{name: part.but(**changes)})


def without_sensitive() -> AuditDocument:
    document = with_table(sensitive=())
    return document.but(config=document.config.but(primary=None), group_tables=())


def low_power(limit: float | None = NOTABLE_DIFFERENCE + 1e-9) -> AuditDocument:
    first, *others = calm().group_tables
    rows = (first.groups[0], first.groups[1].but(detectable=limit))
    return calm().but(group_tables=(first.but(groups=rows), *others))


def with_change(column: str, change: float | None) -> AuditDocument:
    """Let the gap of the selected model in a column change by this much against model 1."""
    scores = calm().models[5].scores
    found = scores.holdout.by_column[column]
    changed = found.but(**{METRIC: found.gap(METRIC).but(change=Estimate(change))})
    by_column = {**scores.holdout.by_column, column: changed}
    return with_model(6, scores=scores.but(holdout=scores.holdout.but(by_column=by_column)))


def screened(**changes: object) -> AuditDocument:
    return calm().but(screening=Screening(100, 0.8, (), (), ()).but(**changes))


def torn(**changes: int) -> SplitOrigin:
    return SplitOrigin("column", "fold", group_column="firm", **changes)


def missed_rate(share: float, tied: int) -> AuditDocument:
    """Let model 1 select what was asked for, and the selected model so much more, with so many rows tied at its cut."""
    document = with_part("config", decide="rate=0.6")
    models = list(document.models)
    for rank, rate in ((1, 0.6), (6, 0.6 + share)):
        model = models[rank - 1]
        selection = model.scores.selection.but(selection_rate=Estimate(rate))
        models[rank - 1] = model.but(scores=model.scores.but(selection=selection), tied=tied if rank == 6 else 0)
    return document.but(models=tuple(models))


def class_weighted(asked: str, resolved: str = "balanced") -> AuditDocument:
    document = with_part("requested", class_weight=asked)
    return document.but(config=document.config.but(class_weight=resolved))


CHANGES = {
    Caution("interrupted"): with_part("enumeration", stopped="interrupted"),
    Caution("exploratory"): calm().but(is_exploratory=True),
    Caution("guided_skipped"): calm().but(guided=GuidedRun("skipped", obstacle="no_holdout")),
    Caution("class_weighted"): class_weighted("auto"),
    Caution("few_predictors"): with_part("enumeration", ties=MarginTies(6, 5)),
    Caution("solver_failed"): with_part("enumeration", stopped="solver"),
    Caution("budget_spent"): with_part("enumeration", stopped="nodes"),
    Caution("imputed"): with_feature(kind="numeric", missing=1),
    Caution("missing"): with_feature(kind="categorical", missing=1),
    Caution("dropped"): with_table(dropped=("town",)),
    Caution("unseen"): with_table(unseen={"town": 1}),
    Caution("pooled"): with_table(pooled={"zip": 900}),
    Caution("unscaled"): with_part("config", standardise=False),
    Caution("unused_rows"): with_part("config", sizes=(60, 20, 20)),
    Caution("sensitive_features"): with_part("config", use_sensitive=True),
    Caution("leak"): screened(features=(Alone("town", 0.79),)),
    Caution("one_column"): screened(features=(Alone("town", 0.79),), lookalikes=(Lookalike("town", 0.995),)),
    Caution("proxy", "Female"): screened(columns=(GroupTell("Female", ("0", "1"), 0.9, (Alone("town", 0.95),)),)),
    Caution("straddling", "firm"): with_table(origin=torn(straddling=1, members=calm().dataset.rows)),
    Caution("related_rows", "firm"): with_table(origin=torn(members=calm().dataset.rows - 1)),
    Caution("uneven_weights", "w"): with_table(weights=WeightFacts("w", 0, 10.0, 10.0, 10.0)),
    Caution("no_sensitive"): without_sensitive(),
    Caution("regrouped", "Female"): with_column(1, regrouped=Regrouped(left_out={"x": 3})),
    Caution("alike_groups", "Female"): with_column(1, regrouped=Regrouped(alike=(("F", "f"),))),
    Caution("set_aside", COLUMN): with_third_group(is_small=True, is_compared=False),
    Caution("small_group", "Female"): with_group(1, is_small=True),
    Caution("single_group", "Female", "holdout"): with_group(1, holdout=0),
    Caution("no_intersection"): with_table(sensitive=calm().dataset.sensitive[:2]),
    Caution("low_power", COLUMN): low_power(),
    Caution("constant"): with_model(3, is_constant=True),
    Caution("missed_rate", rank=6): missed_rate(0.02, tied=1),
    Caution("undetermined", rank=6): with_model(6, undetermined=Parts(0, 2)),
    Caution("order"): with_model(2, is_order_certified=False),
    Caution("not_confirmed"): with_part("selection", verdict=Verdict.OPEN),
    Caution("other_column", "Female"): with_change("Female", NOTABLE_GROWTH),
    Caution("reference"): with_part("reference_check", largest_difference=2e-9),
    **{Caution(kind): with_table(remarks=(Remark(kind, "a"), Remark(kind, "b"))) for kind in get_args(RemarkKind)},
}


def test_nothing_calls_for_no_caution():
    assert cautions(calm()) == ()
    assert calm().selection.rank == 6


def test_every_code_is_tried():
    assert [caution.code for caution in CHANGES] == list(get_args(CautionCode))


@pytest.mark.parametrize("caution", CHANGES, ids=lambda caution: caution.code)
def test_one_change_calls_for_one_caution(caution):
    assert cautions(CHANGES[caution]) == (caution,)


@pytest.mark.parametrize(
    "document",
    [
        without_sensitive().but(guided=GuidedRun("skipped", obstacle="no_sensitive_column")),
        calm().but(status="interrupted"),  # what was cut short came after the models
        with_model(3, undetermined=Parts(0, 2)),  # not on the shortlist
        with_model(6, undetermined=Parts(2, 0)),  # where it was chosen, not where it is judged
        with_change(COLUMN, NOTABLE_GROWTH),  # the gap that it was selected by has a verdict of its own
        with_change("Female", NOTABLE_GROWTH - 1e-9),
        with_change("Female", None),
        screened(features=(Alone("town", 0.78),)),  # 93 % of what model 1 knows
        screened(features=(Alone("town", 0.79),), model_auc=0.69),
        screened(columns=(GroupTell("Female", ("0", "1"), 1.0, (Alone("town", 0.94),)),)),
        low_power(NOTABLE_DIFFERENCE),
        low_power(None),
        class_weighted("balanced"),  # as was asked for
        class_weighted("auto", "none"),
    ],
    ids=range(14),
)
def test_what_is_no_reason_for_a_caution(document):
    found = {caution.code for caution in cautions(document)}
    absent = {"interrupted", "guided_skipped", "undetermined", "other_column", "low_power"}
    assert not found & (absent | {"leak", "proxy", "class_weighted"})


@pytest.mark.parametrize(
    ("rows", "tied", "is_told"),
    [(0.4, 1, False), (0.4, 7, False), (3.0, 7, True), (1.0, 2, True), (0.0, 40, False)],
)
def test_ties_are_told_where_they_cost_the_share(rows, tied, is_told):
    found = cautions(missed_rate(rows / calm().dataset.splits.selection, tied))
    assert found == ((Caution("missed_rate", rank=6),) if is_told else ())


def test_only_what_was_chosen_for_its_gap_needs_confirmation():
    asked = with_part("selection", reason="asked_for", verdict=Verdict.OPEN)
    assert cautions(asked) == ()
    kept = with_part("selection", rank=1, outcome="kept", verdict=None)
    assert cautions(kept) == ()
    assert cautions(with_part("selection", rank=None, outcome="none", verdict=None)) == ()


def test_both_splits_are_looked_at():
    found = cautions(with_group(1, holdout=0, selection=0))
    assert found == (Caution("single_group", "Female", "selection"), Caution("single_group", "Female", "holdout"))


def test_the_difference_that_can_go_unseen_is_the_largest_of_model_1_in_the_primary_column():
    assert unseen_difference(low_power(0.3)) == 0.3
    assert unseen_difference(calm().but(group_tables=())) is None
    others = tuple(table for table in low_power(0.3).group_tables if (table.rank, table.column) != (1, COLUMN))
    assert unseen_difference(calm().but(group_tables=others)) is None


def test_a_run_of_version_01_gets_the_codes_that_it_had():
    assert [caution.code for caution in cautions(read("audit"))] == [
        "unused_rows",
        "few_predictors",
        "small_group",
        "small_group",
        "small_group",
        "low_power",
        "not_confirmed",
    ]
