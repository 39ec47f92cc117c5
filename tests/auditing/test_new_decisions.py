"""Exported models and new rows: they read what the audit read, decide as it decided, and name what is new."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.stats import binomtest, chi2_contingency
from sklearn.linear_model import LogisticRegression
from support.written_loans import CODED, LABELLED, write_csv, written_loans

from fairenum import AuditResult, audit, score
from fairenum.auditing.new_decisions import _shift
from fairenum.errors import CellInfinite, ColumnMissing, ColumnUnusable, ConfigError, ModelFileRefused

QUICK = {"k": 3, "replications": 50, "C": 1.0, "prices": False, "explanation": False}
PLAN = {**LABELLED, **QUICK, "sensitive": ["sex", "age"], "bands": {"age": [40]}, "categorical_columns": CODED}
EXPORTED = {"rank": 1, "unconfirmed": True}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("scoring")


@pytest.fixture(scope="module")
def data(place):
    return write_csv(written_loans(), place / "loans.csv")


@pytest.fixture(scope="module")
def result(data) -> AuditResult:
    return audit(data, **PLAN, drop=["weight"])


@pytest.fixture(scope="module")
def model(result, place) -> str:
    path = place / "model.skops"
    result.export(path, **EXPORTED)
    return str(path)


def assert_decides_as_the_audit(result: AuditResult, rank: int, path: str, data: object) -> None:
    found = score(path, data).decisions
    for part in ("selection", "holdout"):
        rows = result.live.division.dataset.numbered(result.live.division.rows[part])
        own = result.live.listing.values[part][rank - 1]
        label = result.live.division.dataset.label
        words = np.where(own >= 0.0, label.favourable, label.unfavourable)
        assert found["decision"].to_numpy()[rows].tolist() == words.tolist()
        assert ((found["score"].to_numpy()[rows] >= 0.0) == (own >= 0.0)).all()
        np.testing.assert_allclose(found["score"].to_numpy()[rows], own, atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"decide": "rate=0.3"},
        {"weight": "weight"},
        {"categorical": "ordinal"},
        {"max_levels": 1},
        {"kernel": "rbf", "search": "exact"},
        {"use_sensitive": True, "merge": {"sex:known": ["m", "f"]}, "sensitive": ["sex"], "bands": {}},
    ],
    ids=lambda options: next(iter(options), "plain"),
)
def test_decisions_about_the_audits_own_rows_are_those_of_the_audit(data, tmp_path, options):
    aside = {} if "weight" in options else {"drop": ["weight"]}
    result = audit(data, **{**PLAN, **aside, **options})
    for rank in sorted({1, len(result.document.models)}):
        path = tmp_path / f"{rank}.skops"
        result.export(path, rank, unconfirmed=True)
        assert_decides_as_the_audit(result, rank, str(path), data)


def test_any_row_alone_is_decided_as_among_all(model, data):
    everyone = score(model, data).decisions
    frame = written_loans()
    for row in range(0, len(frame), 97):  # in a file of one row no notation could be guessed
        path = data.replace("loans", f"one-{row}")
        frame.iloc[[row]].to_csv(path, index=False)
        alone = score(model, path).decisions
        assert alone["decision"][0] == everyone["decision"][row]
        assert alone["score"][0] == pytest.approx(everyone["score"][row], abs=1e-9)


def test_a_decimal_comma_is_read_as_the_audit_was_told(tmp_path):
    frame = written_loans()[["debt", "age", "sex", "approved"]]
    frame["debt"] = [f"{value:.3f}".replace(".", ",") for value in np.random.default_rng(1).normal(5, 2, len(frame))]
    data = write_csv(frame, tmp_path / "comma.csv")
    result = audit(data, **LABELLED, **QUICK, sensitive="sex", decimal="comma")
    result.export(tmp_path / "model.skops", **EXPORTED)
    assert_decides_as_the_audit(result, 1, str(tmp_path / "model.skops"), data)
    one = frame.iloc[[0]].assign(debt="1,234", age="30,5")  # as one and a bit, not as a thousand; and so is age
    found = score(tmp_path / "model.skops", write_csv(one, tmp_path / "one.csv"))
    plain = score(tmp_path / "model.skops", pd.DataFrame({"debt": [1.234], "age": [30.5]}))
    assert found.decisions["score"][0] == plain.decisions["score"][0]


def test_a_frame_of_numbers_is_decided_like_its_texts(result, model, data):
    texts = written_loans()
    money = texts["pay"].str.replace("[$,]", "", regex=True)
    typed = texts.assign(
        pay=pd.to_numeric(money.replace("", None)),
        rate=pd.to_numeric(texts["rate"].replace("NA", None).str.removesuffix(" %")),
        member=texts["member"] == "True",
        age=texts["age"].astype(int),
        zip=texts["zip"].astype(int),
        town=texts["town"].replace("?", None),
    )
    pd.testing.assert_frame_equal(score(model, typed).decisions, score(model, data).decisions)


def test_groups_are_counted_as_pandas_does(model, data):
    found = score(model, data)
    summary, frame = found.summary, written_loans()
    is_selected = (found.decisions["decision"] == "yes").to_numpy()
    assert (summary.rows, summary.selected) == (len(frame), is_selected.sum())
    limits = binomtest(int(is_selected.sum()), len(frame)).proportion_ci(method="wilson")
    assert (summary.selection_rate.low, summary.selection_rate.high) == pytest.approx((limits.low, limits.high))
    ages = np.where(frame["age"].astype(int) <= 40, "<= 40", "> 40")
    by = {"sex": frame["sex"].replace("", "(missing)").to_numpy(), "age": ages}
    for column in summary.columns[:2]:
        names = by[column.column]
        assert [group.group for group in column.impact.groups] == sorted(
            set(names), key=lambda name: ("(" in name, name)
        )
        for group in column.impact.groups:
            own = names == group.group
            assert (group.n, group.selected) == (own.sum(), is_selected[own].sum())
    assert [column.column for column in summary.columns] == ["sex", "age", "sex & age"]


def test_the_rate_is_compared_with_that_of_the_holdout(result, model, data):
    summary = score(model, data).summary
    own = result.live.listing.values["holdout"][0] >= 0.0
    assert summary.audited_rate.value == pytest.approx(own.mean())
    assert summary.change.value == pytest.approx(summary.selection_rate.value - own.mean())
    counts = [[own.sum(), len(own) - own.sum()], [summary.selected, summary.rows - summary.selected]]
    assert summary.p == pytest.approx(chi2_contingency(counts, correction=False).pvalue, abs=1e-9)


def test_what_is_new_is_named(model, data):
    frame = written_loans()
    frame.loc[:9, "town"] = "Dover"
    frame.loc[:4, "town"] = "Eton"
    frame.loc[0, "pay"] = "$999,999"
    frame.loc[:2, "sex"] = "x"
    frame["note"] = "n"
    path = write_csv(frame, data.replace("loans", "strange"))
    summary = score(model, path).summary
    news = {one.name: one for one in summary.features}
    assert (news["town"].unseen, set(news["town"].values)) == (10, {"Dover", "Eton"})
    assert news["pay"].outside >= 1
    assert news["pay"].most == 999_999 > news["pay"].trained[1]
    assert news["pay"].missing == (frame["pay"] == "").sum()
    assert summary.strange == {"sex": ("x",)}
    assert summary.ignored == ("weight", "note")
    assert next(one.name for one in summary.news) == "pay"


def test_missing_numbers_are_taken_as_the_median_of_the_training_rows(result, model, data):
    split = result.live.division.split.train
    column = next(one for one in result.live.division.dataset.features if one.name == "pay")
    news = {one.name: one for one in score(model, data).summary.features}
    assert news["pay"].filled == pytest.approx(np.nanmedian(column.values[split].astype(float)))
    assert news["town"].filled is None


def test_a_shift_is_a_chi_squared_test_of_the_bins(model):
    trained, new = [100, 100, 100, 100, 0, 0], [5, 20, 40, 60, 3, 2]
    distance, p = _shift(trained, new)
    shares = np.abs(np.array(trained) / 400 - np.array(new) / 130)
    assert distance == pytest.approx(shares.sum() / 2)
    joined = [[100, 100, 100, 100, 0], [5, 20, 40, 60, 5]]  # what is expected in fewer than five rows is one bin
    assert p == pytest.approx(chi2_contingency(joined, correction=False).pvalue)
    assert _shift(trained, [1, 2, 3, 0, 0, 0]) == (None, None)
    shifted = written_loans().assign(age=[str(age) for age in np.random.default_rng(0).integers(60, 80, 500)])
    shifted["rate"] = "99 %"
    names = [one.name for one in score(model, shifted).summary.features if one.is_shifted]
    assert names == ["rate"]


def test_rows_like_those_of_training_are_hardly_ever_called_shifted(model):
    found = [score(model, written_loans(300, seed)).summary.features for seed in range(1, 41)]
    assert sum(any(one.is_shifted for one in features) for features in found) <= 2  # 1 % of tables, stated


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"pay": "about 50k"}, ColumnUnusable, "holds 'about 50k' in row 1"),
        ({"pay": "€50,000"}, ColumnUnusable, r"the audit read numbers such as \$1,234.5"),
        ({"rate": "12.5"}, ColumnUnusable, "numbers such as 1,234.5 %"),
        ({"age": "old"}, ColumnUnusable, "holds 'old'"),
        ({"debt": "1e400"}, ColumnUnusable, "holds '1e400'"),
    ],
)
def test_cells_that_the_audit_would_not_have_read_are_refused(model, tmp_path, change, error, words):
    path = write_csv(written_loans(5).assign(**change), tmp_path / "new.csv")
    with pytest.raises(error, match=words):
        score(model, path)


def test_a_text_that_marks_missing_cells_elsewhere_is_a_value_if_it_was_one(tmp_path):
    frame = written_loans()[["pay", "town", "sex", "approved"]]
    frame["town"] = frame["town"].replace({"Ayr": "NA", "?": "NA"})  # Namibia, in a frame
    result = audit(frame.assign(pay=np.arange(500.0)), **LABELLED, **QUICK, sensitive="sex", search="exact")
    result.export(tmp_path / "model.skops", **EXPORTED)
    new = write_csv(frame.assign(pay=np.arange(500.0)), tmp_path / "new.csv")
    assert_decides_as_the_audit(result, 1, str(tmp_path / "model.skops"), new)


def test_missing_columns_and_endless_numbers_are_refused(model):
    with pytest.raises(ColumnMissing, match="lacks the columns 'rate', 'town', which the model reads"):
        score(model, written_loans(5).drop(columns=["rate", "town"]))
    with pytest.raises(CellInfinite, match="column 'pay' holds inf"):
        score(model, written_loans(5).assign(pay=np.inf))


def test_without_sensitive_columns_nothing_is_compared(model):
    summary = score(model, written_loans(60).drop(columns=["sex", "age", "approved"])).summary
    assert (summary.columns, summary.lacking) == ((), ("sex", "age"))
    one = score(model, written_loans(1)).summary  # groups of one row
    assert one.columns[0].impact.groups[0].n == 1


def test_kept_columns_are_beside_the_decisions(model, tmp_path):
    frame = written_loans(40).assign(id=[f"{row:03}" for row in range(40)], owed=[str(-row) for row in range(40)])
    found = score(model, write_csv(frame, tmp_path / "new.csv"), keep=["id", "owed", "sex"])
    assert list(found.decisions) == ["row", "id", "owed", "sex", "decision", "score"]
    assert found.decisions["id"].tolist() == frame["id"].tolist()
    assert found.decisions["owed"].tolist() == [-row for row in range(40)]
    for name in ("new.parquet", "decided.csv"):
        found.save(tmp_path / name)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "new.parquet"), found.decisions)
    read = pd.read_csv(tmp_path / "decided.csv", dtype={"id": str})
    assert read["score"].tolist() == found.decisions["score"].tolist()  # every bit of it
    with pytest.raises(ConfigError, match="is a column of the decisions, too"):
        score(model, frame.assign(score=1), keep="score")


def test_models_that_do_not_say_how_they_read_are_refused(tmp_path, data, model):
    path = tmp_path / "foreign.skops"
    skops.io.dump(LogisticRegression().fit(np.eye(4), [0, 1, 0, 1]), path)
    with pytest.raises(ModelFileRefused, match="another program or an earlier fairenum wrote it"):
        score(path, data)
    with pytest.raises(ModelFileRefused, match=r"is no \.skops file"):
        score(data, model)


def _rewritten(model: str, path, change) -> None:
    named = skops.io.get_untrusted_types(file=model)
    pipeline = skops.io.load(model, trusted=named)
    pipeline.reading_ = change(pipeline.reading_)
    path.write_bytes(skops.io.dumps(pipeline))


def _with(**changes):
    return lambda text: json.dumps(json.loads(text) | changes)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-20],
        lambda _: [1, 2],
        lambda _: "{}",
        _with(version="2"),
        _with(features=[]),
        _with(confidence=2.0),
        _with(selected=10**9),
        _with(extra=1),
        lambda text: text.replace('"least"', '"most_"'),
        lambda text: json.dumps(
            json.loads(text) | {"features": [{**one, "counts": []} for one in json.loads(text)["features"]]}
        ),
    ],
)
def test_a_damaged_reading_is_refused(tmp_path, model, data, change):
    path = tmp_path / "damaged.skops"
    _rewritten(model, path, change)
    with pytest.raises(ModelFileRefused, match="says how it reads a table, and that is damaged"):
        score(path, data)


def test_an_exported_model_in_use_reads_what_its_audit_read(result, model, data):
    again = audit(data, **PLAN, drop=["weight"], incumbent_model=model)
    own = result.live.listing.values["holdout"][0] >= 0.0
    rows = result.live.division.rows["holdout"]
    np.testing.assert_array_equal(again.live.incumbent.bits[rows], own)


def test_a_bundled_table_is_decided_as_audited(tmp_path):
    result = audit("german", **QUICK, search="exact")
    result.export(tmp_path / "model.skops", **EXPORTED)
    assert_decides_as_the_audit(result, 1, str(tmp_path / "model.skops"), "german")
    summary = score(tmp_path / "model.skops", "german").summary
    tables = {column.column: column for column in result.document.dataset.sensitive}
    for column in summary.columns:
        assert [group.group for group in column.impact.groups] == [group.name for group in tables[column.column].groups]
        totals = [group.train + group.selection + group.holdout for group in tables[column.column].groups]
        assert [group.n for group in column.impact.groups] == totals
