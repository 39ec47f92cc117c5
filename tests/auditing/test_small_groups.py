"""Audits of tables with small groups, missing groups and too many groups."""

import numpy as np
import pandas as pd
import pytest
from support.audits import checked, codes

from fairenum import audit
from fairenum.document.audit_document import AuditDocument
from fairenum.document.table_facts import SPLITS, SplitRows
from fairenum.errors import ColumnUnusable

METRIC = "demographic_parity_difference"
OPTIONS = {"label": "y", "favourable": "yes", "k": 6, "replications": 60}


def persons(rows: int = 900, tiny: object = "tiny", missing: object = None, seed: int = 3) -> pd.DataFrame:
    """A table with two large groups, a handful of others that are all selected, and rows without a group."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["a", "b"], rows, p=[0.7, 0.3]).astype(object)
    is_tiny, is_missing = rng.random(rows) < 0.02, rng.random(rows) < 0.15
    x, z = rng.normal(size=rows) + 0.6 * (race == "a") + 4.0 * is_tiny, rng.normal(size=rows)
    y = np.where(x + 0.5 * z + rng.normal(size=rows) > 0.3, "yes", "no")
    race[is_tiny], race[is_missing] = tiny, missing
    return pd.DataFrame({"x": x, "z": z, "race": race, "sex": rng.choice(["f", "m"], rows), "y": y})


@pytest.fixture(scope="module")
def run():
    return audit(persons(), sensitive="race", **OPTIONS)


@pytest.fixture(scope="module")
def document(run) -> AuditDocument:
    return checked(run)


def test_small_and_missing_groups_are_shown_and_set_aside(document):
    (race,) = document.dataset.sensitive
    assert [(group.name, group.is_compared) for group in race.groups] == [
        ("a", True),
        ("b", True),
        ("tiny", False),
        ("(missing)", False),
    ]
    assert [group.is_small for group in race.groups] == [False, False, True, False]
    for table in document.group_tables:
        assert [group.group for group in table.groups] == ["a", "b", "tiny", "(missing)"]
        assert [group.is_compared for group in table.groups] == [True, True, False, False]
        assert table.groups[2].rate.value == 1.0
        assert table.most_selected == "a"
    assert "set_aside" in codes(document)
    assert "small_group" not in codes(document)


def test_every_gap_is_that_of_fairlearn_on_the_rows_of_the_others(run, document):
    from fairlearn import metrics

    for part in ("selection", "holdout"):
        rows = run.live.division.rows[part]
        frame = persons().iloc[rows].assign(selected=(run.live.listing.values[part] >= 0.0)[0])
        frame = frame[frame["race"].isin(["a", "b"])]
        scores = document.first.scores.of(part)
        for name in (METRIC, "equalized_odds_difference", "demographic_parity_ratio", "equalized_odds_ratio"):
            expected = getattr(metrics, name)(frame["y"] == "yes", frame["selected"], sensitive_features=frame["race"])
            assert scores.measure(name).value == pytest.approx(expected, abs=1e-12)
    assert document.reference_check.compared > 0
    assert document.reference_check.largest_difference < 1e-12


def told(document: AuditDocument) -> list[object]:
    """What an audit says of its models, groups aside."""
    models = [
        (model.rank, model.origin, model.objective, model.is_constant, model.scores.holdout.gap(METRIC))
        for model in document.models
    ]
    return [models, document.selection, document.parity_range]


@pytest.mark.slow
def test_what_is_set_aside_has_no_say_however_it_is_called(run, document, monkeypatch):
    """The same rows in one small group, in two, or without a group: no gap, no verdict, no choice is another."""
    # groups have a say in how a table is split, which is not what this is about
    monkeypatch.setattr("fairenum.auditing.preparing.split", lambda *_plan: run.live.division.split)
    other = persons()
    other.loc[other.index[other["race"] == "tiny"][::2], "race"] = "mite"
    for frame in (other, persons(tiny=None)):
        found = checked(audit(frame, sensitive="race", **OPTIONS))
        assert [group.name for group in found.dataset.sensitive[0].compared] == ["a", "b"]
        assert told(found) == told(document)


def test_groups_are_brought_back(document):
    kept = checked(audit(persons(), sensitive="race", small_groups="keep", **OPTIONS))
    (race,) = kept.dataset.sensitive
    assert all(group.is_compared for group in race.groups)
    assert {"small_group"} <= codes(kept)
    assert "set_aside" not in codes(kept)
    assert kept.first.scores.holdout.gap(METRIC).value > document.first.scores.holdout.gap(METRIC).value + 0.1
    rates = [group.rate.value for group in kept.group_tables[0].groups]
    assert kept.first.scores.holdout.gap(METRIC).value == pytest.approx(max(rates) - min(rates))


@pytest.mark.slow
def test_where_all_groups_are_large_it_makes_no_difference():
    frame = persons().assign(race=np.where(persons()["race"] == "a", "a", "b"))
    aside, kept = (audit(frame, sensitive="race", small_groups=word, **OPTIONS) for word in ("set-aside", "keep"))
    strip = {"timings": {}, "config": kept.document.config}
    assert aside.document.but(**strip) == kept.document.but(**strip)


def test_a_table_too_small_for_two_large_groups_still_gets_an_answer():
    document = checked(audit(persons(100), sensitive="race", **OPTIONS))
    (race,) = document.dataset.sensitive
    assert [group.name for group in race.groups if group.is_compared] == ["a", "b", "tiny"]
    assert [group.name for group in race.aside] == ["(missing)"]
    assert {"small_group", "set_aside"} <= codes(document)
    assert document.first.scores.holdout.gap(METRIC).value is not None


def test_every_column_and_the_intersection_has_groups_of_its_own():
    document = checked(audit(persons(), sensitive=["sex", "race"], primary="sex & race", search="exact", **OPTIONS))
    sex, race, both = document.dataset.sensitive
    assert [len(column.aside) for column in (sex, race)] == [0, 2]
    assert {group.name for group in both.compared} == {
        f"sex: {one} & race: {other}" for one in "fm" for other in "ab"
    } - {group.name for group in both.groups if group.is_small}
    assert len(both.compared) >= 2
    assert both.is_intersection
    assert not sex.is_intersection


def test_left_out_rows_keep_the_numbers_of_the_table():
    frame = persons()
    found = audit(frame, sensitive="race", exclude=["tiny", "(missing)"], merge={"beta": ["b"]}, **OPTIONS)
    document = checked(found)
    (race,) = document.dataset.sensitive
    assert race.regrouped.left_out == {"tiny": (frame["race"] == "tiny").sum(), "(missing)": frame["race"].isna().sum()}
    assert race.regrouped.merged == {"beta": ("b",)}
    assert "regrouped" in codes(document)
    assert document.dataset.rows == frame["race"].isin(["a", "b"]).sum()
    assert document.config.reading.exclude == ("tiny", "(missing)")
    assert document.examples
    for example in document.examples:
        assert example.values["x"] == frame["x"].iloc[example.row]
        assert set(frame["race"].iloc[list(example.rows)].replace("b", "beta")) == set(example.groups["race"])


def coded(groups: int, rows: int) -> pd.DataFrame:
    """A table with a sensitive column of many groups, a few of them large."""
    rng = np.random.default_rng(0)
    zone = np.concatenate([np.repeat(["north", "south"], rows // 4), [f"z{n % groups}" for n in range(rows // 2)]])
    x = rng.normal(size=rows) + 0.5 * (zone == "north")
    return pd.DataFrame({"x": x, "zone": zone, "y": np.where(x + rng.normal(size=rows) > 0, "yes", "no")})


@pytest.mark.slow
def test_hundreds_of_small_groups_are_no_burden():
    document = checked(audit(coded(400, 2000), sensitive="zone", **{**OPTIONS, "k": 3}))
    (zone,) = document.dataset.sensitive
    assert (len(zone.compared), len(zone.groups)) == (2, 402)


def test_too_many_groups_to_compare_are_refused_with_advice():
    with pytest.raises(ColumnUnusable, match=r"'zone' has 402 groups to compare two by two, more than 60; set small.*"):
        audit(coded(400, 2000), sensitive="zone", small_groups="keep", **OPTIONS)
    with pytest.raises(ColumnUnusable, match=r"aside with min_group_size=60 \(--min-group-size 60\), or join some"):
        audit(coded(150, 3000), sensitive="zone", min_group_size=1, **OPTIONS)


@pytest.mark.slow
def test_an_intersection_of_too_many_groups_is_left_out_unless_it_is_asked_for():
    frame = coded(39, 4000).assign(sex=["f", "m"] * 2000)
    options = {**OPTIONS, "k": 2, "search": "exact", "min_group_size": 1}
    document = checked(audit(frame, sensitive=["sex", "zone"], **options))
    assert [column.column for column in document.dataset.sensitive] == ["sex", "zone"]
    assert "no_intersection" in codes(document)
    with pytest.raises(ColumnUnusable, match="'sex & zone' has 82 groups to compare two by two"):
        audit(frame, sensitive=["sex", "zone"], primary="sex & zone", **options)


@pytest.mark.slow
def test_other_methods_take_what_is_set_aside_for_one_group():
    frame, plain = persons(), audit(persons(), sensitive="race", search="exact", **OPTIONS)
    rows = plain.document.dataset.split_rows
    frame.loc[rows.of_split("holdout")[0], "race"] = "only there"
    options = {**OPTIONS, "search": "exact", "baselines": True}
    document = audit(frame.assign(part=parts(rows)), sensitive="race", split_column="part", **options).document
    assert {"tiny", "only there", "(missing)"} == {group.name for group in document.dataset.primary.aside}
    assert [method.error for method in document.baselines] == [None] * len(document.baselines)


def parts(rows: SplitRows) -> pd.Series:
    """Name the split of each row, as a table would."""
    return pd.Series({row: part for part in SPLITS for row in rows.of_split(part)}).sort_index()
