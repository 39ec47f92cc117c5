"""Whole audits of large tables of categories: what they take, and that they answer."""

from support.large_tables import audited, table


def test_a_million_rows_of_fifty_columns_take_ten_minutes_and_six_gigabytes(tmp_path):
    document, seconds, gigabytes = audited(tmp_path, table(1_000_000))
    assert len(document.dataset.encoded) == 50
    assert document.enumeration.supports >= 20  # many of which decide alike: a handful in a row ends the list
    assert len(document.models) >= 20
    assert document.guided is not None
    assert document.guided.solves > 0
    assert document.parity_range is not None
    assert all(model.relative_gap <= 1e-9 for model in document.models if model.relative_gap is not None)
    assert seconds <= 600.0
    assert gigabytes <= 6.0


def test_three_thousand_values_of_one_column_take_minutes(tmp_path):
    document, seconds, gigabytes = audited(tmp_path, table(50_000, wide=3000), "--max-levels", "3000")
    assert len(document.dataset.encoded) > 2500
    assert document.models[0].relative_gap <= 1e-9
    assert seconds <= 600.0
    assert gigabytes <= 2.0
