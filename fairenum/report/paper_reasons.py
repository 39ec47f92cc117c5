"""Sentences that explain the verdict on each claim of the EnumSV paper, with the numbers of a reproduction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median

from fairenum.document.research_documents import (
    CLEAN_PARITY,
    FAIRER_MODELS,
    LOWER_LOSS_RANKS,
    MODELS,
    TABLES,
    TIED,
    InjectionExperiment,
    ReproductionDocument,
    TableExperiment,
)
from fairenum.document.words import PAPER_TABLES
from fairenum.runtime.formatting import capitalised, percent, plain

LEVEL = 0.95
STEPS = 60  # bisections, for all digits of a float
EXTREME = 0.05  # a draw beyond all but this share of the others is unusual
SVC = "the paper's own algorithm on scikit-learn's SVC"
Tables = Mapping[str, TableExperiment]


def exact_interval(successes: int, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the limits of the Clopper-Pearson confidence interval for the share of successes."""
    tail = (1.0 - level) / 2
    low = 0.0 if successes == 0 else _rising_root(lambda p: _at_least(successes, trials, p), tail)
    high = 1.0 if successes == trials else _rising_root(lambda p: _at_least(successes + 1, trials, p), 1.0 - tail)
    return low, high


def _at_least(successes: int, trials: int, p: float) -> float:
    """Return the binomial probability of at least `successes` successes in `trials` trials of probability p."""
    return math.fsum(_chance(count, trials, p) for count in range(successes, trials + 1))


def _chance(count: int, trials: int, p: float) -> float:
    ways = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
    return math.exp(ways + count * math.log(p) + (trials - count) * math.log1p(-p))


def _rising_root(rising: Callable[[float], float], level: float) -> float:
    """Return the number between 0 and 1 at which an increasing function reaches `level`, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < level else (low, middle)
    return (low + high) / 2


def reasons(document: ReproductionDocument, claim: str) -> tuple[str, ...]:
    """Return sentences that explain the verdict on the claim named `claim`."""
    if claim in OF_TABLES:
        known = {name: document.tables[name] for name in TABLES if name in document.tables}
        return tuple(OF_TABLES[claim](known))
    return tuple(OF_INJECTION[claim](document.injection)) if document.injection else ()


def often(marks: Sequence[bool]) -> str:
    """Return a phrase that counts the true values, with their share and its confidence interval."""
    if not marks:
        return "in none of 0"
    low, high = exact_interval(sum(marks), len(marks))
    share = percent(sum(marks) / len(marks))
    return f"in {sum(marks)} of {len(marks)} ({share}, {percent(low)} to {percent(high)})"


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _middle(values: Iterable[float | None]) -> float:
    return median(_known(values))


def _german_spread(tables: Tables) -> Iterator[str]:
    variants = tables["german"].variants if "german" in tables else {}
    for name, variant in variants.items():
        spreads = [split.spread for split in variant.splits]
        if spreads:
            yield (
                f"With {plain(name)} columns the 50th objective falls short of the first by {median(spreads):.1e} in "
                f"the median split and by {max(spreads):.1e} at most."
            )
    yield (
        "Hundreds of examples support the German optimum, many with next to no weight; leaving one of them out costs "
        "next to nothing. The nearness says how little single examples matter, not that very different models are "
        "equally good."
    )


def _lower_loss(tables: Tables) -> Iterator[str]:
    for name, experiment in tables.items():
        if splits := experiment.main.splits:
            rank = LOWER_LOSS_RANKS[name]
            losses = [split.losses[rank - 1] for split in splits if len(split.losses) >= rank]
            beaten = [loss is not None and loss < 1 for loss in losses]
            yield (
                f"{PAPER_TABLES[name]}: {often([split.lower > 0 for split in splits])} splits; the best of 50 has "
                f"{median(split.best_loss for split in splits):.4f} of the optimum's test loss in the median. "
                f"The paper's model {rank} beats the optimum {often(beaten)}."
            )
    for name, experiment in tables.items():
        half = experiment.main.other_half
        if half.low is not None and half.high is not None:
            yield (
                f"{PAPER_TABLES[name]}: chosen by one half of the test rows and judged by the other, the chosen model "
                f"has {half.value:.4f} [{half.low:.4f}, {half.high:.4f}] of the optimum's loss: "
                f"{_gain(half.low, half.high)}."
            )
    yield (
        "The smallest of 49 noisy ratios is below 1 even if no model is better: that the test rows know a better "
        "model is sampling error until other rows agree."
    )


def _gain(low: float, high: float) -> str:
    if low > 1.0:
        return "choosing by test loss does harm"
    return "a gain that lasts" if high < 1.0 else "no gain that can be told from chance"


def _linear_time(tables: Tables) -> Iterator[str]:
    for name, experiment in tables.items():
        variant, printed = experiment.main, experiment.printed
        powers = _known(split.growth for split in variant.splits)
        if powers and variant.time:
            yield (
                f"{PAPER_TABLES[name]}: from model 50 to 1000 the time grows like k to the power {median(powers):.2f} "
                f"(median; {min(powers):.2f} to {max(powers):.2f}), {variant.time.q50[-1]:.2g} CPU ms for each model."
            )
        if printed and len(printed.seconds) > 1:
            found = len(printed.seconds)
            yield (
                f"{PAPER_TABLES[name]}: {SVC} makes {printed.fits / (found - 1):.0f} fits and takes "
                f"{1000 * printed.seconds[-1] / found:.3g} ms for each of its first {found} models; "
                f"{printed.in_place} of them are the proven model of that rank."
            )
    yield (
        "The work for the next model does not depend on its rank, but on how far its path bends and on the timer; "
        "short runs and other work on the machine move the power by a tenth or so."
    )


def _raised(injection: InjectionExperiment) -> Iterator[str]:
    variant, draws = injection.main, injection.main.draws
    clean = _known(draw.clean_gap for draw in draws)
    if not clean:
        return
    elsewhere = [(draw.rest_clean_gap, draw.rest_gap) for draw in draws]
    rises = [before is not None and after is not None and after > before for before, after in elsewhere]
    yield (
        f"On the 50 test rows the median gap is {median(clean):.3f} before and "
        f"{_middle(draw.gap for draw in draws):.3f} after the injection; on all other rows, about 6,000, "
        f"{_middle(before for before, _ in elsewhere):.3f} and {_middle(after for _, after in elsewhere):.3f}, and "
        f"there it rises {often(rises)} draws."
    )
    below = fmean(gap <= CLEAN_PARITY for gap in clean)
    kind = "an ordinary draw" if EXTREME <= below <= 1.0 - EXTREME else "an unusual draw"
    yield f"The paper's clean reference of {CLEAN_PARITY} lies above {percent(below)} of ours: {kind}."
    if variant.sampling_error is not None:
        yield (
            f"Sampling error: on 50 rows the gap of one and the same model strays from that on all other rows by "
            f"{variant.sampling_error:.3f} (root of the mean square)."
        )


def _tied(injection: InjectionExperiment) -> Iterator[str]:
    variant = injection.main
    falls = [draw.shortfall for draw in variant.draws]
    yield (
        f"All 50 are proven to be tied (within {TIED:g}) {often([fall <= TIED for fall in falls])} draws; within 1e-4 "
        f"{often([fall <= 1e-4 for fall in falls])}, within 1e-3 {often([fall <= 1e-3 for fall in falls])}."
    )
    for name, other in list(injection.variants.items())[1:]:
        yield f"{capitalised(plain(name))}: tied {often([draw.shortfall <= TIED for draw in other.draws])} draws."
    yield (
        "Ties are the rule on discrete columns: where several examples on the margin can stand in for each other, any "
        "of them can be left out at no loss at all. Where they cannot, the objective falls, by little; whether a "
        "printout shows it depends on its digits."
    )
    if printed := variant.printed:
        falls = [draw.shortfall for draw in printed.draws]
        yield (
            f"With {SVC} the 50th objective lies within 1e-3 of the first "
            f"{often([abs(fall) <= 1e-3 for fall in falls])} draws; its list descends, within {TIED:g}, "
            f"{often([draw.is_descending for draw in printed.draws])}: solver noise is larger than the "
            "differences it has to order."
        )


def _tied_but_different(injection: InjectionExperiment) -> Iterator[str]:
    variant, draws = injection.main, injection.main.draws
    yield (
        "A model of the same objective is an optimum of the whole problem, and all optima share one plane. Only the "
        "bias can differ, within the interval that the margins leave: such models are one predictor but for that."
    )
    yield (
        "The bias interval, or a decision value of exactly 0, leaves "
        f"{percent(fmean(draw.open_rows for draw in draws))} of the test decisions open, on average over models and "
        "draws; the middle of the interval, and sgn(0) = 1, decide them here, and always the same way."
    )
    yield (
        f"Among all 50, tied or not, more than one predictor is found "
        f"{often([draw.predictors > 1 for draw in draws])} draws; the median is "
        f"{median(draw.predictors for draw in draws):.0f} of {MODELS}. All 50 are mutually different "
        f"{often([draw.predictors == draw.models for draw in draws])}."
    )
    if printed := variant.printed:
        tied = [draw for draw in printed.draws if abs(draw.shortfall) <= 1e-6]
        yield (
            f"{capitalised(SVC)} shows more than one predictor {often([draw.predictors > 1 for draw in tied])} draws "
            "in which its 50 objectives agree within 1e-6: what then differs is solver noise and the bias that "
            "libsvm picks."
        )


def _fairer(injection: InjectionExperiment) -> Iterator[str]:
    variant, draws = injection.main, injection.main.draws
    yield (
        f"At least one such model {often([draw.fairer >= 1 for draw in draws])} draws, the paper's three "
        f"{often([draw.fairer >= FAIRER_MODELS for draw in draws])}."
    )
    for name, other in list(injection.variants.items())[1:]:
        yield f"{capitalised(plain(name))}: several {often([draw.fairer > 1 for draw in other.draws])} draws."
    yield (
        "Against the model trained on the 90 rows that were not flipped, which may be what the paper calls the "
        f"non-injected subset: several {often([draw.fairer_than_untouched > 1 for draw in draws])} draws."
    )
    if printed := variant.printed:
        yield f"{capitalised(SVC)}: several {often([draw.fairer > 1 for draw in printed.draws])} draws."
    found, kept = sum(draw.fairer for draw in draws), sum(draw.holding for draw in draws)
    if found:
        yield (
            f"Of the {found} models, in all draws together, that pass on their 50 test rows, {kept} pass on all other "
            "rows, too: with 50 rows and 50 models to choose from, sampling error finds some."
        )
    yield (
        "The 50 best are near-twins of the optimum that the flipped labels have bent, and most draws hold one or a few "
        "predictors. A list by objective is no search for fairness; the guided search of an audit is one."
    )


OF_TABLES: Mapping[str, Callable[[Tables], Iterator[str]]] = {
    "german_spread": _german_spread,
    "lower_loss": _lower_loss,
    "linear_time": _linear_time,
}
OF_INJECTION: Mapping[str, Callable[[InjectionExperiment], Iterator[str]]] = {
    "raised": _raised,
    "tied": _tied,
    "tied_but_different": _tied_but_different,
    "fairer": _fairer,
}
