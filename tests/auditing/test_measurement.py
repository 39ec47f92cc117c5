"""What is measured, against fairlearn, scikit-learn and scipy; counts against rows; and what leaves it open."""

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import accuracy_score, balanced_accuracy_score, precision_score, roc_auc_score
from support.decisions import decided_frame

from fairenum import MeasureConfig, MeasureResult, measure
from fairenum.document.files import parse, to_json
from fairenum.document.terms import Verdict
from fairenum.errors import ColumnMissing, ConfigError, DataError, ResultError

LABEL = {"label": "good", "favourable": "yes"}
FEW = {"replications": 50}


def codes(result):
    return [caution.code for caution in result.document.warnings]


def test_rates_gaps_and_ratios_are_those_of_fairlearn_and_scikit_learn():
    frame = decided_frame(600)
    decisions = measure(frame, "hired", "race", **LABEL).decisions()
    truth, decided, race = (frame["good"] == "yes").astype(int), frame["hired"], frame["race"]
    column = decisions.of_column("race")
    gaps = column.scores
    by = {"sensitive_features": race}
    assert gaps.demographic_parity_difference.value == pytest.approx(
        metrics.demographic_parity_difference(truth, decided, **by)
    )
    assert gaps.demographic_parity_ratio.value == pytest.approx(metrics.demographic_parity_ratio(truth, decided, **by))
    assert gaps.equalized_odds_difference.value == pytest.approx(
        metrics.equalized_odds_difference(truth, decided, **by)
    )
    rates = {
        "true_positive_rate": metrics.true_positive_rate,
        "false_positive_rate": metrics.false_positive_rate,
        "precision": precision_score,
        "accuracy": accuracy_score,
    }
    frames = metrics.MetricFrame(metrics=rates, y_true=truth, y_pred=decided, **by).by_group
    for group, more in zip(column.impact.groups, column.groups, strict=True):
        for name in rates:
            found = more.accuracy if name == "accuracy" else getattr(group, name)
            assert found.value == pytest.approx(frames.loc[group.group, name])
        own = truth[race == group.group]
        assert group.base_rate.value == pytest.approx(own.mean())
        wilson = stats.binomtest(int(own.sum()), len(own)).proportion_ci(method="wilson")
        assert (group.base_rate.low, group.base_rate.high) == pytest.approx((wilson.low, wilson.high))
    assert decisions.accuracy.value == pytest.approx(accuracy_score(truth, decided))
    assert decisions.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(truth, decided))


def test_the_impact_table_is_plain_counting():
    frame = decided_frame(500)
    table = measure(frame, "hired", "sex").decisions().of_column("sex").impact
    for group in table.groups:
        own = frame[frame["sex"] == group.group]["hired"]
        assert (group.n, group.selected) == (len(own), own.sum())
        assert group.rate.value == pytest.approx(own.mean())
    woman = next(group for group in table.groups if group.group == "woman")
    man = next(group for group in table.groups if group.group == "man")
    assert woman.ratio == pytest.approx(woman.rate.value / man.rate.value)
    assert woman.shortfall == pytest.approx(woman.n * man.rate.value - woman.selected)
    counts = [[woman.selected, woman.n - woman.selected], [man.selected, man.n - man.selected]]
    compared = man if table.reference == "woman" else woman
    assert compared.p == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue)


def test_a_score_is_measured_as_scikit_learn_and_counting_say():
    frame = decided_frame(500)
    score = measure(frame, (), "sex", score="points", **LABEL).document.score
    column, truth = score.of_column("sex"), frame["good"] == "yes"
    assert score.auc.value == pytest.approx(roc_auc_score(truth, frame["points"]))
    assert (score.least, score.median, score.most) == tuple(frame["points"].quantile([0, 0.5, 1]))
    for group, own in zip(column.scoring.groups, column.groups, strict=True):
        rows = frame[frame["sex"] == group.group]
        assert group.rate.value == pytest.approx((rows["points"] > score.median).mean())
        assert own.mean == pytest.approx(rows["points"].mean())
        assert own.deviation == pytest.approx(rows["points"].std())
        assert own.auc.value == pytest.approx(roc_auc_score(truth[rows.index], rows["points"]))
    assert len(column.sweep) == 19
    for point in column.sweep:
        assert point.accuracy.value == pytest.approx(((frame["points"] >= point.cutoff) == truth).mean())
    assert sum(sum(one.rows) for one in column.calibration) == len(frame)


def test_lower_scores_mirror_higher_ones():
    frame = decided_frame(300)
    high = measure(frame, (), "sex", score="points", cutoff=50, **LABEL, **FEW).document
    mirrored = frame.assign(points=-frame["points"])
    low = measure(mirrored, (), "sex", score="points", cutoff=-50, lower_is_better=True, **LABEL, **FEW).document
    assert low.decisions[0].cutoff == -50
    assert low.decisions[0].columns == high.decisions[0].columns
    there, here = low.score.of_column("sex"), high.score.of_column("sex")
    assert there.scoring == here.scoring
    assert [one.difference for one in there.groups] == [one.difference for one in here.groups]
    assert [one.mean for one in there.groups] == pytest.approx([-one.mean for one in here.groups])
    assert [point.but(cutoff=-point.cutoff) for point in there.sweep] == list(here.sweep)
    assert (low.score.least, low.score.most) == (-high.score.most, -high.score.least)


@pytest.mark.parametrize(("cutoff", "share"), [("rate=0.3", 0.3), ("base-rate", None), (50, None)])
def test_a_score_is_cut_where_it_was_asked_for(cutoff, share):
    frame = decided_frame(1000)
    result = measure(frame, (), "sex", score="points", cutoff=cutoff, **LABEL)
    decisions = result.decisions()
    if cutoff == 50:
        assert decisions.selected == (frame["points"] >= 50).sum()
    else:
        wanted = share or float((frame["good"] == "yes").mean())
        assert decisions.selection_rate.value == pytest.approx(wanted, abs=0.01)
        assert result.document.config.cutoff == f"rate={wanted!r}"
    assert "no_cutoff" not in codes(result)


@pytest.mark.parametrize("unit", [1e-15, 1.0, 1e200])
def test_the_unit_of_a_score_changes_nothing_but_numbers_in_it(unit):
    frame = decided_frame(500)
    frame["points"] = frame["points"] * unit
    options = {"score": "points", "cutoff": "rate=0.3", **LABEL}
    found, plain = (measure(one, (), "sex", **options).document for one in (frame, decided_frame(500)))
    cut = found.decisions[0]
    assert cut.selected == plain.decisions[0].selected == (frame["points"] >= cut.cutoff).sum()
    ours, theirs = (one.score.of_column("sex") for one in (found, plain))
    assert ours.scoring == theirs.scoring
    for one, other in zip(ours.groups, theirs.groups, strict=True):
        assert one.difference.value == pytest.approx(other.difference.value)


def test_a_score_alone_is_cut_at_its_median_and_says_so():
    frame = decided_frame(2000)
    result = measure(frame, (), "sex", score="points")
    assert codes(result) == ["no_cutoff"]
    assert result.decisions().selected == (frame["points"] > frame["points"].median()).sum()
    assert result.decisions("points").how == "median"
    assert result.document.config.cutoff is None


def test_a_share_that_ties_make_impossible_is_told():
    frame = pd.DataFrame({"sex": ["m", "w"] * 50, "points": [1.0] * 60 + [2.0] * 40})
    result = measure(frame, (), "sex", score="points", cutoff="rate=0.8")
    assert "missed_rate" in codes(result)
    assert (
        "selects 100.0 % instead of 80.0 %, as 60 rows share the score at the cutoff"
        in result.warnings["missed_rate"][0]
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cutoff": 50}, "about a score, and there is none"),
        ({"lower_is_better": True}, "--lower-is-better"),
        ({"cutoff": "half"}, "must be a number, rate=SHARE, base-rate or median, not 'half'"),
        ({"cutoff": "rate=2"}, "a share between 0 and 1"),
        ({"weight": "n"}, "is for tables to learn from"),
        ({"kernel": "rbf"}, "a measurement has no option 'kernel'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, words):
    with pytest.raises(ConfigError, match=words):
        measure(decided_frame(100), "hired", "sex", **options)


def test_a_base_rate_needs_a_label():
    with pytest.raises(ConfigError, match="there is no label"):
        measure(decided_frame(100), (), "sex", score="points", cutoff="base-rate")


# --- without a label, and from counts ---


def counted(frame, columns, **more):
    """Count rows by group, as an owner would who may not hand on rows."""
    selected, truth = frame["selected"] == 1, frame["good"] == "yes"
    parts = {"n": 1, "selected": selected, "positives": truth, "true_positives": selected & truth, **more}
    return frame[list(columns)].assign(**parts).groupby(list(columns), as_index=False, dropna=False).sum()


def comparable(document):
    """Leave out what counts cannot know: what values are called, and that there were rows."""
    data = document.dataset.but(form="rows", label=None, favourable=None, unfavourable=None)
    decisions = tuple(one.but(favourable=None, unfavourable=None) for one in document.decisions)
    return document.but(dataset=data, decisions=decisions, timings={})


@pytest.mark.parametrize("columns", [["sex"], ["sex", "race"]])
@pytest.mark.parametrize("has_label", [True, False])
def test_counts_and_rows_give_the_same_document(columns, has_label):
    frame = decided_frame(400).rename(columns={"hired": "selected"})
    frame.loc[:20, "race"] = None
    table = counted(frame, columns)
    table = table if has_label else table.drop(columns=["positives", "true_positives"])
    rows = measure(frame.sample(frac=1, random_state=1), "selected", columns, **(LABEL if has_label else {}))
    counts = measure(table, (), columns, counts=True)
    assert comparable(counts.document) == comparable(rows.document)
    assert counts.document.dataset.form == "counts"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=3, max_size=60), st.integers(0, 40))
@settings(max_examples=25)
def test_counts_and_rows_agree_whatever_they_are(rows, fewest):
    frame = pd.DataFrame(rows, columns=["race", "selected"]).assign(good="no", selected=lambda one: one.selected * 1)
    table = counted(frame, ["race"]).drop(columns=["positives", "true_positives"])
    if len(table) < 2:
        return
    ours = measure(frame, "selected", "race", min_group_size=fewest).document
    theirs = measure(table, (), "race", counts=True, min_group_size=fewest).document
    assert comparable(ours) == comparable(theirs)


def test_without_a_label_only_parity_is_measured():
    document = measure(decided_frame(300), ("hired", "rival"), "sex", **FEW).document
    for decisions in document.decisions:
        scores = decisions.of_column("sex").scores
        assert scores.demographic_parity_difference.value is not None
        assert scores.equal_opportunity_difference.value is scores.equalized_odds_ratio.value is None
        assert decisions.accuracy.value is None
        assert all(group.base_rate.value is None for group in decisions.of_column("sex").impact.groups)


# --- several decisions ---


def test_decisions_are_compared_with_the_first_on_the_same_rows():
    frame = decided_frame(3000)
    document = measure(frame, ("hired", "rival"), "sex").document
    first, rival = (one.of_column("sex").scores.demographic_parity_difference for one in document.decisions)
    assert first.change is first.verdict is None
    assert rival.verdict is Verdict.FAIRER
    assert rival.change.value == pytest.approx(rival.value - first.value)
    assert rival.change.low < rival.change.value < rival.change.high < 0
    backwards = measure(frame, ("rival", "hired"), "sex").document.decisions[1].of_column("sex").scores
    assert backwards.demographic_parity_difference.verdict is Verdict.LESS_FAIR


def test_a_gap_that_hardly_differs_is_the_same_within_the_margin():
    frame = decided_frame(3000)
    frame["again"] = frame["hired"].where(frame.index >= 3, 1 - frame["hired"])
    for margin, verdict in ((0.02, Verdict.SAME), (0.0, Verdict.OPEN)):
        second = measure(frame, ("hired", "again"), "sex", same_within=margin).decisions("again")
        assert second.of_column("sex").scores.demographic_parity_difference.verdict is verdict


def test_a_column_and_a_cut_score_stand_side_by_side():
    frame = decided_frame(300)
    document = measure(frame, "rival", "sex", score="points", cutoff=50, **FEW).document
    assert [(one.name, one.how) for one in document.decisions] == [("rival", "column"), ("points", "cutoff")]


def test_too_many_decisions_are_refused():
    frame = decided_frame(60).assign(**{f"d{number}": 1 for number in range(21)})
    with pytest.raises(ConfigError, match="name at most 20"):
        measure(frame, [f"d{number}" for number in range(21)], "sex")


# --- what to beware of ---


def test_half_of_the_rows_undecided_is_one_caution_with_counts():
    frame = decided_frame(2000)
    frame["hired"] = frame["hired"].where(frame.index < 1000)
    result = measure(frame, "hired", "sex")
    assert codes(result) == ["undecided"]
    (words,) = result.warnings["undecided"]
    assert "1000 rows of 2000 (50.0 %)" in words
    assert "1000 in 'hired'" in words


def test_decisions_that_follow_the_label_are_told():
    frame = decided_frame(300).assign(copy=lambda one: one["good"])
    assert "follows_label" in codes(measure(frame, "copy", "sex", **LABEL))


def test_a_score_and_decisions_the_wrong_way_round_are_told_with_the_way_back():
    frame = decided_frame(400).assign(risk=lambda one: -one["points"], bad=lambda one: 1 - one["hired"])
    result = measure(frame, ["hired", "bad"], "sex", score="risk", **LABEL)
    assert codes(result)[:2] == ["reversed_score", "reversed_decisions"]
    assert [one.decision for one in result.document.warnings if one.code == "reversed_decisions"] == [2]
    assert result.warnings["reversed_score"][0].endswith("say so with lower_is_better=True (--lower-is-better)")
    assert result.warnings["reversed_decisions"][0].endswith("decision_favourable='0' (--decision-favourable 0)")
    turned = measure(frame, "hired", "sex", score="risk", lower_is_better=True, **LABEL)
    assert not {"reversed_score", "reversed_decisions"} & {*codes(turned)}
    cut = measure(frame, sensitive="sex", score="risk", cutoff="-50", **LABEL)
    assert "reversed_decisions" not in codes(cut)  # told of the score


def test_favourable_values_that_sound_unfavourable_are_asked_about():
    frame = decided_frame(300).assign(loan=lambda one: np.where(one["hired"] == 1, "granted", "denied"))
    told = measure(frame, "loan", "sex", decision_favourable="denied").warnings["swapped_favourable"]
    assert told == [
        "'denied' counts as favourable in 'loan' and 'granted' as unfavourable: check that this is meant; if not, give "
        "decision_favourable='granted' (--decision-favourable granted)"
    ]
    assert "swapped_favourable" not in codes(measure(frame, "loan", "sex", decision_favourable="granted"))
    swapped = measure(frame, "loan", "sex", decision_favourable="granted", label="good", favourable="no")
    assert swapped.warnings["swapped_favourable"][0].endswith("if not, give favourable='yes' (--favourable yes)")


def test_marks_of_missing_scores_are_named_and_their_rows_left_out():
    frame = decided_frame(300).astype({"points": object})
    frame.loc[:9, "points"] = "n/a"
    result = measure(frame, sensitive="sex", score="points", cutoff="50")
    assert result.document.dataset.undecided == 10
    assert "'points' (10 cells: 'n/a')" in result.warnings["missing_marks"][0]


def test_everybody_selected_is_told_and_makes_no_gap():
    result = measure(decided_frame(100).assign(hired=1), "hired", "sex")
    assert "constant" in codes(result)
    assert result.decisions().of_column("sex").scores.demographic_parity_difference.value == 0.0


def test_small_groups_and_rows_without_one_are_set_aside():
    frame = decided_frame(300)
    frame.loc[:4, "race"] = "d"
    frame.loc[5:60, "race"] = None
    document = measure(frame, "hired", "race").document
    table = document.decisions[0].of_column("race").impact
    assert [group.group for group in table.groups if not group.is_compared] == ["d", "(missing)"]
    assert document.dataset.primary.unknown == 56
    assert "set_aside" in [caution.code for caution in document.warnings]
    kept = measure(frame, "hired", "race", small_groups="keep").document
    assert all(group.is_compared for group in kept.decisions[0].of_column("race").impact.groups)


def test_too_many_groups_together_are_not_shown_but_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 900), "b": rng.integers(0, 9, 900), "hired": rng.integers(0, 2, 900)})
    result = measure(frame, "hired", ["a", "b"], small_groups="keep")
    assert "no_intersection" in codes(result)
    assert [column.column for column in result.document.dataset.sensitive] == ["a", "b"]


# --- the document ---


def test_the_order_of_rows_changes_nothing_but_content_does():
    frame = decided_frame(200)
    ours = measure(frame, "hired", "sex", score="points", **LABEL).document
    shuffled = measure(frame[::-1], "hired", "sex", score="points", **LABEL).document
    assert ours.but(timings={}) == shuffled.but(timings={})
    other = measure(frame.assign(points=frame["points"] + 1), "hired", "sex", score="points", **LABEL).document
    assert other.dataset.fingerprint != ours.dataset.fingerprint


def test_it_is_read_again_as_it_was_saved(tmp_path):
    result = measure(decided_frame(200), ("hired", "rival"), ["sex", "race"], score="points", **LABEL, **FEW)
    assert parse(to_json(result.document).encode(), "it") == result.document
    result.save(tmp_path / "it.json")
    assert MeasureResult.load(tmp_path / "it.json").document == result.document


def test_primary_and_control_may_be_named():
    frame = decided_frame(300)
    config = MeasureConfig(primary="sex & race", min_group_size=10)
    document = measure(frame, "hired", ["sex", "race"], config=config).document
    assert document.dataset.primary.is_intersection
    reference = measure(frame, "hired", "race", control="b").document.decisions[0].of_column("race").impact
    assert reference.reference == "b"
    with pytest.raises(ColumnMissing, match="named as primary"):
        measure(frame, "hired", "sex", primary="race")
    with pytest.raises(DataError, match="no group is called 'z'"):
        measure(frame, "hired", "race", control="z")


def test_a_result_shows_its_tables_and_names_what_it_has():
    result = measure(decided_frame(200), ("hired", "rival"), "sex", score="points", **LABEL, **FEW)
    tables = result.tables()
    assert list(tables) == ["decisions", "groups", "scores", "cutoffs", "calibration", "warnings"]
    assert tables["decisions"]["decision"].tolist() == ["hired", "rival"]
    assert tables["groups"]["selected"].sum() == sum(one.selected for one in result.document.decisions)
    assert set(measure(decided_frame(100), "hired", "sex").tables()) == {"decisions", "groups", "warnings"}
    assert repr(result) == "MeasureResult('table', decisions=['hired', 'rival'])"
    with pytest.raises(ResultError, match="no decisions 'fired'; there are 'hired', 'rival'"):
        result.decisions("fired")


def test_a_column_of_persons_with_several_rows_is_named_unless_it_has_that_role():
    frame = decided_frame(600).assign(officer_id=[f"o{number % 40}" for number in range(600)])
    (words,) = measure(frame, "hired", "sex").warnings["repeated_members"]
    assert words.startswith("'officer_id' (40 different) looks like persons, firms or officers with several rows each")
    assert "with group_column='officer_id' (--group-column officer_id) they allow for their likeness" in words
    assert "repeated_members" not in measure(frame, "hired", "sex", group_column="officer_id").warnings
    assert "repeated_members" not in measure(frame, "hired", ["sex", "officer_id"]).warnings
    assert "repeated_members" not in measure(frame.drop(columns="officer_id"), "hired", "sex").warnings
