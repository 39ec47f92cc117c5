"""The headline: what narrows and what widens stand together, and nothing is claimed that the holdout does not show."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents import (
    BROKEN,
    HELD,
    METRIC,
    audit,
    cell,
    chosen,
    in_use,
    near,
    scored,
    strip,
    with_columns,
    with_model,
    with_pair,
)

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.choice import Disparity, Incomparable, answered
from fairenum.document.models import ComparedPair
from fairenum.document.terms import Answer, AnswerReason, Gap, Verdict
from fairenum.document.value import Estimate, Parts
from fairenum.report import page
from fairenum.report.choice_words import claims_made, next_step, proposal_heading, proposal_status
from fairenum.report.headline import headline, is_good_news

CLAIM = "Model 3 narrows the demographic parity gap by age (0.175 to 0.150)"
PRICE = "its accuracy changes by -0.025 [-0.045, -0.005]"
AS_GOOD = "it is near-optimal and nearly as accurate (at most 0.01 less)"
PROPOSED = "it is proposed."
CANDIDATE = "it is a candidate, as the holdout does not show that it is fairer."
DOUBTFUL = "it is a candidate, as the holdout does not show that it loses at most 0.01 of accuracy."
BEYOND = BROKEN.but(holdout=near(-0.12, 0.05), status="open")
ALIKE = Disparity(400, Estimate(0.012, 0.0, 0.05), 0.08, 0.02)
ELSEWHERE = "Model 3 had a smaller demographic parity gap by age than model 1 on the selection split"


def judged(document: AuditDocument, **changes: object) -> AuditDocument:
    """Change what is known about the choice, and answer anew."""
    changed = chosen(document, **changes)
    return changed.but(selection=answered(changed.selection, is_exploratory=changed.is_exploratory))


def kept_to(document: AuditDocument, floor: float | None, loss: float = 0.01) -> AuditDocument:
    """Let the selected model lose at most so much, at so much more training loss."""
    return with_model(judged(document, performance_floor=floor), 3, loss_ratio=loss)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, f"{CLAIM}; {AS_GOOD}; {PROPOSED}"),
        ({"verdict": "open"}, f"{ELSEWHERE}, which the holdout does not confirm (0.175 to 0.150); {CANDIDATE}"),
        (
            {"verdict": "less fair"},
            f"{ELSEWHERE}, but is less fair on the holdout (0.175 to 0.150); it is not proposed, as the holdout shows "
            "it to be less fair than model 1.",
        ),
        (
            {"verdict": "same"},
            f"{ELSEWHERE}, but the same one within 0.02 on the holdout (0.175 to 0.150); it is not proposed, as the "
            "holdout shows it to be fairer by less than 2 points, which counts as the same.",
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
        (-0.01, 0.05, f"{AS_GOOD}; {PROPOSED}"),
        (-0.01, 0.106, f"it is as accurate within the tolerance of 0.01, at a training loss 10.6 % higher; {PROPOSED}"),
        (-0.011, 0.05, f"{PRICE}; {DOUBTFUL}"),
        (-0.011, 0.106, f"{PRICE}, at a training loss 10.6 % higher; {DOUBTFUL}"),
        (None, 0.05, f"{PRICE}; {DOUBTFUL}"),
    ],
)
def test_a_model_is_as_accurate_and_proposed_only_if_its_floor_is_within_the_margin(floor, loss, price):
    assert headline(kept_to(audit(), floor, loss)) == f"{CLAIM}; {price}"


def test_without_a_floor_no_change_of_performance_is_good_enough():
    """An interval within the tolerance, but without the one-sided limit that was computed for it, proves nothing."""
    changes = Parts(near(0.0), near(0.0, 0.009))
    assert headline(judged(audit(), performance_floor=None, performance_change=changes)) == (
        f"{CLAIM}; its accuracy changes by 0.000 [-0.009, +0.009]; {DOUBTFUL}"
    )
    assert headline(judged(audit(), performance_floor=None, performance_change=None)) == f"{CLAIM}; {DOUBTFUL}"


OTHER_RATES = Incomparable("selection_rate", 0.92, 0.74, 0.1)
OUT_OF_REACH = Incomparable("performance", 0.741, 0.715, 0.01)
REASONED: dict[AnswerReason, tuple[AuditDocument, Answer, str]] = {
    "fairness_not_shown": (audit(verdict="open"), "candidate", CANDIDATE),
    "performance_not_shown": (judged(audit(), performance_floor=-0.02), "candidate", f"{PRICE}; {DOUBTFUL}"),
    "guardrail_not_shown": (
        judged(audit(), guards=(HELD, BEYOND)),
        "candidate",
        "it is a candidate, as the holdout does not show that it keeps worst_group_selection_rate>=-0.1 (> 25: "
        "-0.120).",
    ),
    "no_holdout": (
        chosen(audit(), answer="candidate", reasons=("no_holdout",)),
        "candidate",
        "it is a candidate, as no rows were kept apart from those that it was chosen by, so that nothing confirms it.",
    ),
    "less_fair": (
        audit(verdict="less fair"),
        "not proposed",
        "it is not proposed, as the holdout shows it to be less fair than model 1.",
    ),
    "same_gap": (
        judged(audit(verdict="same"), gap_change=Parts(near(-0.01), near(-0.002, 0.01))),
        "not proposed",
        "it is not proposed, as the holdout shows its gap to be the same within 2 points.",
    ),
    "hardly_fairer": (
        audit(verdict="same"),
        "not proposed",
        "it is not proposed, as the holdout shows it to be fairer by less than 2 points, which counts as the same.",
    ),
    "performance_lost": (
        judged(audit(), performance_floor=-0.055, performance_ceiling=-0.012),
        "not proposed",
        f"{PRICE}; it is not proposed, as it loses 0.025 of accuracy, and 0.01 is allowed.",
    ),
    "guardrail_broken": (
        judged(audit(), guards=(HELD, BROKEN)),
        "not proposed",
        "it is not proposed, as it breaks worst_group_selection_rate>=-0.1 (> 25: -0.200).",
    ),
    "nothing_fairer": (
        audit(selected=1),
        "not proposed",
        "No other model within the tolerances was found to be fairer than model 1, which is kept.",
    ),
    "nothing_decided": (audit(selected=None), "not proposed", "No model can be selected."),
    "gap_not_shown": (
        judged(audit(selected=1), disparity=ALIKE),
        "no disparity",
        "No disparity shown: the demographic parity gap by age of model 1 is 0.012 [0.000, 0.050] in 400 rows; from "
        "0.080 on it would probably have been seen.",
    ),
    "gap_within_margin": (
        judged(audit(selected=1), disparity=ALIKE.but(gap=Estimate(0.012, 0.005, 0.019))),
        "no disparity",
        "Hardly a disparity: the demographic parity gap by age of model 1 is 0.012 [0.005, 0.019] in 400 rows, which "
        "is within 0.02.",
    ),
    "other_rates": (
        judged(in_use(audit(), kept=True), incomparable=(OTHER_RATES,)),
        "not comparable",
        "Not comparable: this search says nothing about the model in use (tool): it selects 92.0 % of the selection "
        "split, the model that comes closest 74.0 %, and the guardrail allows a difference of 10.0 %.",
    ),
    "performance_not_reached": (
        judged(in_use(audit(), kept=True), incomparable=(OUT_OF_REACH,)),
        "not comparable",
        "Not comparable: this search says nothing about the model in use (tool): it reaches an accuracy of 0.741 on "
        "the selection split, the model that comes closest 0.715, which is 0.026 less, and 0.01 is allowed.",
    ),
}


def test_every_answer_and_every_reason_is_tried():
    assert set(REASONED) == set(get_args(AnswerReason))
    assert {answer for _, answer, _ in REASONED.values()} | {"proposed"} == set(get_args(Answer))


@pytest.mark.parametrize("reason", REASONED)
def test_each_reason_has_words_that_are_true_of_its_document(reason):
    document, answer, words = REASONED[reason]
    assert (document.selection.answer, document.selection.reasons) == (answer, (reason,))
    assert words in headline(document)
    assert "it is proposed" not in headline(document)
    assert not is_good_news(document)
    assert "{" not in headline(document)


def test_rates_that_differ_are_named_and_nobody_says_that_none_was_found():
    words = headline(REASONED["other_rates"][0])
    assert "92.0 %" in words
    assert "74.0 %" in words
    assert "was found" not in words


def test_several_reasons_stand_together_and_what_is_shown_against_a_model_outweighs_what_is_missing():
    lacking = judged(audit(verdict="open"), performance_floor=-0.02, guards=(BEYOND,))
    assert lacking.selection.reasons == ("fairness_not_shown", "performance_not_shown", "guardrail_not_shown")
    assert headline(lacking).endswith(
        "it is a candidate, as the holdout does not show that it is fairer and the holdout does not show that it loses "
        "at most 0.01 of accuracy and the holdout does not show that it keeps worst_group_selection_rate>=-0.1 (> 25: "
        "-0.120)."
    )
    against = judged(audit(verdict="open"), performance_floor=-0.055, performance_ceiling=-0.02, guards=(BROKEN,))
    assert against.selection.reasons == ("performance_lost", "guardrail_broken")


def test_a_model_without_a_gap_to_reduce_is_not_needed():
    document = judged(audit(verdict="open"), disparity=ALIKE)
    assert document.selection.answer == "no disparity"
    why = "no demographic parity gap of model 1 by age is shown."
    assert headline(document).endswith(f"it is not needed, as {why}")
    assert proposal_status(document) == f"Not proposed: {why}"
    within = judged(audit(verdict="open"), disparity=ALIKE.but(gap=Estimate(0.012, 0.005, 0.019)))
    assert proposal_status(within) == "Not proposed: the demographic parity gap of model 1 by age is within 2 points."
    shown = judged(audit(), disparity=ALIKE)
    assert shown.selection.answer == "proposed", "a gap that is shown to be smaller was there"


def test_the_pair_of_groups_is_named_where_there_are_others():
    document = with_pair(audit())
    assert headline(document) == (
        f"Model 3 narrows the demographic parity gap by age between > 25 and <= 25 (0.175 to 0.150); {AS_GOOD}; "
        f"{PROPOSED}"
    )
    assert proposal_status(document).startswith(
        "Proposed: the holdout shows that the gap between > 25 and <= 25 is smaller and that no more accuracy is lost"
    )
    changed = next(words for words in page(document).findings if words.startswith("It decides"))
    assert "the gap between > 25 and <= 25 changes by -0.025 [-0.045, -0.005], judged alone." in changed
    reason = next(words for words in page(document).findings if "has the smallest" in words)
    assert "on the holdout 0.150 against 0.175, open, at" in reason, "the gap over all groups is not shown"
    doubtful = with_pair(audit(verdict="open"), verdict="open")
    assert headline(doubtful).startswith(
        "Model 3 had a smaller demographic parity gap by age between > 25 and <= 25 than model 1 on the selection"
    )


def test_a_pair_in_one_of_several_rates_has_the_rate_with_it():
    pair = ComparedPair("true_positive_rate", "> 25", "<= 25")
    claim = cell("equalized_odds_difference", -0.025, "fairer").but(is_claim=True, pair=pair)
    words = headline(chosen(audit(), strip=(claim,)))
    assert "narrows the equalized odds gap by age between > 25 and <= 25 in true positive rate (" in words


def test_wider_gaps_of_several_groups_are_told_apart():
    document = with_pair(audit(), whole=0.06, other=0.07)
    assert (
        "but looks wider in demographic parity over all groups (0.175 to 0.235) and demographic parity between > 25 "
        "and third; " in headline(document)
    )


@pytest.mark.parametrize(
    ("claims", "known", "words"), [(1, "1 claim", "5.0 %"), (2, "2 claims", "10.0 %"), (40, "40 claims", "100.0 %")]
)
def test_every_further_claim_of_one_holdout_adds_its_error(claims, known, words):
    document = chosen(audit(), claims=claims, is_in_advance=True)
    (sentence,) = claims_made(document)
    assert sentence == (
        f"It was stated that this choice was fixed before anybody saw the holdout. This run knows of {known} that the "
        f"same holdout judges alone: each is false with a probability of at most 5.0 %, any of them with at most "
        f"{words}. Claims in copies of the run are not counted, and add 5.0 % each."
    )
    assert sentence in page(document).findings
    assert not [*claims_made(audit())]


def test_a_choice_that_all_models_are_judged_with_is_no_claim():
    assert not [*claims_made(chosen(audit(), claims=2, is_in_sight=True))]
    (sentence,) = claims_made(chosen(audit(), claims=2))  # the first choice again, after another claim
    assert sentence.startswith("This run knows of 2 claims")


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
    document = judged(audit(), strip=wide, guards=(HELD, BROKEN))
    document = scored(document, 3, selection_rate=near(0.95))
    assert headline(document) == (
        f"{CLAIM} but is less fair in equal opportunity (0.175 to 0.375) and equalized odds, looks wider in predictive "
        "parity (0.175 to 0.235), and selects nearly everybody: 95 % instead of 80 %; "
        f"{AS_GOOD}; it is not proposed, as it breaks worst_group_selection_rate>=-0.1 (> 25: -0.200)."
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
    document = chosen(audit(), answer=None, reasons=(), strip=(), guards=())
    assert headline(document).endswith(
        "it is a candidate, as this run did not ask whether it may be proposed (`fairenum select RUN` does)."
    )
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
            "A candidate, not a proposal: the holdout does not show that it is fairer.",
        ),
        (
            {"verdict": "less fair"},
            {"guards": (BROKEN,)},
            "No alternative is proposed",
            "Not proposed: the holdout shows it to be less fair than model 1 and it breaks "
            "worst_group_selection_rate>=-0.1 (> 25: -0.200).",
        ),
        ({"selected": 1}, {}, "No alternative is proposed", ""),
    ],
)
def test_a_memo_proposes_what_is_proposed_and_says_why_not(facts, changes, title, why):
    document = judged(audit(**facts), **changes)
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
    ceiling=st.sampled_from([-0.011, -0.01, 0.01]),
    reason=st.sampled_from(["smallest_gap", "asked_for"]),
    rate=st.sampled_from([0.02, 0.8, 0.95]),
    guards=st.sampled_from([(), (HELD,), (BROKEN,), (BEYOND,)]),
)
def test_no_good_word_without_its_reason_and_no_harm_without_its_word(
    claim, change, others, floor, loss, ceiling, reason, rate, guards
):
    document = judged(
        kept_to(WIDE, floor, loss),
        verdict=claim,
        strip=(cell(METRIC, change, claim), *others),
        performance_ceiling=ceiling,
        reason=reason,
        guards=guards,
    )
    document = scored(document, 3, selection_rate=near(rate))
    words = headline(document)
    verdicts = {one.verdict for one in document.selection.strip}
    assert ("less fair" in words) == (Verdict.LESS_FAIR in verdicts)
    assert any(verb in words for verb in ("narrows", "halves")) == (claim is Verdict.FAIRER)
    has_floor = floor is not None and floor >= -0.01
    assert has_floor or not any(word in words for word in ("nearly as", "as accurate"))
    assert "near-optimal" not in words or loss <= 0.05
    is_against = claim in (Verdict.LESS_FAIR, Verdict.SAME) or ceiling < -0.01 or guards == (BROKEN,)
    is_proposed = claim is Verdict.FAIRER and has_floor and guards in ((), (HELD,)) and not is_against
    assert ("it is proposed" in words) == is_proposed
    assert ("it is not proposed, as" in words) == is_against
    assert ("it is a candidate, as" in words) == (not is_proposed and not is_against)
    assert is_good_news(document) == (is_proposed and Verdict.LESS_FAIR not in verdicts)
    assert ("it breaks worst_group" in words) == (guards == (BROKEN,))
    assert ("does not show that it keeps" in words) == (guards == (BEYOND,) and not is_against)
    assert ("it loses 0.025 of accuracy, and 0.01 is allowed" in words) == (ceiling < -0.01)
    assert ("nearly everybody" in words, "nearly nobody" in words) == (rate == 0.95, rate == 0.02)
