"""The headline: what narrows and what widens stand together, and nothing is claimed that the holdout does not show."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import BROKEN, HELD, METRIC, audit, cell, chosen, near, scored, strip, with_columns, with_model

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.terms import Gap, Verdict
from fairenum.document.value import Estimate, Parts
from fairenum.report import page
from fairenum.report.choice_words import next_step, proposal_heading, proposal_status
from fairenum.report.headline import headline, is_good_news

CLAIM = "Model 3 narrows the demographic parity gap by age (0.175 to 0.150)"
PRICE = "its accuracy changes by -0.025 [-0.045, -0.005]"
PROPOSED, CANDIDATE = "it is proposed.", "it is a candidate, not a proposal."
ELSEWHERE = "Model 3 had a smaller demographic parity gap by age than model 1 on the selection split"


def kept_to(document: AuditDocument, floor: float | None, loss: float = 0.01) -> AuditDocument:
    """Let the selected model lose at most so much, at so much more training loss."""
    return with_model(chosen(document, performance_floor=floor), 3, loss_ratio=loss)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, f"{CLAIM}; {PRICE}; {PROPOSED}"),
        ({"verdict": "open"}, f"{ELSEWHERE}, which the holdout does not confirm (0.175 to 0.150); {CANDIDATE}"),
        ({"verdict": "less fair"}, f"{ELSEWHERE}, but is less fair on the holdout (0.175 to 0.150); {CANDIDATE}"),
        (
            {"verdict": "same"},
            f"{ELSEWHERE}, but the same one within 0.02 on the holdout (0.175 to 0.150); {CANDIDATE}",
        ),
        ({"selected": 1}, "No other model within the tolerances was found to be fairer than model 1, which is kept."),
        ({"selected": None}, "No model can be selected."),
        ({"status": "interrupted", "selected": None}, "Interrupted: No model can be selected."),
    ],
)
def test_the_headline_is_the_verdict(facts, words):
    shown = page(audit(**facts), brief=True)
    assert shown.headline == words
    assert shown.is_good_news == (facts == {})


@pytest.mark.parametrize(
    ("floor", "loss", "price"),
    [
        (-0.01, 0.05, "it is near-optimal and nearly as accurate (at most 0.01 less)"),
        (-0.01, 0.106, "it is as accurate within the tolerance of 0.01, at a training loss 10.6 % higher"),
        (-0.011, 0.05, PRICE),
        (-0.011, 0.106, f"{PRICE}, at a training loss 10.6 % higher"),
        (None, 0.05, PRICE),
    ],
)
def test_a_model_is_as_accurate_only_if_its_floor_is_within_the_margin(floor, loss, price):
    assert headline(kept_to(audit(), floor, loss)) == f"{CLAIM}; {price}; {PROPOSED}"


def test_where_a_run_has_no_floor_the_limit_for_all_models_serves():
    changes = Parts(near(0.0), near(0.0, 0.009))
    assert "nearly as accurate" in headline(chosen(audit(), performance_change=changes))
    assert "nearly" not in headline(chosen(audit(), performance_change=Parts(near(0.0), Estimate(0.0))))
    assert headline(chosen(audit(), performance_change=None)) == f"{CLAIM}; {PROPOSED}"


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (
            "balanced_accuracy",
            "near-optimal and nearly as accurate on average over both labels (at most 0.01 less)",
        ),
        ("auc", "it is near-optimal and ranks nearly as well (at most 0.01 less)"),
        ("cost=5:1", "it is near-optimal and makes mistakes that cost hardly more (at most 0.01 less)"),
    ],
)
def test_every_measure_of_performance_has_its_words(measure, words):
    tolerances = type(audit().selection.tolerances)(performance=measure)
    assert words in headline(kept_to(chosen(audit(), tolerances=tolerances), 0.0))


def test_what_gets_worse_stands_in_the_same_sentence():
    wide = strip(
        equal_opportunity_difference=(0.2, "less fair"),
        equalized_odds_difference=(0.1, "less fair"),
        predictive_parity_difference=(0.06, "open"),
    )
    document = chosen(audit(), strip=wide, guards=(HELD, BROKEN), proposal="candidate")
    document = scored(document, 3, selection_rate=near(0.95))
    assert headline(document) == (
        f"{CLAIM} but is less fair in equal opportunity (0.175 to 0.375) and equalized odds, looks wider in predictive "
        "parity (0.175 to 0.235), selects nearly everybody: 95 % instead of 80 %, and goes beyond a guardrail; "
        f"{PRICE}; {CANDIDATE}"
    )
    assert not page(document).is_good_news


def test_many_gaps_are_counted_and_other_columns_are_named():
    others = [cell(gap, 0.1, "less fair", "sex") for gap in get_args(Gap)]
    found = headline(chosen(with_columns(audit(), "sex"), strip=(*strip(), *others)))
    assert (
        "but is less fair in demographic parity by sex (0.175 to 0.275), equal opportunity by sex, equalized odds by "
        "sex and 1 more; " in found
    )


@pytest.mark.parametrize(("change", "words"), [(-0.165, "more than halves"), (-0.09, "halves"), (-0.07, "narrows")])
def test_a_gap_is_halved_or_narrowed(change, words):
    assert headline(chosen(audit(), strip=(cell(METRIC, change, "fairer"),))).startswith(f"Model 3 {words} the ")


def test_a_larger_gap_on_the_holdout_is_said():
    larger = chosen(audit(verdict="open"), strip=(cell(METRIC, 0.05, "open"),))
    assert headline(larger) == f"{ELSEWHERE}, but a larger one on the holdout (0.175 to 0.225); {CANDIDATE}"
    unknown = chosen(audit(verdict="open"), strip=(cell(METRIC, 0.0, None),), verdict=None)
    assert "but one that cannot be compared on the holdout;" in headline(unknown)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("fairer", "Model 3, which was asked for, narrows the demographic parity gap by age"),
        (
            "less fair",
            "Model 3 was asked for; on the holdout its demographic parity gap by age is wider, so it is less",
        ),
        ("same", "Model 3 was asked for; on the holdout its demographic parity gap by age is the same one within 0.02"),
        ("open", "Model 3 was asked for; on the holdout its demographic parity gap by age cannot be told from that of"),
    ],
)
def test_a_model_that_was_asked_for_is_said_to_be(verdict, words):
    assert headline(chosen(audit(verdict=verdict), reason="asked_for")).startswith(words)


def test_model_1_that_was_asked_for_and_a_model_without_groups():
    assert headline(chosen(audit(selected=1), reason="asked_for")) == "Model 1 was asked for."
    document = chosen(audit(), strip=(), reason="asked_for", column=None)
    document = document.but(dataset=document.dataset.but(sensitive=()))
    assert headline(document) == "Model 3 was asked for; no gap was measured."


def test_levelling_down_is_said():
    counts = {"selected": (20, 120), "true_positives": (15, 100)}
    document = audit()
    by_column = document.models[2].scores.holdout.by_column
    document = scored(document, 3, by_column={"age": by_column["age"].but(**counts)})
    assert "but levels down (no group gains)" in headline(document)
    assert "levelled_down" in {caution.code for caution in cautions(document)}


def test_an_older_run_proposes_nothing():
    document = chosen(audit(), proposal=None, strip=(), guards=())
    assert headline(document).endswith(CANDIDATE)
    assert not page(document).is_good_news
    assert proposal_status(document).endswith(
        "this run did not ask whether it may be proposed (`fairenum select RUN` does)."
    )
    assert "`fairenum select RUN` says whether" in next(next_step(document))


def test_a_proposal_without_guardrails_says_so():
    assert proposal_status(chosen(audit(), guards=())).endswith("no guardrail was set.")


def test_another_model_that_the_holdout_confirms_is_named():
    document = chosen(audit(verdict="open"), confirmed=(2,))
    assert (
        "Model 2, which was not selected, is confirmed as fairer by the holdout, all models judged together: `fairenum "
        "select RUN --rank 2`." in page(document).findings
    )
    several = chosen(audit(verdict="open"), confirmed=(2, 5, 6, 7))
    assert any("4 models that were not selected" in words for words in page(several).findings)
    assert not any("not selected" in words for words in page(chosen(audit(), confirmed=(2,))).findings)


@pytest.mark.parametrize(
    ("facts", "changes", "title", "why"),
    [
        ({}, {}, "The proposed alternative: model 3", "Proposed: the holdout shows"),
        (
            {"verdict": "open"},
            {},
            "No alternative is proposed; model 3 is a candidate",
            "A candidate, not a proposal: the holdout does not confirm that its gap is smaller than model 1's.",
        ),
        (
            {"verdict": "less fair"},
            {"guards": (BROKEN,)},
            "No alternative is proposed; model 3 is a candidate",
            "A candidate, not a proposal: the holdout shows it to be less fair than model 1, and on the holdout it "
            "goes beyond worst_group_selection_rate>=-0.1 (> 25: -0.200).",
        ),
        ({"selected": 1}, {}, "No alternative is proposed", ""),
    ],
)
def test_a_memo_proposes_what_is_proposed_and_says_why_not(facts, changes, title, why):
    document = chosen(audit(**facts), **changes)
    assert proposal_heading(document) == title
    assert proposal_status(document).startswith(why)
    if why:
        (section,) = [one for one in page(document, profile="lda").sections if one.title == title]
        assert any(why in getattr(block, "text", "") for block in section.blocks)


WIDE = with_columns(audit(models=3), "sex", "race")
VERDICTS = st.sampled_from([*Verdict, None])
CELLS = st.lists(
    st.builds(
        cell,
        st.sampled_from(get_args(Gap)),
        st.sampled_from([-0.1, -0.001, 0.0, 0.049, 0.05, 0.3]),
        VERDICTS,
        st.sampled_from(["sex", "race"]),
    ),
    max_size=8,
)


@given(
    claim=VERDICTS,
    change=st.sampled_from([-0.17, -0.1, 0.0, 0.2]),
    others=CELLS,
    floor=st.sampled_from([None, -0.02, -0.01, 0.0]),
    loss=st.sampled_from([0.0, 0.05, 0.2]),
    standing=st.sampled_from(["proposed", "candidate", None]),
    reason=st.sampled_from(["smallest_gap", "asked_for"]),
    rate=st.sampled_from([0.02, 0.8, 0.95]),
    guards=st.sampled_from([(), (HELD,), (BROKEN,)]),
)
def test_no_good_word_without_its_reason_and_no_harm_without_its_word(
    claim, change, others, floor, loss, standing, reason, rate, guards
):
    document = chosen(
        kept_to(WIDE, floor, loss),
        verdict=claim,
        strip=(cell(METRIC, change, claim), *others),
        proposal=standing,
        reason=reason,
        guards=guards,
    )
    document = scored(document, 3, selection_rate=near(rate))
    words = headline(document)
    verdicts = {one.verdict for one in document.selection.strip}
    assert ("less fair" in words) == (Verdict.LESS_FAIR in verdicts)
    assert any(verb in words for verb in ("narrows", "halves", "fairer")) == (claim is Verdict.FAIRER)
    has_floor = floor is not None and floor >= -0.01
    assert has_floor or not any(word in words for word in ("nearly as", "as accurate"))
    assert "near-optimal" not in words or loss <= 0.05
    assert ("it is proposed" in words) == (standing == "proposed")
    assert ("a candidate, not a proposal" in words) == (standing != "proposed")
    assert is_good_news(document) == (standing == "proposed" and Verdict.LESS_FAIR not in verdicts)
    assert ("guardrail" in words) == (guards == (BROKEN,))
    assert ("nearly everybody" in words, "nearly nobody" in words) == (rate == 0.95, rate == 0.02)
