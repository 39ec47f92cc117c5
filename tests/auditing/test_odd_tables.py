"""Whole audits of tables as strangers bring them: an answer, and the trait of the table said by name."""

import pytest
from support.tables import PLAN, TABLES

from fairenum import audit

ROWS = 1200
# What the audit of each table has to tell its owner.
TOLD = {
    "90 % approved": {"class_weighted"},
    "5 % approved": {"class_weighted"},
    "99 % approved": {"class_weighted"},
    "a leak": {"one_column"},
    "identifiers": {"identifier_number", "identifier_text", "date_column"},
    "a proxy": {"proxy"},
    "missing groups": {"set_aside"},
    "soiled": {"written_numbers", "constant_column", "empty_column", "free_text"},
    "3000 codes": {"pooled"},
    "ties": {"class_weighted"},
}


# Those about which nothing has to be told are audited at full size, too, by the slow tests.
@pytest.mark.parametrize(
    "name", [*TOLD, *(pytest.param(one, marks=pytest.mark.slow) for one in TABLES if one not in TOLD)]
)
def test_a_strangers_table_gets_an_answer(name, tmp_path):
    file = tmp_path / "table.csv"
    TABLES[name](ROWS).to_csv(file, index=False)
    options = {"weight": "weight"} if name == "weights" else {}
    result = audit(file, **PLAN, **options, k=5, replications=50, max_nodes=300)
    assert not result.document.first.is_constant
    assert result.document.selection.rank is not None
    assert TOLD.get(name, set()) <= {caution.code for caution in result.document.warnings}
