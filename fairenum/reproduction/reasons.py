"""Why each claim holds or does not, in sentences with the numbers of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from fairenum.attack.summary import share
from fairenum.report.numbers import percent
from fairenum.reproduction.figures import NAMES, Block, Document, main
from fairenum.reproduction.plan import CLEAN_PARITY, FAIRER_MODELS, LOWER_LOSS_RANKS, MODELS, TABLES, TIED
from fairenum.reproduction.summary import LEVEL

SVC = "the paper's own algorithm on scikit-learn's SVC"


def reasons(document: Document, claim: str) -> tuple[str, ...]:
    """Explain the verdict on a claim."""
    return tuple(REASONS[claim](document["experiments"]))


def often(marks: Sequence[bool]) -> str:
    """Say how often something is so, with the interval of Clopper and Pearson."""
    found = share(marks, LEVEL)
    if found["value"] is None:
        return "in none of 0"
    return (
        f"in {sum(marks)} of {len(marks)} ({percent(found['value'])}, "
        f"{percent(found['low'])} to {percent(found['high'])})"
    )


def _german_spread(experiments: Document) -> Iterator[str]:
    if "german" not in experiments:
        return
    for name, variant in experiments["german"]["variants"].items():
        spreads = [split["spread"] for split in variant["splits"]]
        if spreads:
            yield (
                f"With {name} columns the 50th objective falls short of the first by {np.median(spreads):.1e} in the "
                f"median split and by {max(spreads):.1e} at most."
            )
    yield (
        "Hundreds of examples support the German optimum, many with next to no weight; leaving one of them out costs "
        "next to nothing. The nearness says how little single examples matter, not that very different models are "
        "equally good."
    )


def _lower_loss(experiments: Document) -> Iterator[str]:
    for name in present(experiments):
        variant, rank = main(experiments[name]), LOWER_LOSS_RANKS[name]
        splits = variant["splits"]
        yield (
            f"{NAMES[name]}: {often([split['lower'] > 0 for split in splits])} splits; the best of 50 has "
            f"{np.median([split['best_loss'] for split in splits]):.4f} of the optimum's test loss in the median. "
            f"The paper's model {rank} beats the optimum {often([split['losses'][rank - 1] < 1 for split in splits])}."
        )
    for name in present(experiments):
        half = main(experiments[name])["other_half"]
        if half["low"] is not None:
            yield (
                f"{NAMES[name]}: chosen by one half of the test rows and judged by the other, the chosen model has "
                f"{half['value']:.4f} [{half['low']:.4f}, {half['high']:.4f}] of the optimum's loss: {_gain(half)}."
            )
    yield (
        "The smallest of 49 noisy ratios is below 1 even if no model is better: that the test rows know a better "
        "model is sampling error until other rows agree."
    )


def _gain(half: Mapping[str, float]) -> str:
    if half["low"] > 1.0:
        return "choosing by test loss does harm"
    return "a gain that lasts" if half["high"] < 1.0 else "no gain that can be told from chance"


def _linear_time(experiments: Document) -> Iterator[str]:
    for name in present(experiments):
        variant, printed = main(experiments[name]), experiments[name]["printed"]
        powers = [split["growth"] for split in variant["splits"]]
        pace = variant["time"]["q50"][-1]
        yield (
            f"{NAMES[name]}: from model 50 to 1000 the time grows like k to the power {np.median(powers):.2f} (median; "
            f"{min(powers):.2f} to {max(powers):.2f}), {pace:.2g} CPU ms for each model."
        )
        if printed and len(printed["seconds"]) > 1:
            found = len(printed["seconds"])
            yield (
                f"{NAMES[name]}: {SVC} makes {printed['fits'] / (found - 1):.0f} fits and takes "
                f"{1000 * printed['seconds'][-1] / found:.3g} ms for each of its first {found} models; "
                f"{printed['in_place']} of them are the proven model of that rank."
            )
    yield (
        "The work for the next model does not depend on its rank, but on how far its path bends and on the timer; "
        "short runs and other work on the machine move the power by a tenth or so."
    )


def _raised(experiments: Document) -> Iterator[str]:
    if "compas" not in experiments:
        return
    variant = main(experiments["compas"])
    draws = variant["draws"]
    clean = [draw["clean_gap"] for draw in draws if draw["clean_gap"] is not None]
    yield (
        f"On the 50 test rows the median gap is {np.median(clean):.3f} before and "
        f"{_median(draws, 'gap'):.3f} after the injection; on all other rows, about 6,000, "
        f"{_median(draws, 'rest_clean_gap'):.3f} and {_median(draws, 'rest_gap'):.3f}, and there it rises "
        f"{often([draw['rest_gap'] > draw['rest_clean_gap'] for draw in draws])} draws."
    )
    below = np.mean([gap <= CLEAN_PARITY for gap in clean])
    yield f"The paper's clean reference of {CLEAN_PARITY} lies above {percent(below)} of ours: an ordinary draw."
    if variant["sampling_error"] is not None:
        yield (
            f"Sampling error: on 50 rows the gap of one and the same model strays from that on all other rows by "
            f"{variant['sampling_error']:.3f} (root of the mean square)."
        )


def _tied(experiments: Document) -> Iterator[str]:
    if "compas" not in experiments:
        return
    variant = main(experiments["compas"])
    falls = [draw["shortfall"] for draw in variant["draws"]]
    yield (
        f"All 50 are proven to be tied (within {TIED:g}) {often([fall <= TIED for fall in falls])} draws; within 1e-4 "
        f"{often([fall <= 1e-4 for fall in falls])}, within 1e-3 {often([fall <= 1e-3 for fall in falls])}."
    )
    for name, other in list(experiments["compas"]["variants"].items())[1:]:
        yield f"{_capital(name)}: tied {often([draw['shortfall'] <= TIED for draw in other['draws']])} draws."
    yield (
        "Ties are the rule on discrete columns: where several examples on the margin can stand in for each other, any "
        "of them can be left out at no loss at all. Where they cannot, the objective falls, by little; whether a "
        "printout shows it depends on its digits."
    )
    if printed := variant["printed"]:
        falls = [draw["shortfall"] for draw in printed["draws"]]
        yield (
            f"With {SVC} the 50th objective lies within 1e-3 of the first "
            f"{often([abs(fall) <= 1e-3 for fall in falls])} draws; its list descends, within {TIED:g}, "
            f"{often([draw['is_descending'] for draw in printed['draws']])}: solver noise is larger than the "
            "differences it has to order."
        )


def _tied_but_different(experiments: Document) -> Iterator[str]:
    if "compas" not in experiments:
        return
    variant = main(experiments["compas"])
    draws = variant["draws"]
    yield (
        "A model of the same objective is an optimum of the whole problem, and all optima share one plane. Only the "
        "bias can differ, within the interval that the margins leave: such models are one predictor but for that."
    )
    yield (
        f"The bias interval, or a decision value of exactly 0, leaves {percent(_mean(draws, 'open_rows'))} of the test "
        "decisions open, on average over models and draws; the middle of the interval, and sgn(0) = 1, decide them "
        "here, and always the same way."
    )
    yield (
        f"Among all 50, tied or not, more than one predictor is found "
        f"{often([draw['predictors'] > 1 for draw in draws])} draws; the median is "
        f"{_median(draws, 'predictors'):.0f} of {MODELS}. All 50 are mutually different "
        f"{often([draw['predictors'] == draw['models'] for draw in draws])}."
    )
    if printed := variant["printed"]:
        tied = [draw for draw in printed["draws"] if abs(draw["shortfall"]) <= 1e-6]
        yield (
            f"{_capital(SVC)} shows more than one predictor {often([draw['predictors'] > 1 for draw in tied])} draws "
            "in which its 50 objectives agree within 1e-6: what then differs is solver noise and the bias that "
            "libsvm picks."
        )


def _fairer(experiments: Document) -> Iterator[str]:
    if "compas" not in experiments:
        return
    variant = main(experiments["compas"])
    draws = variant["draws"]
    yield (
        f"At least one such model {often([draw['fairer'] >= 1 for draw in draws])} draws, the paper's three "
        f"{often([draw['fairer'] >= FAIRER_MODELS for draw in draws])}."
    )
    for name, other in list(experiments["compas"]["variants"].items())[1:]:
        yield f"{_capital(name)}: several {often([draw['fairer'] > 1 for draw in other['draws']])} draws."
    yield (
        "Against the model trained on the 90 rows that were not flipped, which may be what the paper calls the "
        f"non-injected subset: several {often([draw['fairer_than_untouched'] > 1 for draw in draws])} draws."
    )
    if printed := variant["printed"]:
        yield f"{_capital(SVC)}: several {often([draw['fairer'] > 1 for draw in printed['draws']])} draws."
    found, kept = sum(draw["fairer"] for draw in draws), sum(draw["holding"] for draw in draws)
    if found:
        yield (
            f"Of the {found} models, in all draws together, that pass on their 50 test rows, {kept} pass on all other "
            "rows, too: with 50 rows and 50 models to choose from, sampling error finds some."
        )
    yield (
        "The 50 best are near-twins of the optimum that the flipped labels have bent, and most draws hold one or a few "
        "predictors. A list by objective is no search for fairness; the guided search of an audit is one."
    )


REASONS: Mapping[str, Callable[[Document], Iterator[str]]] = {
    "german_spread": _german_spread,
    "lower_loss": _lower_loss,
    "linear_time": _linear_time,
    "raised": _raised,
    "tied": _tied,
    "tied_but_different": _tied_but_different,
    "fairer": _fairer,
}


def present(experiments: Document) -> list[str]:
    """Name the tables that were split."""
    return [name for name in TABLES if name in experiments]


def _median(lines: Sequence[Block], name: str) -> float:
    return float(np.median([line[name] for line in lines if line[name] is not None]))


def _mean(lines: Sequence[Block], name: str) -> float:
    return float(np.mean([line[name] for line in lines]))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
