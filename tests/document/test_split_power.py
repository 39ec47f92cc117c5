import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.documents import german
from support.simulation.known_gaps import PARITY, grouped, named

from fairenum.auditing.choosing import CLAIM
from fairenum.document.split_power import (
    AGREEMENT,
    POWER,
    confirmable_change,
    confirmable_words,
    powerful_shares,
    spelled_sizes,
    stronger_split,
)
from fairenum.document.table_facts import GroupSizes, SensitiveColumn, SplitSizes
from fairenum.metrics import Decisions
from fairenum.metrics.claims import Errors, FixedPair, FixedPairs, compare_chosen

COUNTS = st.integers(1, 10**7)


@pytest.mark.parametrize(
    ("rarer", "columns", "shares"),
    [
        (1000, 20, (0.4, 0.2, 0.4)),  # 2000 rows, labels alike
        (1000, 21, (0.45, 0.2, 0.35)),
        (500, 20, (0.5, 0.2, 0.3)),
        (2500, 20, (0.3, 0.2, 0.5)),
        (10**6, 50, (0.3, 0.2, 0.5)),
        (0, 3, (0.5, 0.2, 0.3)),
    ],
)
def test_training_gets_twenty_rows_of_the_rarer_label_for_each_column(rarer, columns, shares):
    assert powerful_shares(rarer, columns) == pytest.approx(shares, abs=1e-12)


@given(COUNTS, COUNTS)
def test_shares_use_all_rows_and_keep_their_limits(rarer, columns):
    train, selection, holdout = powerful_shares(rarer, columns)
    assert train + selection + holdout == pytest.approx(1.0, abs=1e-12)
    assert 0.3 <= train <= 0.5
    assert (selection, holdout >= 0.3) == (0.2, True)
    enough = 20 * columns <= train * 2 * rarer / 2 + 1e-6 * rarer
    assert enough or train == 0.5


@given(COUNTS, st.integers(1, 500))
def test_more_columns_never_train_on_fewer_rows_and_more_rows_never_on_a_larger_share(rarer, columns):
    train = powerful_shares(rarer, columns)[0]
    assert powerful_shares(rarer, columns + 1)[0] >= train >= powerful_shares(2 * rarer, columns)[0]


def test_other_kernels_train_on_half():
    assert powerful_shares(10**6, 3, is_linear=False)[0] == 0.5


@given(COUNTS, COUNTS, st.floats(0.5, 0.999), st.floats(0.5, 1.0))
def test_a_confirmable_change_is_a_share_and_shrinks_with_rows(first, other, confidence, agreement):
    found = confirmable_change(first, other, confidence, agreement)
    assert 0.0 < found <= 1.0
    assert confirmable_change(4 * first, 4 * other, confidence, agreement) <= found
    assert confirmable_change(other, first, confidence, agreement) == found


def test_a_group_without_rows_confirms_nothing():
    assert confirmable_change(0, 100, 0.95, 0.95) == 1.0


@pytest.mark.parametrize("agreement", [0.8, 0.95])
@pytest.mark.parametrize("sizes", [(400, 400), (1500, 300)])
def test_a_normal_test_of_that_change_has_the_stated_power(sizes, agreement):
    change, error = confirmable_change(*sizes, 0.96, agreement), np.sqrt((1 - agreement) * sum(1 / n for n in sizes))
    assert change == pytest.approx((stats.norm.isf(0.02) + stats.norm.ppf(POWER)) * error, rel=1e-12)
    assert stats.norm.sf(stats.norm.isf(0.02), change / error) == pytest.approx(POWER, abs=1e-12)


def test_models_cannot_change_a_gap_by_more_than_they_disagree():
    change = confirmable_change(20, 20, 0.96, 0.99)
    assert change > 2 * 0.01
    assert change == pytest.approx(confirmable_change(20, 20, 0.96, 1 - change / 2), rel=1e-12)


@pytest.mark.parametrize(
    ("sizes", "agreement", "least"),
    [((600, 600), 0.95, POWER - 0.06), ((1500, 500), 0.8, POWER - 0.06), ((400, 200), 0.95, POWER - 0.12)],
)
def test_the_package_confirms_such_a_change_about_as_often_as_stated(sizes, agreement, least):
    confidence, rng = 1.0 - CLAIM * 0.05, np.random.default_rng(30)
    change, codes = confirmable_change(*sizes, confidence, agreement), grouped(sizes)
    groups, labels = named(codes, 2), np.ones(len(codes), dtype=np.uint8)
    pair, errors = FixedPair("selection_rate", *groups.names), Errors(CLAIM * 0.025, 0.025)
    disputed, agreed = max(1 - agreement, change / 2), np.where(codes == 0, 0.7, 0.3)
    lost = (disputed + np.where(codes == 0, 1, -1) * change / 2) / 2  # chance of a row that only model 1 selects
    seen = []
    for _ in range(400):
        chance = rng.random(len(codes))
        both = (rng.random(len(codes)) < agreed).astype(np.uint8)
        first = np.where(chance < disputed, chance < lost, both)
        other = np.where(chance < disputed, chance >= lost, both)
        decisions = Decisions(np.array([first, other], dtype=np.uint8), labels, groups)
        seen.append(compare_chosen(decisions, 1, PARITY, FixedPairs(pair, pair), errors).change.upper < 0.0)
    assert least < np.mean(seen) < POWER + 0.1


def sized(name: str, rows: int, confirmable: float | None = None) -> GroupSizes:
    return GroupSizes(name, rows, rows, rows, rows // 2, rows // 2, is_small=False, confirmable=confirmable)


@given(st.integers(50, 2000), st.floats(1.3, 50.0), st.sampled_from([0.05, 0.2]))
def test_a_stronger_split_confirms_what_its_own_rows_would(rows, times, disputed):
    document, against = german(), "best" if disputed == 0.05 else "incumbent"
    own = confirmable_change(rows, rows, 0.96, 1 - disputed)
    primary = document.dataset.primary
    groups = tuple(group.but(confirmable=own) for group in primary.groups)
    splits = SplitSizes(100, 100, round(400 / times))
    table = document.dataset.but(sensitive=(primary.but(groups=groups),), splits=splits, encoded=("a",) * 6)
    weak = document.but(dataset=table, config=document.config.but(against=against))
    more = rows * 400 / splits.holdout
    assert stronger_split(weak).confirmable == pytest.approx(confirmable_change(more, more, 0.96, 1 - disputed))


def test_words_name_one_change_for_two_groups_and_a_range_for_more():
    two = SensitiveColumn("sex", True, False, "m", (sized("m", 300), sized("f", 200, 0.071)))
    assert confirmable_words(two, None) == (
        "a gap in sex that narrows by 0.07 or more can be confirmed (power 80 %; models that decide alike about 95 % "
        "of the rows)"
    )
    three = two.but(groups=(*two.groups, sized("x", 50, 0.2)))
    assert "narrows by 0.07 (largest groups) to 0.20 (smallest) or more" in confirmable_words(three, "incumbent")
    assert "about 80 % of the rows" in confirmable_words(three, "incumbent")
    assert confirmable_words(two.but(groups=two.groups[:1]), None) == ""
    assert set(AGREEMENT) == {"best", "incumbent"}


def test_a_weak_split_names_the_one_that_the_rule_gives():
    document = german()
    primary = document.dataset.primary
    groups = tuple(group.but(confirmable=0.12) for group in primary.groups)
    table = document.dataset.but(
        sensitive=(primary.but(groups=groups),), splits=SplitSizes(900, 50, 50), encoded=("a",) * 6
    )
    weak = document.but(dataset=table, requested=document.requested.but(sizes=(0.9, 0.05, 0.05)))
    assert document.dataset.rows == 1000
    assert table.class_counts.unfavourable == 300
    found = stronger_split(weak)  # 20 x 6 of 300 rows
    assert (found.sizes, found.holdout, spelled_sizes(found.sizes)) == ((0.4, 0.2, 0.4), 400, "0.4,0.2,0.4")
    assert found.confirmable == pytest.approx((0.05 * 2 * 0.12 * 50 / 400) ** 0.5)
    assert stronger_split(weak.but(requested=weak.requested.but(sizes="auto"))) is None
    assert stronger_split(weak.but(is_exploratory=True)) is None
    assert stronger_split(weak.but(dataset=table.but(splits=SplitSizes(400, 200, 400)))) is None
    unknown = tuple(group.but(confirmable=None) for group in groups)
    table = table.but(sensitive=(primary.but(groups=unknown),))
    assert stronger_split(weak.but(dataset=table)) is None
    assert spelled_sizes("auto") == "auto"
