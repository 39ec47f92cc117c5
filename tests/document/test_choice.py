"""What a choice says about itself."""

from typing import get_args

import pytest
from support.saved_runs import read

from fairenum.document.choice import Disparity, GuardCheck, GuardValue, Incomparable, answered, reason_for
from fairenum.document.terms import Answer, AnswerReason, Verdict
from fairenum.document.value import Estimate, Parts


@pytest.mark.parametrize(
    ("outcome", "column", "models", "others", "reason"),
    [
        ("none", "sex", 3, set(), "all_constant"),
        ("none", None, 3, set(), "all_constant"),
        ("selected", "sex", 3, {2}, "smallest_gap"),
        ("kept", None, 3, {2}, "no_sensitive_column"),
        ("kept", None, 1, set(), "no_sensitive_column"),
        ("kept", "sex", 1, set(), "only_model"),
        ("kept", "sex", 3, set(), "no_other_candidate"),
        ("kept", "sex", 3, {3}, "no_smaller_gap"),
    ],
)
def test_every_outcome_has_its_reason(outcome, column, models, others, reason):
    assert reason_for(outcome, column, models, others) == reason


def test_the_shortlist_is_model_1_and_the_selected_one():
    selection = read("audit").selection
    shortlists = [selection.but(rank=rank).shortlist for rank in (None, 1, 4)]
    assert shortlists == [[1], [1], [1, 4]]


def test_only_the_holdout_makes_a_model_fairer():
    selection = read("audit").selection
    fairer = [verdict for verdict in (*Verdict, None) if selection.but(verdict=verdict).is_fairer]
    assert fairer == [Verdict.FAIRER]


@pytest.mark.parametrize(
    ("value", "is_kept"),
    [(0.1, True), (0.1 + 1e-13, True), (0.1 + 1e-11, False), (-0.1 - 1e-13, True), (-0.2, False), (None, True)],
)
def test_a_guardrail_is_kept_on_the_selection_split_up_to_rounding(value, is_kept):
    """The rule of choice goes up to the limit itself, where rounding must not decide."""
    assert GuardValue("selection_rate=+-0.1", "selection_rate", -0.1, 0.1, value).is_kept_in_selection == is_kept


def wide(low: float, high: float, margin: float = 0.0) -> Disparity:
    return Disparity(400, Estimate((low + high) / 2, low, high), 0.05, margin)


SHOWN, UNSHOWN, ALIKE = wide(0.05, 0.2), wide(0.0, 0.2), wide(0.005, 0.015, margin=0.02)
CONFIRMED = {"outcome": "selected", "rank": 4, "verdict": Verdict.FAIRER, "performance_floor": -0.01}
CONFIRMED |= {"performance_ceiling": 0.02, "guards": (), "disparity": SHOWN, "incomparable": ()}
OPEN, LESS = {"verdict": Verdict.OPEN}, {"verdict": Verdict.LESS_FAIR}
WORSE, LOST = {"performance_floor": -0.0101}, {"performance_floor": -0.05, "performance_ceiling": -0.011}
KEPT, NOTHING = {"outcome": "kept", "rank": 1, "verdict": None}, {"outcome": "none", "rank": None, "verdict": None}
RATES, WEAKER = Incomparable("selection_rate", 0.4, 0.6, 0.05), Incomparable("performance", 0.8, 0.7, 0.01)
OTHER_RATES = {"incomparable": (RATES,)}
OUT_OF_REACH = {"incomparable": (WEAKER,)}


def guards(*found: tuple[float | None, str]) -> dict[str, object]:
    """Guardrails that allow up to 0.1, with these values on the holdout."""
    name = "selection_rate=+-0.1"
    return {
        "guards": tuple(GuardCheck(name, "all", -0.1, 0.1, 0.0, Estimate(value), status) for value, status in found)
    }


def changed(low: float, high: float) -> dict[str, object]:
    """Gaps that hardly change on the holdout, within these limits."""
    change = Estimate((low + high) / 2, low, high)
    return {"verdict": Verdict.SAME, "gap_change": Parts(change, change)}


ANSWERS = [
    ({}, "proposed", ()),
    ({"disparity": None}, "proposed", ()),
    (guards((0.05, "open"), (None, "open"), (0.1, "holds")), "proposed", ()),
    (OPEN, "candidate", ("fairness_not_shown",)),
    (changed(-0.016, -0.01), "not proposed", ("hardly_fairer",)),
    (changed(-0.02, 0.001), "not proposed", ("same_gap",)),
    (changed(-0.02, 0.001) | {"gap_change": None}, "not proposed", ("same_gap",)),
    (changed(-0.016, -0.01) | LOST, "not proposed", ("performance_lost",)),
    (changed(-0.016, -0.01) | {"disparity": UNSHOWN}, "no disparity", ("gap_not_shown",)),
    ({"verdict": None}, "candidate", ("fairness_not_shown",)),
    (WORSE, "candidate", ("performance_not_shown",)),
    ({"performance_floor": None, "performance_ceiling": None}, "candidate", ("performance_not_shown",)),
    (guards((0.05, "open"), (0.11, "open")), "candidate", ("guardrail_not_shown",)),
    (
        OPEN | WORSE | guards((-0.2, "open")),
        "candidate",
        ("fairness_not_shown", "performance_not_shown", "guardrail_not_shown"),
    ),
    (LESS, "not proposed", ("less_fair",)),
    (LOST, "not proposed", ("performance_lost",)),
    (guards((0.3, "broken")), "not proposed", ("guardrail_broken",)),
    (LESS | LOST | guards((0.3, "broken")), "not proposed", ("less_fair", "performance_lost", "guardrail_broken")),
    (OPEN | LOST, "not proposed", ("performance_lost",)),
    (OPEN | {"disparity": UNSHOWN}, "no disparity", ("gap_not_shown",)),
    (OPEN | {"disparity": ALIKE}, "no disparity", ("gap_within_margin",)),
    ({"disparity": UNSHOWN}, "proposed", ()),
    (WORSE | {"disparity": UNSHOWN}, "candidate", ("performance_not_shown",)),
    (LESS | {"disparity": UNSHOWN}, "not proposed", ("less_fair",)),
    (KEPT, "not proposed", ("nothing_fairer",)),
    (KEPT | {"disparity": None}, "not proposed", ("nothing_fairer",)),
    (NOTHING, "not proposed", ("nothing_decided",)),
    (KEPT | OTHER_RATES, "not comparable", ("other_rates",)),
    (KEPT | OUT_OF_REACH, "not comparable", ("performance_not_reached",)),
    (KEPT | {"incomparable": (RATES, WEAKER)}, "not comparable", ("other_rates", "performance_not_reached")),
    (KEPT | OUT_OF_REACH | {"disparity": ALIKE}, "no disparity", ("gap_within_margin",)),
    (NOTHING | OUT_OF_REACH, "not proposed", ("nothing_decided",)),
    (KEPT | {"disparity": UNSHOWN}, "no disparity", ("gap_not_shown",)),
    (KEPT | {"disparity": ALIKE}, "no disparity", ("gap_within_margin",)),
    (KEPT | OTHER_RATES | {"disparity": UNSHOWN}, "no disparity", ("gap_not_shown",)),
]


@pytest.mark.parametrize(("found", "answer", "reasons"), ANSWERS)
def test_what_the_holdout_shows_gives_the_answer(found, answer, reasons):
    base = read("audit").selection
    selection = base.but(**CONFIRMED | {"tolerances": base.tolerances.but(max_performance_drop=0.01)} | found)
    judged = answered(selection)
    assert (judged.answer, judged.reasons) == (answer, reasons)
    assert judged.but(answer=selection.answer, reasons=selection.reasons) == selection
    assert answered(judged) == judged


@pytest.mark.parametrize(("found", "answer", "reasons"), ANSWERS)
def test_the_model_of_an_exploratory_run_is_never_proposed(found, answer, reasons):
    base = read("audit").selection
    selection = base.but(**CONFIRMED | {"tolerances": base.tolerances.but(max_performance_drop=0.01)} | found)
    judged = answered(selection, is_exploratory=True)
    if reasons in (("same_gap",), ("hardly_fairer",)):
        answer, reasons = "candidate", ("fairness_not_shown",)
    if answer in ("proposed", "candidate"):
        answer, reasons = "candidate", ("no_holdout", *reasons)
    assert (judged.answer, judged.reasons) == (answer, reasons)


def test_every_answer_and_every_reason_is_given():
    assert {answer for _, answer, _ in ANSWERS} == {*get_args(Answer)}
    assert {one for _, _, reasons in ANSWERS for one in reasons} | {"no_holdout"} == {*get_args(AnswerReason)}


@pytest.mark.parametrize(
    ("low", "high", "margin", "is_shown"),
    [
        (0.01, 0.2, 0.0, True),
        (0.0, 0.2, 0.0, False),
        (0.01, 0.2, 0.1, True),
        (0.01, 0.1, 0.1, False),
        (None, None, 0.1, True),
    ],
)
def test_a_disparity_is_shown_above_0_and_beyond_the_margin(low, high, margin, is_shown):
    assert Disparity(400, Estimate(0.05, low, high), 0.05, margin).is_shown == is_shown


@pytest.mark.parametrize(
    ("reference", "closest", "wider"),
    [
        (0.74, 0.715, 0.025),
        (0.74, 0.7149, 0.03),
        (0.74, 0.7151, 0.025),
        (1.0, 0.0, 1.0),
        (0.3, 0.1, 0.2),
        (0.7, 0.6897, 0.015),
    ],
)
def test_the_wider_tolerance_is_the_next_step_that_allows_the_difference(reference, closest, wider):
    found = Incomparable("performance", reference, closest, 0.01)
    assert found.wider_limit == wider
    assert found.difference == pytest.approx(reference - closest, abs=1e-12)
