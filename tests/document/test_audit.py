"""The document of an audit: what follows from it, and what is left when rows are not to be told."""

import pytest
from support.documents import AMBIGUOUS, audit, possible
from support.saved_runs import read

from fairenum.document.coherence import refuse_contradictions
from fairenum.document.files import to_json
from fairenum.document.flip_facts import Extent
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


@pytest.mark.parametrize(
    "wrong",
    [
        AMBIGUOUS.but(priced=AMBIGUOUS.priced.but(low=(0.1,))),
        AMBIGUOUS.but(priced=AMBIGUOUS.priced.but(groups={"age": (0, 1, 2)})),
        AMBIGUOUS.but(priced=AMBIGUOUS.priced.but(groups={"sex": (0, 1, 1)})),
        AMBIGUOUS.but(curve=()),
        AMBIGUOUS.but(by_column={"age": AMBIGUOUS.by_column["age"].but(groups=())}),
        AMBIGUOUS.but(discrepancy=AMBIGUOUS.discrepancy.but(rank=99)),
        AMBIGUOUS.but(curve=tuple(point.but(groups=()) for point in AMBIGUOUS.curve)),
    ],
    ids=[
        "a price is missing",
        "no such group",
        "no such column",
        "no curve",
        "other groups",
        "no such model",
        "no groups",
    ],
)
def test_rows_and_curves_that_are_not_whole_are_refused(wrong):
    refuse_contradictions(audit().but(ambiguity=AMBIGUOUS))
    with pytest.raises(ValueError, match=r"\$\.ambiguity"):
        refuse_contradictions(audit().but(ambiguity=wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        possible().but(column="sex"),
        possible().but(levels=possible().levels[::-1]),
        possible().but(levels=()),
        possible().but(levels=(possible().levels[0].but(gap=Extent(0.2, 0.1, 0.3, 0.4)),)),
    ],
    ids=["no such column", "losses that fall", "no loss", "found beyond what is proven"],
)
def test_bounds_that_cannot_be_are_refused(wrong):
    refuse_contradictions(audit().but(parity_range=possible()))
    with pytest.raises(ValueError, match="range"):
        refuse_contradictions(audit().but(parity_range=wrong))
