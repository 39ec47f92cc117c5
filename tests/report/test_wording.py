"""Every caution in words, with the numbers of its document."""

from typing import get_args

import pytest
from samples import METRIC, audit, gap, saved, scored, with_model, with_small_group, with_third_group

from fairenum.document.choice import Caution
from fairenum.document.models import GuidedRun, MarginTies
from fairenum.document.table import Regrouped
from fairenum.document.terms import CautionCode, ListingEnd, Obstacle, Verdict
from fairenum.document.value import Parts
from fairenum.report.wording import OBSTACLES, STOPPED
from fairenum.report.wording.cautions import MESSAGES, warnings


def told(document, *facts, **named) -> str:
    (message,) = warnings(document.but(warnings=(Caution(*facts, **named),)))
    return message


def test_every_code_has_words():
    assert set(MESSAGES) == set(get_args(CautionCode))
    assert set(OBSTACLES) == set(get_args(Obstacle))
    assert set(STOPPED) == {word for part in get_args(ListingEnd) for word in get_args(part) or (part,)}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("interrupted", "the run was interrupted after 20 of 50 models"),
        (
            "exploratory",
            "models were selected and reported on rows that are not separate, so the selected one looks fairer than it "
            "is; a result that holds takes three parts: sizes=(0.6, 0.2, 0.2) (--split 0.6,0.2,0.2)",
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
            "the selected model looks fairer on the rows it was selected by, but is not distinguishable on the holdout",
        ),
    ],
)
def test_what_the_code_says(code, message):
    assert told(audit(verdict="not distinguishable"), code) == message


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


def test_groups_are_named():
    document = with_small_group(audit())
    few = "age: groups with fewer than 30 rows in a split: '> 25'"
    assert told(document, "small_group", "age") == (
        f"{few}; less than two are larger, so that all are compared: do not rely on these gaps"
    )
    assert told(with_third_group(document), "small_group", "age") == few
    assert told(document, "single_group", "age", "holdout") == (
        "age: the holdout holds one group only, so its gaps say nothing"
    )
    assert told(saved("german"), "low_power", "age") == (
        "age: with these group sizes a difference in selection rate below 0.20 can go unseen"
    )


def test_what_becomes_of_groups_is_told():
    document = with_third_group(audit(), name="unclear", is_small=True, is_compared=False)
    assert told(document, "set_aside", "age") == (
        "age: shown, but set aside from gaps, search and choice: fewer than 30 rows in a split: 'unclear'; "
        "small_groups='keep' (--small-groups keep) brings them back, merge (--merge) joins them"
    )
    document = with_third_group(document, name="(missing)", is_compared=False)
    assert "'unclear'; without a value: '(missing)'; small_groups" in told(document, "set_aside", "age")
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


def test_another_column_that_loses_is_told():
    document = audit()
    for rank, value in ((1, 0.024), (3, 0.114)):
        columns = document.models[rank - 1].scores.holdout.by_column
        found = {**columns, "sex": columns["age"].but(**{METRIC: gap(value)})}
        document = scored(document, rank, by_column=found)
    assert told(document, "other_column", "sex") == (
        "sex: the demographic parity difference of model 3 is 0.114 against 0.024 of model 1 on the holdout, "
        "not distinguishable"
    )


def test_a_reference_that_disagrees_is_told():
    document = audit()
    document = document.but(reference_check=document.reference_check.but(largest_difference=0.0123))
    assert told(document, "reference") == "a gap differs by 0.012 from fairlearn's; do not rely on this result"


def test_long_messages_are_cut():
    document = audit()
    document = document.but(dataset=document.dataset.but(dropped=("x" * 5000,)))
    assert len(told(document, "dropped")) <= 400


def test_verdicts_are_words_in_a_sentence():
    document = audit()
    document = document.but(selection=document.selection.but(verdict=Verdict.NOT_FAIRER))
    assert told(document, "not_confirmed").endswith("but is not fairer on the holdout")
