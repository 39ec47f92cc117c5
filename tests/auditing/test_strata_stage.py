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


def test_berkeley_reverses(counted):
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


def test_a_column_that_reverses_is_named_unasked(unasked):
    (hint,) = unasked.document.factors
    assert (hint.column, hint.factor, hint.effect) == ("gender", "department", "reverses")
    assert hint.given.value == pytest.approx(0.0184, abs=5e-5)
    (words,) = unasked.warnings["factor"]
    assert "is reversed among rows with the same 'department', where it is +0.018" in words
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
