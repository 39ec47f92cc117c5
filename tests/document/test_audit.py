"""The document of an audit: what follows from it, and what is left when rows are not to be told."""

from versions import read

from fairenum.document.files import to_json
from fairenum.document.models import LeftOut


def test_what_follows_from_the_document():
    document = read("audit")
    assert (document.name, document.column) == ("compas", "African_American")
    assert document.first is document.models[0]
    assert document.selected is document.models[5]
    assert document.but(selection=document.selection.but(rank=None)).selected is None
    assert not document.is_partial
    assert document.but(status="interrupted").is_partial
    assert document.dataset.primary.column == "African_American"
    assert document.dataset.sensitive_columns == ["African_American", "Female"]
    assert [column.is_intersection for column in document.dataset.sensitive] == [False, False, True]


def test_a_redacted_document_holds_nothing_of_single_rows():
    document = read("audit")
    redacted = document.redacted()
    assert redacted.is_redacted
    assert redacted.examples == ()
    assert redacted.dataset.split_rows is None
    assert document.models[5].left_out
    for before, after in zip(document.models, redacted.models, strict=True):
        assert after == before.but(left_out=tuple(LeftOut(entry.copies, entry.of) for entry in before.left_out))
        assert after.records_left_out == before.records_left_out
    assert redacted.explanation.clusters == ()
    core = redacted.explanation.core
    assert core == document.explanation.core.but(left_out=core.left_out)
    assert {entry.row for entry in core.left_out} == {None}
    assert redacted.redacted() == redacted
    assert '"row": 1' not in to_json(redacted)
    assert document.but(explanation=None).redacted().explanation is None
