"""What to beware of: each code follows from one change to a document that calls for no caution."""

from typing import get_args

import pytest
from support.documents import AMBIGUOUS
from support.saved_runs import read

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import NOTABLE_DIFFERENCE, caution_texts, cautions, entries, unseen_difference
from fairenum.document.choice import Caution, GapChange, GuardCheck
from fairenum.document.consequences import NOTABLE_GROWTH, NOTABLE_LOSS, NOTABLE_MOVE
from fairenum.document.correction_facts import Correction, LeakCheck, LeakKind
from fairenum.document.feature_facts import Lookalike, ScreenedColumn, Screening, SingleFeature
from fairenum.document.header import CutStage, Spending
from fairenum.document.models import AuditedModel, ChangedRows, ComparedPair, GuidedRun, Incumbent, MarginTies
from fairenum.document.table_facts import Feature, Regrouped, Remark, SplitOrigin, SplitSizes, WeightFacts
from fairenum.document.terms import RemarkKind, Verdict
from fairenum.document.training import SolverLapse
from fairenum.document.value import Estimate, Parts

METRIC, ODDS = "demographic_parity_difference", "equalized_odds_difference"
COPIED = ScreenedColumn("Female", ("0", "1"), 0.9, (SingleFeature("town", 0.95),))
TELLING = ScreenedColumn("Female", ("0", "1"), 0.9, (SingleFeature("town", 0.7, 0.51), SingleFeature("job", 0.6, 0.5)))
COLUMN = "African_American"
INTERSECTION = "African_American & Female"


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
    first, chosen = document.models[0].scores.holdout, document.models[5].scores
    unchanged = chosen.but(holdout=chosen.holdout.but(by_column=first.by_column))
    models = (*document.models[:5], document.models[5].but(scores=unchanged), *document.models[6:])
    return document.but(
        models=models,
        config=document.config.but(sizes=(0.6, 0.2, 0.2), min_group_size=1),
        dataset=document.dataset.but(sensitive=tuple(columns), features=tuple(map(neutral, document.dataset.features))),
        enumeration=document.enumeration.but(ties=None),
        group_tables=tuple(tables),
        selection=document.selection.but(verdict=Verdict.FAIRER, strip=(cell(COLUMN, -0.1, "fairer"),)),
    )


def neutral(feature: Feature) -> Feature:
    """Give a feature a name that says nothing about people."""
    return feature.but(name=feature.name.replace("Age_", "Years_"))


def cell(column: str, change: float | None, verdict: str = "open", metric: str = METRIC) -> GapChange:
    is_claim = (column, metric) == (COLUMN, METRIC)
    return GapChange(column, metric, is_claim, Estimate(0.2), Estimate(0.3), Estimate(change), 0.95, Verdict(verdict))


def of_pair(whole: str | None, claim: str = "fairer", metric: str = METRIC) -> AuditDocument:
    """Let the claim be about two groups, with these verdicts on it and on the gap over all groups."""
    pair = ComparedPair("true_positive_rate" if metric == ODDS else "selection_rate", "0", "1")
    own = cell(COLUMN, -0.1, claim, metric).but(is_claim=True, pair=pair)
    over_all = own.but(is_claim=False, pair=None, verdict=None if whole is None else Verdict(whole))
    selection = calm().selection
    tolerances = selection.tolerances.but(metric=metric)
    return with_part("selection", strip=(own, over_all), verdict=Verdict(claim), tolerances=tolerances)


def with_counts(column: str, **counts: tuple[int, ...]) -> AuditDocument:
    """Let the selected model select so many rows of each group."""
    found = calm().models[5].scores.holdout.by_column
    return measured(by_column={**found, column: found[column].but(**counts)})


def measured(**changes: object) -> AuditDocument:
    """Change what the selected model measures on the holdout."""
    scores = calm().models[5].scores
    return with_model(6, scores=scores.but(holdout=scores.holdout.but(**changes)))


def moved(name: str, change: float) -> AuditDocument:
    """Let the selected model measure so much more than model 1."""
    return measured(**{name: Estimate((getattr(calm().first.scores.holdout, name).value or 0.0) + change)})


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
    document = with_column(0, groups=(*groups, groups[0].but(name="other", **changes)))
    return document.but(models=tuple(map(_with_third_count, document.models)))


def _with_third_count(model: AuditedModel) -> AuditedModel:
    holdout = model.scores.holdout
    found = holdout.by_column[COLUMN]
    counts = {name: (*getattr(found, name), getattr(found, name)[0]) for name in ("selected", "true_positives")}
    by_column = {**holdout.by_column, COLUMN: found.but(**counts)}
    return model.but(scores=model.scores.but(holdout=holdout.but(by_column=by_column)))


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
    selection = document.selection.but(column=None, strip=())
    return document.but(config=document.config.but(primary=None), selection=selection, group_tables=())


def low_power(limit: float | None = NOTABLE_DIFFERENCE + 1e-9) -> AuditDocument:
    first, *others = calm().group_tables
    rows = (first.groups[0], first.groups[1].but(detectable=limit))
    return calm().but(group_tables=(first.but(groups=rows), *others))


def with_change(column: str, change: float | None, verdict: str = "open", metric: str = METRIC) -> AuditDocument:
    """Let another gap of the selected model change by this much against model 1."""
    claim = calm().selection.strip[0]
    return with_part("selection", strip=(claim, cell(column, change, verdict, metric)))


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


def weakly_split() -> AuditDocument:
    """Let few rows confirm a candidate, as the user asked."""
    document = with_group(0, confirmable=0.2)
    return document.but(
        requested=document.requested.but(sizes=(0.8, 0.1, 0.1)),
        dataset=document.dataset.but(splits=SplitSizes(800, 100, 100)),
        selection=document.selection.but(answer="candidate", reasons=("fairness_not_shown",)),
    )


def class_weighted(asked: str, resolved: str = "balanced") -> AuditDocument:
    document = with_part("requested", class_weight=asked)
    return document.but(config=document.config.but(class_weight=resolved))


def in_use(document: AuditDocument | None = None, **told: object) -> AuditDocument:
    """Let a tool be in use that decides as model 1, which models are still compared with."""
    document = document or calm()
    flips = Parts(ChangedRows(0, 0.0), ChangedRows(0, 0.0))
    tool = Incumbent("tool", "decisions", document.first.scores, 0.7, flips, is_constant=False)
    return document.but(incumbent=tool.but(**told), config=document.config.but(against="best"))


def selecting(change: float, document: AuditDocument | None = None) -> AuditDocument:
    """Let the tool select so much more of the holdout than model 1."""
    scores = (document or calm()).first.scores
    rate = Estimate((scores.holdout.selection_rate.value or 0.0) + change)
    return in_use(document, scores=scores.but(holdout=scores.holdout.but(selection_rate=rate)))


def weak_in_use() -> AuditDocument:
    """Let models be compared with the tool, and let the run have widened eps, as a weak tool makes it."""
    document = in_use()
    selection = document.selection.but(tolerances=document.selection.tolerances.but(eps=0.3))
    config, requested = document.config.but(against="incumbent", eps=0.3), document.requested.but(eps="auto")
    return document.but(config=config, requested=requested, selection=selection)


def corrected(kind: LeakKind) -> AuditDocument:
    """Let models correct a score that is too good."""
    check = LeakCheck(kind, 0.98, 500, 0.7, 400, Estimate(0.28, 0.2, 0.36), is_far=True)
    fine = check.but(kind="training", is_far=False)
    found = Correction("score", "points", False, 1.0, 0.05, 20.0, False, "none", checks=(fine, check))
    return in_use().but(correction=found)


BROKEN = GuardCheck("selection_rate=+-0.1", "selection_rate", -0.1, 0.1, 0.0, Estimate(0.12, 0.05, 0.2), "open")
CHANGES = {
    Caution("reference"): with_part("reference_check", largest_difference=2e-9),
    Caution("interrupted"): with_part("enumeration", stopped="interrupted"),
    Caution("exploratory"): calm().but(is_exploratory=True),
    Caution("incumbent_label"): in_use(agreement=1.0),
    Caution("incumbent_constant"): in_use(is_constant=True),
    Caution("leaked_score"): corrected("features"),
    Caution("reversed_score"): in_use(has_score=True, auc=Estimate(0.4, 0.35, 0.4999)),
    Caution("reversed_decisions"): in_use(balanced_agreement=Estimate(0.4, 0.35, 0.4999)),
    Caution("swapped_favourable"): with_table(label="granted", favourable="0", unfavourable="1"),
    Caution("not_confirmed"): with_part("selection", verdict=Verdict.OPEN),
    Caution("others_open", COLUMN): of_pair("open"),
    Caution("broken_guard"): with_part("selection", guards=(BROKEN,)),
    Caution("wider_gap", "Female"): with_change("Female", NOTABLE_GROWTH),
    Caution("reversed", "Female"): with_part("selection", strip=(cell(COLUMN, -0.1), cell("Female", 0.0))).but(
        models=with_counts("Female", selected=(45, 9), true_positives=(27, 8)).models
    ),
    Caution("levelled_down", COLUMN): with_counts(COLUMN, selected=(28, 22), true_positives=(20, 12)),
    Caution("moved_selection"): moved("selection_rate", NOTABLE_MOVE),
    Caution("lost_balance"): moved("balanced_accuracy", -NOTABLE_LOSS),
    Caution("incumbent_rate"): selecting(-NOTABLE_MOVE),
    Caution("weak_incumbent"): weak_in_use(),
    Caution("incumbent_copies"): in_use(copies=("town",)),
    Caution("incumbent_undecided"): in_use(undecided=1),
    Caution("arbitrary_gap", COLUMN): calm().but(
        ambiguity=AMBIGUOUS.but(by_column={COLUMN: AMBIGUOUS.by_column["age"]})
    ),
    Caution("small_group", "Female"): with_group(1, is_small=True),
    Caution("few_trials", INTERSECTION): with_part("config", min_group_size=4),
    Caution("single_group", "Female", "holdout"): with_group(1, holdout=0, holdout_positives=0),
    Caution("low_power", COLUMN): low_power(),
    Caution("no_sensitive"): without_sensitive(),
    Caution("set_aside", COLUMN): with_third_group(is_small=True, is_compared=False),
    Caution("no_intersection"): with_table(sensitive=calm().dataset.sensitive[:2]),
    Caution("straddling", "firm"): with_table(origin=torn(straddling=1, members=calm().dataset.rows)),
    Caution("related_rows", "firm"): with_table(origin=torn(members=calm().dataset.rows - 1)),
    Caution("uneven_weights", "w"): with_table(weights=WeightFacts("w", 0, 10.0, 10.0, 10.0)),
    Caution("leak"): screened(features=(SingleFeature("town", 0.79),)),
    Caution("one_column"): screened(features=(SingleFeature("town", 0.79),), lookalikes=(Lookalike("town", 0.995),)),
    Caution("proxy", "Female"): screened(columns=(COPIED,)),
    Caution("partial_proxy"): screened(columns=(TELLING,)),
    Caution("protected_features"): with_feature(name="marital_status"),
    Caution("sensitive_features"): with_part("config", use_sensitive=True),
    Caution("regrouped", "Female"): with_column(1, regrouped=Regrouped(left_out={"x": 3})),
    Caution("alike_groups", "Female"): with_column(1, regrouped=Regrouped(alike=(("F", "f"),))),
    Caution("unused_rows"): with_part("config", sizes=(60, 20, 20)),
    Caution("weak_split"): weakly_split(),
    Caution("class_weighted"): class_weighted("auto"),
    **{Caution(kind): with_table(remarks=(Remark(kind, "a"), Remark(kind, "b"))) for kind in get_args(RemarkKind)},
    Caution("imputed"): with_feature(kind="numeric", missing=1),
    Caution("missing"): with_feature(kind="categorical", missing=1),
    Caution("dropped"): with_table(dropped=("town",)),
    Caution("unseen"): with_table(unseen={"town": 1}),
    Caution("pooled"): with_table(pooled={"zip": 900}),
    Caution("unscaled"): with_part("config", standardise=False),
    Caution("missed_rate", rank=6): missed_rate(0.02, tied=1),
    Caution("undetermined", rank=6): with_model(6, undetermined=Parts(0, 2)),
    Caution("solver_failed"): with_part("enumeration", stopped="solver"),
    Caution("solver_replaced"): calm().but(lapse=SolverLapse("osqp", "path", "it hung")),
    Caution("over_time"): calm().but(spending=Spending(5.0, 6.1, 6.0)),
    Caution("time_spent"): calm().but(spending=Spending(5.0, cut=(CutStage("range", "time", True),))),
    Caution("budget_spent"): with_part("enumeration", stopped="nodes"),
    Caution("guided_skipped"): calm().but(guided=GuidedRun("skipped", obstacle="no_holdout")),
    Caution("constant"): with_model(3, is_constant=True),
    Caution("few_predictors"): with_part("enumeration", ties=MarginTies(6, 5)),
    Caution("order"): with_model(2, is_order_certified=False),
}


def test_nothing_calls_for_no_caution():
    assert cautions(calm()) == ()
    assert calm().selection.rank == 6


def test_every_code_is_tried():
    assert [caution.code for caution in CHANGES] == [*entries(AuditDocument)]


@pytest.mark.parametrize("caution", CHANGES, ids=lambda caution: caution.code)
def test_one_change_calls_for_one_caution(caution):
    assert cautions(CHANGES[caution]) == (caution,)


@pytest.mark.parametrize(
    "document",
    [
        without_sensitive().but(guided=GuidedRun("skipped", obstacle="no_sensitive_column")),
        calm().but(status="interrupted"),  # what was cut short came after the models
        calm().but(spending=Spending(5.0)),  # kept
        calm().but(guided=GuidedRun("skipped", obstacle="no_time")),  # what was cut is told together
        with_model(3, undetermined=Parts(0, 2)),  # not on the shortlist
        with_model(6, undetermined=Parts(2, 0)),  # where it was chosen, not where it is judged
        with_part("selection", strip=(cell(COLUMN, NOTABLE_GROWTH),)),  # it has a verdict of its own
        with_change("Female", NOTABLE_GROWTH - 1e-6),
        with_change("Female", None),
        screened(features=(SingleFeature("town", 0.78),)),  # 93 % of what model 1 knows
        screened(features=(SingleFeature("town", 0.79),), model_auc=0.69),
        screened(columns=(ScreenedColumn("Female", ("0", "1"), 1.0, (SingleFeature("town", 0.94),)),)),
        screened(
            columns=(ScreenedColumn("Female", ("0", "1"), 1.0, (SingleFeature("town", 0.94, 0.5),)),)
        ),  # by chance
        screened(columns=(ScreenedColumn("Female", ("0", "1"), 1.0, (SingleFeature("town", 0.69, 0.6),)),)),
        screened(features=(SingleFeature("town", 0.7, 0.6, 0.97),), commoner=0.9),  # avoids 70 % of mistakes
        in_use(has_score=True, auc=Estimate(0.4, 0.3, 0.5), balanced_agreement=Estimate(0.4, 0.3, 0.5)),
        in_use(cutoff=0.5, balanced_agreement=Estimate(0.2, 0.1, 0.3)),  # told of the score that it was made from
        with_table(label="granted", favourable="1", unfavourable="0"),
        with_feature(name="account_age"),
        low_power(NOTABLE_DIFFERENCE),
        low_power(None),
        class_weighted("balanced"),  # as was asked for
        class_weighted("auto", "none"),
    ],
    ids=range(23),
)
def test_what_is_no_reason_for_a_caution(document):
    found = {caution.code for caution in cautions(document)}
    absent = {"interrupted", "time_spent", "over_time", "guided_skipped", "undetermined", "wider_gap", "low_power"}
    absent |= {"leak", "proxy", "partial_proxy", "protected_features", "class_weighted"}
    assert not found & (absent | {"reversed_score", "reversed_decisions", "swapped_favourable"})


@pytest.mark.parametrize(
    "feature",
    [SingleFeature("town", 0.95), SingleFeature("town", 0.7, 0.6, 0.981)],
    ids=["nearly certain", "nearly always right, where a label is rare"],
)
@pytest.mark.parametrize("model_auc", [0.6, 0.999, None])
def test_a_feature_that_knows_the_label_is_a_leak_however_good_model_1_is(feature, model_auc):
    found = cautions(screened(features=(feature,), model_auc=model_auc, commoner=0.9))
    assert found == (Caution("leak"),)


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


def test_another_share_than_that_in_use_is_told_once_and_only_of_models_cut_at_the_sign():
    assert cautions(selecting(0.9 * NOTABLE_MOVE)) == ()
    assert cautions(selecting(NOTABLE_MOVE)) == (Caution("incumbent_rate"),)
    elsewhere = with_part("config", decide="threshold=0.1")
    assert cautions(selecting(NOTABLE_MOVE, elsewhere)) == ()
    nobody = selecting(NOTABLE_MOVE)
    assert cautions(nobody.but(incumbent=nobody.incumbent.but(is_constant=True))) == (Caution("incumbent_constant"),)
    also_moved = moved("selection_rate", NOTABLE_MOVE)
    assert cautions(selecting(NOTABLE_MOVE, also_moved)) == (Caution("moved_selection"),)


def test_both_splits_are_looked_at():
    found = cautions(with_group(1, holdout=0, selection=0, holdout_positives=0))
    assert found == (Caution("single_group", "Female", "selection"), Caution("single_group", "Female", "holdout"))


def test_the_difference_that_can_go_unseen_is_the_largest_of_model_1_in_the_primary_column():
    assert unseen_difference(low_power(0.3), COLUMN) == 0.3
    assert unseen_difference(calm().but(group_tables=()), COLUMN) is None
    others = tuple(table for table in low_power(0.3).group_tables if (table.rank, table.column) != (1, COLUMN))
    assert unseen_difference(calm().but(group_tables=others), COLUMN) is None


@pytest.mark.parametrize(
    ("whole", "claim", "expected"),
    [
        ("open", "fairer", True),
        ("same", "fairer", True),
        (None, "fairer", True),
        ("fairer", "fairer", False),  # all groups are closer together
        ("less fair", "fairer", False),  # another pair is farther apart, which is no open question
        ("open", "open", False),  # nothing is shown, of which a part could be open
        ("open", "less fair", False),
    ],
)
def test_a_claim_about_two_groups_leaves_the_others_open_unless_all_are_judged(whole, claim, expected):
    found = {caution.code for caution in cautions(of_pair(whole, claim))}
    assert ("others_open" in found) == expected
    assert "others_open" not in {caution.code for caution in cautions(calm())}, "one pair, and no other group"


def told(document: AuditDocument, code: str, column: str) -> str:
    (words,) = caution_texts(document.but(warnings=(Caution(code, column),)))
    return words


def test_what_a_claim_about_two_groups_leaves_open_is_another_group_or_another_rate():
    three = with_third_group().but(selection=of_pair("open").selection)
    assert told(three, "others_open", COLUMN) == (
        f"{COLUMN}: the demographic parity gap between 0 and 1 is shown to be smaller, that over all groups is not "
        "(0.200 to 0.300): whether another group is now worst off is open"
    )
    assert told(of_pair("open", metric=ODDS), "others_open", COLUMN) == (
        f"{COLUMN}: the equalized odds gap between 0 and 1 in true positive rate is shown to be smaller, that over all "
        "groups and rates is not (0.200 to 0.300): whether they are now farther apart in the other rate is open"
    )


def test_rows_of_one_firm_are_allowed_for_except_where_decisions_can_flip():
    document = with_table(origin=torn(members=1000)).but(ambiguity=None)
    words = (
        f"firm: {document.dataset.rows} rows share 1000 values; intervals and verdicts allow for rows of one value "
        "that resemble each other"
    )
    assert told(document, "related_rows", "firm") == words
    assert told(document.but(ambiguity=AMBIGUOUS), "related_rows", "firm") == (
        f"{words}; those of the shares of people whose decision can flip do not"
    )


def test_facts_about_the_search_are_the_last():
    assert [caution.code for caution in cautions(read("audit"))] == [
        "not_confirmed",
        "wider_gap",
        "small_group",
        "small_group",
        "small_group",
        "few_trials",
        "low_power",
        "protected_features",
        "unused_rows",
        "few_predictors",
    ]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("features", "ranks 500 rows much better (AUC 0.980) than models of the features, cross-validated on them, do"),
        ("training", "ranks the 500 rows to train on much better (AUC 0.980) than the other 400 rows (0.700)"),
        ("refitted", "ranks 500 rows much better (AUC 0.980) than the same kind of model, fitted again, ranks rows"),
        ("marked", "ranks 500 rows much better (AUC 0.980) than the 400 rows that it is said to have been fitted on"),
    ],
)
def test_a_score_that_is_too_good_is_compared_in_words(kind, words):
    found = entries(AuditDocument)["leaked_score"].words(corrected(kind), Caution("leaked_score"))
    assert words in found
    assert ("--incumbent-trained-on COLUMN" in found) == (kind != "marked")
