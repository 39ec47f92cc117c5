"""What any model as good could do: bars, words and tables that say what is proven, and what is not."""

import pytest
from support.documents import audit, full, german, possible, with_model

from fairenum.document.flip_facts import Extent
from fairenum.evidence.frames import tables
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.render.plain_plots import RangeBar, draw_ranges
from fairenum.report import page
from fairenum.report.audit_report import brief_page
from fairenum.report.memo import ELSEWHERE, NONE_EXISTS, none_exists
from fairenum.report.parity_range_section import explained, range_bars, refutation


def only(*gap: float, eps: float = 0.05, unexamined: int = 0):
    """An audit whose range has one level."""
    found = possible()
    level = found.levels[-1].but(eps=eps, gap=Extent(*gap))
    return audit().but(parity_range=found.but(levels=(level,), unexamined=unexamined))


def said(document) -> str:
    return "\n".join(explained(document, document.parity_range))


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        ((0.2, 0.2, 0.2, 0.2), "Within 5 % of the least loss the gap is 0.200: nothing beyond is possible"),
        ((0.1, 0.1, 0.3, 0.3), "the gap is 0.100 to 0.300: nothing beyond is possible, and both ends were found"),
        ((0.1, 0.12, 0.3, 0.31), "the gap is proven to lie between 0.100 and 0.310; the search found 0.120 to 0.300"),
        (
            (0.0, 0.1, 0.2, 0.9),
            "too weak to tell: the gap could be anything from 0.000 to 0.900; the search found 0.100",
        ),
    ],
)
def test_it_is_said_plainly_how_much_is_proven(gap, words):
    assert words in said(only(*gap))


def test_where_no_row_is_in_doubt_all_machines_are_as_one():
    document = only(0.2, 0.2, 0.2, 0.2)
    level = document.parity_range.levels[0].but(doubtful=0)
    document = document.but(parity_range=document.parity_range.but(levels=(level,)))
    assert "every model has a gap of 0.200: none decides differently from model 1" in said(document)


def test_rows_that_were_not_examined_are_the_reason_where_they_are_most():
    assert "not examined" not in said(only(0.0, 0.1, 0.2, 0.9))
    few, most = (said(only(0.0, 0.1, 0.2, 0.9, unexamined=rows)) for rows in (20, 180))
    assert "Of 200 rows of the holdout, 20 were not examined, and count as open" in few
    assert "for that reason" not in few
    assert "180 were not examined" in most
    assert "The bound is too weak to tell for that reason." in most


def test_what_is_refuted_is_the_least_gap_of_the_largest_loss_that_has_one():
    found = possible()
    assert "within 0.1 % of the least has a gap below 0.125" in refutation(found)
    assert not refutation(found.but(levels=found.levels[1:]))
    assert not refutation(only(0.0004, 0.1, 0.2, 0.9).parity_range)  # which is shown as 0.000


def test_a_memo_tells_a_refutation_from_a_failure_to_find():
    nothing = only(0.0, 0.1, 0.2, 0.9)
    assert none_exists(nothing) == NONE_EXISTS == none_exists(audit())
    gap = nothing.reference.scores.holdout.demographic_parity_difference.value
    partly, wholly = only(gap / 2, gap / 2, gap, gap), only(gap, gap, gap + 0.1, gap + 0.1)
    assert "that none is proposed is no proof that none exists there" in none_exists(partly)
    assert "among these models there is no alternative of that kind" in none_exists(wholly)
    assert ELSEWHERE in none_exists(partly)
    for document in (partly, wholly):
        assert refutation(document.parity_range) in to_html(page(document, profile="lda"))


def test_the_bars_are_the_numbers_and_models_stand_on_losses_that_they_keep_to():
    document = with_model(full(), full().selection.rank, loss_ratio=0.02)
    plot = range_bars(document, document.parity_range)
    spans = [(one.low, one.high, one.place) for one in plot.layers if hasattr(one, "thickness")]
    gaps = [level.gap for level in document.parity_range.levels]
    ends = [((gap.low, gap.high, place), (gap.least, gap.most, place)) for place, gap in enumerate(gaps)]
    assert spans == [end for pair in ends for end in pair]
    marks = [[mark.shape for mark in one.marks] for one in plot.layers if hasattr(one, "marks")]
    assert marks == [["diamond"], ["diamond"], ["diamond", "star"]]
    assert plot.y.names == ("0.1 %", "1 %", "5 %")


def test_the_terminal_has_the_bars_in_characters():
    shown = draw_ranges([RangeBar("1 %", (0.0, 0.5), (0.1, 0.2), {"1": 0.15, "U": 0.6})], "gap")
    title, bar, axis, ticks = shown.split("\n")
    cells = bar.partition("|")[2]
    assert (title, len(axis)) == ("gap", 16 + 56)
    assert [cells.index(sign) for sign in "=1U"] == [6, 8, 34]
    assert cells.count("=") == 6 - 1 + 1 - 1
    assert (cells[0], cells[28], cells[29]) == (".", ".", " ")
    assert ticks.split() == ["0", "0.5", "1"]


def test_every_medium_shows_it_and_old_runs_do_without():
    document = full()
    words = "the gap could be anything from 0.000 to 0.875; the search found 0.013 to 0.375"
    for text in (to_html(page(document)), to_markdown(page(document)), to_markdown(brief_page(document))):
        assert "What any model as good could do" in text
        assert words in text
    assert "What any model as good could do" not in to_html(page(german().but(parity_range=None)))


def test_the_sheet_has_gap_and_rates_of_every_loss():
    table = tables(full())["range"]
    assert len(table) == 3 * (1 + 2)
    row = table[(table["eps"] == 0.05) & (table["of"] == "demographic_parity_difference")].iloc[0]
    assert (row["low"], row["least"], row["most"], row["high"]) == (0.0, 0.0125, 0.375, 0.875)
    assert table["group"].dropna().unique().tolist() == ["<= 25", "> 25"]
