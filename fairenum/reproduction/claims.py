"""What the paper claims, and how often that is so: counted over splits and draws, never over one.

A claim holds if it is true in at least 95 % of them, and does not hold if in at most 5 %; between, it holds sometimes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fairenum.attack.summary import share
from fairenum.reproduction.plan import GERMAN_SPREAD, TABLES, TIED
from fairenum.reproduction.summary import LEVEL

Line = Mapping[str, Any]
Blocks = Mapping[str, Mapping[str, Any]]
Verdict = Literal["holds", "holds sometimes", "does not hold", "not tried"]

NEARLY_ALWAYS, HARDLY_EVER = 0.95, 0.05
# Powers of k that count as linear: twice as many models take 1.7 to 2.3 times as long.
LINEAR = (0.8, 1.2)
SEVERAL = 2


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim: where it is counted, and when it is true of one split or draw.

    Attributes
    ----------
    among
        Which splits or draws it is about.
    is_timed
        Whether it is about time, which is taken in the main variant alone.
    """

    name: str
    statement: str
    experiments: tuple[str, ...]
    is_true: Callable[[Line], bool]
    among: Callable[[Line], bool] = lambda _: True
    is_timed: bool = False


CLAIMS = (
    Claim(
        "german_spread",
        "On German the objective values of the 50 best models are the same within 6.0e-4.",
        ("german",),
        lambda split: split["spread"] <= GERMAN_SPREAD,
    ),
    Claim(
        "lower_loss",
        "One of the 50 best models, at least, has a smaller test loss than the optimal one.",
        TABLES,
        lambda split: split["lower"] > 0,
    ),
    Claim(
        "linear_time",
        "The total time is almost linear in the number of models, up to 1000.",
        TABLES,
        lambda split: split["growth"] is not None and LINEAR[0] <= split["growth"] <= LINEAR[1],
        is_timed=True,
    ),
    Claim(
        "raised",
        "The injection raises demographic parity on the test rows.",
        ("compas",),
        lambda draw: _is_less(draw["clean_gap"], draw["gap"]),
    ),
    Claim(
        "tied",
        "All 50 best models on injected COMPAS have the same objective value.",
        ("compas",),
        lambda draw: draw["shortfall"] <= TIED,
    ),
    Claim(
        "tied_but_different",
        "Models of the same objective value decide the test rows differently.",
        ("compas",),
        lambda draw: draw["tied_predictors"] > 1,
        among=lambda draw: draw["tied"] > 1,
    ),
    Claim(
        "fairer",
        "Several of the 50 best models have a smaller parity gap than the clean reference and less error than model 1.",
        ("compas",),
        lambda draw: draw["fairer"] >= SEVERAL,
    ),
)


def claims(blocks: Blocks) -> list[dict[str, Any]]:
    """Count each claim over the splits or draws at hand: in the main variant, and in every other one beside."""
    return [_judged(claim, blocks) for claim in CLAIMS]


def _judged(claim: Claim, blocks: Blocks) -> dict[str, Any]:
    present = [name for name in claim.experiments if name in blocks]
    main = [line for name in present for line in _lines(blocks[name], _main(blocks[name]))]
    counted = _counted(claim, main)
    parts = [
        {"experiment": name, "variant": variant, **_counted(claim, _lines(blocks[name], variant))}
        for name in present
        for variant in blocks[name]["variants"]
        if not claim.is_timed or variant == _main(blocks[name])
    ]
    return {
        "name": claim.name,
        "statement": claim.statement,
        "verdict": _verdict(counted["share"]["value"]),
        **counted,
        "parts": parts,
    }


def _counted(claim: Claim, lines: Sequence[Line]) -> dict[str, Any]:
    marks = [claim.is_true(line) for line in lines if claim.among(line)]
    return {"trials": len(marks), "true": sum(marks), "share": share(marks, LEVEL)}


def _verdict(value: float | None) -> Verdict:
    if value is None:
        return "not tried"
    if value >= NEARLY_ALWAYS:
        return "holds"
    return "does not hold" if value <= HARDLY_EVER else "holds sometimes"


def _main(block: Mapping[str, Any]) -> str:
    return str(next(iter(block["variants"])))


def _lines(block: Mapping[str, Any], variant: str) -> list[Line]:
    found = block["variants"][variant]
    return list(found["splits"] if "splits" in found else found["draws"])


def _is_less(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low < high
