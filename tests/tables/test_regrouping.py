"""Spellings joined, groups merged, rows of some groups left out."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairenum.document.reading import Reading
from fairenum.document.table_facts import Regrouped
from fairenum.errors import ConfigError, DataError
from fairenum.tables import Dataset
from fairenum.tables.regrouping import spelling

RACES = ["White", "Black", "Asian", "white", "Other race", "OTHER  race", None]


def table(rows: int = 140) -> pd.DataFrame:
    place = np.arange(rows)
    race = np.array(RACES, dtype=object)[place % len(RACES)]
    race[place % 14 == 3] = "White"  # so that White is more frequent than white
    sex = np.where(place % 3 == 0, "f", "m")
    return pd.DataFrame({"x": place % 11, "race": race, "sex": sex, "y": place % 2})


def read(sensitive: object = "race", **options: object) -> Dataset:
    return Dataset.from_frame(table(), "y", 1, sensitive, **options)


def counts(dataset: Dataset, place: int = 0) -> dict[str, int]:
    groups = dataset.sensitive[place]
    return dict(zip(groups.names, groups.sizes.tolist(), strict=True))


def test_nothing_is_made_of_groups_unless_it_is_asked_for():
    dataset = read()
    assert counts(dataset) == table()["race"].fillna("(missing)").value_counts().to_dict()
    assert dataset.numbers is None


def test_spellings_that_differ_by_case_or_blanks_are_noted():
    assert read().regrouped == {"race": Regrouped(alike=(("OTHER  race", "Other race"), ("White", "white")))}
    assert read("sex").regrouped == {}


def test_tidying_joins_them_under_the_most_frequent_one():
    dataset = read(tidy_groups=True)
    expected = table()["race"].replace({"white": "White", "OTHER  race": "Other race"}).fillna("(missing)")
    found = {spelling(name): size for name, size in counts(dataset).items()}
    assert found == expected.map(spelling).value_counts().to_dict()
    assert "White" in dataset.sensitive[0].names
    assert "white" not in dataset.sensitive[0].names
    assert dataset.regrouped["race"].merged["White"] == ("White", "white")
    assert dataset.regrouped["race"].alike == ()
    assert dataset.sensitive[0].names[dataset.sensitive[0].unknown[0]] == "(missing)"


def test_groups_are_merged_under_a_new_name():
    dataset = read(merge={"Rest": ["Asian", "OTHER  race", "Other race"]})
    assert counts(dataset)["Rest"] == table()["race"].isin(["Asian", "OTHER  race", "Other race"]).sum()
    assert sum(counts(dataset).values()) == len(table())
    assert dataset.regrouped["race"].merged == {"Rest": ("Asian", "OTHER  race", "Other race")}


def test_groups_may_join_one_that_is_there():
    dataset = read(merge={"White": ["white"]})
    assert counts(dataset)["White"] == table()["race"].isin(["White", "white"]).sum()
    assert "white" not in dataset.sensitive[0].names


def test_missing_values_that_join_others_are_missing_no_more():
    assert read(merge={"Rest": ["Asian", "(missing)"]}).sensitive[0].unknown == ()
    renamed = read(merge={"not told": ["(missing)"]}).sensitive[0]
    assert [renamed.names[code] for code in renamed.unknown] == ["not told"]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"only": ["White", "Black"]}, lambda f: f["race"].isin(["White", "Black"])),
        (
            {"only": ["W", "Black"], "merge": {"W": ["White", "white"]}},
            lambda f: f["race"].isin(["White", "white", "Black"]),
        ),
        ({"exclude": ["Asian", "(missing)"]}, lambda f: ~(f["race"].isin(["Asian"]) | f["race"].isna())),
        ({"only": ["race:White", "Black", "Asian"], "exclude": "Asian"}, lambda f: f["race"].isin(["White", "Black"])),
    ],
)
def test_rows_of_other_groups_are_left_out(options, kept):
    dataset, rows = read(**options), np.flatnonzero(kept(table()))
    assert len(dataset) == len(rows)
    np.testing.assert_array_equal(dataset.numbered(np.arange(len(rows))), rows)
    np.testing.assert_array_equal(dataset.features[0].values, table()["x"].to_numpy()[rows])
    np.testing.assert_array_equal(dataset.y, table()["y"].to_numpy()[rows])
    assert sum(dataset.regrouped["race"].left_out.values()) == len(table()) - len(rows)
    assert dataset.placed(int(rows[3])) == 3
    assert dataset.placed(int(np.setdiff1d(np.arange(len(table())), rows)[0])) is None
    some = dataset.take(np.array([2, 0]))
    np.testing.assert_array_equal(some.numbered(np.array([0, 1])), rows[[2, 0]])


def test_with_several_columns_a_group_is_found_where_it_is():
    dataset = read(["race", "sex"], only=["sex:f", "m", "White", "Rest"], merge={"race:Rest": ["Black", "Asian"]})
    rows = table()["race"].isin(["White", "Black", "Asian"])
    assert len(dataset) == rows.sum()
    assert counts(dataset) == {"Rest": table()["race"].isin(["Black", "Asian"]).sum(), "White": counts(read())["White"]}
    assert counts(dataset, 1) == table()[rows]["sex"].value_counts().to_dict()
    assert "sex" not in dataset.regrouped  # both of its groups were named


def test_a_name_of_two_columns_must_say_which():
    frame = table().assign(sex=np.where(np.arange(140) % 3 == 0, "White", "m"))
    with pytest.raises(
        DataError, match=r"several columns have a group 'White', named in only \(--only\); say 'race:Wh"
    ):
        Dataset.from_frame(frame, "y", 1, ["race", "sex"], only=["White", "Black"])
    dataset = Dataset.from_frame(frame, "y", 1, ["race", "sex"], exclude=["race:White"])
    assert "White" not in dataset.sensitive[0].names
    assert "White" in dataset.sensitive[1].names


def test_a_name_may_hold_a_colon():
    frame = table().assign(race=np.where(np.arange(140) % 3 == 0, "race:a", "b:c"))
    dataset = Dataset.from_frame(frame, "y", 1, "race", merge={"x:y": ["b:c"]})
    assert dataset.sensitive[0].names == ("x:y", "race:a")
    assert Dataset.from_frame(frame, "y", 1, "race", merge={"race:z": ["b:c"]}).sensitive[0].names == ("z", "race:a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": ["Blakc"]}, r"no group is called 'Blakc', named in only \(--only\); did you mean 'Black'\?"),
        ({"exclude": ["race:Asain"]}, r"named in exclude \(--exclude\); did you mean 'race:Asian'\?"),
        ({"merge": {"Rest": ["qqq"]}}, r"named in merge \(--merge\); there are 'Asian', 'Black',"),
        ({"merge": {"Rest": ["Black"], "All": ["Asian", "Black"]}}, "'Black' is named twice in merge"),
        ({"merge": {"Rest": ["Black"], "All": ["Rest", "Black"]}}, "'Black' is named twice in merge"),
        ({"merge": {"Rest": []}}, "'merge' must be names of new groups, each with a list of groups to join"),
        ({"merge": ["Rest"]}, "'merge' must be names of new groups"),
        ({"merge": {"Rest": "Black"}}, "'merge' must be names of new groups"),
        ({"tidy_groups": "yes"}, "'tidy_groups' must be true or false"),
        ({"only": ["White"]}, r"leave one group, 'White', of sensitive column 'race'"),
        ({"exclude": [*filter(None, RACES), "(missing)"]}, "leave nothing of sensitive column 'race'"),
        ({"merge": {"All": [*filter(None, RACES), "(missing)"]}}, "leave one group, 'All', of sensitive column 'race'"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(options, message):
    with pytest.raises((DataError, ConfigError), match=message):
        read(**options)


def test_groups_of_two_columns_are_not_joined():
    with pytest.raises(DataError, match="joins groups of one column under 'Rest', not 'Black', 'f'"):
        read(["race", "sex"], merge={"Rest": ["Black", "f"]})


@pytest.mark.parametrize("part", ["merge", "only", "exclude"])
def test_without_a_sensitive_column_there_is_nothing_to_regroup(part):
    with pytest.raises(DataError, match=f"{part} .--{part}. names groups of a sensitive column, and there is none"):
        read((), **{part: {"a": ["b"]} if part == "merge" else ["b"]})


def test_values_that_are_codes_are_called_by_their_meanings():
    dataset = Dataset.from_frame(
        table(), "y", 1, "sex", meanings={"sex": {"f": "women", "m": "men"}}, merge={"all men": ["men"]}
    )
    assert dataset.sensitive[0].names == ("women", "all men")


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.sampled_from(["a", "A", " a", "b", "B ", "b  c", "B c", ""]), min_size=6, max_size=40),
    st.booleans(),
)
def test_tidy_groups_are_those_of_folded_texts(cells, tidy):
    folded = {spelling(cell) for cell in cells}
    assume(len(folded) > 1)
    frame = pd.DataFrame({"x": range(len(cells)), "g": cells, "y": [0, 1] * (len(cells) // 2) + [1] * (len(cells) % 2)})
    dataset = Dataset.from_frame(frame, "y", 1, "g", tidy_groups=tidy)
    (groups,) = dataset.sensitive
    names = {spelling(name) for name in groups.names if name != "(missing)"}
    assert names == folded - {""}
    if tidy:
        assert len(groups.names) == len(folded)
        assert groups.unknown == ((groups.names.index("(missing)"),) if "" in folded else ())
    else:
        alike = dataset.regrouped.get("g", Regrouped()).alike
        assert sum(map(len, alike)) - len(alike) == len(groups.names) - len(folded)


def test_a_reading_is_the_same_whatever_lists_it_is_given():
    assert Reading(only="a") == Reading(only=["a"]) == Reading(only=("a",))
    assert Reading(merge={"x": ["a", "b"]}) == Reading(merge={"x": ("a", "b")})
