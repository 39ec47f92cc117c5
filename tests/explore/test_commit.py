"""The decision: the holdout is sealed until then and opened once; every later commit is exploratory."""

from itertools import pairwise

import msgspec
import numpy as np
import pytest
from support.audits import applicants, checked, codes
from support.explorations import APPLICANTS, open_applicants, open_people

from fairenum import AuditResult, Exploration, audit, select
from fairenum.auditing.candidates import candidates_of
from fairenum.auditing.choosing import judge_by_fresh_holdout
from fairenum.document.choice import answered
from fairenum.document.files import load
from fairenum.errors import ConfigError, ExplorationError, ResultError


def marked(seed: int = 0):
    """A table with a column that marks the holdout."""
    frame = applicants(420)
    frame["part"] = np.array(["train", "selection", "holdout"])[np.random.default_rng(seed).integers(0, 3, len(frame))]
    return frame


def walked(frame) -> Exploration:
    exploration = Exploration(frame, "hired", "y", "sex", split_column="part", guards="none", replications=50)
    exploration.next(5000)
    exploration.fairer(12)
    exploration.tolerate(eps=0.1, guards=["selection_rate=+-0.2"])
    division = exploration._engine.division
    exploration.leave_out(division.dataset.numbered(division.split.train)[:6].tolist())
    return exploration


def test_nothing_of_the_holdout_is_shown_before_a_decision():
    """Other labels and other people in the holdout change nothing that is shown."""
    frame, other = marked(), marked()
    held = other["part"] == "holdout"
    other.loc[held, "hired"] = np.where(other.loc[held, "sex"] == "m", "y", "n")
    other.loc[held, ["skill", "proxy"]] *= -3.0
    first, second = walked(frame), walked(other)
    plain = {"timeline": ()}
    assert msgspec.json.encode(first.view.but(**plain)) == msgspec.json.encode(second.view.but(**plain))
    assert first.compare(1, 2) == second.compare(1, 2)
    assert first.person({"skill": 1.0}) == second.person({"skill": 1.0})
    marks = [[entry.outcome for entry in each._record.entries] for each in (first, second)]
    assert marks[0] == marks[1]
    row = int(np.flatnonzero(held)[0])
    with pytest.raises(ExplorationError, match=f"row {row} is in the holdout, which is sealed until you commit"):
        first.person(row)
    assert first.view.seal.opened == 0


def test_a_decision_is_judged_alone_by_the_verdicts_of_the_audit(tmp_path):
    exploration = open_applicants(record=tmp_path / "decision.jsonl")
    exploration.next(5000)
    exploration.fairer(30)
    number = exploration.view.standpoint.chosen
    result = exploration.commit(number, "least gap", "A. Uditor")
    document, live = checked(result), result.live
    selection, told = document.selection, document.exploration
    assert (selection.reason, selection.is_in_sight, document.is_exploratory) == ("asked_for", False, False)
    assert (told.number, told.author, told.reason, told.look) == (number, "A. Uditor", "least gap", 1)
    assert told.looked_at == exploration.view.seal.looked_at == len(exploration.state.looked)
    fresh = judge_by_fresh_holdout(selection, candidates_of(document), live.scored_set, live.config)
    assert answered(fresh.but(guards=selection.guards)) == selection
    model = live.listing.models[selection.rank - 1]
    np.testing.assert_array_equal(model.alpha, exploration.state.model(number).model.alpha)
    assert load(tmp_path / "decision.run.json") == document
    page = (tmp_path / "decision.html").read_text()
    assert "How this was decided" in page
    assert "A. Uditor" in page
    assert "sealed until this was decided" in page
    assert f"Model {selection.rank} was decided for by hand" in page or "which was decided for by hand" in page
    assert f"A. Uditor decided for model {selection.rank}" in result.to_markdown() + page
    assert f"who looked at {told.looked_at} models, one after the other, on the selection split" in page
    assert result.estimator(selection.rank).predict(applicants(420)[["skill", "proxy", "town"]]).shape == (420,)


def test_the_run_lists_the_explored_models_as_an_audit_would(training_rows):
    exploration = open_people()
    for _ in range(3):
        exploration.next(5000)
    exploration.leave_out(training_rows(exploration)[:10])
    exploration.fairer(10)
    view = exploration.view
    document = exploration.commit(1, "it is the best", "me").document
    assert all(before.loss_ratio <= after.loss_ratio + 1e-9 for before, after in pairwise(document.models))
    assert len(document.models) == len(view.models)
    by_objective = {(model.objective, model.support_size): model for model in view.models}
    for model in document.models:
        seen = by_objective[model.objective, model.support_size]
        own, shown = model.scores.selection, seen.scores
        assert own.by_column.keys() == shown.by_column.keys()
        for name in ("accuracy", "balanced_accuracy", "selection_rate", "hinge_loss", "auc", "performance"):
            one, other = getattr(own, name), getattr(shown, name)
            assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), nan_ok=True)
        for column, scores in own.by_column.items():
            assert scores.selected == shown.by_column[column].selected
            assert scores.true_positives == shown.by_column[column].true_positives
            gap = scores.demographic_parity_difference
            assert gap.alone == shown.by_column[column].demographic_parity_difference.alone
            assert scores.equalized_odds_ratio == shown.by_column[column].equalized_odds_ratio
        assert (model.origin, model.loss_ratio, model.left_out) == (seen.origin, seen.loss_ratio, seen.left_out)
        assert model.is_constant == seen.is_constant
        assert (model.support_rank is None) == (model.origin != "exact")
    ranks = {seen.number: document.models.index(model) + 1 for model in document.models
             for seen in [by_objective[model.objective, model.support_size]]}  # fmt: skip
    stand = view.standpoint
    assert sorted(ranks[number] for number in stand.candidates) == sorted(document.selection.candidates)
    assert {ranks[number] for number in stand.pareto_front} == set(document.selection.pareto_front)


@pytest.mark.parametrize("options", [{}, {"guards": ("none",)}, {"guards": ("selection_rate=+-0.02",)}])
@pytest.mark.parametrize("tolerated", [{}, {"metric": "equal_opportunity_difference", "eps": 0.01}])
def test_the_rule_chooses_as_that_of_an_audit(options, tolerated):
    exploration = open_applicants(**options)
    exploration.next(5000)
    exploration.fairer(20)
    chosen = exploration.tolerate(**tolerated)
    assert chosen == exploration.view.standpoint.chosen
    document = exploration.commit(1, "to compare", "me").document
    ruled = select(AuditResult(document)).document.selection
    model = exploration.state.model(chosen).model
    expected = document.models[ruled.rank - 1]
    assert (model.objective, len(model.support)) == (expected.objective, expected.support_size)


def test_a_second_look_is_exploratory_for_good(tmp_path):
    exploration = open_applicants(record=tmp_path / "decision.jsonl")
    exploration.fairer(20)
    number = exploration.view.standpoint.chosen
    first = exploration.commit(number, "one", "me").document
    assert exploration.view.seal.opened == 1
    assert "exploratory" not in codes(first)
    exploration.undo()
    exploration.undo()
    assert len(exploration.state.listed) == 1
    assert exploration.view.seal.opened == 1, "what was seen cannot be undone"
    exploration.next(5000)
    result = exploration.commit(1, "two", "me")
    second = checked(result)
    assert second.is_exploratory
    assert second.selection.is_in_sight
    assert second.selection.answer != "proposed"
    assert second.exploration.look == 2
    assert "exploratory" in codes(second)
    assert {model.objective for model in first.models} <= {model.objective for model in second.models}
    words = " ".join(result.warnings["exploratory"])
    assert "the holdout was opened before this was decided" in words
    assert (tmp_path / "decision-2.run.json").exists()
    exploration.close()
    with Exploration.resume(tmp_path / "decision.jsonl", applicants(420)) as resumed:
        assert resumed.view.seal.opened == 2
        row = int(resumed._engine.division.split.holdout[0])
        assert resumed.person(row).row == row, "the holdout is open"


def test_a_run_has_looked_at_the_holdout(tmp_path):
    result = audit(applicants(420), **APPLICANTS, guards="none", k=4, search="exact")
    result.save(tmp_path / "run.json")
    for exploration in (
        Exploration(result),
        Exploration(applicants(420), run=result),
        Exploration(applicants(420), run=tmp_path / "run.json"),
    ):
        assert exploration.view.seal.opened == 1
        np.testing.assert_array_equal(
            exploration.state.listed[0].shown.model.alpha, result.live.listing.models[0].alpha
        )
    assert exploration.commit(1, "again", "me").document.is_exploratory
    with pytest.raises(ResultError, match="these are not the data of the run: the content differs"):
        Exploration(applicants(440), run=result)
    with pytest.raises(ConfigError, match="a run has its options"):
        Exploration(applicants(420), run=result, eps=0.1)
    with pytest.raises(ExplorationError, match="a saved result holds no rows; name its data, too"):
        Exploration(AuditResult.load(tmp_path / "run.json"))


def test_without_a_holdout_it_was_never_apart():
    exploration = open_people(sizes=(0.6, 0.4, 0))
    with pytest.raises(ExplorationError, match="it needs a separate holdout"):
        exploration.fairer()
    exploration.next(5000)
    document = exploration.commit(2, "for a look", "me").document
    assert document.is_exploratory
    assert document.selection.answer in ("candidate", "not proposed")
    assert document.selection.answer == "not proposed" or "no_holdout" in document.selection.reasons
