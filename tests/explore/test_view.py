"""Views of an exploration: the whole view, two models, and one person."""

import json
import re

import msgspec
import numpy as np
import pytest
from support.audits import applicants
from support.decisions import PLAN
from support.decisions import table as decided_table
from support.explorations import open_applicants, open_people

from fairenum import Exploration
from fairenum.document.exploration_view import ExplorationView
from fairenum.document.person import decide_about


@pytest.fixture(scope="module")
def explored() -> Exploration:
    exploration = open_applicants(guards=("none", "selection_rate=+-0.3"))
    exploration.next(5000)
    exploration.fairer(20)
    return exploration


def test_the_view_is_a_document_for_any_medium(explored):
    view = explored.view
    assert msgspec.json.decode(msgspec.json.encode(view), type=ExplorationView) == view
    assert view.seal.rows == 150
    assert view.seal.holdout == 150
    assert not view.seal.is_broken
    for model in view.models:
        assert model.scores.rows == 150
        gap = model.scores.demographic_parity_difference
        assert gap.verdict is None
        assert gap.low <= gap.value <= gap.high
    claim = view.strip[0]
    assert claim.is_claim
    assert claim.selected.value == view.model(view.current).scores.demographic_parity_difference.value
    assert claim.change.value == pytest.approx(claim.selected.value - claim.first.value)
    assert view.standpoint.gap == pytest.approx(view.models[0].scores.demographic_parity_difference.value, rel=1e-12)
    performance = view.models[0].scores.performance.value
    assert view.standpoint.least_performance == pytest.approx(performance - 0.01)
    (guard,) = view.guards
    rates = [view.model(number).scores.selection_rate.value for number in (1, view.current)]
    assert guard.selection == pytest.approx(rates[1] - rates[0])
    left_out = sum(entry.copies for entry in view.model(view.current).left_out)
    assert sum(cluster.records for cluster in view.clusters) == pytest.approx(left_out)


def test_scoring_one_more_model_scores_no_other(explored, monkeypatch):
    calls = []
    scorer = explored._engine.scorer
    plain = type(scorer).shown
    monkeypatch.setattr(type(scorer), "shown", lambda self, *args: (calls.append(args[1]), plain(self, *args))[1])
    found = explored.next(5000)
    assert calls == [found.number]
    explored.undo()
    explored.next(5000)
    explored.undo()
    assert len(calls) == 1, "what was scored once is not scored again"


def test_two_models_side_by_side(explored):
    view = explored.view
    first, second = view.models[0].number, view.standpoint.chosen
    found = explored.compare(first, second)
    division = explored._engine.division
    rows = division.rows["selection"]
    decided = []
    for number in (first, second):
        shown = explored.state.model(number)
        encoded = division.encoding.transform(division.dataset, rows)
        weights = [{pair.column: getattr(pair, side) for pair in found.weights} for side in ("first", "second")]
        own = np.array([weights[number == second][name] for name in division.encoding.names])
        np.testing.assert_allclose(encoded @ own + shown.model.intercept - shown.cut.value, shown.values, atol=1e-8)
        decided.append(shown.values >= 0)
    sex = applicants(420)["sex"].iloc[rows].to_numpy()
    for pair in found.groups:
        inside = sex == pair.group
        assert pair.rows == inside.sum()
        assert (pair.first, pair.second) == pytest.approx((decided[0][inside].mean(), decided[1][inside].mean()))
    flipped = {int(rows[place]) for place in np.flatnonzero(decided[0] != decided[1])}
    assert {one.row for one in found.flipped} == flipped
    by_group = {one.group: one.gained + one.lost for one in found.flips["sex"]}
    assert by_group == {group: sum(sex[decided[0] != decided[1]] == group) for group in ("f", "m")}
    differences = [abs(pair.second - pair.first) for pair in found.weights]
    assert differences == sorted(differences, reverse=True)


def test_a_person_is_decided_as_the_run_decides(explored):
    division = explored._engine.division
    row = int(division.rows["selection"][3])
    found, shown = explored.person(row), {one.number: one for one in explored.state.shown}
    for one in found.decisions:
        assert one.value == pytest.approx(shown[one.rank].values[3], abs=1e-9)
        assert one.is_favourable == (shown[one.rank].values[3] >= 0)
    made_up = {"skill": 0.3, "town": "north"}
    again = open_applicants(guards=("none", "selection_rate=+-0.3"))
    again.next(5000)
    document = again.commit(1, "to compare", "me").document
    told, own = decide_about(document, made_up), again.person(made_up)
    assert sorted(one.value for one in told.decisions) == sorted(one.value for one in own.decisions)
    assert told.imputed == own.imputed


def test_a_person_is_told_what_all_equally_good_models_decide(explored):
    bench = explored._engine
    row = int(bench.division.rows["selection"][3])
    found, value = explored.person(row).flip_price, explored.state.shown[0].values[3]
    assert (found.eps, explored.view.standpoint.tolerances.eps) == (0.05, 0.1)
    assert found.values.low_bound < value < found.values.high_bound
    inside = [one.values[3] for one in explored.state.shown if one.model.loss_ratio <= found.eps]
    assert all(found.values.low_bound <= one <= found.values.high_bound for one in inside)
    assert (found.state == "flips") == (found.values.low_bound < 0.0 < found.values.high_bound)
    assert explored.person(row).flip_price is found  # found once


def test_a_person_of_another_kernel_has_values_without_contributions():
    exploration = open_applicants(kernel="rbf")
    exploration.next(5000)
    place = 7
    row = int(exploration._engine.division.rows["selection"][place])
    for one, shown in zip(exploration.person(row).decisions, exploration.state.shown, strict=True):
        assert one.value == pytest.approx(shown.values[place], abs=1e-9)
        assert one.contributions == ()
    assert exploration.compare(1, 2).weights == ()
    found = exploration.person(row).flip_price
    assert found.model.weights == ()
    assert found.low <= found.high


def test_beside_a_model_in_use():
    drop = {"drop": ["points", "rival"], "incumbent": "hired"}
    exploration = Exploration(decided_table(), **PLAN, **drop, replications=50, guards="none")
    exploration.fairer(6)
    view = exploration.view
    assert view.is_against_incumbent
    assert view.strip[0].first == view.incumbent.scores.demographic_parity_difference.alone
    assert view.standpoint.gap == pytest.approx(view.incumbent.scores.demographic_parity_difference.value, rel=1e-12)
    document = exploration.commit(1, "model 1 takes its place", "me").document
    own = document.incumbent.scores.selection
    assert own.demographic_parity_difference.alone == view.incumbent.scores.demographic_parity_difference.alone
    assert own.accuracy.value == view.incumbent.scores.accuracy.value


def test_it_shows_itself_in_a_notebook(explored):
    html = explored._repr_html_()
    assert "<script" not in html
    assert "selection split" in html
    assert "sealed" in html
    assert re.search(r"\d+ models looked at on 150 rows of the selection split", html)
    assert f"Model {explored.view.standpoint.chosen} looks fairest" in html


def test_hostile_names_are_text():
    frame = applicants(420).rename(columns={"sex": "<script>alert(1)</script>"})
    frame["town"] = frame["town"].replace("north", '"><img src=x onerror=alert(2)>')
    exploration = Exploration(
        frame, "hired", "y", "<script>alert(1)</script>", sizes=(120, 150, 150), guards="none", replications=50
    )
    exploration.fairer(8)
    result = exploration.commit(exploration.view.current, "<b>because</b>", "<i>me</i>")
    for html in (exploration._repr_html_(), result.to_html()):
        assert "<script>alert(1)" not in html
        assert "<img src=x" not in html
        assert "<b>because" not in html
    assert json.loads(result.to_json())["exploration"]["reason"] == "<b>because</b>"


@pytest.mark.parametrize("opened", [open_people, open_applicants])
def test_a_page_for_every_state(opened, training_rows):
    exploration = opened()
    for step in (
        exploration.next,
        lambda: exploration.leave_out(training_rows(exploration)[:3]),
        lambda: exploration.pin(training_rows(exploration)[4:6]),
        lambda: exploration.next(1),
        lambda: exploration.tolerate(guards=["none"]),
        exploration.undo,
        lambda: exploration.commit(1, "enough", "me"),
    ):
        step()
        assert "fairenum-page" in exploration._repr_html_()
    assert "Model 1 was decided for" in exploration._repr_html_()
    assert "what is decided from now on is exploratory" in exploration._repr_html_()


def test_a_decision_is_known_again_after_the_process_has_ended(tmp_path):
    path, frame = tmp_path / "record.jsonl", applicants(420)
    first = open_applicants(record=path)
    assert (first.decision, first.report(), first.outputs) == (None, None, (None, None))
    (tmp_path / "record.html").write_text("somebody else's")  # which no decision has written
    assert first.report() is None
    first.next()
    result = first.commit(2, "why not", "A. Uditor")
    assert first.decision == result.document
    first.close()
    later = Exploration.resume(path, frame)
    assert later.decision == result.document
    assert later.report() == first.report() == (tmp_path / "record.html").read_text()
    assert [one.name for one in later.outputs] == ["record.run.json", "record.html"]
    assert later.lines == first.lines
    later.close()


def test_looking_at_another_model_is_no_step():
    exploration = open_applicants()
    second = exploration.next()
    heard = []
    exploration.listen(lambda: heard.append(exploration.lines))
    seen = exploration.focused(1)
    assert (seen.current, exploration.view.current) == (1, 2)
    assert seen.strip[0].change.value == 0.0
    assert exploration.preview(eps=0.5).tolerances.eps == 0.5
    assert (exploration.lines, heard) == (1, [])
    assert second is not None
    exploration.undo()
    assert heard == [2]
