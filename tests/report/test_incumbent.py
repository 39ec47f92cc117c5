"""The model in use in every medium: it is named wherever models are compared with it, and nowhere without it."""

import re
from datetime import date
from io import StringIO

import pytest
from rich.console import Console
from support.documents import METRIC, RUNS, audit, chosen, first_in_place, full, gap, in_use, near, saved, scored

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import caution_texts
from fairenum.document.choice import Caution, LooserLimits
from fairenum.document.feature_facts import Flips, GroupFlips
from fairenum.render.html import to_html, to_notebook
from fairenum.render.markdown import to_markdown
from fairenum.render.page import Table
from fairenum.render.terminal import print_page
from fairenum.report import compare, method_section, page
from fairenum.report.headline import AS_GOOD, AS_GOOD_AS, BETTER
from fairenum.report.rules import judge_all, parse_rules, to_junit

NAME = "the model in use"
DAY = date(2026, 1, 1)
RULES = parse_rules(["accuracy>=0.5", "best:demographic_parity_difference<=0.01", "selected:accuracy>=0.5"])


def constant(document: AuditDocument) -> AuditDocument:
    """An audit in which neither the model in use nor any other decides anything."""
    return chosen(in_use(document, kept=True, is_constant=True), outcome="none", reason="all_constant")


def without_column(document: AuditDocument) -> AuditDocument:
    document = in_use(document, kept=True)
    table = document.dataset.but(sensitive=())
    return chosen(document, column=None, reason="no_sensitive_column").but(dataset=table, group_tables=())


AUDITS = {
    "selected": in_use(audit()),
    "everything": in_use(full()),
    "not confirmed": in_use(audit(verdict="open")),
    "less fair": in_use(audit(verdict="less fair")),
    "asked for": chosen(in_use(audit()), reason="asked_for"),
    "model 1": first_in_place(in_use(audit())),
    "kept": in_use(audit(), kept=True),
    "none": constant(audit()),
    "against model 1": in_use(audit(), "best"),
    "no column": without_column(audit()),
    "interrupted": in_use(audit(status="interrupted")),
}


def terminal(document: AuditDocument, width: int = 80) -> str:
    console = Console(file=StringIO(), width=width)
    print_page(page(document, rules=RULES, brief=True, all_models=True), console)
    return console.file.getvalue()


def html(document: AuditDocument, profile: str | None = None) -> str:
    return unscripted(to_html(page(document, rules=RULES, profile=profile, day=DAY)))


def unscripted(text: str) -> str:
    """Leave out the scripts, which are the same for all."""
    return re.sub(r"<script.*?</script>", "", text, flags=re.S)


MEDIA = {
    "terminal": terminal,
    "html": html,
    "markdown": lambda document: to_markdown(page(document, rules=RULES, brief=True)),
    "notebook": lambda document: to_notebook(page(document, rules=RULES)),
    "junit": lambda document: to_junit(
        page(document, rules=RULES, brief=True), judge_all(document, RULES), is_partial=document.is_partial
    ),
    "comparison": lambda document: unscripted(to_html(compare({"a": document, "b": document}))),
}


def block(document: AuditDocument, anchor: str, **options: object) -> Table:
    shown = page(document, **options)
    return next(section.blocks[0] for section in shown.sections if section.anchor == anchor)


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("name", AUDITS)
def test_every_medium_names_it(name, medium):
    text = " ".join(MEDIA[medium](AUDITS[name]).split())
    assert "in use: tool" in text
    assert NAME in text.casefold()


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("document", [audit(), audit(selected=1), audit(selected=None), full()], ids=range(4))
def test_nothing_speaks_of_it_where_there_is_none(document, medium):
    assert "in use" not in MEDIA[medium](document.but(incumbent=None)).replace("incumbent:", "")


@pytest.mark.parametrize("run", [run for run in RUNS if isinstance(saved(run), AuditDocument)])
def test_saved_runs_speak_of_it_if_they_have_one(run):
    document = saved(run)
    is_there = document.incumbent is not None
    assert ("in use" in html(document), "in use" in terminal(document)) == (is_there, is_there)


@pytest.mark.parametrize("name", AUDITS)
def test_every_profile_can_be_arranged(name):
    assert all("in use: tool" in html(AUDITS[name], profile) for profile in ("lda", "ll144"))


def test_every_audit_fits_80_columns():
    for document in AUDITS.values():
        assert max(map(len, terminal(document).splitlines())) <= 80


def test_the_headline_says_against_whom():
    assert page(AUDITS["selected"]).headline == (
        "Model 3 narrows the demographic parity gap by age (0.175 to 0.150) against the model in use (tool); it is "
        "nearly as accurate as the model in use (at most 0.01 less), and is near-optimal in training loss; it is "
        "proposed."
    )
    assert page(AUDITS["kept"]).headline == (
        "No model within the tolerances was found to be fairer than the model in use (tool), which is kept."
    )
    assert page(AUDITS["no column"]).headline == (
        "No sensitive column was named, so no gap was measured; the model in use (tool) is kept."
    )
    assert page(AUDITS["none"]).headline == "No model can be selected."
    assert page(AUDITS["not confirmed"]).headline.startswith(
        "Model 3 had a smaller demographic parity gap by age than the model in use (tool) on the selection split, which"
    )
    assert page(AUDITS["against model 1"]).headline == page(audit()).headline


@pytest.mark.parametrize(
    ("floor", "rank", "words"),
    [
        (-0.005, 3, "it is nearly as accurate as the model in use (at most 0.01 less), and is near-optimal in"),
        (0.001, 3, "it is more accurate than the model in use, and is near-optimal in training loss"),
        (0.001, 1, "it is more accurate than the model in use, and is optimal in training loss"),
        (-0.02, 1, "its accuracy changes by -0.025 [-0.045, -0.005], and it is optimal in training loss"),
    ],
)
def test_what_is_near_model_1_is_told_from_what_is_near_the_model_in_use(floor, rank, words):
    assert words in page(chosen(AUDITS["selected"], performance_floor=floor, rank=rank)).headline


def test_a_loss_beyond_the_tolerance_is_held_against_model_1():
    document = AUDITS["selected"]
    models = [model.but(loss_ratio=0.12) if model.rank == 3 else model for model in document.models]
    document = document.but(models=tuple(models))
    assert "(at most 0.01 less), and is 12.0 % above model 1 in training loss;" in page(document).headline
    doubtful = chosen(document, performance_floor=-0.02)
    assert "[-0.045, -0.005], and it is 12.0 % above model 1 in training loss;" in page(doubtful).headline


def test_every_measure_of_performance_has_its_words():
    assert set(AS_GOOD) == set(AS_GOOD_AS) == set(BETTER)


def test_the_findings_are_about_it():
    document = in_use(scored(audit(), 20, **{METRIC: gap(0.3), "performance": near(0.66)})).but(flips=None)
    first, why, change, *_ = page(document).findings
    assert "parity difference of the model in use by age is 0.300 [0.260, 0.340]; its accuracy is 0.660." in first
    assert "That of model 1 is 0.175 [0.059, 0.334], at an accuracy of 0.790." in first
    assert "of the model in use; on the holdout 0.150 against 0.300, fairer, at an accuracy of 0.790 against 0" in why
    assert change.startswith("Against the model in use the gap changes by -0.025")
    turned = page(document.but(config=document.config.but(against="best"))).findings[0]
    assert turned.index("of model 1 by age") < turned.index("That of the model in use is 0.300")


def test_rows_that_are_decided_otherwise_are_counted_against_it():
    flips = Flips(3, {"age": (GroupFlips("<= 25", 40, 3, 4), GroupFlips("> 25", 160, 5, 6))}, ())
    document = in_use(audit()).but(flips=flips)
    assert "It decides 18 of 200 rows of the holdout differently; the gap" in page(document).findings[2]
    assert "It decides 44 of 200 rows of the holdout differently" in page(AUDITS["model 1"]).findings[2]
    table = block(document, "flips", brief=True)
    assert table.notes[0].endswith("lose: favourable by the model in use alone")
    text = html(document)
    assert "Holdout rows that model 3 decides differently from the model in use, by age" in text
    assert "8 get the favourable outcome from model 3 and not from the model in use, 10 the other way round." in text


@pytest.mark.parametrize(
    ("candidates", "words"),
    [
        ((), "No model is within the tolerances and guardrails; the model in use is kept."),
        ((1,), "The only model within the tolerances does not have a smaller demographic parity difference on the"),
        ((1, 2, 3), "None of the 3 models within the tolerances has a smaller demographic parity difference on the"),
    ],
)
def test_why_it_is_kept(candidates, words):
    document = in_use(chosen(audit(), candidates=candidates), kept=True)
    assert page(document).findings[1].startswith(words)
    assert page(document).findings[1].endswith("the model in use is kept.")
    assert "--guard none" not in page(document).findings[-1]
    looser = document.but(selection=document.selection.but(looser=LooserLimits(0.02, True)))
    words = "Next: `fairenum select RUN --guard none --max-performance-drop 0.02` lets a model through"
    assert page(looser).findings[-1].startswith(words) == (candidates == ())


def test_one_candidate_is_not_the_smallest_of_one():
    why = page(chosen(AUDITS["selected"], candidates=(3,))).findings[1]
    assert why.startswith("Model 3, the only one within the tolerances, has the smaller demographic parity difference")


def test_the_method_says_where_it_comes_from_and_what_is_not_known():
    document = AUDITS["selected"]
    steps, limits = [*method_section.steps(document)], [*method_section.limits(document)]
    (about,) = [step for step in steps if "its decisions, tool: good is favourable" in step]
    assert "No model has learned from it. Its decision is the label in 70.0 % of all rows." in about
    assert about.endswith("which are compared with it.")
    assert any("0.01 of accuracy against the model in use there; that is kept unless" in step for step in steps)
    assert any("Changes against the model in use are paired" in step for step in steps)
    assert any("If it has seen these rows, or their labels" in limit for limit in limits)
    assert not any("model in use" in text for text in (*method_section.steps(audit()), *method_section.limits(audit())))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"source": "score", "cutoff": 0.5, "favourable": None}, "known by its score, tool: from 0.5 it selects"),
        ({"source": "score", "cutoff": 4.0, "is_lower_better": True}, "its score, tool: up to 4 it selects"),
        ({"source": "model"}, "The model in use was asked, tool: good is favourable."),
    ],
)
def test_the_method_tells_scores_and_models_from_decisions(told, words):
    assert any(words in step for step in method_section.steps(in_use(audit(), **told)))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({}, "in use: tool"),
        ({"source": "score", "cutoff": 0.5, "favourable": None}, "in use: tool from 0.5"),
        ({"source": "score", "cutoff": 4.0, "is_lower_better": True}, "in use: tool up to 4"),
    ],
)
def test_the_subject_says_which_scores_are_selected(told, words):
    assert words in page(in_use(audit(), **told)).subject.split("; ")


def test_models_cut_like_it_are_said_to_be():
    document = in_use(audit())
    document = document.but(
        config=document.config.but(decide="rate=0.7"), requested=document.requested.but(decide="like-incumbent")
    )
    tied = "every model selects as many as the model in use (70 of 100), as nearly as ties allow: 79.5 to 82 of 100 in"
    assert tied in page(document).subject
    alike = [one.scores.but(selection=one.scores.selection.but(selection_rate=near(0.704))) for one in document.models]
    models = zip(document.models, alike, strict=True)
    document = document.but(models=tuple(one.but(scores=scores) for one, scores in models))
    cut = "every model selects as many as the model in use: 70 of 100 in the selection split"
    assert page(document).subject.endswith(cut)


@pytest.mark.parametrize(
    ("code", "told", "words"),
    [
        (
            "incumbent_undecided",
            {"undecided": 250},
            "has no decision for 250 rows, which were left out of this audit of 1000",
        ),
        ("incumbent_label", {}, "every decision of the model in use equals the label: check"),
        ("incumbent_constant", {}, "decides all rows of the selection split alike, where any gap is 0"),
        (
            "incumbent_copies",
            {"copies": ("a", "b")},
            "'a' and 'b' alone nearly reveal the decisions of the model in use",
        ),
        ("incumbent_copies", {"copies": ("a",)}, "leave it out with drop=['a'] (--drop a)"),
        ("incumbent_rate", {}, "--decide like-incumbent"),
    ],
)
def test_cautions_have_words(code, told, words):
    (text,) = caution_texts(in_use(audit(), **told).but(warnings=(Caution(code),)))
    assert words in text


def test_a_caution_about_rates_gives_both():
    document = scored(scored(audit(), 20, selection_rate=near(0.4)), 1, selection_rate=near(0.7))
    (text,) = caution_texts(in_use(document).but(warnings=(Caution("incumbent_rate"),)))
    assert text.startswith("model 1 selects 70.0 % of the holdout and the model in use 40.0 %, so they")


def test_a_model_that_selects_many_more_is_to_be_cut_like_it():
    document = scored(audit(), 3, selection_rate=near(0.95)).but(warnings=(Caution("moved_selection"),))
    assert caution_texts(document)[0].endswith("(--decide base-rate) compares models at equal rates")
    assert caution_texts(in_use(document))[0].endswith("(--decide like-incumbent) compares models at equal rates")


def test_a_name_from_outside_is_text_and_short():
    document = in_use(audit(), name="<b>\x07" + "x" * 300)
    assert "<b>\x07" not in html(document)
    assert len(page(document).headline) < 300
