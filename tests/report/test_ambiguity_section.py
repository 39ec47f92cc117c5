"""What a page says of decisions that depend on the choice of model, without the method page at hand."""

from support.documents import AMBIGUOUS, audit, between

from fairenum.document.cautions import caution_texts, cautions
from fairenum.document.choice import Caution
from fairenum.document.flip_facts import BoundedShare, FlippedColumn
from fairenum.document.table_facts import WeightFacts
from fairenum.evidence.frames import tables
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.report import ambiguity_section, page
from fairenum.report.ambiguity_section import curve_plot, sections

DOCUMENT = audit().but(ambiguity=AMBIGUOUS)


def said(found=AMBIGUOUS, document=DOCUMENT) -> str:
    return " ".join(ambiguity_section.explained(document, found))


def table(document, title):
    (section,) = sections(document)
    return next(block for block in section.blocks if getattr(block, "title", "") == title)


def test_the_first_sentence_needs_no_other():
    sentence = (
        "For 102 of 200 people in the holdout the decision depends on which of the near-optimal models is used "
        "(51.0 % [46.0, 56.0]): some model whose training loss is at most 5 % above the least decides differently from "
        "model 1."
    )
    assert said().startswith(sentence)
    assert sentence in page(DOCUMENT).findings
    for medium in (to_html(page(DOCUMENT)), to_markdown(page(DOCUMENT, brief=True))):
        assert "102 of 200 people in the holdout" in medium
    assert "For 98 every such model decides as model 1 does. That is proven for all models" in said()
    assert "The 12 listed models within this loss show it for 7.0 % of these people." in said()
    assert (
        "that changes the most decisions at once changes at least 8.5 % (model 1 with another bias) and at most 51.0 %"
        in said()
    )
    assert "This does not say that a decision is wrong." in said()


def test_a_sample_is_said_to_be_one():
    sample = AMBIGUOUS.but(holdout=9000)
    assert "For 102 of 200 examined people" in said(sample)
    assert "Of 9000 people in the holdout 200 were examined, drawn at random" in said(sample)
    assert "price_rows=2000 (--price-rows 2000) would narrow them" in said(sample)
    assert "drawn at random" not in said()


def test_rows_of_which_nothing_is_proven_are_counted_for_neither():
    overall = AMBIGUOUS.overall.but(open=3, ambiguity=between(0.51, 0.525))
    opened = AMBIGUOUS.but(overall=overall)
    assert "(51.0 to 52.5 % [46.0, 57.5])" in said(opened)
    assert "For 95 every such model decides as model 1 does, and of 3 people neither is proven." in said(opened)
    assert "and of 1 person neither is proven" in said(AMBIGUOUS.but(overall=overall.but(open=1)))
    shown = table(DOCUMENT.but(ambiguity=opened), "By age")
    assert shown.headings == ("group", "examined", "depends", "open", "share", "by the list")
    assert "open: neither proven; the share lies between the two numbers" in shown.notes


def test_a_gap_is_shown_only_where_its_interval_says_so():
    gap = ambiguity_section.group_gap("age", AMBIGUOUS.by_column["age"])
    assert gap == (
        "By age this is so for 65.8 % of group <= 25 and 47.5 % of group > 25, an ambiguity gap of 0.183 "
        "[0.023, 0.343]: some groups are affected more often than others."
    )
    unsure = AMBIGUOUS.by_column["age"].but(gap=between(0.183, margin=0.3))
    assert ambiguity_section.group_gap("age", unsure).endswith(
        "these rows do not show that groups are affected differently."
    )
    alone = FlippedColumn(AMBIGUOUS.by_column["age"].groups[:1], BoundedShare())
    assert ambiguity_section.group_gap("age", alone) == "By age fewer than two groups can be compared."


def test_nobody_is_said_in_other_words():
    nobody = AMBIGUOUS.but(overall=AMBIGUOUS.overall.but(flipped=0, ambiguity=between(0.0)))
    assert said(nobody) == (
        "For none of 200 people in the holdout does the decision depend on which of the near-optimal models is used "
        "(0.0 % [0.0, 5.0]): every model whose training loss is at most 5 % above the least, listed or not, decides as "
        "model 1 does."
    )
    everybody = AMBIGUOUS.but(overall=AMBIGUOUS.overall.but(flipped=200, ambiguity=between(1.0)), models=1)
    assert "There is nobody for whom all models decide alike." in said(everybody)
    assert "Of the listed models model 1 alone is within this loss" in said(everybody)


def test_a_gap_that_is_shown_is_warned_of():
    warned = DOCUMENT.but(warnings=(Caution("arbitrary_gap", "age"),))
    assert caution_texts(warned) == (
        "by age the decision depends on which of the near-optimal models is used for 65.8 % of group <= 25 and 47.5 % "
        "of group > 25: an ambiguity gap of 0.183 [0.023, 0.343]",
    )
    assert "arbitrary_gap" in {one.code for one in cautions(DOCUMENT)}
    unsure = AMBIGUOUS.by_column["age"].but(gap=between(0.183, margin=0.3))
    assert "arbitrary_gap" not in {
        one.code for one in cautions(DOCUMENT.but(ambiguity=AMBIGUOUS.but(by_column={"age": unsure})))
    }


def test_weights_and_own_cuts_are_said():
    weights = WeightFacts("w", 0, 100.0, 100.0, 100.0)
    weighted = DOCUMENT.but(dataset=DOCUMENT.dataset.but(weights=weights))
    assert "(51.0 % [46.0, 56.0] by weight)" in said(document=weighted)
    assert "examined and depends are rows; shares are weighted" in table(weighted, "By age").notes
    rate = DOCUMENT.but(config=DOCUMENT.config.but(decide="rate=0.5"))
    assert "here all are cut where model 1 is" in said(document=rate)
    assert "here all are cut" not in said()


def test_groups_are_shown_with_what_the_list_alone_would_tell():
    shown = table(DOCUMENT, "By age")
    assert shown.rows[0] == ("<= 25", "38", "25", "65.8 % [60.8, 70.8]", "5.3 %")
    aside = AMBIGUOUS.by_column["age"].groups[0].but(is_compared=False)
    column = AMBIGUOUS.by_column["age"].but(groups=(aside, *AMBIGUOUS.by_column["age"].groups[1:]))
    shown = table(DOCUMENT.but(ambiguity=AMBIGUOUS.but(by_column={"age": column})), "By age")
    assert shown.rows[0][0] == "<= 25 (set aside)"
    assert "set aside: too few rows, or no value; no part in the gap" in shown.notes


def test_it_is_said_how_the_losses_were_found():
    assert table(DOCUMENT, "The more a model may lose").notes[-1] == (
        "of 200 different rows, 60 were settled by bounds for others, 20 by models that were known already, and 120 by "
        "a problem of their own"
    )


def test_the_curve_has_a_line_for_all_and_for_each_group():
    plot = curve_plot(DOCUMENT, AMBIGUOUS)
    assert [key.text for key in plot.key] == ["all", "<= 25", "> 25"]
    assert [layer.values[0] for layer in plot.layers[:3]] == [0.165, 0.265, 0.145]
    assert plot.layers[0].xs == (0.1, 1.0, 5.0, 10.0)
    nobody = DOCUMENT.but(ambiguity=AMBIGUOUS.but(by_column={}))
    assert [key.text for key in curve_plot(nobody, nobody.ambiguity).key] == ["all"]


def test_every_examined_row_is_in_the_table():
    found = tables(DOCUMENT)["flip_prices"]
    assert list(found.columns) == ["row", "decision", "low", "high", "group_age"]
    assert found["row"].tolist() == [3, 8, 17]
    assert found["decision"].tolist() == ["good", "bad", "good"]
    assert found["group_age"].tolist() == ["<= 25", "> 25", "> 25"]
    assert found["high"].isna().tolist() == [False, True, False]
    assert len(tables(DOCUMENT.redacted())["flip_prices"]) == 0
    assert tables(DOCUMENT)["ambiguity"]["flipped"].tolist() == [102, 25, 77]
    assert tables(DOCUMENT)["ambiguity_curve"]["least"].tolist()[:3] == [0.165, 0.265, 0.145]


def test_a_run_without_it_says_nothing_of_it():
    assert list(sections(audit())) == []
    assert len(tables(audit())["ambiguity"]) == 0
