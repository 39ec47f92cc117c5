"""A caution is one entry: everything that tells of cautions takes it from there."""

from collections import Counter

import pytest
from support.audits import audit_applicants, checked
from support.decisions import decided_frame
from support.explorations import open_applicants
from support.pages import printed

from fairenum import measure
from fairenum.document.audit_document import AuditDocument
from fairenum.document.caution_entry import TABLE, shared
from fairenum.document.cautions import entries
from fairenum.document.choice import Caution, MeasureCaution
from fairenum.document.measure_document import MeasureDocument
from fairenum.document.schema import schema
from fairenum.explore.screen_parts import screen
from fairenum.explore.worker import Worker
from fairenum.report import page

WORDS = "the table has an even number of rows; add a row"


@pytest.fixture(scope="module")
def even_rows():
    """Add a caution to the table."""

    @shared("even_rows", when=lambda document, _: document.dataset.rows % 2 == 0, remedy="add a row")
    def sentence(document, caution):
        return "the table has an even number of rows"

    yield
    TABLE.pop()


@pytest.fixture(scope="module")
def result(even_rows):
    return audit_applicants(k=2, search="exact", prices=False)


def test_an_entry_is_all_that_a_document_needs(result):
    assert checked(result).warnings[-1] == Caution("even_rows")  # what is written can be read again
    assert "even_rows" in schema()["$defs"]["Caution"]["properties"]["code"]["enum"]


def test_every_medium_tells_it(result):
    terminal = " ".join(printed(page(result.document, brief=True)).split())
    assert all(WORDS in text for text in (terminal, result.to_html(), result.to_markdown()))
    assert result.warnings["even_rows"] == [WORDS]


def test_a_measurement_tells_it_too(even_rows):
    measured = measure(decided_frame(60), "hired", "race", replications=50)
    assert MeasureCaution("even_rows") in measured.document.warnings
    assert measured.warnings["even_rows"] == [WORDS]
    assert WORDS in measured.to_html()


def test_the_live_page_tells_it(even_rows):
    exploration = open_applicants()
    exploration.next(2)
    exploration.commit(1, "the best", "A. Uditor")
    assert WORDS in screen(Worker.of(exploration)).words.decided.warnings


def test_no_document_can_mean_two_cautions_by_one_code():
    for kind in (AuditDocument, MeasureDocument):
        codes = Counter(entry.code for entry in TABLE if kind in entry.documents)
        assert set(codes.values()) == {1}
        assert [*codes] == [*entries(kind)]
