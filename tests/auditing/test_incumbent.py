"""The model in use: row 0, what models are compared with, and what becomes of rows that it never decided."""

from __future__ import annotations

import numpy as np
import pytest
from fairlearn.metrics import demographic_parity_difference, equalized_odds_difference
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from support.decisions import PLAN, QUICK, audited, holdout, table

from fairenum import AuditResult, Dataset, audit, select
from fairenum.errors import ConfigError, FairenumError
from fairenum.report.choice_words import proposal_status


@pytest.fixture(scope="module")
def run() -> AuditResult:
    return audited(table(), incumbent="hired")


def test_row_0_has_the_numbers_of_fairlearn_on_the_holdout(run):
    rows, found = holdout(run, table()), run.document.incumbent.scores.holdout
    truth, decided = (rows["good"] == "yes").astype(int), rows["hired"]
    groups = {"sensitive_features": rows["sex"]}
    assert found.demographic_parity_difference.value == pytest.approx(
        demographic_parity_difference(truth, decided, **groups), abs=1e-12
    )
    assert found.equalized_odds_difference.value == pytest.approx(
        equalized_odds_difference(truth, decided, **groups), abs=1e-12
    )
    assert found.accuracy.value == pytest.approx((truth == decided).mean(), abs=1e-12)
    assert found.selection_rate.value == pytest.approx(decided.mean(), abs=1e-12)
    assert run.document.reference_check.ranks[0] == 0
    assert run.document.reference_check.largest_difference < 1e-12


def test_agreement_over_all_rows_is_that_of_scikit_learn(run):
    frame = table()
    truth = frame["good"] == "yes"
    found = run.document.incumbent.balanced_agreement
    assert found.value == pytest.approx(balanced_accuracy_score(truth, frame["hired"]), abs=1e-12)
    assert found.low < found.value < found.high
    assert run.document.incumbent.auc.value is None
    scored = audited(frame, incumbent_score="points", incumbent_cutoff="50", drop=["hired", "rival"]).document.incumbent
    assert scored.auc.value == pytest.approx(roc_auc_score(truth, frame["points"]), abs=1e-12)
    weighted = audited(frame.assign(w=np.arange(600) % 3), incumbent="hired", weight="w").document.incumbent
    expected = balanced_accuracy_score(truth, frame["hired"], sample_weight=np.arange(600) % 3)
    assert weighted.balanced_agreement.value == pytest.approx(expected, abs=1e-12)


def test_a_score_that_ranks_the_wrong_way_round_is_named_with_the_option_that_turns_it():
    frame = table().assign(risk=lambda one: 100 - one["points"])
    options = {"incumbent_score": "risk", "incumbent_cutoff": "50", "drop": ["hired", "rival", "points"]}
    (words,) = audited(frame, **options).warnings["reversed_score"]
    assert words.startswith(
        "the score of the model in use ranks the wrong way round: rows with a favourable label score"
    )
    assert words.endswith(
        "if lower scores are favourable, say so with incumbent_lower_is_better=True (--lower-is-better)"
    )
    turned = audited(frame, **options, incumbent_lower_is_better=True).warnings
    assert not {"reversed_score", "reversed_decisions"} & {*turned}
    turned = audited(frame.assign(risk=frame["points"]), **options, incumbent_lower_is_better=True).warnings
    assert turned["reversed_score"][0].endswith("leave out incumbent_lower_is_better=True (--lower-is-better)")


def test_decisions_against_the_label_are_named_with_both_favourable_values():
    frame = table().assign(hired=lambda one: np.where(one["hired"] == 1, "A", "B"))
    (words,) = audited(frame, incumbent="hired", incumbent_favourable="B").warnings["reversed_decisions"]
    assert "the model in use agrees with the label 'good' less often than chance would (balanced accuracy 0." in words
    assert words.endswith(
        "if a favourable value was mistaken for the other, give favourable='no' (--favourable no) or "
        "incumbent_favourable='A' (--incumbent-favourable A)"
    )
    assert "reversed_decisions" not in audited(frame, incumbent="hired", incumbent_favourable="A").warnings


def test_no_machine_learns_from_the_column(run):
    assert [one.name for one in run.document.dataset.features] == ["skill", "years"]
    without = audited(table().drop(columns="hired"), decide=run.document.config.decide)
    assert [one.objective for one in run.document.models] == [one.objective for one in without.document.models]


def test_changes_are_against_row_0(run):
    document = run.document
    own, first = document.incumbent.scores.holdout, document.first.scores.holdout
    metric = "demographic_parity_difference"
    assert first.gap(metric).change.value == pytest.approx(first.gap(metric).value - own.gap(metric).value, abs=1e-12)
    assert first.accuracy.change.value == pytest.approx(first.accuracy.value - own.accuracy.value, abs=1e-12)
    assert own.gap(metric).change.value == own.accuracy.change.value == 0.0
    assert document.reference is document.incumbent
    assert document.shortlist[:2] == [0, 1]


def test_against_the_best_machine_nothing_changes_but_for_one_more_row(run):
    frame = table()
    best, without = audited(frame, incumbent="hired", against="best"), audited(frame.drop(columns="hired"))
    document = best.document
    assert document.reference is document.first
    assert document.incumbent.scores.holdout.accuracy.value == run.document.incumbent.scores.holdout.accuracy.value
    assert document.selection.rank == without.document.selection.rank
    assert [one.change.value for one in document.selection.strip] == [
        one.change.value for one in without.document.selection.strip
    ]
    metric = "demographic_parity_difference"
    gap = document.incumbent.scores.holdout.gap(metric)
    assert gap.change.value == pytest.approx(gap.value - document.first.scores.holdout.gap(metric).value, abs=1e-12)


def test_model_1_in_use_is_judged_as_model_1():
    options = {"max_performance_drop": 0.3, "guards": ["none", "selection_rate=+-0.5"], "decide": "sign"}
    frame = table(900)
    plain = audited(frame.drop(columns="hired"), **options)
    frame["hired"] = plain.estimator(1).predict(frame)
    used, expected = audited(frame, incumbent="hired", **options).document, plain.document.selection
    assert used.incumbent.predictions_changed.holdout.rows == 0
    assert (used.selection.outcome, expected.outcome) == ("selected", "selected")
    assert used.selection.rank == expected.rank
    assert [one.change for one in used.selection.strip] == [one.change for one in expected.strip]
    assert used.selection.guards == expected.guards


def test_what_is_in_use_stays_unless_a_model_looks_fairer():
    frame = table()
    even = np.random.default_rng(0).permutation(len(frame)) % 2 == 0
    frame["hired"] = np.where(even, "yes", "no")
    frame.loc[:, "hired"] = frame.groupby("sex")["hired"].transform(lambda one: np.resize(["yes", "no"], len(one)))
    document = audited(frame, incumbent="hired", max_performance_drop=1.0, guards="none").document
    assert (document.selection.outcome, document.selection.rank, document.selected) == ("kept", None, None)
    assert (document.selection.reason, document.selection.answer) == ("no_disparity", "no disparity")
    assert not document.selection.disparity.is_shown
    assert document.explanation is document.flips is None
    searched = audited(frame, incumbent="hired", max_performance_drop=1.0, guards="none", always_search=True).document
    assert (searched.selection.outcome, searched.selection.reason) == ("kept", "no_smaller_gap")
    assert searched.selection.answer == "no disparity"


@pytest.mark.parametrize(("sizes", "answer"), [((0.6, 0.2, 0.2), "proposed"), ((0.6, 0.4, 0.0), "candidate")])
def test_nothing_is_proposed_by_the_rows_that_it_was_chosen_by(sizes, answer, tmp_path):
    frame = table(900)
    frame["hired"] = np.where(frame["points"] + np.where(frame["sex"] == "woman", -15, 15) > 50, "yes", "no")
    result = audited(frame, incumbent="hired", sizes=sizes, max_performance_drop=0.5, guards="none")
    assert result.document.selection.is_fairer
    result.save(tmp_path / "run.json")
    for one in (result, select(result), select(AuditResult.load(tmp_path / "run.json"))):
        assert one.document.selection.answer == answer
        assert ("no rows were kept apart" in proposal_status(one.document)) == one.document.is_exploratory


def test_a_choice_made_again_from_the_document_is_the_same(run, tmp_path):
    run.save(tmp_path / "run.json")
    again = select(AuditResult.load(tmp_path / "run.json"))
    assert again.document.selection.rank == run.document.selection.rank
    assert again.document.selection.candidates == run.document.selection.candidates
    asked = select(run, rank=1).document
    assert (asked.selection.rank, asked.selection.outcome, asked.selection.reason) == (1, "selected", "asked_for")
    assert (
        asked.selection.strip[0].first.value
        == run.document.incumbent.scores.holdout.gap(asked.selection.tolerances.metric).value
    )


def test_models_may_be_cut_like_it():
    document = audited(table(), incumbent="hired", decide="like-incumbent").document
    rate = document.incumbent.scores.selection.selection_rate.value
    for model in document.models:
        assert model.scores.selection.selection_rate.value == pytest.approx(
            rate, abs=1.0 / document.dataset.splits.selection
        )
    assert document.requested.decide == "like-incumbent"
    assert document.config.decide.startswith("rate=")


def test_rows_that_it_never_decided_are_no_part_of_the_audit():
    frame = table()
    frame["hired"] = frame["hired"].astype(object)
    frame.loc[frame.index % 2 == 0, "hired"] = None
    result = audited(frame, incumbent="hired", sizes=(0.4, 0.3, 0.3))
    document = result.document
    assert (document.incumbent.undecided, document.dataset.rows) == (300, 300)
    numbers = result.live.division.dataset.numbered(np.arange(300))
    np.testing.assert_array_equal(numbers, np.arange(1, 600, 2))
    kept = holdout(result, frame)
    assert document.incumbent.scores.holdout.selection_rate.value == pytest.approx(kept["hired"].mean(), abs=1e-12)


@pytest.mark.parametrize("is_lower_better", [False, True])
@pytest.mark.parametrize("cutoff", [50.0, "rate=0.3", "base-rate", "median"])
def test_a_score_is_cut_where_it_is_said(cutoff, is_lower_better):
    frame = table()
    sign = -1.0 if is_lower_better else 1.0
    frame["risk"] = sign * frame["points"]
    wanted = sign * cutoff if isinstance(cutoff, float) else cutoff
    result = audited(
        frame.drop(columns="hired"),
        incumbent_score="risk",
        incumbent_cutoff=wanted,
        incumbent_lower_is_better=is_lower_better,
    )
    found, everyone = result.document.incumbent, frame["points"]
    limit = {50.0: 50.0, "median": everyone.median() + 1e-9}.get(cutoff)
    if limit is None:
        share = 0.3 if cutoff == "rate=0.3" else (frame["good"] == "yes").mean()
        limit = everyone.sort_values(ascending=False).iloc[round(share * len(frame)) - 1]
    rows = holdout(result, frame)
    assert found.scores.holdout.selection_rate.value == pytest.approx((rows["points"] >= limit).mean(), abs=0.02)
    if isinstance(cutoff, float):
        assert found.cutoff == wanted
        assert found.scores.holdout.selection_rate.value == pytest.approx((rows["points"] >= 50.0).mean(), abs=1e-12)
    area = roc_auc_score(rows["good"] == "yes", rows["points"])
    assert found.scores.holdout.auc.value == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("cutoff", ["rate=0.3", "base-rate"])
def test_a_share_is_of_what_rows_count(cutoff):
    frame = table().drop(columns="hired")
    frame["counts"] = np.where(frame["points"] > frame["points"].median(), 5.0, 1.0)
    result = audited(frame, incumbent_score="points", incumbent_cutoff=cutoff, weight="counts")
    share = 0.3 if cutoff == "rate=0.3" else np.average(frame["good"] == "yes", weights=frame["counts"])
    found = np.average(result.live.incumbent.bits, weights=frame["counts"])
    assert found == pytest.approx(share, abs=frame.groupby("points")["counts"].sum().max() / frame["counts"].sum())


@pytest.mark.parametrize("favourable", ["yes", "no"])
def test_a_probability_is_cut_as_its_model_counts_whichever_decision_it_speaks_for(favourable):
    frame = table().drop(columns="hired")
    model = LogisticRegression().fit(frame[["points"]], frame["good"])
    chances = model.predict_proba(frame[["points"]])[:, 1]
    result = audited(frame, incumbent=model, incumbent_cutoff=0.6, favourable=favourable)
    found, is_lower = result.document.incumbent, favourable == "no"
    np.testing.assert_array_equal(result.live.incumbent.bits, chances <= 0.6 if is_lower else chances >= 0.6)
    assert (found.cutoff, found.is_lower_better) == (0.6, is_lower)
    shown = result.document.scores[0].score
    assert (shown.least, shown.most) == pytest.approx((chances.min(), chances.max()), abs=1e-12)


def test_a_table_that_was_read_before_has_its_score_cut_as_it_was_said():
    frame = table().drop(columns="hired").assign(risk=lambda one: -one["points"])
    said = {"incumbent_score": "risk", "incumbent_cutoff": -50.0, "incumbent_lower_is_better": True}
    read = Dataset.from_frame(frame, *PLAN.values(), drop=["points", "rival"], **said)
    document = audit(read, **QUICK).document
    assert document.incumbent == audited(frame, **said).document.incumbent
    assert document.incumbent.scores.holdout.selection_rate.value > 0.0


def test_without_a_score_it_ranks_nobody(run):
    assert run.document.incumbent.scores.holdout.auc.value is None
    with pytest.raises(ConfigError, match="has decisions alone, and performance 'auc'"):
        audited(table(), incumbent="hired", performance="auc")


def test_a_feature_that_tells_its_decisions_is_named():
    frame = table()
    assert audited(frame, incumbent="hired", drop=["rival"]).document.incumbent.copies == ("points",)
    assert audited(frame, incumbent="hired").document.incumbent.copies == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"against": "incumbent"}, "none was given; name its decisions"),
        ({"decide": "like-incumbent"}, "none was given; name its decisions"),
        ({"incumbent_cutoff": 1}, "incumbent_cutoff .--cutoff. is about a score of the model in use"),
        ({"incumbent_favourable": "1"}, "--incumbent-favourable. is about decisions of the model"),
        ({"incumbent": "hired", "incumbent_lower_is_better": True}, "--lower-is-better. is about a score of the model"),
        ({"incumbent": "hired", "incumbent_favourable": "si"}, "no value 'si', named as .*'1', '0'"),
        ({"incumbent_score": "skill"}, "a score decides where it is cut; say where 'skill' is"),
        ({"incumbent": "none", "incumbent_score": "skill"}, "a score decides where it is cut; say where 'skill' is"),
        (
            {"incumbent_cutoff": 1},
            "incumbent_cutoff .--cutoff. is about a score of the model in use, and there is none",
        ),
        ({"incumbent_lower_is_better": True}, "is about a score of the model in use, and there is none"),
        ({"incumbent_favourable": "yes"}, "is about decisions of the model in use, and there are none"),
        ({"incumbent": "hired", "incumbent_cutoff": 1}, "holds decisions .--incumbent., which are not cut"),
        ({"incumbent": "nobody"}, "no column 'nobody', named as incumbent .--incumbent."),
        ({"incumbent": "good"}, "has another role, too"),
        ({"incumbent": "years"}, "holds .* values .* and a decision is favourable or not"),
        ({"incumbent": "empty"}, "decides none of the 600 rows"),
        ({"incumbent": "word"}, "it is not clear which is favourable; say it, such as with incumbent_favourable"),
        ({"incumbent_score": "sex", "sensitive": "hired", "incumbent_cutoff": 1}, "holds texts.* with incumbent="),
        ({"incumbent": "hired", "incumbent_model": "x.onnx"}, "given twice"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(options, message):
    frame = table().assign(empty=None, word=np.resize(["x", "y"], 600))
    plan = {**PLAN, **QUICK, "drop": ["points", "rival"], **options}
    with pytest.raises(FairenumError, match=message):
        audit(frame, **plan)


@pytest.mark.parametrize(
    "given", [lambda frame: frame["points"], table()["points"].to_numpy()], ids=["function", "array"]
)
def test_scores_that_are_given_themselves_are_cut(given):
    frame = table().drop(columns="hired")
    told = audited(frame, incumbent=given, incumbent_cutoff=50).document.incumbent
    named = audited(frame, incumbent_score="points", incumbent_cutoff=50, drop=["rival"]).document.incumbent
    assert told.has_score
    assert told.scores.holdout.gap("demographic_parity_difference").value == pytest.approx(
        named.scores.holdout.gap("demographic_parity_difference").value, abs=1e-12
    )
    assert told.scores.holdout.auc.value == pytest.approx(named.scores.holdout.auc.value, abs=1e-12)
