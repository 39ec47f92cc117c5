"""Two runs about different people: the verdict on every gap, its limits, matching by name, and mistakes."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.audits import audit_applicants
from support.decisions import decided_frame
from support.pages import printed

from fairenum import compare, measure
from fairenum.auditing.comparing import change_of_gap
from fairenum.document.files import parse, to_json
from fairenum.errors import ConfigError, ResultError
from fairenum.metrics import Decisions
from fairenum.metrics.rates import counted
from fairenum.report import page
from fairenum.tables.groups import Groups

METRIC = "demographic_parity_difference"


def counts(**selected):
    """So many of each group are selected, of 2,000."""
    frame = pd.DataFrame({"race": [*selected], "n": 2000, "selected": [*selected.values()]})
    return measure(frame, counts=True)


def verdict(old, new, **options):
    return compare(counts(**old), counts(**new), **options).document.gaps[0]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({"a": 900, "b": 800}, {"a": 900, "b": 600}, "widened"),
        ({"a": 900, "b": 600}, {"a": 900, "b": 880}, "narrowed"),
        ({"a": 900, "b": 600}, {"a": 600, "b": 1200}, "widened"),
        ({"a": 900, "b": 800}, {"a": 900, "b": 790}, "open"),
        ({"a": 900, "b": 800, "c": 850}, {"a": 900, "b": 500, "c": 850}, "widened"),
        ({"a": 900, "b": 500, "c": 850}, {"a": 900, "b": 860, "c": 880}, "narrowed"),
    ],
)
def test_verdicts_follow_the_change(old, new, words):
    found = verdict(old, new)
    assert found.verdict == words
    assert found.change.value == pytest.approx(found.new.value - found.old.value)
    assert found.change.low <= found.change.value <= found.change.high


def test_same_is_within_the_margin():
    assert verdict({"a": 900, "b": 800}, {"a": 905, "b": 800}, same_within=0.1).verdict == "same"


def test_two_groups_have_the_limits_of_a_difference_of_differences():
    found = verdict({"a": 900, "b": 700}, {"a": 910, "b": 500})
    rates = np.array([0.45, 0.35, 0.455, 0.25])
    error = np.sqrt((rates * (1 - rates) / 2000).sum())
    assert found.confidence == pytest.approx(0.95)
    radius = stats.norm.ppf(0.975) * error
    assert (found.change.low, found.change.high) == pytest.approx((0.105 - radius, 0.105 + radius), abs=1e-3)


@pytest.fixture(scope="module")
def both():
    options = {"label": "good", "favourable": "yes"}
    runs = [
        measure(decided_frame(1500, seed, gap), "hired", ["sex", "race"], **options)
        for seed, gap in ((1, 0.2), (2, 1.0))
    ]
    return compare(*runs, names=("january", "july"))


def test_the_main_gap_comes_first_and_gets_most_of_the_error(both):
    first, *others = both.document.gaps
    assert (first.column, first.metric, first.is_main, first.verdict) == ("sex", METRIC, True, "widened")
    errors = [1 - gap.confidence for gap in both.document.gaps]
    assert errors[0] == pytest.approx(0.04)
    assert sum(errors) == pytest.approx(0.05)
    assert len({gap.confidence for gap in others}) == 1
    assert both.verdicts["sex", METRIC] == "widened"


def test_every_medium_shows_the_comparison(both, tmp_path):
    document = both.document
    assert parse(to_json(document).encode(), "run") == document
    for text in (both.to_html(), both.to_markdown(), printed(page(document, brief=True))):
        shown = " ".join(text.split())
        assert "The demographic parity gap by sex widened: from" in shown
        assert "no person may be in both runs" in shown
    both.save(tmp_path / "comparison.json")
    assert (tmp_path / "comparison.json").exists()


def test_files_and_results_say_the_same(tmp_path):
    runs = counts(a=900, b=800), counts(a=900, b=600)
    for number, run in enumerate(runs):
        run.save(tmp_path / f"{number}.json")
    saved = compare(tmp_path / "0.json", str(tmp_path / "1.json"))
    assert saved.document.gaps == compare(*runs).document.gaps


def test_groups_and_decisions_of_one_run_only_are_named():
    found = compare(counts(a=900, b=800, c=10), counts(a=900, b=600, d=10)).document
    assert found.gaps[0].groups == ("a", "b")
    assert found.left_out == (
        "race: only the old run compares the group 'c'",
        "race: only the new run compares the group 'd'",
    )
    frame = decided_frame(300)
    several = compare(
        measure(frame, ["hired", "rival"], "sex"), measure(decided_frame(300, 5), ["rival"], "sex")
    ).document
    assert [gap.new_decisions for gap in several.gaps] == ["rival"]
    assert several.left_out == ("only the old run has decisions 'hired'",)


def test_audits_are_compared_on_their_holdouts():
    runs = [audit_applicants(k=2, search="exact", prices=False, seed=seed) for seed in (0, 1)]
    with pytest.raises(ConfigError, match=r"are about the same rows.*fairenum report OLD NEW"):
        compare(*runs)
    other = runs[1].document.but(dataset=runs[1].document.dataset.but(fingerprint="0" * 64))
    found = compare(runs[0], type(runs[1])(other)).document
    assert found.old.kind == "audit"
    assert found.old.rows == runs[0].document.dataset.splits.holdout
    primary = runs[0].document.column
    rank = runs[0].document.selection.rank or 1
    own = runs[0].document.member(rank).scores.holdout.by_column[primary].gap(METRIC)
    (gap,) = (one for one in found.gaps if (one.column, one.metric) == (primary, METRIC))
    assert gap.old.value == pytest.approx(own.value)


def test_mistakes_are_explained(tmp_path):
    run = counts(a=900, b=800)
    with pytest.raises(ConfigError, match="about the same rows"):
        compare(run, run)
    with pytest.raises(ConfigError, match=r"no gap in common.*by 'race'.*by 'sex'"):
        compare(run, measure(decided_frame(200), "hired", "sex"))
    with pytest.raises(ConfigError, match="lack the label that equal_opportunity_difference needs"):
        compare(run, counts(a=900, b=700), metric="equal_opportunity_difference")
    with pytest.raises(ResultError, match="cannot read"):
        compare(tmp_path / "none.json", run)


def officers(seed, groups=("a", "b")):
    """Decisions of 60 officers about 20 applicants each, of either group; officers are strict, some towards one."""
    rng = np.random.default_rng(seed)
    race, own = rng.choice(groups, (60, 20)), rng.normal(size=(60, 2))
    chance = 0.8 * own[:, :1] + 0.6 * own[:, 1:] * (race == groups[0]) + rng.normal(size=race.shape)
    officer = np.repeat(np.arange(60), 20)
    return pd.DataFrame({"officer": officer, "race": race.ravel(), "hired": (chance > 0).astype(int).ravel()})


def test_saved_measurements_keep_what_clusters_say(tmp_path):
    frames = [officers(seed) for seed in (1, 2)]
    for number, frame in enumerate(frames):
        measure(frame, "hired", "race", group_column="officer").save(tmp_path / f"{number}.json")
    found = compare(tmp_path / "0.json", tmp_path / "1.json", metric=METRIC).document.gaps[0]
    live = [
        Decisions(
            frame[["hired"]].to_numpy().T,
            np.zeros(len(frame), int),
            Groups((frame["race"] == "b").to_numpy(int), ("a", "b")),
            clusters=frame["officer"].to_numpy(),
        )
        for frame in frames
    ]
    assert [found.change.low, found.change.high] == pytest.approx(change_of_gap(*map(counted, live), METRIC, 0.95))
    plain = compare(*(measure(frame, "hired", "race") for frame in frames), metric=METRIC).document.gaps[0]
    assert found.change.high - found.change.low > 1.2 * (plain.change.high - plain.change.low)


def test_repeated_rows_say_no_more_than_one():
    persons = [decided_frame(400, seed)[["sex", "hired"]].assign(person=range(400)) for seed in (3, 4)]
    once, often = (
        compare(*(measure(pd.concat([one] * copies), "hired", "sex", group_column="person") for one in persons))
        for copies in (1, 6)
    )
    first, second = (one.document.gaps[0].change for one in (once, often))
    assert (second.low, second.high) == pytest.approx((first.low, first.high), abs=0.01)
