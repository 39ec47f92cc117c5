"""Every caution in words, with the numbers of its document."""

from typing import get_args

import pytest
from support.documents import (
    BROKEN,
    HELD,
    METRIC,
    audit,
    cell,
    chosen,
    german,
    near,
    scored,
    strip,
    with_model,
    with_reversed_order,
    with_small_group,
    with_third_group,
)

from fairenum.document.cautions import caution_texts
from fairenum.document.choice import Caution
from fairenum.document.feature_facts import ScreenedColumn, Screening, SingleFeature
from fairenum.document.models import GuidedRun, MarginTies
from fairenum.document.remark_words import remark_warnings
from fairenum.document.table_facts import Feature, Regrouped, Remark
from fairenum.document.terms import ListingEnd, Obstacle, RemarkKind, Verdict
from fairenum.document.training import ClassWeights
from fairenum.document.value import Parts
from fairenum.document.words import OBSTACLES, STOPPED
from fairenum.report.method_section import steps


def told(document, *facts, **named) -> str:
    (message,) = caution_texts(document.but(warnings=(Caution(*facts, **named),)))
    return message


def test_every_obstacle_and_every_ending_has_words():
    assert set(OBSTACLES) == set(get_args(Obstacle))
    assert set(STOPPED) == {word for part in get_args(ListingEnd) for word in get_args(part) or (part,)}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("interrupted", "the run was interrupted after 20 of 50 models"),
        (
            "exploratory",
            "models were selected and reported on rows that are not separate, so the selected one looks fairer than it "
            "is; a result that holds takes three parts: sizes='auto' (--split auto)",
        ),
        (
            "solver_failed",
            "solver 'path' found no proven answer after 544 models with distinct supports, so later ones are missing; "
            "try another solver or a smaller C",
        ),
        ("unscaled", "numbers were not standardised, so columns of large numbers weigh more than others"),
        ("sensitive_features", "the models learn from the sensitive columns, too"),
        ("no_sensitive", "no sensitive column was named: accuracy and disagreement are reported, parity is not"),
        (
            "not_confirmed",
            "the selected model looks fairer on the rows it was selected by, but the holdout leaves that open",
        ),
    ],
)
def test_what_the_code_says(code, message):
    assert told(audit(verdict="open"), code) == message


def test_weighted_classes_are_told_with_the_reason_and_the_way_back():
    weights = ClassWeights(0.556, 5.0, plain_selection_rate=0.975)
    assert told(audit().but(class_weights=weights), "class_weighted") == (
        "without class weights the model selects 97.5 % of the selection split, so the balanced one was audited: a "
        "violated margin costs 0.556 times C for a favourable row and 5 times for an unfavourable one; "
        "class_weight='none' (--class-weight none) keeps the model without weights; model 1 selects 81.0 % where "
        "70.0 % of the rows have the label: decide='base-rate' (--decide base-rate) cuts it there"
    )
    first, *_ = [step for step in steps(audit().but(class_weights=weights)) if "Support vector machines" in step]
    assert "C = 1, times 0.556 for favourable and 5 for unfavourable rows, were enumerated" in first
    assert not [step for step in steps(audit()) if "unfavourable rows" in step]


@pytest.mark.parametrize(
    ("performance", "advice"),
    [
        ("accuracy", "performance='balanced_accuracy' (--performance balanced_accuracy) limits that loss"),
        (
            "balanced_accuracy",
            "a max_performance_drop (--max-performance-drop) below 0.02 allows less of it on the selection split",
        ),
    ],
)
def test_advice_is_not_to_set_what_is_set(performance, advice):
    document = audit()
    tolerances = document.selection.tolerances.but(performance=performance, max_performance_drop=0.02)
    document = document.but(selection=document.selection.but(tolerances=tolerances))
    assert told(document, "lost_balance").endswith(f"; {advice}")


def test_features_that_give_away_are_named_with_their_numbers():
    found = [SingleFeature("zip", 0.81, 0.7), SingleFeature("job", 0.72, 0.6), SingleFeature("car", 0.71, 0.6)]
    columns = ScreenedColumn("age", ("a", "b"), 0.9, (*found, SingleFeature("pet", 0.7, 0.6)))
    rare = SingleFeature("letter", 0.93, 0.9, 0.981)
    document = audit().but(screening=Screening(100, 0.99, (rare,), (), (columns,), commoner=0.9))
    assert told(document, "partial_proxy") == (
        "by these features models can tell sensitive groups apart: 'zip' (age, AUC 0.810), 'job' (age, AUC 0.720), "
        "'car' (age, AUC 0.710) and 1 more; drop=['zip', 'job', 'car'] (--drop zip --drop job --drop car) shows what "
        "models can do without them"
    )
    assert told(document, "leak").startswith(
        "'letter' alone predicts the label with AUC 0.930, right for 98.1 % of rows where a guess is for 90.0 %, model "
        "1 with AUC 0.990: check that it is known"
    )


def test_protected_features_are_named_with_what_to_do():
    document = audit()
    features = (*document.dataset.features[:1], *(Feature(name, "numeric", 0) for name in ("sex", "is_married")))
    assert told(document.but(dataset=document.dataset.but(features=features)), "protected_features") == (
        "the models learn from 'sex', 'is_married', by name protected characteristics, and no gap by that is measured; "
        "name them as sensitive (--sensitive), too, or leave them out with drop=['sex', 'is_married'] (--drop sex "
        "--drop is_married)"
    )


@pytest.mark.parametrize(("stopped", "option"), [("nodes", "max_nodes"), ("time", "max_seconds")])
def test_a_limit_is_named_with_the_option_that_raises_it(stopped, option):
    document = audit()
    document = document.but(enumeration=document.enumeration.but(stopped=stopped))
    assert told(document, "budget_spent") == (
        f"the enumeration stopped at its limit of {stopped} with 20 of 50 models; raise {option} to look further"
    )


def test_a_skipped_search_says_what_kept_it():
    document = audit().but(guided=GuidedRun("skipped", obstacle="cut_short"))
    assert told(document, "guided_skipped") == "there was no guided search: the enumeration was cut short"


@pytest.mark.parametrize(
    ("ties", "models", "words"),
    [
        (
            MarginTies(181, 6),
            1,
            "544 models with distinct supports are one predictor: 181 examples lie on the margin of the best model "
            "where 6 determine it, so many of them can be left out without any change",
        ),
        (
            MarginTies(9, 5, 7),
            1,
            "544 models with distinct supports are one predictor: 9 examples lie on the margin of the best model where "
            "5 determine it, so many of them can be left out without any change; it is proven that no decision about "
            "anyone changes unless at least 7 training records are left out, whichever they are",
        ),
        (
            MarginTies(6, 6),
            5,
            "544 models with distinct supports are only 5 different predictors: leaving out a supporting example moves "
            "these planes less than the distance to the next audited row",
        ),
    ],
)
def test_few_predictors_have_their_reason(ties, models, words):
    document = audit()
    assert told(document.but(enumeration=document.enumeration.but(ties=ties, models=models)), "few_predictors") == words


def test_cells_and_columns_are_counted_and_named():
    document = audit()
    first, second, *rest = document.dataset.features
    features = (
        first.but(name="debt", kind="numeric", missing=3),
        second.but(name="job", kind="categorical", missing=2),
        *(one.but(missing=0) for one in rest),
    )
    document = document.but(dataset=document.dataset.but(features=features, dropped=("a",), unseen={"b": 4, "c": 1}))
    assert told(document, "imputed") == (
        "missing cells in 'debt' were given the median of the training rows (3 in all)"
    )
    assert told(document, "missing") == "missing cells in 'job' count as a value of their own (2 in all)"
    assert told(document, "dropped") == "features that do not vary in the training rows were left out: 'a'"
    assert told(document, "unseen") == "values in 'b', 'c' that no training row has count as none (5 in all)"


REMARKS = {
    Remark("guessed_delimiter", detail=";"): (
        "the cells of the file were taken to be separated by semicolons, as if delimiter=';' (--delimiter ';') "
        "were given"
    ),
    Remark("guessed_delimiter", detail="\t"): (
        "the cells of the file were taken to be separated by tabs, as if delimiter='\\t' (--delimiter tab) were given"
    ),
    Remark("guessed_encoding", detail="Windows-1252"): (
        "the file is not UTF-8 and was read as Windows-1252; if letters look wrong, save it as UTF-8"
    ),
    Remark("row_numbers"): "the first column of the file has no name and numbers the rows; it was left out",
    Remark("constant_column", "x", "7"): "columns that hold one value were left out (1 in all): 'x'",
    Remark("empty_column", "x"): "empty columns were left out (1 in all): 'x'",
    Remark("date_column", "a day"): (
        "columns of dates were left out: 'a day'; turn them into numbers, such as a year or days since, or take each "
        "date for a value of its own with categorical_columns=['a day'] (--categorical-column 'a day')"
    ),
    Remark("identifier_text", "x", count=60): (
        "columns of texts that look like identifiers were left out: 'x' (60 different); if they are values to learn "
        "from, use them with categorical_columns=['x'] (--categorical-column x)"
    ),
    Remark("free_text", "x", count=60): (
        "columns of free text were left out: 'x' (60 different); turn them into numbers or a few values"
    ),
    Remark("object_column", "x", "list"): (
        "columns that hold neither numbers nor texts were left out: 'x' (list); turn them into numbers or texts"
    ),
    Remark("identifier_number", "x", count=60): (
        "'x' (60 different) looks like an identifier, from which models learn nothing that holds for other rows; "
        "leave it out with drop=['x'] (--drop x)"
    ),
    Remark("written_numbers", "x", "$1,234"): (
        "read as numbers: 'x' (written as $1,234); if they are codes, take them for texts with "
        "categorical_columns=['x'] (--categorical-column x)"
    ),
    Remark("code_numbers", "x", count=60): (
        "numbers that are named like codes were read as numbers: 'x' (60 different); take them for values without an "
        "order with categorical_columns=['x'] (--categorical-column x)"
    ),
    Remark("missing_marks", "x", "'n/a', '-'", 12): (
        "texts among numbers were read as missing: 'x' (12 cells: 'n/a', '-'); if they mean a number, such as 0, write "
        "it; if they are values of their own, read the column as texts with categorical_columns=['x'] "
        "(--categorical-column x)"
    ),
    Remark("member_column", "officer", count=40): (
        "'officer' (40 different) looks like persons, firms or officers with several rows each, which a random split "
        "tears apart and intervals take for independent; with group_column='officer' (--group-column officer) rows of "
        "one value stay together, intervals allow for their likeness, and models do not learn from it"
    ),
    Remark("repeated_members", "officer", count=40): (
        "'officer' (40 different) looks like persons, firms or officers with several rows each, which intervals take "
        "for independent; with group_column='officer' (--group-column officer) they allow for their likeness"
    ),
}


@pytest.mark.parametrize(("remark", "message"), REMARKS.items(), ids=lambda one: getattr(one, "kind", ""))
def test_what_was_noticed_is_told_with_the_option_that_changes_it(remark, message):
    document = audit()
    assert told(document.but(dataset=document.dataset.but(remarks=(remark,))), remark.kind) == message


def test_columns_of_one_kind_are_told_together():
    remarks = [Remark("identifier_number", name, count=60) for name in ("a", "b")]
    (message,) = remark_warnings(remarks)
    assert message.startswith("'a' (60 different), 'b' (60 different) look like identifiers, ")
    assert message.endswith("leave them out with drop=['a', 'b'] (--drop a --drop b)")
    assert len(list(remark_warnings([*remarks, Remark("empty_column", "c")]))) == 2
    assert {remark.kind for remark in REMARKS} == set(get_args(RemarkKind))


def test_rare_values_are_counted_with_their_limit():
    document = audit()
    message = told(document.but(dataset=document.dataset.but(pooled={"zip": 2900, "job": 3})), "pooled")
    assert message == (
        "rare values count as one, 2900 of 'zip', 3 of 'job': more than 100 values were seen in training; another "
        "limit is max_levels=200 (--max-levels 200), or leave them out with drop=['zip', 'job'] (--drop zip --drop job)"
    )


def test_groups_are_named():
    document = with_small_group(audit())
    few = "age: groups with fewer than 30 rows in a split: '> 25'"
    assert told(document, "small_group", "age") == (
        f"{few}; fewer than two groups are larger, so all are compared: do not rely on these gaps"
    )
    assert told(with_third_group(document), "small_group", "age") == few
    assert told(document.but(config=document.config.but(small_groups="keep")), "small_group", "age") == few
    assert told(document, "single_group", "age", "holdout") == (
        "age: the holdout holds one group only, so its gaps say nothing"
    )
    assert told(german(), "low_power", "age") == (
        "age: with these group sizes a difference in selection rate below 0.19 can go unseen"
    )


def test_what_becomes_of_groups_is_told():
    document = with_third_group(audit(), name="unclear", is_small=True, is_compared=False)
    assert told(document, "set_aside", "age") == (
        "age: shown, but set aside from gaps, search and choice: fewer than 30 rows in a split: 'unclear'; "
        "small_groups='keep' (--small-groups keep) brings them back, merge (--merge) joins them"
    )
    document = with_third_group(document, name="(missing)", is_compared=False)
    assert "'unclear'; without a value: '(missing)'; small_groups" in told(document, "set_aside", "age")
    few = with_third_group(audit(small=True), name="(missing)", is_small=True, is_compared=False)
    assert "choice: without a value: '(missing)'; small_groups" in told(few, "set_aside", "age")
    made = Regrouped({"Other": ("a", "b")}, {"x": 3, "y": 1}, (("F", "f"), ("M", "m")))
    column = document.dataset.sensitive[0].but(regrouped=made, is_intersection=True)
    document = document.but(dataset=document.dataset.but(sensitive=(column,)))
    assert told(document, "regrouped", "age") == (
        "age: 'Other' joins 'a', 'b'; rows left out of the audit: 3 of 'x', 1 of 'y'"
    )
    assert told(document, "alike_groups", "age") == (
        "age: groups that differ by case or blanks only: 'F', 'f'; 'M', 'm'; tidy_groups=True (--tidy-groups) joins "
        "them"
    )
    assert told(document, "set_aside", "age").endswith("(--small-groups keep) brings them back")
    columns = tuple(column.but(column=name, is_intersection=False) for name in ("sex", "age"))
    two = document.but(dataset=document.dataset.but(sensitive=columns))
    assert told(two, "no_intersection") == (
        "sex & age: too many groups to compare two by two or to show; join some with merge (--merge)"
    )


def test_models_are_counted():
    one = with_model(audit(), 2, is_constant=True, is_order_certified=False)
    assert told(one, "constant") == ("model 2 decides all rows of the selection split alike, and cannot be selected")
    assert told(with_model(one, 4, is_constant=True), "constant").startswith("2 models decide all rows")
    uncertain = sum(not model.is_order_certified for model in one.models)
    assert told(one, "order") == f"the proven intervals do not settle the order of {uncertain} models: they are ties"


@pytest.mark.parametrize(
    ("interval", "message"),
    [
        ((0.25, 0.25), "7 holdout rows lie exactly on the plane of model 3; they count as favourable"),
        (
            (-0.123456, None),
            "the optimum of model 3 leaves the decision on 7 holdout rows open: every bias from -0.1235 to infinity is "
            "optimal, and its middle is used",
        ),
    ],
)
def test_open_decisions_say_why(interval, message):
    document = with_model(audit(), 3, undetermined=Parts(0, 7), bias_interval=interval)
    assert told(document, "undetermined", rank=3) == message


def test_gaps_that_are_wider_are_told_apart_from_those_that_look_it():
    odds = cell("equalized_odds_difference", 0.1, "less fair", "sex")
    document = chosen(audit(), strip=(*strip(), odds, cell(METRIC, 0.09, "open", "sex", 0.024)))
    assert told(document, "wider_gap", "sex") == (
        "sex: from model 1 to model 3 the gap on the holdout is wider in equalized odds (0.175 to 0.275); it looks "
        "wider in demographic parity (0.024 to 0.114)"
    )


def test_what_else_gets_worse_is_told():
    document = chosen(audit(), guards=(HELD, BROKEN))
    assert told(document, "broken_guard") == (
        "on the holdout the selected model is shown to break worst_group_selection_rate>=-0.1 (> 25: -0.200)"
    )
    doubtful = BROKEN.but(status="open", holdout=near(-0.12, 0.05))
    assert "goes beyond worst_group" in told(chosen(document, guards=(doubtful,)), "broken_guard")
    changed = scored(document, 3, selection_rate=near(0.95), balanced_accuracy=near(0.6))
    assert told(changed, "moved_selection") == (
        "the selected model selects more: 95.0 % of the holdout instead of 80.0 %; it selects nearly everybody, where "
        "any gap is small; decide='base-rate' (--decide base-rate) compares models at equal rates"
    )
    assert told(changed, "lost_balance") == (
        "balanced accuracy changes by -0.102 on the holdout, from 0.702 to 0.600; performance='balanced_accuracy' "
        "(--performance balanced_accuracy) limits that loss"
    )
    nobody = scored(document, 3, selection_rate=near(0.05))
    assert "selects fewer: 5.0 % of the holdout instead of 80.0 %; it selects nearly nobody" in told(
        nobody, "moved_selection"
    )
    assert told(document, "levelled_down", "age").startswith("age: levelling down: the gap is smaller because")
    assert told(document, "few_trials", "age") == (
        "age: fewer than 30 rows of the holdout stand behind true positive rate of <= 25 (22 rows), false positive "
        "rate of <= 25 (16 rows), precision of <= 25 (25 rows)"
    )
    assert "equal opportunity: true positive rate of <= 25 0.818 to 1.000, of > 25 0.941 to 0.763" in told(
        with_reversed_order(audit()), "reversed", "age"
    )


def test_a_reference_that_disagrees_is_told():
    document = audit()
    document = document.but(reference_check=document.reference_check.but(largest_difference=0.0123))
    assert told(document, "reference") == "a gap differs by 0.012 from fairlearn's; do not rely on this result"


def test_long_messages_are_cut():
    document = audit()
    document = document.but(dataset=document.dataset.but(dropped=("x" * 5000,)))
    assert len(told(document, "dropped")) <= 400


def test_a_larger_gap_on_the_holdout_is_said_in_words():
    document = chosen(audit(verdict="open"), strip=(cell(METRIC, 0.03, "open"),))
    assert told(document, "not_confirmed").endswith("but its gap on the holdout is larger than model 1's")
    same = audit(verdict="same")
    assert told(same, "not_confirmed").endswith("but it has the gap of model 1 within 0.02 on the holdout")


def test_verdicts_are_words_in_a_sentence():
    document = audit()
    document = document.but(selection=document.selection.but(verdict=Verdict.LESS_FAIR))
    assert told(document, "not_confirmed").endswith("but it is less fair on the holdout")
