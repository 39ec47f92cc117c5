"""The strip, the grid and the guardrails: the same numbers in every medium, old runs among them."""

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console
from support.documents import (
    BROKEN,
    HELD,
    METRIC,
    audit,
    cell,
    chosen,
    german,
    near,
    saved,
    scored,
    strip,
    with_columns,
    with_model,
    with_pair,
    with_reversed_order,
)

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import GuardCheck
from fairenum.document.consequences import (
    broken_guards,
    is_levelled_down,
    less_fair,
    rates_of,
    reversals,
    selection_moved,
    strip_of,
    wider,
)
from fairenum.document.models import ComparedPair
from fairenum.document.scores import SelectedWeights
from fairenum.document.table_facts import LabelWeights
from fairenum.document.value import Estimate
from fairenum.document.words import guarded_measure
from fairenum.render.html import to_html, to_notebook
from fairenum.render.markdown import to_markdown
from fairenum.render.svg import Arrow, draw_arrow, scale_end
from fairenum.render.terminal import print_page
from fairenum.report import page
from fairenum.report.choice_words import guarded_estimate, how_found
from fairenum.report.rules import to_junit
from fairenum.report.strip_section import status as describe

WIDE = chosen(
    with_columns(audit(), "sex"),
    strip=(
        *strip(equal_opportunity_difference=(0.1, "less fair"), equalized_odds_difference=(0.0, "same")),
        cell(METRIC, 0.06, "open", "sex"),
    ),
    guards=(HELD, BROKEN),
)


def printed(shown, width: int = 80) -> str:
    file = io.StringIO()
    print_page(shown, Console(file=file, width=width))
    return file.getvalue()


@pytest.mark.parametrize("brief", [True, False])
@pytest.mark.parametrize("medium", [printed, to_html, to_markdown, to_notebook])
def test_the_strip_stands_right_after_the_headline(medium, brief):
    shown = page(WIDE, brief=brief)
    text = medium(shown)
    words = " ".join(re.sub(r"\\(.)", r"\1", text).split())
    headline, strip_at, finding = (
        words.index(part) for part in (shown.headline[:30], shown.strip.table.title, shown.findings[-1][:30])
    )
    assert headline < strip_at < finding
    for row in shown.strip.table.rows:
        assert all(one in re.sub(r"[\\*]", "", words) for one in (part.lstrip("*") for part in row))


def test_the_strip_fits_80_columns_and_the_claim_is_first_and_marked():
    shown = page(WIDE, brief=True)
    table, text = shown.strip.table, printed(shown)
    assert table.rows[0] == ("*demographic parity", "age", "0.175", "0.150", "-0.025 [-0.045, -0.005]", "fairer")
    assert table.rows[1][4:] == ("+0.100 [+0.080, +0.120]", "less fair")
    assert table.marked == 0
    assert [row[-1] for row in table.rows] == ["fairer", "less fair", "same", "open", "open"]
    assert max(map(cell_len, text.splitlines())) <= 80
    assert table.notes == (
        "*: the gap that models are selected by; change: with its 95 % interval, judged alone",
        "fairer: the gap is smaller; less fair: it is larger; same: it changes by at most 0.02; open: these rows do "
        "not tell",
    )
    seen = page(chosen(WIDE, is_in_sight=True)).strip.table.notes[0]
    assert seen.endswith("all models judged together")


def test_the_arrows_are_drawn_with_names_and_tones_of_their_verdicts():
    shown = page(WIDE)
    assert [arrow.tone for arrow in shown.strip.arrows] == ["tone-1", "tone-2", "tone-6", "tone-0", "tone-0"]
    html = to_html(shown)
    assert html.count('class="arrow ') == 5
    name = "demographic parity by age: 0.175 to 0.150, change -0.025 [-0.045, -0.005], fairer"
    assert f'aria-label="{name}"' in html
    assert 'class="arrow ' in to_notebook(shown)


@pytest.mark.parametrize(
    ("arrow", "signs"),
    [
        (Arrow(0.1, 0.3, 0.2, 0.4), ("M64,13H167", 'x="120"', 'width="112"', "M176,13l-9-6v12z")),
        (Arrow(0.3, 0.1, None, None), ("M176,13H73", "M64,13l9-6v12z")),
        (Arrow(0.1, 0.101, 0.0, 0.9), ("m0-6l6,6-6,6-6-6z", 'x="8"', 'width="224"')),
        (Arrow(None, 0.1), ()),
    ],
)
def test_an_arrow_goes_from_its_start_to_its_end_on_a_scale_from_0(arrow, signs):
    drawn = draw_arrow(arrow, 0.4)
    assert all(sign in drawn for sign in signs)
    assert ("hole" in drawn) == (arrow.start is not None)
    assert ("wash" in drawn) == (arrow.low is not None)
    assert 'class="curve dashed"' in draw_arrow(replace(Arrow(0.1, 0.3), is_doubtful=True), 0.4)


def test_a_scale_has_room_for_the_values_and_never_exceeds_1():
    assert scale_end([]) == scale_end([Arrow(None, None)]) == 0.1
    assert scale_end([Arrow(0.1, 0.3)]) == pytest.approx(0.42)
    assert scale_end([Arrow(0.1, 0.9)]) == 1.0


@pytest.mark.parametrize("run", [german(), saved("compas"), saved("adult")], ids=["german", "compas", "adult"])
def test_a_choice_without_a_strip_gets_it_from_the_scores(run):
    document = chosen(run, strip=())
    for one in strip_of(document):
        old, new = (model.scores.holdout.by_column[one.column] for model in (document.reference, document.selected))
        found = new.gap(one.metric)
        assert (one.first.value, one.selected.value) == (old.gap(one.metric).value, found.value)
        assert (one.change, one.verdict) == (found.change, found.verdict)
    assert strip_of(document)[0].is_claim
    assert "all models judged together" in page(document).strip.table.notes[0]


def test_rows_of_several_groups_say_which_groups_they_are_about():
    document = with_pair(audit())
    shown = page(document, brief=True)
    table = shown.strip.table
    assert [row[:2] for row in table.rows[:4]] == [
        ("*demographic parity", "age: > 25, <= 25"),
        ("demographic parity", "age: all groups"),
        ("demographic parity", "age: > 25, third"),
        ("equal opportunity", "age"),
    ]
    assert (table.marked, table.rows[0][-1], table.rows[1][-1]) == (0, "fairer", "open")
    assert table.notes[0] == (
        "*: the claim, about the two groups farthest apart on the selection split; all groups: the largest difference "
        "of any two, by which models are selected; other pairs: > 25 and each other group; change: with its 95 % "
        "interval, judged alone"
    )
    controlled = page(document.but(config=document.config.but(control="<= 25"))).strip.table.notes[0]
    assert controlled.startswith("*: the claim, about <= 25 and the group farthest from it on the selection split; ")
    assert "other pairs: <= 25 and each other group" in controlled
    assert max(map(cell_len, printed(shown).splitlines())) <= 80
    names = [arrow.name.split(":")[0] for arrow in page(document).strip.arrows[:4]]
    assert names == [
        "demographic parity by age between > 25 and <= 25",
        "demographic parity by age over all groups",
        "demographic parity by age between > 25 and third",
        "equal opportunity by age",
    ]


def test_a_pair_in_one_of_several_rates_stands_with_the_rate():
    pair = ComparedPair("false_positive_rate", "> 25", "<= 25")
    claim = cell("equalized_odds_difference", -0.025, "fairer").but(is_claim=True, pair=pair)
    table = page(chosen(audit(), strip=(claim, claim.but(is_claim=False, pair=None)))).strip.table
    assert [row[1] for row in table.rows] == ["age: > 25, <= 25 (FPR)", "age: all groups and rates"]
    assert "; all groups and rates: the largest difference of any two" in table.notes[0]
    assert "other pairs" not in table.notes[0]


def test_the_order_of_groups_is_reversed_once_however_many_rows_a_gap_has():
    document = with_reversed_order(audit())
    assert {found.cell.metric for found in reversals(document)} == {"equal_opportunity_difference", METRIC}
    of_pairs = chosen(document, strip=with_pair(document).selection.strip)
    assert [(one.cell.metric, one.names) for one in reversals(of_pairs)] == [
        (one.cell.metric, one.names) for one in reversals(document)
    ]
    assert all(one.cell.pair is None for one in reversals(of_pairs))


def test_model_1_alone_has_its_gaps_on_the_first_screen():
    table = page(audit(selected=1)).strip.table
    assert table.headings == ("gap", "by", "model 1")
    assert table.rows[0] == ("*demographic parity", "age", "0.175 [0.059, 0.334]")
    assert len(table.rows) == 4
    assert 'class="arrow ' not in to_html(page(audit(selected=1)))
    document = audit(selected=1)
    nothing = document.but(dataset=document.dataset.but(sensitive=()), group_tables=())
    assert page(chosen(nothing, column=None)).strip is None


def test_a_model_that_decides_all_alike_has_no_verdict():
    document = with_model(chosen(audit(), strip=()), 3, is_constant=True)
    assert {one.verdict for one in strip_of(document)} == {None}
    assert page(document).strip.table.rows[0][-1] == "–"


def test_the_grid_shows_a_reversal():
    shown = page(with_reversed_order(audit()), brief=True)
    table = next(section.blocks[0] for section in shown.sections if section.anchor == "grid-1")
    assert table.rows == (
        ("<= 25", "38", "0.58", "0.66 → 0.79", "0.82 → 1.00", "0.44 → 0.50", "0.72 → 0.73"),
        ("> 25", "162", "0.73", "0.83 → 0.68", "0.94 → 0.76", "0.55 → 0.45", "0.82 → 0.82"),
    )
    reversal = "the order is reversed in equal opportunity: true positive rate of <= 25 0.818 to 1.000"
    assert any(note.startswith(reversal) for note in table.notes)
    assert max(map(cell_len, printed(shown).splitlines())) <= 80


def test_the_whole_grid_has_intervals_where_the_run_has_them():
    document = audit()
    first, second = document.group_tables
    rows = (second.groups[0].but(true_positive_rate=near(0.7)), second.groups[1])
    old = first.but(groups=tuple(row.but(true_positive_rate=Estimate()) for row in first.groups))
    shown = page(document.but(group_tables=(old, second.but(groups=rows))))
    (table,) = next(section.blocks for section in shown.sections if section.anchor == "grid")
    assert table.headings[:4] == ("group", "model", "n", "base rate")
    assert [row[:3] for row in table.rows[:2]] == [("<= 25", "1", "38"), ("<= 25", "3", "38")]
    assert table.rows[1][5] == "0.700 [0.660, 0.740]"
    assert (
        table.rows[0][5] == f"{rates_of(document, 1, document.dataset.sensitive[0])[0].rates['true_positive_rate']:.3f}"
    )
    one = page(audit(selected=1), brief=True)
    (alone,) = [section.blocks[0] for section in one.sections if section.anchor == "grid-1"]
    assert "→" not in "".join(alone.rows[0])


def test_weighted_rows_have_weighted_rates_and_counted_trials():
    document = audit()
    (column,) = document.dataset.sensitive
    weights = SelectedWeights((2.0, 2.0), (6.0, 6.0), (1.0, 1.0), (1.0, 1.0))
    found = document.first.scores.holdout.by_column["age"].but(weights=weights)
    weighed = column.but(
        groups=tuple(one.but(holdout_weights=LabelWeights(4.0, 12.0, 1.0, 1.0)) for one in column.groups)
    )
    rates = rates_of(scored(document, 1, by_column={"age": found}), 1, weighed)[0]
    assert rates.rates == {
        "selection_rate": 0.5,
        "true_positive_rate": 0.5,
        "false_positive_rate": 0.5,
        "precision": 0.75,
        "base_rate": 0.75,
    }
    assert rates.trials["selection_rate"] == column.groups[0].holdout
    unknown = column.but(groups=tuple(one.but(holdout_weights=None) for one in column.groups))
    assert rates_of(scored(document, 1, by_column={"age": found}), 1, unknown)[0].rates["selection_rate"] is None


def test_guardrails_are_in_every_medium():
    shown = page(WIDE, brief=True)
    (table,) = next(section.blocks for section in shown.sections if section.anchor == "guards")
    assert table.rows == (
        ("selection_rate=+-0.1", "selection rate", "+0.010", "+0.020 [-0.010, +0.050]", "holds"),
        ("worst_group_selection_rate>=-0.1", "> 25", "-0.050", "-0.200 [-0.250, -0.150]", "broken"),
    )
    for text in (printed(shown), to_html(page(WIDE)), to_markdown(shown), to_notebook(page(WIDE))):
        assert "Guardrails" in text
        assert "-0.200 [-0.250, -0.150]" in text.replace("\\", "")
    junit = to_junit(shown, (), is_partial=False)
    assert "-0.200 [-0.250, -0.150] | broken" in junit
    assert "*demographic parity | age | 0.175 | 0.150" in junit
    assert "guards" not in [section.anchor for section in page(chosen(WIDE, guards=())).sections]


@pytest.mark.parametrize(
    ("low", "high", "value", "status", "word"),
    [
        (-0.1, 0.1, 0.05, "open", "open"),
        (-0.1, 0.1, 0.11, "open", "beyond"),
        (-0.1, None, -0.11, "broken", "broken"),
        (None, 0.1, -0.5, "holds", "holds"),
        (None, 0.1, None, "open", "open"),
    ],
)
def test_a_guardrail_is_exceeded_by_what_was_measured(low, high, value, status, word):
    check = GuardCheck("auc>=0.6", "auc", low, high, None, Estimate(value), status)
    assert describe(check) == word
    assert (check in broken_guards(chosen(audit(), guards=(check,)))) == (word in ("beyond", "broken"))
    assert guarded_estimate(check.but(holdout=near(0.65))) == "0.650 [0.610, 0.690]"


def test_levels_are_told_for_the_claim_and_for_the_others():
    claim, *others = WIDE.selection.strip
    cells = (claim.but(confidence=0.96), *(one.but(confidence=0.9966667) for one in others))
    assert page(chosen(WIDE, strip=cells)).strip.table.notes[0] == (
        "*: the gap that models are selected by; change: its interval has 96 % for the claim, 99.7 % for each other "
        "gap, judged alone"
    )


def counted(document: AuditDocument, selected: tuple[int, int], right: tuple[int, int]) -> AuditDocument:
    """Let model 3 select so many rows of each group, of which so many rightly."""
    found = document.models[2].scores.holdout.by_column["age"]
    return scored(document, 3, by_column={"age": found.but(selected=selected, true_positives=right)})


@pytest.mark.parametrize(
    ("selected", "expected"),
    [((20, 120), True), ((26, 120), True), ((27, 120), False), ((20, 132), False)],
)
def test_levelling_down_is_a_gap_that_closes_while_nobody_gains(selected, expected):
    document = counted(audit(), selected, (20, 100))
    first = document.first.scores.holdout.by_column["age"].selected
    assert first == (25, 135)
    assert is_levelled_down(document) == (expected and selected[0] <= 25)
    assert not is_levelled_down(chosen(document, strip=(cell(METRIC, 0.01, "open"),)))


def test_only_what_is_good_to_have_can_be_levelled_down():
    document = counted(audit(), (20, 120), (15, 100))
    assert is_levelled_down(document)
    precision = cell("predictive_parity_difference", -0.1, "fairer").but(is_claim=True)
    assert not is_levelled_down(chosen(document, strip=(precision,)))


@pytest.mark.parametrize(("rate", "expected"), [(0.8, False), (0.899, False), (0.9, True), (0.7, True), (0.71, False)])
def test_a_selection_rate_moves_far_or_to_the_end(rate, expected):
    assert bool(selection_moved(scored(audit(), 3, selection_rate=near(rate)))) == expected


def test_kept_models_have_no_consequences():
    document = audit(selected=1)
    assert (strip_of(document), wider(document), less_fair(document), [*reversals(document)]) == ((), [], [], [])
    assert selection_moved(document) is None


def test_leaving_out_is_told_for_what_it_is():
    model = audit().models[2]
    assert "no recipe for deleting people" in how_found(german().selected)
    assert how_found(model.but(left_out=())) == ""
    tilted = model.but(origin="tilted", left_out=())
    assert how_found(tilted).startswith("It leaves nothing out; it was found by putting a price on the difference")


def test_a_gap_behind_which_few_rows_stand_is_marked_and_no_headline():
    few = cell(METRIC, 0.3, "open", "sex")
    shown, marked = (
        page(chosen(with_columns(audit(), "sex"), strip=(*strip(), one))) for one in (few, few.but(is_coarse=True))
    )
    assert "looks wider" in shown.headline
    assert "looks wider" not in marked.headline
    assert [row[0] for row in marked.strip.table.rows if row[0].endswith("°")] == ["demographic parity°"]
    assert marked.strip.table.notes[-1].startswith("°: fewer than 30 rows")
    assert not any("°" in note for note in shown.strip.table.notes)


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("selection_rate@sex & race: sex: f & race: a", "selection rate of sex: f & race: a"),
        ("equal_opportunity_difference@race", "equal opportunity by race"),
        ("balanced_accuracy", "balanced accuracy"),
    ],
)
def test_what_is_guarded_is_named_as_people_say_it(subject, words):
    assert guarded_measure(subject) == words
