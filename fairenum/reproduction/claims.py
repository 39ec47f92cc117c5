"""What the paper claims, and how often that is so: counted over splits and draws, never over one.

A claim holds if it is true in at least 95 % of them, and does not hold if in at most 5 %; between, it holds sometimes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from fairenum.document.paper import GERMAN_SPREAD, INJECTED, TABLES, TIED
from fairenum.document.reproduction import (
    ClaimPart,
    Count,
    DrawLine,
    InjectionExperiment,
    JudgedClaim,
    SplitLine,
    TableExperiment,
)
from fairenum.document.terms import ClaimVerdict
from fairenum.reproduction.summary import LEVEL
from fairenum.scoring.trials import share

Line = TypeVar("Line", SplitLine, DrawLine)
Lines = Mapping[str, Mapping[str, Sequence[Line]]]  # by experiment and variant, the main variant first

NEARLY_ALWAYS, HARDLY_EVER = 0.95, 0.05
# Powers of k that count as linear: twice as many models take 1.7 to 2.3 times as long.
LINEAR = (0.8, 1.2)
SEVERAL = 2


@dataclass(frozen=True, slots=True)
class PaperClaim(Generic[Line]):
    """A claim of the paper: where it is counted, and when it is true of one split or draw.

    Attributes
    ----------
    among
        Which splits or draws it is about.
    is_timed
        Whether it is about time, which is taken in the main variant alone.
    """

    name: str
    experiments: tuple[str, ...]
    is_true: Callable[[Line], bool]
    among: Callable[[Line], bool] = lambda _: True
    is_timed: bool = False


def _grows_linearly(split: SplitLine) -> bool:
    return split.growth is not None and LINEAR[0] <= split.growth <= LINEAR[1]


def _is_raised(draw: DrawLine) -> bool:
    return draw.clean_gap is not None and draw.gap is not None and draw.clean_gap < draw.gap


SPLIT_CLAIMS: tuple[PaperClaim[SplitLine], ...] = (
    PaperClaim("german_spread", ("german",), lambda split: split.spread <= GERMAN_SPREAD),
    PaperClaim("lower_loss", TABLES, lambda split: split.lower > 0),
    PaperClaim("linear_time", TABLES, _grows_linearly, is_timed=True),
)
DRAW_CLAIMS: tuple[PaperClaim[DrawLine], ...] = (
    PaperClaim("raised", (INJECTED,), _is_raised),
    PaperClaim("tied", (INJECTED,), lambda draw: draw.shortfall <= TIED),
    PaperClaim(
        "tied_but_different",
        (INJECTED,),
        lambda draw: draw.tied_predictors > 1,
        among=lambda draw: draw.tied > 1,
    ),
    PaperClaim("fairer", (INJECTED,), lambda draw: draw.fairer >= SEVERAL),
)


def claims(tables: Mapping[str, TableExperiment], injection: InjectionExperiment | None) -> tuple[JudgedClaim, ...]:
    """Count each claim over the splits or draws at hand: in the main variant, and in every other one beside."""
    splits = {
        name: {variant: found.splits for variant, found in experiment.variants.items()}
        for name, experiment in tables.items()
    }
    draws = {INJECTED: {variant: found.draws for variant, found in injection.variants.items()}} if injection else {}
    return (
        *(_judged(claim, splits) for claim in SPLIT_CLAIMS),
        *(_judged(claim, draws) for claim in DRAW_CLAIMS),
    )


def _judged(claim: PaperClaim[Line], lines: Lines[Line]) -> JudgedClaim:
    present = {name: lines[name] for name in claim.experiments if name in lines}
    total = _counted(claim, [line for variants in present.values() for line in next(iter(variants.values()))])
    return JudgedClaim(
        trials=total.trials,
        true=total.true,
        share=total.share,
        name=claim.name,
        verdict=_claim_verdict(total.share.value),
        parts=tuple(part for name, variants in present.items() for part in _parts(claim, name, variants)),
    )


def _parts(claim: PaperClaim[Line], experiment: str, variants: Mapping[str, Sequence[Line]]) -> Iterator[ClaimPart]:
    """Count a claim in each variant of an experiment; one about time in the main variant alone."""
    for variant, lines in islice(variants.items(), 1 if claim.is_timed else None):
        count = _counted(claim, lines)
        yield ClaimPart(count.trials, count.true, count.share, experiment, variant)


def _counted(claim: PaperClaim[Line], lines: Sequence[Line]) -> Count:
    marks = [claim.is_true(line) for line in lines if claim.among(line)]
    return Count(len(marks), sum(marks), share(marks, LEVEL))


def _claim_verdict(value: float | None) -> ClaimVerdict:
    if value is None:
        return "not tried"
    if value >= NEARLY_ALWAYS:
        return "holds"
    return "does not hold" if value <= HARDLY_EVER else "holds sometimes"
