"""Documents of version 0.1, read today: every number is where it belongs."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields

import pytest
from versions import KINDS, kept, read

from fairenum.document.audit_config import AuditConfig
from fairenum.document.files import parse, to_json
from fairenum.document.reading import Reading
from fairenum.document.terms import Verdict
from fairenum.document.training import ClassWeights
from fairenum.errors import ResultError


def numbers(value: object) -> Iterator[float]:
    """Yield every number of a document."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers(part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


@pytest.mark.parametrize("kind", KINDS)
def test_no_number_is_lost(kind):
    old, new = (Counter(numbers(document)) for document in (kept(kind), json.loads(to_json(read(kind)))))
    if kind == "audit":
        old -= Counter(numbers(kept(kind)["range"]))  # of mean decision values, and none of the gap
    if kind == "bench":
        old[1] -= 1  # its format
    assert sum(old.values()) > 40
    assert not old - new


def test_an_audit():
    old, new = kept("audit"), read("audit")
    assert [model.objective for model in new.models] == [model["objective"] for model in old["models"]]
    assert [model.origin for model in new.models] == [model["origin"] for model in old["models"]]
    sixth, scores = new.models[5].scores.holdout, old["models"][5]["scores"]["holdout"]
    gap, kept_gap = sixth.demographic_parity_difference, scores["demographic_parity_difference"]
    assert (gap.value, gap.low, gap.high) == (kept_gap["value"], kept_gap["low"], kept_gap["high"])
    assert gap.change.low == kept_gap["change"]["low"]
    assert (gap.verdict, kept_gap["verdict"]) == (Verdict.OPEN, "not distinguishable")  # as it is called today
    assert list(sixth.by_column["Female"].selected) == scores["by_column"]["Female"]["selected"]
    assert new.explanation.core.gap.holdout == old["explanation"]["core"]["gap"]["holdout"]
    assert old["range"]["low"]["bound"] is not None
    assert new.range is None  # it was of mean decision values, and none of the gap
    assert [method.name for method in new.baselines] == [method["name"] for method in old["baselines"]]
    assert new.group_tables[0].groups[1].p == old["group_tables"][0]["groups"][1]["p"]
    assert new.multiplicity.capacity == old["multiplicity"]["capacity"]
    assert new.tuning.grid[1].accuracy == old["tuning"]["grid"][1]["accuracy"]
    assert new.timings == old["timings"]


def test_what_an_audit_kept_in_words_is_a_word_now():
    old, new = kept("audit"), read("audit")
    assert old["enumeration"]["note"].count(" 6 examples lie on the margin of the best model where 5 determine it") == 1
    assert (new.enumeration.ties.examples, new.enumeration.ties.independent) == (6, 5)
    assert (new.selection.rank, new.selection.reason) == (old["selection"]["rank"], "smallest_gap")
    assert new.selection.is_fairer == old["selection"]["is_fairer"]
    untold = {"unused_rows", "wider_gap", "few_trials"}  # of which version 0.1 did not tell
    told = [caution.code for caution in new.warnings if caution.code not in untold]
    assert sorted(told) == sorted(warning["code"] for warning in old["warnings"])


def test_the_options_of_an_audit_have_moved():
    old, new = kept("audit"), read("audit")
    options = {name: value for name, value in new.config.options.items() if name not in ("sizes", "drop")}
    assert (options.pop("performance"), options.pop("decide")) == ("accuracy", "sign")
    assert options.pop("max_performance_drop") == old["config"]["max_accuracy_drop"]
    assert new.selection.tolerances.max_performance_drop == old["selection"]["tolerances"]["max_accuracy_drop"]
    assert all(one.scores.holdout.performance == one.scores.holdout.accuracy for one in new.models)
    for name in {option.name for option in fields(Reading)} - old["config"].keys():
        assert options.pop(name) == getattr(Reading(), name)
    assert options.pop("class_weight") == new.requested.class_weight == "none"  # there were none yet
    assert new.class_weights == ClassWeights(1.0, 1.0)
    assert options.pop("small_groups") == "keep"  # all groups were compared
    assert (options.pop("max_loss"), options.pop("guards")) == (None, ())  # nothing was guarded
    assert options.pop("same_within") == AuditConfig().same_within
    assert [options.pop(name) for name in ("against", "data_source", "data_dates")] == [None] * 3  # nobody was asked
    assert not options.pop("scores")
    assert options.pop("range")
    assert options.pop("prices")
    assert options.pop("price_rows") == "auto"
    assert options.pop("explanation")
    assert [options.pop(name) for name in ("solver_timeout", "fallback")] == [None] * 2  # every solver was on its own
    assert options == {name: old["config"][name] for name in options}
    assert list(new.config.sizes) == old["config"]["sizes"]
    assert (new.requested.C, new.requested.gamma) == ("auto", "scale")
    assert (new.dataset.label, new.dataset.favourable) == (old["config"]["label"], old["config"]["favourable"])
    assert new.dataset.sensitive_columns == old["config"]["sensitive"]
    assert (new.selection.column, new.column) == (old["selection"]["tolerances"]["column"], old["config"]["primary"])
    assert new.selection.tolerances.eps == old["selection"]["tolerances"]["eps"]
    assert new.dataset.fingerprint == old["environment"]["fingerprint"]
    assert new.environment.packages["scikit-learn"] == old["environment"]["scikit_learn"]
    assert new.environment.solver.backends == old["environment"]["solver"]["backends"]


@pytest.mark.parametrize("kind", ["audit", "attack"])
def test_an_attack(kind):
    old, new = kept(kind)["attack"], read(kind).attack
    assert new.config.machine.cost == old["config"]["C"]
    assert new.config.strategies == tuple(old["config"]["strategies"])
    assert new.clean.gap.value == old["clean"]["gap"]["value"]
    point, kept_point = new.curves[1].points[1], old["curves"][1]["points"][1]
    assert (point.flips, point.share, point.trials) == (kept_point["flips"], kept_point["share"], kept_point["trials"])
    assert point.recovery.paper_share.high == kept_point["recovery"]["paper_share"]["high"]
    assert point.defences[0].gap_change.value == kept_point["defences"][0]["gap_change"]["value"]
    assert [failure.message for failure in new.failures] == [failure["message"] for failure in old["failures"]]


def test_the_trials_of_an_attack():
    old, new = kept("attack"), read("attack")
    assert new.status == old["attack"]["status"] == "complete"
    assert len(new.attack.failures) == 3
    assert [record.clean.gap for record in new.trials] == [trial["clean"]["gap"] for trial in old["trials"]]
    attacked, kept_attack = new.trials[1].attacks[-1], old["trials"][1]["attacks"][-1]
    assert list(attacked.rows) == kept_attack["rows"]
    assert attacked.defences["fairest_listed"].gap == kept_attack["defences"]["fairest_listed"]["gap"]
    assert new.dataset.fingerprint == old["environment"]["fingerprint"]


def test_a_benchmark():
    old, new = kept("bench"), read("bench")
    assert [result.fits for result in new.standings] == [result["fits"] for result in old["standings"]]
    assert new.speedup(new.standings[0]) == old["standings"][1]["fits"] / old["standings"][0]["fits"]
    assert [list(series.seconds) for series in new.growth] == [series["seconds"] for series in old["growth"]]
    assert new.environment.processors == old["environment"]["processors"]


def test_a_comparison_of_mitigations():
    old, new = kept("mitigation"), read("mitigation")
    case, kept_case = new.cases[1], old["cases"][1]
    assert (case.case.data, case.case.rows) == (kept_case["data"], kept_case["rows"])
    assert case.methods[2].gap.low == kept_case["methods"][2]["gap"]["low"]
    assert [trial.scores[0].accuracy for trial in new.trials] == [t["scores"][0]["accuracy"] for t in old["trials"]]


def test_a_reproduction():
    old, new = kept("reproduction"), read("reproduction")
    assert list(new.tables) == ["german", "sonar"]
    german, kept_german = new.tables["german"], old["experiments"]["german"]
    assert german.main.splits[1].spread == kept_german["variants"]["standardised"]["splits"][1]["spread"]
    assert list(german.main.loss.q50) == kept_german["variants"]["standardised"]["loss"]["q50"]
    draws = old["experiments"]["compas"]["variants"]["standardised, C = 1"]
    assert new.injection.main.draws[2].clean_gap == draws["draws"][2]["clean_gap"]
    assert new.injection.main.sampling_error == draws["sampling_error"]
    assert [claim.name for claim in new.claims] == [claim["name"] for claim in old["claims"]]
    assert [claim.share.low for claim in new.claims] == [claim["share"]["low"] for claim in old["claims"]]
    assert new.plan.draws == old["plan"]["draws"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("config", "ab", "it is no audit as version 0.1 wrote it"),
        ("enumeration", None, "it is no audit as version 0.1 wrote it"),
        ("baselines", [1], "it is no audit as version 0.1 wrote it"),
        ("config", {}, "it lacks 'requested'"),
        ("models", [], "models of rank 1 and on"),
        ("surprise", 1, "unknown field `surprise`"),
        ("multiplicity", {}, r"missing required field `rows` - at `\$\.multiplicity`"),
    ],
)
def test_what_version_01_did_not_write_is_refused(name, value, message):
    content = json.dumps({**kept("audit"), name: value}).encode()
    with pytest.raises(ResultError, match=f"'run.json' is no valid document: .*{message}"):
        parse(content, "run.json")


@pytest.mark.parametrize(
    ("note", "obstacle"),
    [
        ("no sensitive column was named", "no_sensitive_column"),
        ("it looks at the rows that models are selected by, so it needs a holdout apart from them", "no_holdout"),
        ("the enumeration was cut short", "cut_short"),
    ],
)
def test_why_there_was_no_guided_search(note, obstacle):
    guided = {"stopped": "skipped", "solves": 0, "front": 0, "models": 0, "note": note}
    document = parse(json.dumps({**kept("audit"), "guided": guided}).encode(), "run.json")
    assert (document.guided.stopped, document.guided.obstacle) == ("skipped", obstacle)
    assert "guided_skipped" in [caution.code for caution in document.warnings]


def test_supports_that_repeat_each_other_without_ties():
    old = kept("audit")
    note = "9 models with distinct supports are one predictor: leaving out a supporting example moves these planes less"
    old["enumeration"]["note"] = note
    ties = parse(json.dumps(old).encode(), "run.json").enumeration.ties
    assert (ties.examples, ties.independent) == (0, 0)
    old["enumeration"]["note"] = ""
    assert parse(json.dumps(old).encode(), "run.json").enumeration.ties is None
