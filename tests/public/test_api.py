"""The public functions and the result: saved, loaded, chosen again, shown, exported."""

import os
from datetime import date
from html import escape

import numpy as np
import pytest
from skops.io import get_untrusted_types
from skops.io import load as load_skops
from support.audits import METRIC, audit_exactly, checked, people
from support.decisions import QUICK, decided_frame, holdout
from support.saved_runs import path

from fairenum import AuditResult, audit, select
from fairenum.document.training import Tolerances
from fairenum.errors import ConfigError, NotProposed, ResultError
from fairenum.report import page
from fairenum.report.headline import headline
from fairenum.report.rules import Rule


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audit_exactly(people())


@pytest.fixture(scope="module")
def loaded(result, tmp_path_factory) -> AuditResult:
    file = tmp_path_factory.mktemp("saved") / "run.json"
    result.save(file)
    return AuditResult.load(file)


def test_a_saved_result_is_the_same(result, tmp_path):
    result.save(tmp_path / "run.json")
    loaded = AuditResult.load(tmp_path / "run.json")
    assert loaded.document == result.document
    assert loaded.to_json() == result.to_json() == (tmp_path / "run.json").read_text()
    rank = result.document.selection.rank
    assert repr(loaded) == repr(result) == f"AuditResult('table', models=12, selected={rank})"
    assert loaded.selected == loaded.model(rank)
    assert os.listdir(tmp_path) == ["run.json"]
    assert loaded.live is None


def test_what_is_no_audit_is_refused(tmp_path):
    with pytest.raises(ResultError, match="is a benchmark, no audit; make one with: fairenum audit DATA"):
        AuditResult.load(path("bench"))
    with pytest.raises(ResultError, match="No such file"):
        AuditResult.load(tmp_path / "none.json")


def test_a_loaded_result_has_no_estimators(result, loaded, tmp_path):
    with pytest.raises(ResultError, match="run the audit again"):
        _ = loaded.selected_estimator
    with pytest.raises(ResultError, match="run the audit again"):
        loaded.export(tmp_path / "model.skops")
    for one in (result, loaded):
        with pytest.raises(ResultError, match="no model of rank 13; its ranks are 1 to 12"):
            one.estimator(13)
    with pytest.raises(ResultError, match="no model of rank 0; its ranks are 1 to 12"):
        result.model(0)


def test_the_selected_model_is_exported_by_default(result, tmp_path):
    proposed = result.document.selection.but(answer="proposed", reasons=())
    AuditResult(result.document.but(selection=proposed), result.live).export(tmp_path / "model.skops")
    expected = result.estimator(result.document.selection.rank).predict(people())
    loaded = load_skops(tmp_path / "model.skops", trusted=get_untrusted_types(file=tmp_path / "model.skops"))
    np.testing.assert_array_equal(loaded.predict(people()), expected)
    np.testing.assert_array_equal(result.selected_estimator.predict(people()), expected)


def test_no_selection_is_no_export(result, tmp_path):
    nothing = result.document.selection.but(rank=None, outcome="none", reason="all_constant")
    unselected = AuditResult(result.document.but(selection=nothing), result.live)
    with pytest.raises(ResultError, match="no model was selected: no model within the tolerances decides anything"):
        unselected.export(tmp_path / "model.skops")
    with pytest.raises(NotProposed, match="model 2 is not proposed: it was not selected; write it all"):
        unselected.export(tmp_path / "model.skops", 2)
    unselected.export(tmp_path / "model.skops", 2, unconfirmed=True)
    assert os.listdir(tmp_path) == ["model.skops"]


@pytest.mark.parametrize(
    ("answer", "reasons", "unconfirmed", "standing"),
    [
        ("proposed", (), False, "proposed"),
        ("candidate", ("fairness_not_shown",), True, "candidate"),
        ("not proposed", ("less_fair",), True, "not proposed"),
        ("candidate", ("fairness_not_shown",), False, None),
        ("not proposed", ("less_fair",), False, None),
        ("no disparity", ("gap_not_shown",), False, None),
        (None, (), False, None),
    ],
)
def test_only_what_is_proposed_is_exported_without_a_word(result, tmp_path, answer, reasons, unconfirmed, standing):
    path, rank = tmp_path / "model.skops", result.document.selection.rank
    selection = result.document.selection.but(answer=answer, reasons=reasons)
    chosen = AuditResult(result.document.but(selection=selection), result.live)
    if standing is None:
        with pytest.raises(NotProposed, match=rf"model {rank} is not.*unconfirmed=True \(--rank {rank} --unconf"):
            chosen.export(path, unconfirmed=unconfirmed)
        assert not path.exists()
    else:
        chosen.export(path, unconfirmed=unconfirmed)
        assert load_skops(path, trusted=get_untrusted_types(file=path)).standing_ == standing


def test_model_1_is_exported_without_a_word(result, tmp_path):
    result.export(tmp_path / "model.skops", 1)
    assert os.listdir(tmp_path) == ["model.skops"]


def test_choosing_again_needs_no_data(result, loaded):
    again, made = select(loaded).document, result.document
    assert again == made, "the same model keeps what the holdout has shown of it"
    assert (made.selection.is_in_sight, made.selection.claims) == (False, 1)
    other = next(rank for rank in range(2, len(made.models)) if rank != made.selection.rank)
    joint, alone = (select(loaded, rank=other, in_advance=is_first).document.selection for is_first in (False, True))
    assert (joint.is_in_sight, joint.claims) == (True, 1)
    assert (alone.is_in_sight, alone.claims) == (False, 2)
    assert select(loaded).live is None
    strict = select(loaded, eps=0.0)
    assert (strict.document.selection.outcome, strict.document.selection.reason) == ("kept", "no_other_candidate")


def test_a_pair_claimed_in_advance_has_its_own_gaps_and_that_over_all_groups_beside_it():
    frame = decided_frame(1200, seed=2, gap=0.0)
    shift = frame["race"].map({"a": 0.6, "b": 0.0, "c": -0.8})
    rng = np.random.default_rng(5)
    frame["skill"] = (frame["points"] / 10 + rng.normal(size=1200) + shift).round(2)
    frame["years"] = rng.normal(size=1200).round(2)
    made = audit(
        frame.drop(columns=["sex", "points", "hired", "rival"]),
        **{"label": "good", "favourable": "yes", "sensitive": "race", **QUICK, "always_search": True},
    )
    rank = next(model.rank for model in made.document.models[1:] if model.rank != made.document.selection.rank)
    again = select(made, rank=rank, in_advance=True)
    claim, whole, *others = again.document.selection.strip
    pair, rows = claim.pair, holdout(made, frame)
    decided = {one: made.estimator(one).predict(rows[["skill", "years"]]) == "yes" for one in (1, rank)}
    rates = {one: rows.assign(selected=bits).groupby("race")["selected"].mean() for one, bits in decided.items()}
    first, second = (abs(one[pair.higher] - one[pair.lower]) for one in rates.values())
    assert (claim.first.value, claim.selected.value) == pytest.approx((first, second))
    assert claim.change.value == pytest.approx(second - first)
    assert (whole.pair, whole.is_claim, whole.metric) == (None, False, claim.metric)
    spans = [one.max() - one.min() for one in rates.values()]
    assert (whole.first.value, whole.selected.value) == pytest.approx(spans)
    (watched,) = (cell for cell in others if cell.pair)  # the third group, against the control
    control, third = pair.higher, ({"a", "b", "c"} - {pair.higher, pair.lower}).pop()
    assert {watched.pair.higher, watched.pair.lower} == {control, third}
    values = [abs(one[control] - one[third]) for one in rates.values()]
    assert (watched.first.value, watched.selected.value) == pytest.approx(values)
    assert (watched.change.low, watched.verdict, watched.is_claim) == (None, None, False)
    assert [cell.is_joint for cell in again.document.selection.strip] == [False, True, False] + [True] * 3
    first = page(again.document).strip.table.notes[0]
    assert first.endswith(
        "its interval has 95.5 % for the claim, judged alone, and 95 % for each other gap, all models judged together; "
        "without an interval: not judged"
    )
    assert f" between {pair.higher} and {pair.lower}" in headline(again.document)


def test_choosing_again_where_the_data_is_explains_and_weighs(result):
    again, made = select(result).document, result.document
    assert again.but(selection=made.selection, warnings=made.warnings) == made
    assert again.selection.optimism.expected == made.selection.optimism.expected
    other = select(result, metric="equal_opportunity_difference", max_accuracy_drop=0.5)
    tolerances = checked(other).selection.tolerances
    assert tolerances == Tolerances("equal_opportunity_difference", 0.1, 0.5)
    assert other.document.selection.optimism.expected is not None
    assert select(other).document.selection == other.document.selection  # the last tolerances hold on
    assert other.live is result.live


def test_an_explanation_is_of_the_model_that_was_chosen(result):
    fresh = select(result, max_accuracy_drop=0.05).document
    assert fresh.explanation.rank == fresh.selection.rank
    assert select(result, eps=0.0).document.explanation is None


@pytest.mark.parametrize("where", ["result", "loaded"])
@pytest.mark.parametrize("rank", [1, 5])
def test_a_model_is_taken_by_its_rank(request, where, rank):
    before = request.getfixturevalue(where)
    document = checked(select(before, rank=rank))
    assert (document.selection.rank, document.selection.reason) == (rank, "asked_for")
    assert document.selection.tolerances == before.document.selection.tolerances
    assert document.models == before.document.models
    optimism = document.selection.optimism
    assert (optimism is None) == (rank == 1)
    assert optimism is None or optimism.expected is None  # nobody knows how it was chosen
    assert headline(document).startswith(f"Model {rank} was asked for")
    assert select(AuditResult(document), rank=None).document.selection.rank == before.document.selection.rank


@pytest.mark.parametrize("where", ["result", "loaded"])
@pytest.mark.parametrize("rank", [0, 13])
def test_a_rank_that_no_model_has_is_refused(request, where, rank):
    with pytest.raises(ResultError, match=f"no model of rank {rank}; its ranks are 1 to 12"):
        select(request.getfixturevalue(where), rank=rank)


def test_without_groups_a_model_is_taken_by_its_rank():
    result = audit(people(120).drop(columns=["sex", "race"]), "hired", "yes", k=2, replications=50)
    document = select(result, rank=2).document
    assert (document.selection.rank, document.selection.verdict) == (2, None)
    assert headline(document) == "Model 2 was asked for; no gap was measured."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "accuracy"}, "'metric' must be one of"),
        ({"eps": 0.5}, "the run looked for models within eps=0.1; choose eps between 0 and that, not 0.5"),
        ({"eps": -0.1}, "choose eps between 0 and that, not -0.1"),
        ({"max_accuracy_drop": -1.0}, "'max_performance_drop' must be a number of at least 0"),
    ],
)
def test_bad_tolerances_are_refused(result, options, message):
    with pytest.raises(ConfigError, match=message):
        select(result, **options)


def test_a_redacted_result_stays_so(result):
    redacted = result.redacted()
    assert redacted.document == result.document.redacted()
    chosen = select(redacted, max_accuracy_drop=0.05)
    assert chosen.document.is_redacted
    assert chosen.document.explanation.clusters == ()
    assert {entry.row for entry in chosen.document.explanation.core.left_out} == {None}
    assert {entry.row for model in chosen.document.models for entry in model.left_out} == {None}
    assert chosen.document.explanation.rank == select(result, max_accuracy_drop=0.05).document.explanation.rank


def test_warnings_are_found_by_their_code(result):
    assert list(result.warnings) == list(dict.fromkeys(caution.code for caution in result.document.warnings))
    small = [caution.column for caution in result.document.warnings if caution.code == "small_group"]
    assert len(small) > 1
    assert [message.partition(":")[0] for message in result.warnings["small_group"]] == small
    assert AuditResult(result.document.but(warnings=())).warnings == {}


def test_the_page_is_the_same_live_and_loaded(result, loaded):
    html = result.to_html()
    assert html == loaded.to_html()
    assert html.startswith("<!doctype html>")
    assert headline(result.document) in html
    assert "<script src" not in html


def test_the_page_can_be_judged_and_arranged(result):
    rule = Rule(METRIC, "<", 0.001)
    assert escape(str(rule)) in result.to_html(rules=[rule])
    assert escape(str(rule)) not in result.to_html()
    assert "2024-02-29" in result.to_html(profile="ll144", day=date(2024, 2, 29))
    assert "2024-02-29" not in result.to_html()


def test_notebooks_show_the_page(result):
    assert headline(result.document) in result._repr_html_()


def test_unknown_options_are_refused():
    with pytest.raises(ConfigError, match="an audit has no option 'kk'"):
        audit(people(), "hired", "yes", "sex", kk=3)
