"""Group tables in adverse-impact form, from the counts that a document holds."""

import pytest
from scipy.stats import binomtest
from sklearn.metrics import precision_score, recall_score
from support.audits import people

from fairenum.auditing.group_tables import group_tables, reference_check
from fairenum.document.cautions import REFERENCE_AGREES
from fairenum.document.consequences import rates_of


def test_there_is_a_table_of_every_column_for_model_1_and_the_selected_one(exact):
    assert [(table.rank, table.column) for table in exact.group_tables] == [
        (rank, column) for column in ("sex", "race", "sex & race") for rank in (1, exact.selection.rank)
    ]


def test_group_tables_have_the_adverse_impact_form(exact):
    for table in exact.group_tables:
        column = next(column for column in exact.dataset.sensitive if column.column == table.column)
        sizes = {group.name: group.holdout for group in column.groups}
        best = next(group for group in table.groups if group.group == table.most_selected)
        reference = next(group for group in table.groups if group.group == table.reference)
        for group in table.groups:
            assert group.n == sizes[group.group]
            assert group.rate.value == pytest.approx(group.selected / group.n)
            assert group.rate.low <= group.rate.value <= group.rate.high
            assert group.ratio == pytest.approx(group.rate.value / best.rate.value)
            assert group.difference.value == pytest.approx(group.rate.value - reference.rate.value)
            assert group.is_small == (group.n < 30)
            assert (group.p is None) == (group.group == table.reference)
            short = group.n * best.rate.value - group.selected
            assert group.shortfall == pytest.approx(max(0.0, short), abs=1e-9)


def test_the_counts_are_those_of_the_rows(exact_run, exact):
    rows = exact_run.live.division.rows["holdout"]
    shown = people().iloc[rows].assign(selected=exact_run.estimator(1).predict(people().iloc[rows]) == "yes")
    table = next(table for table in exact.group_tables if (table.rank, table.column) == (1, "race"))
    assert {group.group: group.selected for group in table.groups} == shown.groupby("race")["selected"].sum().to_dict()


BY_LABEL = ("true_positive_rate", "false_positive_rate")  # what labels in proportion tell nothing more about


@pytest.mark.parametrize("rank", [1, 2])
def test_every_rate_of_a_group_is_scikit_learns_with_wilsons_limits(exact_run, exact, rank):
    rows = exact_run.live.division.rows["holdout"]
    shown = people().iloc[rows]
    decided = exact_run.estimator(rank).predict(shown) == "yes"
    truth = (shown[exact.dataset.label].astype(str) == exact.dataset.favourable).to_numpy()
    tables = group_tables(exact.dataset, [exact.models[rank - 1]], exact.config)
    (table,) = [one for one in tables if one.column == "race"]
    for group in table.groups:
        own = (shown["race"] == group.group).to_numpy()
        y, z = truth[own], decided[own]
        rates = {
            "true_positive_rate": (recall_score(y, z), z[y].sum(), y.sum()),
            "false_positive_rate": (1 - recall_score(~y, ~z), z[~y].sum(), (~y).sum()),
            "precision": (precision_score(y, z, zero_division=0), y[z].sum(), z.sum()),
            "base_rate": (y.mean(), y.sum(), len(y)),
        }
        for name, (value, outcomes, trials) in rates.items():
            found = getattr(group, name)
            assert found.value == pytest.approx(value, abs=1e-12)
            if trials >= 30 and name in BY_LABEL:
                limits = binomtest(int(outcomes), int(trials)).proportion_ci(method="wilson")
                assert (found.low, found.high) == pytest.approx((limits.low, limits.high))
            assert found.low <= found.value <= found.high


def test_the_counts_of_the_document_give_the_same_rates(exact):
    for table in exact.group_tables:
        (column,) = [one for one in exact.dataset.sensitive if one.column == table.column]
        for row, counted in zip(table.groups, rates_of(exact, table.rank, column), strict=True):
            assert counted.rates["selection_rate"] == pytest.approx(row.rate.value)
            for rate in ("true_positive_rate", "false_positive_rate", "precision", "base_rate"):
                assert counted.rates[rate] == pytest.approx(getattr(row, rate).value)
            assert counted.trials["selection_rate"] == counted.trials["base_rate"] == row.n
            assert counted.trials["precision"] == row.selected


def test_a_small_group_is_no_measure_for_the_others(exact):
    """A group of one with a rate of 1 would make everybody else look unfairly treated."""
    race, scores = exact.dataset.sensitive[1], exact.first.scores
    positives = [group.holdout_positives for group in race.groups]
    size = race.groups[2].holdout
    everybody = scores.holdout.by_column["race"].but(
        selected=(*positives[:2], size), true_positives=tuple(positives)
    )  # of a and b those with a favourable label, of c everybody
    by_column = {**scores.holdout.by_column, "race": everybody}
    model = exact.first.but(scores=scores.but(holdout=scores.holdout.but(by_column=by_column)))
    table = exact.dataset.but(sensitive=(race,))
    (shown,) = group_tables(table, [model], exact.config.but(min_group_size=size + 1))
    assert shown.groups[2].rate.value == 1.0
    assert shown.most_selected != "c"
    (shown,) = group_tables(table, [model], exact.config.but(min_group_size=0))
    assert shown.most_selected == "c"
    (shown,) = group_tables(table, [model], exact.config.but(min_group_size=1000))
    assert shown.most_selected == "c"  # where all are small, small groups have to do


def test_fairlearn_agrees(exact):
    check = exact.reference_check
    assert check.library == "fairlearn"
    assert check.ranks == (1, exact.selection.rank)
    assert check.largest_difference < 1e-12
    assert check.compared == 14


def test_fairlearn_would_notice(exact):
    scores = exact.first.scores
    gap = scores.holdout.demographic_parity_difference
    wrong = scores.holdout.but(demographic_parity_difference=gap.but(value=gap.value + 0.25))
    model = exact.first.but(scores=scores.but(holdout=wrong))
    check = reference_check(exact.dataset, [model])
    assert check.largest_difference == pytest.approx(0.25)
    assert check.largest_difference > REFERENCE_AGREES
    assert check.compared == 7


def test_without_a_primary_column_there_is_nothing_to_compare(exact):
    table = exact.dataset.but(sensitive=())
    check = reference_check(table, exact.models[:1])
    assert (check.compared, check.largest_difference) == (0, 0.0)
    assert group_tables(table, exact.models[:1], exact.config) == ()
