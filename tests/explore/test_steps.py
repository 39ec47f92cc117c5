"""Steps: what each shows, that they are exact, and that they can be undone."""

import itertools

import msgspec
import numpy as np
import pytest
from support.explorations import open_applicants, open_people

from fairenum.document.decision_record import Next
from fairenum.enumeration.search import Enumeration, Limits
from fairenum.errors import AnswerRefused, ExplorationError, SolverError
from fairenum.explore.engine import used_copies


def shown(exploration) -> list[int]:
    return [model.number for model in exploration.view.models]


def bits(exploration) -> list[bytes]:
    return [one.shown.decided for one in exploration.state.listed]


def in_turn(exploration, allowed, floor):
    """List by brute force the models of a box that decide differently from all before, best first."""
    training, scorer = exploration._engine.training, exploration._engine.scorer
    root = training.workspace.solve(allowed * training.problem.cost, training.best)
    seen = set()
    for model in Enumeration(training.workspace, Limits(models=None), root=root, floor=floor):
        decided = scorer.decided(model)
        if decided not in seen:
            seen.add(decided)
            yield model, decided


def test_next_lists_models_as_the_enumeration_does():
    exploration = open_people()
    for _ in range(5):
        assert exploration.next() is not None
    copies = exploration._engine.training.problem.copies
    expected = list(itertools.islice(in_turn(exploration, copies, 0 * copies), 6))
    assert bits(exploration) == [decided for _, decided in expected]
    found = [model.objective for model in exploration.view.models]
    assert found == pytest.approx([model.objective for model, _ in expected], rel=1e-12)
    assert shown(exploration) == [1, 2, 3, 4, 5, 6]
    assert {model.origin for model in exploration.view.models} == {"exact"}


def test_after_leaving_out_and_pinning_next_is_the_best_of_the_box(training_rows):
    exploration = open_people()
    rows, problem = training_rows(exploration), exploration._engine.training.problem
    supporting = exploration.state.listed[0].shown.model.support
    records = exploration._engine.training.records
    number = exploration._engine.division.dataset.numbered
    gone = [int(number(records[example])[0]) for example in supporting[:4]]
    kept = [int(number(records[example])[0]) for example in supporting[4:30]]
    without = exploration.leave_out(gone)
    assert without.number == exploration.view.current
    assert {row for entry in without.left_out for row in (entry.row,)} == set(gone)
    exploration.pin(kept)
    first = len(exploration.state.listed)
    for _ in range(4):
        exploration.next(2000)
    allowed, floor = problem.copies.copy(), np.zeros_like(problem.copies)
    allowed[supporting[:4]] -= 1
    floor[supporting[4:30]] = 1
    expected = [decided for _, decided in itertools.islice(in_turn(exploration, allowed, floor), 12)]
    listed = exploration.state.listed
    in_box = {one.shown.decided for one in listed[1:first]}
    assert [one.shown.decided for one in listed[first:]] == [one for one in expected if one not in in_box][:4]
    for one in listed[first:]:
        assert one.shown.origin == "steered"
        left_out = one.shown.model.left_out
        assert all(left_out.get(example) for example in supporting[:4])
        assert not any(example in left_out for example in supporting[4:30])
    assert set(exploration.view.pinned) == set(kept) <= set(rows)


def test_pinning_puts_back_what_was_left_out(training_rows):
    exploration = open_people()
    row = int(exploration._engine.division.dataset.numbered(exploration._engine.training.records[0])[0])
    exploration.leave_out([row])
    assert exploration.view.left_out == (row,)
    exploration.pin([row])
    assert exploration.view.left_out == ()
    assert exploration.view.pinned == (row,)
    with pytest.raises(ExplorationError, match=f"row {row} is pinned, so that no model leaves it out; undo that first"):
        exploration.leave_out([row])
    assert exploration.view.pinned == (row,)


def test_a_model_that_cannot_be_had_in_the_box_hides_none_that_can():
    """A model that keeps a pinned row is shown even if a listed model that leaves it out decides alike."""
    exploration = open_people()
    while not (found := exploration.next(2000)).left_out:
        pass
    exploration.pin([found.left_out[0].row])
    box = exploration._engine._box(exploration.state)
    for _ in range(3):
        exploration.next(2000)
    fitting = [one.shown.decided for one in exploration.state.listed if box.holds(one.shown.model)]
    assert len(set(fitting)) == len(fitting), "within the box no two decide alike"


def test_fairer_goes_on_and_keeps_to_the_box(training_rows):
    exploration = open_applicants()
    rows = training_rows(exploration)
    exploration.leave_out(rows[:3])
    exploration.pin(rows[3:40])
    found = exploration.fairer(30)
    assert found
    held = {row for model in found for entry in model.left_out for row in [entry.row]}
    assert set(rows[:3]) <= held
    assert not held & set(rows[3:40])
    assert {model.origin for model in found} == {"guided"}
    view = exploration.view
    chosen = view.model(view.standpoint.chosen).scores.demographic_parity_difference.value
    assert chosen < view.models[0].scores.demographic_parity_difference.value


def test_fairer_in_two_goes_finds_what_one_finds():
    once, twice = open_applicants(), open_applicants()
    once.fairer(24)
    twice.fairer(9)
    twice.fairer(15)
    alphas = [{one.shown.mark.alpha for one in each.state.listed} for each in (once, twice)]
    assert alphas[0] <= alphas[1], "what no other beats in the end was shown, or had been shown before"
    assert once.view.standpoint.gap == twice.view.standpoint.gap


def test_every_step_can_be_taken_back_and_taken_again(training_rows):
    exploration = open_applicants()
    rows = training_rows(exploration)
    steps = (
        exploration.next,
        lambda: exploration.fairer(8),
        lambda: exploration.leave_out(rows[:5]),
        lambda: exploration.pin(rows[6:9]),
        lambda: exploration.tolerate(eps=0.2, guards=["none"]),
    )
    for step in steps:
        before = exploration.view
        step()
        after = exploration.view
        exploration.undo()
        back = exploration.view
        nothing = {"timeline": (), "end": None}
        seen = back.seal.but(looked_at=0)
        assert back.but(**nothing, seal=seen) == before.but(**nothing, seal=before.seal.but(looked_at=0))
        assert back.seal.looked_at == after.seal.looked_at, "what was seen stays seen"
        assert back.timeline[-2].is_undone
        step()
        assert exploration.view.but(timeline=()) == after.but(timeline=()), "the same models, with their numbers"
    for _ in steps:
        exploration.undo()
    with pytest.raises(ExplorationError, match="there is no step to undo"):
        exploration.undo()


def test_next_comes_back_when_all_are_alike_and_goes_on_from_there():
    patient, hasty = open_applicants(), open_applicants()
    found = patient.next(10_000)
    calls = 0
    while (model := hasty.next(1)) is None:
        calls += 1
        assert hasty.view.end == "alike"
        assert calls < 1000
    assert hasty.state.listed[-1].shown.mark.alpha == patient.state.listed[-1].shown.mark.alpha
    assert model.supports == found.supports


def test_a_box_can_be_exhausted(training_rows):
    exploration = open_people()
    exploration.pin(training_rows(exploration)[2:])
    for _ in range(4):
        exploration.next(10_000)
    assert exploration.view.end == "exhausted"
    assert len(exploration.state.listed) <= 4, "two rows can be left out in four ways"


@pytest.mark.parametrize("distinct", ["support", "diverse"])
def test_other_notions_of_another_model(distinct):
    exploration = open_people(distinct=distinct, min_difference=0.05)
    while len(exploration.state.listed) < 4:
        exploration.next(5000)
    listed = [one.shown for one in exploration.state.listed]
    if distinct == "support":
        assert len({used_copies(one.model).tobytes() for one in listed}) == 4
    else:
        for one, other in itertools.combinations(listed, 2):
            assert np.mean((one.values >= 0) != (other.values >= 0)) >= 0.05


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda e: e.leave_out([]), "no row was named"),
        (lambda e: e.leave_out([10**6]), "row 1000000 is no row of the table"),
        (lambda e: e.next(0), "boxes is a whole number of at least 1, not 0"),
        (lambda e: e.fairer("many"), "steps is a whole number of at least 1, not 'many'"),
        (lambda e: e.compare(1, 7), "the list has no model 7; the last ones are 1"),
        (lambda e: e.commit(7, "why", "me"), "the list has no model 7"),
        (lambda e: e.commit(1, " ", "me"), "a decision needs its reason"),
        (lambda e: e.commit(1, "why", ""), "a decision needs its author"),
    ],
)
def test_a_step_that_cannot_be_taken_says_why_and_changes_nothing(step, message):
    exploration = open_people()
    before = exploration.view
    with pytest.raises(ExplorationError, match=message):
        step(exploration)
    assert exploration.view == before
    assert exploration.state.opened == 0


def test_rows_of_other_splits_and_a_label_that_is_gone_are_refused(training_rows):
    exploration = open_people()
    division = exploration._engine.division
    row = int(division.dataset.numbered(division.split.selection)[0])
    with pytest.raises(
        ExplorationError, match=f"row {row} is no training row; only training rows can be kept or left out"
    ):
        exploration.pin([row])
    favourable = division.dataset.numbered(division.split.train[division.dataset.y[division.split.train] == 1])
    with pytest.raises(ExplorationError, match="no training row of one label would be left"):
        exploration.leave_out(favourable.tolist())


def test_without_groups_there_is_nothing_to_search_for():
    exploration = open_applicants(sensitive=None)
    with pytest.raises(ExplorationError, match="no sensitive column was named"):
        exploration.fairer()
    assert exploration.next(5000) is not None
    assert exploration.view.standpoint.chosen == 1


def test_a_solver_error_leaves_the_exploration_usable(monkeypatch, training_rows):
    exploration = open_people()
    exploration.next()
    before, workspace = exploration.view, exploration._engine.training.workspace
    with monkeypatch.context() as patch:
        patch.setattr(workspace, "solve", _refuses)
        with pytest.raises(SolverError, match="lost its way"):
            exploration.leave_out(training_rows(exploration)[:2])
    assert exploration.view == before
    assert exploration.leave_out(training_rows(exploration)[:2])
    with monkeypatch.context() as patch:
        patch.setattr(workspace, "remove", _refuses)
        with pytest.raises(SolverError, match="lost its way"):
            exploration.next(5000)
    assert exploration.next(5000) is None
    assert exploration.view.end == "solver"
    exploration.undo()
    exploration.undo()
    assert exploration.next(5000) is not None, "another box goes on"


def _refuses(*_arguments, **_options):
    raise AnswerRefused("solver 'path' lost its way")


def test_a_step_that_is_stopped_leaves_the_exploration_as_it_was():
    exploration, whole = open_applicants(), open_applicants()

    def stop(stage, done, _total):
        if (stage, done) in (("next", 2), ("fairer", 3)):
            raise KeyboardInterrupt

    exploration.progress = stop
    before = exploration.view
    for step in (lambda: exploration.next(10_000), lambda: exploration.fairer(9)):
        with pytest.raises(KeyboardInterrupt):
            step()
        assert exploration.view == before
    exploration.progress = whole.progress
    for each in (exploration, whole):
        each.next(10_000)
        each.fairer(9)
    assert msgspec.json.encode(exploration.view.models) == msgspec.json.encode(whole.view.models)


def test_an_interrupted_solver_goes_on_with_the_same_models(monkeypatch):
    exploration, whole = open_people(), open_people()
    models = exploration._engine._searches.best_first(exploration._engine._box(exploration.state))
    exploration.next()
    with monkeypatch.context() as patch:
        patch.setattr(models._enumeration, "_models", _interrupted())
        with pytest.raises(KeyboardInterrupt):
            exploration.next()
    exploration.next()
    for _ in range(2):
        whole.next()
    assert [one.shown.mark for one in exploration.state.listed] == [one.shown.mark for one in whole.state.listed]


def _interrupted():
    raise KeyboardInterrupt
    yield


def test_steps_are_typed_values():
    assert msgspec.json.decode(msgspec.json.encode(Next(3)), type=Next) == Next(3)
