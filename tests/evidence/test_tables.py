"""The tables of a run as files: complete, right, and harmless in a spreadsheet."""

import csv
import io
import sys

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.decisions import decided_frame
from support.documents import METRIC, audit, near, saved

from fairenum import measure
from fairenum.api import AuditResult
from fairenum.document.choice import GapChange, GuardCheck
from fairenum.document.feature_facts import Anatomy, EncodedFeature, FeatureEffects
from fairenum.document.terms import Verdict
from fairenum.errors import ResultError
from fairenum.evidence import spreadsheet
from fairenum.evidence.frames import (
    OPTIONAL_SHEETS,
    SHEETS,
    table_files,
    table_names,
    tables,
    workbook,
    write_tables,
)
from fairenum.evidence.spreadsheet import to_csv, to_xlsx
from fairenum.report.evidence_words import MEASURED, TABLES

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
BLANKS = " \u00a0\u200b\u2060\ufeff"
TEXTS = st.text(max_size=20) | st.builds(
    "{}{}{}".format, st.text(BLANKS, max_size=2), st.sampled_from(STARTS), st.text(max_size=10)
)
CELLS = TEXTS | st.integers(-(2**40), 2**40) | st.floats(-1e300, 1e300) | st.booleans()


def computed(text: str) -> bool:
    """Tell whether a spreadsheet that passes over blanks would compute a text."""
    return text.lstrip(BLANKS).startswith(STARTS)


def read(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content))


def sheets(content: bytes) -> dict[str, list[tuple]]:
    book = openpyxl.load_workbook(io.BytesIO(content))
    return {sheet.title: list(sheet.iter_rows()) for sheet in book.worksheets}


def test_every_table_has_words_and_a_file_and_the_index_names_them():
    files = table_files(saved("compas"))
    assert list(files) == table_names(saved("compas")) == ["index.csv", *(f"{name}.csv" for name in TABLES)]
    assert set(TABLES) == set(tables(saved("compas")))
    index = read(files["index.csv"]).set_index("file")
    for name, content in files.items():
        if name != "index.csv":
            assert index.loc[name, "rows"] == len(read(content)), name
    assert read(files["models.csv"])["rank"].tolist() == [*saved("compas").ranks]


def test_the_gaps_follow_from_the_outcomes_of_the_groups():
    """The numbers of rows give the gaps once more: fairlearn's definition, by hand."""
    document = saved("compas")
    found = tables(document)["outcomes"]
    for (rank, split, column), rows in found.groupby(["rank", "split", "column"]):
        scores = document.member(rank).scores.of(split).by_column[column]
        compared = {group.name for one in document.dataset.sensitive if one.column == column for group in one.compared}
        groups = rows[rows["group"].isin(compared)]
        rates = groups["selected"] / groups["rows"]
        recalls = groups["true_positives"] / groups["favourable"]
        assert np.isclose(rates.max() - rates.min(), scores.demographic_parity_difference.value, atol=1e-12)
        assert np.isclose(recalls.max() - recalls.min(), scores.equal_opportunity_difference.value, atol=1e-12)


def test_strip_and_guards_are_as_the_choice_has_them():
    cell = GapChange("age", METRIC, True, near(0.2), near(0.1), near(-0.1), 0.95, Verdict.FAIRER)
    check = GuardCheck("selection_rate=+-0.1", "selection_rate", -0.1, None, 0.02, near(0.03), "holds")
    document = audit()
    document = document.but(selection=document.selection.but(strip=(cell,), guards=(check,)))
    gaps, guards = (tables(document)[name].iloc[0] for name in ("strip", "guards"))
    assert (gaps["column"], gaps["metric"], bool(gaps["is_claim"]), gaps["verdict"]) == ("age", METRIC, True, "fairer")
    assert (gaps["reference"], gaps["selected_low"], gaps["change_high"]) == (0.2, 0.06, -0.06)
    assert (guards["guard"], guards["low"], guards["holdout"], guards["status"]) == (check.guard, -0.1, 0.03, "holds")
    assert pd.isna(guards["high"])


def test_screening_features_and_groups_are_as_the_document_has_them():
    document, found = saved("compas"), tables(saved("compas"))
    screening, told = document.screening, found["screening"]
    label = told[(told["tells"] == "label") & told["feature"].notna()]
    alone = label[label["measure"] == "auc"]
    assert alone["value"].tolist() == [one.auc for one in screening.features]
    right = label[label["measure"] == "accuracy"]
    assert right["value"].tolist() == [one.accuracy for one in screening.features if one.accuracy is not None]
    assert len(right) == len(screening.features)
    for column in screening.columns:
        group = told[told["column"] == column.column]
        assert group["value"].tolist() == [column.together, *(one.auc for one in column.features)]
    assert found["features"]["feature"].tolist() == [one.name for one in document.dataset.features]
    sizes = found["group_sizes"]
    for column in document.dataset.sensitive:
        rows = sizes[sizes["column"] == column.column]
        assert rows[["train", "selection", "holdout"]].sum().tolist() == [
            document.dataset.splits.train,
            document.dataset.splits.selection,
            document.dataset.splits.holdout,
        ]


def test_effects_are_by_model_and_feature():
    features = (EncodedFeature("age", "numeric", 40.0), EncodedFeature("town", "categorical", levels=("Ayr", None)))
    anatomy = Anatomy(features, (), (FeatureEffects(1, 80, (0.5, 0.1)), FeatureEffects(3, 80, (0.2, 0.0))))
    found = tables(audit().but(anatomy=anatomy))["effects"]
    assert found["feature"].tolist() == ["age", "town"] * 2
    assert found["effect"].tolist() == [0.5, 0.1, 0.2, 0.0]


def test_numbers_that_count_stay_whole_where_some_are_missing():
    found = tables(saved("compas").redacted())["left_out"]
    assert found["row"].isna().all()
    document = saved("compas")
    first, *others = document.warnings
    ranks = tables(document.but(warnings=(first.but(rank=27), *others)))["warnings"]["rank"]
    assert ranks.isna().any()
    assert "27\n" in to_csv(ranks.to_frame())


@given(
    st.lists(st.tuples(TEXTS, CELLS), min_size=1, max_size=6),
    st.tuples(TEXTS, TEXTS).filter(lambda two: len(set(two)) == 2),
)
def test_no_text_of_a_csv_file_is_a_formula_and_every_cell_stays_in_its_place(rows, names):
    frame = pd.DataFrame(rows, columns=list(names), dtype=object)
    lines = list(csv.reader(io.StringIO(to_csv(frame), newline="")))
    assert len(lines) == len(rows) + 1
    for line, cells_of_row in zip(lines, [names, *rows], strict=True):
        for text, cell in zip(line, cells_of_row, strict=True):
            if isinstance(cell, str):
                assert not computed(text)
                assert text.replace("'", "") == cell.replace("'", "")  # marks are all that is added
                assert text in (cell, f"'{cell}") or any(sign in cell for sign in ";|\t\r\n")
                assert text.startswith("'") or not computed(cell)
            elif isinstance(cell, bool):
                assert text == str(cell)
            else:
                assert float(text) == cell


@given(st.lists(st.tuples(TEXTS, CELLS), min_size=1, max_size=6))
def test_every_text_of_a_workbook_is_a_text_and_every_number_a_number(rows):
    content = to_xlsx({"sheet": pd.DataFrame(rows, columns=["=text", "cell"], dtype=object)})
    (found,) = sheets(content).values()
    assert found[0][0].value == "=text"
    for read_row, row in zip(found[1:], rows, strict=True):
        for cell, value in zip(read_row, row, strict=True):
            if isinstance(value, bool):
                assert (cell.data_type, cell.value) == ("b", value)
            elif isinstance(value, str):
                assert cell.data_type in ("s", "inlineStr")
                assert cell.quotePrefix == computed(value)
            else:
                assert cell.data_type == "n"
                assert cell.value == pytest.approx(value, rel=1e-15)


def test_formulas_errors_and_controls_are_inert_in_a_workbook():
    texts = ['=HYPERLINK("http://x")', "+1", "-2", "@SUM(A1)", "#N/A", "\x00\x0b", "\u202e", "a\nb", "x" * 40_000]
    frame = pd.DataFrame({"text": texts, "number": [-1.5, 2, 3, 4, 5, 6, np.nan, np.inf, -np.inf]})
    (rows,) = sheets(to_xlsx({"sheet": frame})).values()
    found = [row[0] for row in rows[1:]]
    assert {cell.data_type for cell in found} == {"s"}
    assert [cell.value for cell in found[:5]] == texts[:5]
    assert [cell.value for cell in found[5:8]] == ["\\x00\\x0b", "\\u202e", "a\\nb"]
    assert len(found[8].value) == 32_767
    assert [row[1].value for row in rows[1:]] == [-1.5, 2, 3, 4, 5, 6, None, None, None]


def test_sheets_have_names_that_excel_allows():
    names = ["a" * 40, "a" * 41, "A" * 31, "b/c:d*e?f[g]h\\'", "", "b_c_d_e_f_g_h__"]
    titles = spreadsheet.sheet_titles(dict.fromkeys(names, pd.DataFrame()))
    assert len({title.casefold() for title in titles}) == len(names)
    assert all(0 < len(title) <= 31 and not set(title) & set("[]:*?/\\'") for title in titles)
    assert spreadsheet.sheet_titles(dict.fromkeys(TABLES, pd.DataFrame())) == list(TABLES)


def test_a_sheet_that_is_too_long_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(spreadsheet, "MOST_ROWS", 5)
    (rows,) = sheets(to_xlsx({"sheet": pd.DataFrame({"n": range(10)})})).values()
    assert [row[0].value for row in rows] == [
        "n",
        0,
        1,
        2,
        "7 more rows, which a sheet cannot hold; write CSV instead (--tables)",
    ]
    (rows,) = sheets(to_xlsx({"sheet": pd.DataFrame({"n": range(4)})})).values()
    assert len(rows) == 5


def test_a_workbook_has_every_table_after_an_index():
    found = sheets(workbook(saved("compas")))
    assert list(found) == ["index", *TABLES]
    assert len(found["models"]) == 1 + len(saved("compas").ranks)


def test_odd_names_of_columns_stay_apart():
    document = audit()
    data = document.dataset
    odd = ("=cmd|' /C calc'!A0", 'a,"b"\n', "label", "row")
    columns = tuple(data.sensitive[0].but(column=name, is_primary=place == 0) for place, name in enumerate(odd))
    flips = SHEETS["flips"].frame(document.but(dataset=data.but(sensitive=columns)))
    assert flips.columns.is_unique
    header = next(csv.reader(io.StringIO(to_csv(flips), newline="")))
    assert header == ["row", "label", "reference", "selected", *(f"group_{name}" for name in odd)]


def test_a_folder_is_made_or_filled_file_by_file(tmp_path):
    folder = tmp_path / "tables"
    write_tables(audit(), folder)
    (folder / "mine.txt").write_text("stays")
    (folder / "models.csv").write_text("goes")
    write_tables(audit(), folder)
    assert {path.name for path in folder.iterdir()} == {*table_names(saved("compas")), "mine.txt"}
    assert (folder / "models.csv").read_bytes() == table_files(audit())["models.csv"]
    with pytest.raises(ResultError, match="cannot make the folder"):
        write_tables(audit(), tmp_path / "no" / "where")


def test_without_openpyxl_one_line_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ResultError, match=r"need openpyxl; install it with: pip install 'fairenum\[excel\]'"):
        AuditResult(audit()).save_xlsx(tmp_path / "x.xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("has_label", [True, False])
def test_tables_of_a_measurement_have_words_columns_and_the_numbers_of_the_document(has_label):
    told = {"label": "good", "favourable": "yes"} if has_label else {}
    document = measure(decided_frame(200), "hired", ["sex", "race"], score="points", **told).document
    files = table_files(document)
    assert list(files) == ["index.csv", *(f"{name}.csv" for name in MEASURED if name not in OPTIONAL_SHEETS)]
    assert table_names(document) == ["index.csv", *(f"{name}.csv" for name in MEASURED)]
    frames = {name: read(files[f"{name}.csv"]) for name in MEASURED if name not in OPTIONAL_SHEETS}
    assert read(files["index.csv"])["rows"].tolist() == [len(frame) for frame in frames.values()]
    for column in document.decisions[0].columns:
        found = frames["groups"].query("number == 1 and column == @column.column")
        assert found["rate_low"].to_numpy() == pytest.approx([group.rate.low for group in column.impact.groups])
    assert len(frames["calibration"]) == sum(
        len(column.groups) * len(column.calibration) for column in document.score.columns
    )
    assert bool(len(frames["calibration"])) is has_label
    assert sheets(workbook(document)).keys() == {"index", *frames}
