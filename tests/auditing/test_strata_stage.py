"""Groups compared given legitimate factors: admissions that reverse, hints by name, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from support.decisions import berkeley_counts, berkeley_rows, decided_frame
from support.pages import printed

from fairenum import measure
from fairenum.document.files import parse, to_json
from fairenum.errors import ColumnConflict, ColumnMissing, ColumnUnusable, ConfigError
from fairenum.report import page


@pytest.fixture(scope="module")
def counted():
    return measure(berkeley_counts(), sensitive="gender", counts=True, given="department")


@pytest.fixture(scope="module")
def unasked():
    return measure(berkeley_counts(), sensitive="gender", counts=True)


def woman(result):
    (found,) = result.decisions().of_column("gender").given.groups
    return found


def test_berkeley_has_the_numbers_of_its_textbooks(counted):
    found = woman(counted)
    assert counted.decisions().of_column("gender").scores.demographic_parity_difference.value == pytest.approx(
        0.142, abs=5e-4
    )
    assert (found.group, round(found.raw.value, 3)) == ("woman", -0.142)
    assert 0 < found.difference.value < 0.03
    assert found.odds_ratio.value > 1
    assert found.within.value > 0 > found.composition.value
    assert found.within.value + found.composition.value == pytest.approx(found.raw.value)
    assert found.compared_rows == 4526


def test_strata_have_the_counts_of_the_table(counted):
    given, counts = counted.decisions().of_column("gender").given, berkeley_counts()
    assert [one.name for one in given.strata] == list("ABCDEF")
    for stratum, difference in zip(given.strata, woman(counted).differences, strict=True):
        lines = counts[counts["department"] == stratum.name]
        assert stratum.n == tuple(lines["n"])
        assert stratum.selected == tuple(lines["selected"])
        men, women = lines["selected"] / lines["n"]
        assert difference.value == pytest.approx(women - men)
        assert stratum.gap.value == pytest.approx(abs(women - men))


def test_rows_and_counts_say_the_same(counted):
    rows = measure(berkeley_rows(), "admitted", "gender", given=["department"])
    assert woman(rows) == woman(counted)
    assert rows.document.config.given == ("department",)


def test_several_columns_make_strata_of_combinations():
    frame = berkeley_rows().assign(year=np.tile(["a", "b"], 2263))
    given = measure(frame, "admitted", "gender", given=["department", "year"]).decisions().of_column("gender").given
    assert len(given.strata) == 12
    assert given.strata[0].name == "department: A & year: a"


def sentence(result):
    return next(one for one in page(result.document).findings if "the raw difference is" in one)


def test_a_direction_is_reversed_only_if_that_is_shown(counted):
    assert "so a difference is no longer shown (with the weights of Kitagawa's parts it is: +0.036 [" in sentence(
        counted
    )
    assert "reversed" not in sentence(counted)
    tenfold = berkeley_counts()
    tenfold[["n", "selected"]] *= 10
    assert ", so the direction is reversed;" in sentence(measure(tenfold, counts=True, given="department"))
    (hint,) = measure(tenfold, sensitive="gender", counts=True).document.factors
    assert hint.effect == "reverses"


def test_the_stratum_that_differs_most_is_named(counted):
    assert woman(counted).unlike == "A"
    words = (
        "but strata differ (p = 0.002), so one number hides much: most of all A, where it is +0.203 [+0.115, +0.273]"
    )
    assert words in sentence(counted)
    alike = pd.DataFrame({"team": list("aabb"), "gender": ["m", "w"] * 2, "n": 500, "selected": [250, 200, 150, 110]})
    assert "strata differ" not in sentence(measure(alike, sensitive="gender", counts=True, given="team"))


def clustered(seed, people=300, effect=0.0):
    """Applications to two teams, several of each person, who are alike; teams differ in rates and groups."""
    rng = np.random.default_rng(seed)
    group, team = rng.choice(["m", "w"], people), rng.choice(["a", "b"], (people, 6), p=[0.4, 0.6])
    own = rng.normal(size=people)[:, None] + rng.normal(size=(people, 6))
    taken = own + 0.4 * (team == "a") - effect * (group == "w")[:, None] > 0
    rows = {"team": team, "gender": np.repeat(group[:, None], 6, 1), "hired": taken.astype(int)}
    return pd.DataFrame({name: part.ravel() for name, part in rows.items()}).assign(person=np.repeat(range(people), 6))


def test_rows_of_one_person_widen_the_limits_within_strata_too():
    frame = clustered(1)
    plain, known = (
        measure(frame, "hired", "gender", given="team", **asked).decisions().of_column("gender").given
        for asked in ({}, {"group_column": "person"})
    )
    for one, other in ((plain.groups[0], known.groups[0]),):
        for name in ("raw", "difference", "odds_ratio", "within"):
            before, after = getattr(one, name), getattr(other, name)
            assert after.value == before.value
            assert after.high - after.low > 1.3 * (before.high - before.low), name
        assert other.p > one.p
        assert (other.homogeneity, other.homogeneity_p, other.unlike) == (None, None, None)
        assert all(b.high - b.low > a.high - a.low for a, b in zip(one.differences, other.differences, strict=True))
    assert all(b.gap.high > a.gap.high for a, b in zip(plain.strata, known.strata, strict=True))
    raw = measure(frame, "hired", "gender", group_column="person").decisions().of_column("gender").impact.groups
    assert known.groups[0].raw in [row.difference for row in raw]


def test_no_factor_is_named_for_a_difference_that_clusters_do_not_show():
    rng, found = np.random.default_rng(0), set()
    for seed in range(12):
        frame = clustered(seed).assign(ward=rng.choice(list("xyz"), 1800))
        for asked in ({}, {"group_column": "person"}):
            made = measure(frame, "hired", "gender", **asked)
            is_shown = made.decisions().of_column("gender").scores.demographic_parity_difference.low > 0
            found.add((bool(asked), is_shown))
            assert is_shown or not made.document.factors
    assert (False, True) in found


def test_a_column_that_removes_a_difference_is_named_unasked(unasked):
    (hint,) = unasked.document.factors
    assert (hint.column, hint.factor, hint.effect) == ("gender", "department", "removes")
    assert hint.given.value == pytest.approx(0.0184, abs=5e-5)
    (words,) = unasked.warnings["factor"]
    assert "is not shown among rows with the same 'department', where it is +0.018" in words
    assert "--given department" in words
    assert "--given department" in " ".join(printed(page(unasked.document, brief=True)).split())


def test_a_sensitive_column_can_be_the_factor_of_another():
    found = measure(berkeley_counts(), counts=True).document.factors
    assert [(one.column, one.factor) for one in found] == [("gender", "department")]


def test_no_column_is_named_where_the_difference_stays():
    frame = decided_frame(1500).assign(town=np.tile(["x", "y", "z"], 500))
    assert measure(frame, "hired", "sex").document.factors == ()
    assert measure(frame, "hired", "sex", given="town").document.factors == ()


def test_a_copy_of_the_decisions_or_of_the_groups_is_no_factor():
    frame = berkeley_rows()[["gender", "admitted"]]
    copies = frame.assign(letter=np.where(frame["admitted"], "yes", "no"), title=frame["gender"].str[0])
    assert measure(copies, "admitted", "gender").document.factors == ()


def test_every_medium_shows_strata(counted):
    assert parse(to_json(counted.document).encode(), "run") == counted.document
    for text in (counted.to_html(), counted.to_markdown(), printed(page(counted.document, brief=True))):
        shown = " ".join(text.split())
        assert "given department it is +0.018" in shown
        assert "+0.036" in shown
        assert "1.105" in shown
    assert {"given", "strata"} <= counted.tables().keys()
    assert counted.tables()["given"]["odds_ratio"][0] == woman(counted).odds_ratio.value
    assert len(counted.tables()["strata"]) == 12


def test_a_stratum_of_one_group_has_no_gap():
    frame = pd.concat([berkeley_rows(), pd.DataFrame({"department": "G", "gender": "man", "admitted": [1, 0] * 200})])
    given = measure(frame.reset_index(drop=True), "admitted", "gender", given="department").decisions()
    column = given.of_column("gender").given
    assert column.strata[-1].gap.value is None
    (found,) = column.groups
    assert found.differences[-1].value is None
    assert found.within.value + found.composition.value + found.unmatched == pytest.approx(found.raw.value)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("departmnt", ColumnMissing, "named as given; did you mean 'department'"),
        ("gender", ColumnConflict, "column 'gender' is named twice, as given and sensitive; give it one role"),
        ("points", ColumnUnusable, "given column 'points' holds .* different numbers.*--band points"),
        (["ward", "department"], ColumnUnusable, "make .* strata, more than 500"),
    ],
)
def test_what_cannot_be_given_is_refused(given, error, words):
    rows = berkeley_rows()
    frame = rows.assign(points=np.arange(len(rows)) / 7, ward=[f"w{number % 200}" for number in range(len(rows))])
    with pytest.raises(error, match=words):
        measure(frame, "admitted", "gender", given=given)


def test_rows_of_one_person_are_read_and_counts_have_none():
    frame = berkeley_rows().assign(person=np.arange(4526) // 2)
    result = measure(frame, "admitted", "gender", group_column="person")
    assert result.document.config.reading.group_column == "person"
    with pytest.raises(ConfigError, match="do not say which rows are of one 'person'"):
        measure(berkeley_counts(), sensitive="gender", counts=True, group_column="person")
