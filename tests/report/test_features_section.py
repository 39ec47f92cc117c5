"""What features give away, what models weigh, whom a choice changes, and one person: on pages of every medium."""

import io
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len
from rich.console import Console
from support.documents import audit

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import caution_texts, cautions
from fairenum.document.feature_facts import (
    Anatomy,
    EncodedFeature,
    FeatureEffects,
    Flips,
    GroupFlips,
    Lookalike,
    ModelWeights,
    ScreenedColumn,
    Screening,
    SingleFeature,
)
from fairenum.document.person import decide_about
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.render.svg import standalone
from fairenum.render.terminal import print_page
from fairenum.report import page
from fairenum.report.person_page import person_page

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e| @all =1+1"
FEATURES = (
    EncodedFeature("age", "numeric", 40.0, 41.0, 10.0),
    EncodedFeature("town", "categorical", levels=("Ayr", "Bath", None)),
)
NOTHING = Screening(200, 0.8, (SingleFeature("age", 0.7),), (), (ScreenedColumn("age", ("<= 25", "> 25"), 0.6, ()),))


def seen(document: AuditDocument | None = None, name: str = "town") -> AuditDocument:
    """An audit whose model 3 is selected, with weights, flips and screened features."""
    features = (FEATURES[0], FEATURES[1].but(name=name))
    weights = tuple(ModelWeights(rank, (0.5, -0.1 * rank, 0.2, 0.0)) for rank in range(1, 21))
    flips = Flips(3, {"age": (GroupFlips("<= 25", 50, 4, 1), GroupFlips("> 25", 0, 0, 0))}, ())
    return (document or audit()).but(anatomy=Anatomy(features, weights), flips=flips, screening=NOTHING)


def printed(shown) -> str:
    file = io.StringIO()
    print_page(shown, Console(file=file, width=80))
    return file.getvalue()


def warned(screening: Screening) -> list[str]:
    document = audit().but(screening=screening)
    return list(caution_texts(document.but(warnings=[one for one in cautions(document) if one.code in NEW])))


NEW = ("leak", "one_column", "proxy")


def test_weights_stand_side_by_side_the_largest_first():
    text = printed(page(seen(), brief=True))
    table = text[text.index("What the models weigh") :].splitlines()
    assert table[1].split() == ["encoded", "feature", "model", "1", "model", "3", "change"]
    assert table[3].split() == ["age", "+0.500", "+0.500", "0.000"]
    assert table[4].split() == ["town", "=", "Ayr", "-0.100", "-0.300", "-0.200"]
    assert table[5].split() == ["town", "=", "Bath", "+0.200", "+0.200", "0.000"]
    assert table[6].split() == ["town", "=", "(missing)", "0.000", "0.000", "0.000"]
    assert table[7].split()[0] == "bias"


def test_flips_are_counted_by_group_and_direction():
    text = printed(page(seen(), brief=True))
    assert "Holdout rows that model 3 decides differently from model 1, by age" in text
    assert "<= 25   50 4 (8.0 %) 1 (2.0 %)  +3" in text
    assert "> 25     0     0 (–)     0 (–)   0" in text
    assert "Of 50 rows of the holdout, 4 get the favourable outcome from model 3 and not from model 1" in " ".join(
        printed(page(seen())).split()
    )


def test_effects_of_other_kernels_are_shares():
    effects = tuple(FeatureEffects(rank, 200, (0.25, 0.05 * rank)) for rank in (1, 3))
    text = printed(page(seen().but(anatomy=Anatomy(FEATURES, effects=effects)), brief=True))
    text = " ".join(text.split())
    assert "age 25.0 % 25.0 % 0.0" in text
    assert "town 5.0 % 15.0 % +10.0" in text
    assert "bias" not in text


def test_bars_to_the_left_have_a_width():
    (figure,) = [one for one in page(seen()).figures if one.plots and one.plots[0].name == "What the models go by"]
    root = ElementTree.fromstring(standalone(figure.plots[0]))
    bars = [one for one in root.iter() if one.get("class") == "bar"]
    assert len(bars) == 8
    assert all(float(bar.get("width")) >= 0 for bar in bars)
    middle = {bar.get("x") for bar in bars} & {str(float(bar.get("x")) + float(bar.get("width"))) for bar in bars}
    assert middle


def test_nothing_is_said_of_features_that_give_nothing_away():
    assert warned(NOTHING) == []
    assert "How well features predict" not in printed(page(seen(), brief=True))
    assert "What the features give away" in printed(page(seen()))


def test_leaks_are_named_with_the_option_that_removes_them():
    (words,) = warned(NOTHING.but(features=(SingleFeature("end date", 0.79), SingleFeature("age", 0.7))))
    assert "'end date' alone predicts the label with AUC 0.790, model 1 with AUC 0.800" in words
    assert "check that it is known before the decision" in words
    assert "drop=['end date'] (--drop 'end date')" in words
    features = (SingleFeature("a", 0.79), SingleFeature("b", 0.786), SingleFeature("c", 0.784))
    (words,) = warned(NOTHING.but(features=features))
    assert "'c'" not in words
    assert "check that they are known" in words
    assert "drop=['a', 'b'] (--drop a --drop b)" in words


@pytest.mark.parametrize("model_auc", [None, 0.69])
def test_a_machine_that_is_hardly_better_than_chance_makes_no_leak(model_auc):
    assert warned(NOTHING.but(model_auc=model_auc)) == []


def test_a_model_that_is_one_column_is_said_once():
    found = NOTHING.but(features=(SingleFeature("end", 0.8),), lookalikes=(Lookalike("end", 0.996),))
    (words,) = warned(found)
    assert words.startswith("model 1 decides as 'end' alone would (99.6 % of the selection split")
    assert "--drop end" in words


def test_copies_of_a_sensitive_column_are_named():
    tell = ScreenedColumn("sex", ("f", "m"), 0.99, (SingleFeature("title", 0.97), SingleFeature("height", 0.9)))
    (words,) = warned(NOTHING.but(columns=(tell,)))
    assert words.startswith("'title' (AUC 0.970) is nearly a copy of the sensitive column 'sex'; leave it out with ")
    assert words.endswith("drop=['title'] (--drop title)")


def test_hostile_names_are_text_on_all_pages():
    document = seen(name=HOSTILE)
    found = NOTHING.but(
        features=(SingleFeature(HOSTILE, 0.8),),
        lookalikes=(Lookalike(HOSTILE, 1.0),),
        columns=(ScreenedColumn("age", ("a", "b"), 0.9, (SingleFeature(HOSTILE, 1.0),)),),
    )
    document = document.but(screening=found)
    document = document.but(warnings=cautions(document))
    person = decide_about(document, {HOSTILE: "Ayr"})
    for shown in (page(document), page(document, brief=True), person_page(person), person_page(person, brief=True)):
        html, text, markdown = to_html(shown), printed(shown), to_markdown(shown)
        assert "<script>alert" not in html
        assert "<script" not in markdown
        assert not set("\x1b\u202e") & set(text + markdown)
        assert max(map(cell_len, text.splitlines())) <= 80
        assert len(html.encode()) < 250_000


def test_a_page_of_many_columns_stays_small():
    levels = tuple(f"a rather long name of a level, number {number}" for number in range(2000))
    wide = (EncodedFeature("code", "categorical", levels=levels),)
    weights = tuple(ModelWeights(rank, tuple(0.123456789 * rank for _ in levels)) for rank in range(1, 21))
    document = seen().but(anatomy=Anatomy(wide, weights))
    assert len(to_html(page(document)).encode()) < 250_000
    assert len(to_html(person_page(decide_about(document, {"code": levels[7]}))).encode()) < 250_000
    assert max(map(cell_len, printed(page(document, brief=True)).splitlines())) <= 80


def test_a_person_on_a_page():
    document = seen()
    person = decide_about(document, {"age": 51.0})
    bias = document.first.bias
    first = person.decisions[0]
    assert first.value == pytest.approx(0.5 * (51.0 - 41.0) / 10.0 + bias)
    text = " ".join(printed(person_page(person, brief=True)).split())
    assert f"Model 1 decides {person.decision(first)}, by a decision value of {first.value:+.3f}" in text
    assert "age 51 +0.500 +0.500" in text
    assert "not shown: 8 models" in text
    assert len(person_page(person).sections[1].blocks[0].rows) == 20
