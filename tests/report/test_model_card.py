"""The model card: what it says, and that all of it comes from the document."""

from support.decisions import audited, table
from support.documents import METRIC, audit, chosen, full, german, near, strip, tilted, with_pair

from fairenum.document.choice import GapChange, GuardCheck
from fairenum.document.consequences import strip_of
from fairenum.document.terms import Verdict
from fairenum.render.markdown import to_markdown
from fairenum.report.model_card import model_card
from fairenum.runtime.formatting import estimate, signed


def section(document, anchor, **options):
    return next(one for one in model_card(document, **options).sections if one.anchor == anchor)


def test_it_has_what_a_card_needs():
    page = model_card(audit())
    anchors = [one.anchor for one in page.sections]
    assert anchors == ["model", "use", "data", "training", "performance", "gaps", "guards", "groups", "limits"]
    text = to_markdown(page)
    assert text.startswith("# Model card: model 3 of german\n")
    assert "Left to whoever puts the model to use" in text
    assert german().dataset.fingerprint in text
    file = "The file model.skops beside this card"
    assert file not in text
    assert file in to_markdown(model_card(audit(), has_file=True))


def test_performance_and_gaps_are_those_of_the_holdout_with_their_intervals():
    document = audit()
    scores = document.selected.scores.holdout
    (_, table) = section(document, "performance").blocks
    assert ("accuracy", estimate(scores.accuracy), estimate(document.first.scores.holdout.accuracy)) in table.rows
    (gaps,) = section(document, "gaps").blocks
    assert len(gaps.rows) == 4 * len(scores.by_column)
    cell = strip_of(document)[0]
    assert cell.is_claim
    assert gaps.rows[0][:4] == ("age", "*demographic parity", estimate(cell.selected), estimate(cell.first))


def test_gaps_of_several_groups_are_told_apart():
    (gaps,) = section(with_pair(audit()), "gaps").blocks
    assert [row[0] for row in gaps.rows[:4]] == ["age: > 25, <= 25", "age: all groups", "age: > 25, third", "age"]
    assert gaps.notes[1].startswith("*: the claim, about the two groups farthest apart on the selection split")


def test_a_strip_and_guardrails_are_shown_where_there_are_any():
    cell = GapChange("age", METRIC, True, near(0.2), near(0.1), near(-0.1), 0.95, Verdict.FAIRER)
    check = GuardCheck("accuracy=-0.01", "accuracy", -0.01, None, 0.02, near(0.03), "holds")
    document = audit()
    document = document.but(selection=document.selection.but(strip=(cell,), guards=(check,)))
    (gaps,) = section(document, "gaps").blocks
    assert gaps.rows == (
        (
            "age",
            "*demographic parity",
            "0.100 [0.060, 0.140]",
            "0.200 [0.160, 0.240]",
            "-0.100 [-0.140, -0.060]",
            "fairer",
        ),
    )
    (guards,) = section(document, "guards").blocks
    assert guards.rows == (("accuracy=-0.01", "accuracy", "+0.020", "+0.030 [-0.010, +0.070]", "holds"),)
    assert "- status: proposed\n" in to_markdown(model_card(document))


def test_gaps_of_few_rows_are_marked_and_levels_are_those_of_each_limit():
    claim, second, *others = strip()
    cells = (claim, second.but(is_coarse=True, confidence=0.99), *(one.but(confidence=0.99) for one in others))
    (gaps,) = section(chosen(audit(), strip=cells), "gaps").blocks
    assert [row[1].endswith("°") for row in gaps.rows] == [False, True, *(False for _ in others)]
    notes = " ".join(gaps.notes)
    assert "95 % for the claim, 99 % for each other gap" in notes
    assert "fewer than 30 rows of a group stand behind it" in notes


def test_the_place_of_a_tilted_model_is_told_by_its_loss():
    facts = dict(section(tilted(), "model").blocks[0].facts)
    assert facts["rank"] == "11, one of 12 listed models; training loss 2.000 % above the best"
    assert facts["found by"] == "tilted"


def test_model_1_stands_in_where_none_was_selected_and_has_no_change():
    page = model_card(audit(selected=None))
    assert page.title == "Model card: model 1 of german"
    assert page.headline == "No model can be selected."
    (gaps,) = next(one for one in page.sections if one.anchor == "gaps").blocks
    assert {row[4:] for row in gaps.rows} == {("–", "–")}


def test_it_is_compared_with_the_model_in_use():
    result = audited(table(), incumbent="hired", drop=["points", "rival"], guards="none", data_source="a | register")
    document = result.document
    told = document.incumbent.scores.holdout
    facts = dict(section(document, "model").blocks[0].facts)
    assert facts["compared with"] == "the model in use (hired)"
    _, performance = section(document, "performance").blocks
    assert performance.headings[-1] == "the model in use (hired)"
    assert performance.rows[0][0::2] == ("accuracy", estimate(told.accuracy))
    (gaps,) = section(document, "gaps").blocks
    first = document.first.scores.holdout.demographic_parity_difference
    assert document.selected is None  # so that the card is that of model 1, all models judged together
    assert gaps.headings[3] == "the model in use (hired)"
    assert gaps.rows[0][2:] == (
        *(estimate(first), estimate(told.demographic_parity_difference)),
        *(estimate(first.change, signed), first.verdict),
    )
    assert len(section(document, "groups").blocks) == 2
    assert dict(section(document, "data").blocks[0].facts)["source of the data"] == "a | register"
    assert dict(section(audit(), "data").blocks[0].facts)["source of the data"] == "not stated"


def test_without_sensitive_columns_it_says_so():
    document = audit(selected=1)
    bare = tuple(
        model.but(scores=model.scores.but(holdout=model.scores.holdout.but(by_column={}))) for model in document.models
    )
    document = document.but(dataset=document.dataset.but(sensitive=()), group_tables=(), models=bare)
    (gaps,), (groups,) = section(document, "gaps").blocks, section(document, "groups").blocks
    assert gaps.text == groups.text == "No sensitive column was named, so no groups are compared."


def test_names_from_outside_are_text_in_it():
    document = full()
    hostile = document.but(dataset=document.dataset.but(name="<script>*x*</script>"))
    text = to_markdown(model_card(hostile))
    assert "<script>" not in text
    assert "&lt;script&gt;\\*x\\*" in text
