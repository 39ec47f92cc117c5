"""Reproduction of the paper's experiments: many random splits and draws, their summaries, and the paper's claims."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from fairenum.document.header import environment
from fairenum.document.research_documents import (
    CLOCKED,
    EXPERIMENTS,
    GERMAN_SPREAD,
    INJECTED,
    MODELS,
    TABLES,
    TIED,
    Bands,
    ClaimPart,
    Count,
    DrawLine,
    DrawVariant,
    InjectionExperiment,
    JudgedClaim,
    Numbers,
    Plan,
    PrintedDraw,
    PrintedDraws,
    Refusal,
    ReproductionDocument,
    SplitLine,
    SplitVariant,
    TableExperiment,
    TimeBands,
)
from fairenum.document.terms import ClaimVerdict
from fairenum.metrics.intervals import QUANTILES, mean, quantiles, share_of_draws
from fairenum.research.injected_draws import DrawMeasures, DrawRecord, PrintedMeasures, compas, run_draw
from fairenum.research.paper_splits import PrintedRecord, SplitMeasures, SplitRecord, run_printed, run_split, table
from fairenum.runtime.budget import Progress, silent
from fairenum.runtime.parallel import collected, mapped, one_thread
from fairenum.svm.problem import FloatArray

LEVEL = 0.95
DIGITS, SMALLEST = 6, 1e-12
ROUNDING = 1e-9  # losses with a ratio this near to 1 count as equal

# Rank from which growth of the running time is fitted; at lower ranks, most of the time is that of the first model.
FROM_RANK = 50


def split_variants(records: Sequence[SplitRecord]) -> dict[str, SplitVariant]:
    """Return two summaries of the splits of a table: with standardised columns, and with raw columns."""
    return {
        name: _split_variant({record.seed: record.variants[name] for record in records}) for name in records[0].variants
    }


def _split_variant(by_seed: Mapping[int, SplitMeasures | Refusal]) -> SplitVariant:
    kept = {seed: found for seed, found in by_seed.items() if not isinstance(found, Refusal)}
    splits = kept.values()
    return SplitVariant(
        splits=tuple(_split_line(seed, split) for seed, split in kept.items()),
        refused=tuple(found for found in by_seed.values() if isinstance(found, Refusal)),
        shortfall=bands([split.shortfalls for split in splits], MODELS),
        loss=bands([split.losses for split in splits], MODELS),
        other_half=mean(np.array([split.other_half for split in splits]), LEVEL),
        undetermined=mean(np.array([split.undetermined for split in splits]), LEVEL),
        time=_time([split.seconds for split in splits if split.seconds]),
    )


def _split_line(seed: int, split: SplitMeasures) -> SplitLine:
    losses, errors = split.losses, split.errors
    return SplitLine(
        seed=seed,
        C=split.C,
        spread=rounded(split.shortfalls[-1]),
        best_rank=int(losses.argmin()) + 1,
        best_loss=rounded(losses.min()),
        lower=int((losses < 1.0 - ROUNDING).sum()),
        losses=tuple(known(loss) for loss in losses),
        fewer_errors=int((errors < errors[0]).sum()),
        growth=None if split.seconds is None else rounded(growth(split.seconds)),
    )


def growth(seconds: Sequence[float]) -> float:
    """Return the power by which running time grows with the number of models: p in ``T(k) = T(1) + c (k - 1)^p``.

    T(k) are the CPU seconds until model k is found; `seconds` has them for the ranks k in `CLOCKED`. The constants c
    and p are fitted from model 50 on, by least squares of logarithms.
    """
    ranks = np.array(CLOCKED[: len(seconds)])
    is_late = ranks >= FROM_RANK
    times = np.array(seconds) - seconds[0]
    return float(np.polyfit(np.log(ranks[is_late] - 1), np.log(times[is_late]), 1)[0])


def _time(seconds: Sequence[Sequence[float]]) -> TimeBands | None:
    return TimeBands(**_quantiles_by_place(seconds, len(CLOCKED)), ranks=CLOCKED) if seconds else None


def bands(rows: Sequence[npt.ArrayLike], length: int) -> Bands:
    """Return quantiles of each of `length` columns of a table, without NaN; shorter rows lack the last columns."""
    return Bands(**_quantiles_by_place(rows, length))


def _quantiles_by_place(rows: Sequence[npt.ArrayLike], length: int) -> dict[str, Numbers]:
    table = np.full((len(rows), length), np.nan)
    for place, row in enumerate(rows):
        values = np.asarray(row, dtype=np.float64)[:length]
        table[place, : len(values)] = values
    return {name: tuple(_quantile(column, q) for column in table.T) for name, q in QUANTILES.items()}


def _quantile(values: FloatArray, q: float) -> float | None:
    defined = values[~np.isnan(values)]
    return rounded(np.quantile(defined, q)) if len(defined) else None


def draw_variants(records: Sequence[DrawRecord]) -> dict[str, DrawVariant]:
    """Return a summary of the draws (random samples) of COMPAS for each combination of scaling and choice of C."""
    return {
        name: _draw_variant({record.seed: record.variants[name] for record in records}) for name in records[0].variants
    }


def _draw_variant(by_seed: Mapping[int, DrawMeasures | Refusal]) -> DrawVariant:
    kept = {seed: found for seed, found in by_seed.items() if not isinstance(found, Refusal)}
    draws = kept.values()
    printed = [draw.printed for draw in draws if draw.printed]
    clean_gaps = np.array([draw.test.clean_gap for draw in draws])
    return DrawVariant(
        draws=tuple(_draw_line(seed, draw) for seed, draw in kept.items()),
        refused=tuple(found for found in by_seed.values() if isinstance(found, Refusal)),
        gap=bands([draw.test.gaps for draw in draws], MODELS),
        error=bands([draw.test.errors for draw in draws], MODELS),
        clean_gap=quantiles(clean_gaps),
        clean_error=quantiles(np.array([draw.test.clean_error for draw in draws])),
        sampling_error=_root_mean_square(clean_gaps - [draw.rest.clean_gap for draw in draws]),
        printed=_printed(printed) if printed else None,
    )


def _draw_line(seed: int, draw: DrawMeasures) -> DrawLine:
    test, rest = draw.test, draw.rest
    return DrawLine(
        seed=seed,
        C=draw.C,
        tied=draw.tied,
        predictors=draw.predictors,
        tied_predictors=draw.tied_predictors,
        holding=int((test.fairer & rest.fairer).sum()),
        models=len(test.gaps),
        shortfall=rounded(draw.shortfall),
        open_rows=rounded(draw.open_rows),
        gap=known(test.gaps[0]),
        clean_gap=known(test.clean_gap),
        untouched_gap=known(test.untouched_gap),
        clean_error=known(test.clean_error),
        fairer=int(test.fairer.sum()),
        fairer_than_untouched=int(test.fairer_than_untouched.sum()),
        rest_gap=known(rest.gaps[0]),
        rest_clean_gap=known(rest.clean_gap),
    )


def _root_mean_square(strays: FloatArray) -> float | None:
    defined = strays[~np.isnan(strays)]
    return rounded(np.sqrt(np.mean(defined**2))) if len(defined) else None


def _printed(draws: Sequence[PrintedMeasures]) -> PrintedDraws:
    return PrintedDraws(
        draws=tuple(_printed_draw(draw) for draw in draws),
        gap=bands([draw.test.gaps for draw in draws], MODELS),
        error=bands([draw.test.errors for draw in draws], MODELS),
    )


def _printed_draw(draw: PrintedMeasures) -> PrintedDraw:
    return PrintedDraw(
        models=len(draw.test.gaps),
        is_descending=draw.is_descending,
        predictors=draw.predictors,
        shortfall=rounded(draw.shortfall),
        fairer=int(draw.test.fairer.sum()),
        fairer_than_untouched=int(draw.test.fairer_than_untouched.sum()),
    )


def known(value: float) -> float | None:
    """Return a number, rounded to six significant digits; None for NaN."""
    return None if np.isnan(value) else rounded(value)


def rounded(value: float) -> float:
    """Return a number, rounded to six significant digits; 0 if its absolute value is below `SMALLEST`."""
    return 0.0 if abs(value) < SMALLEST else float(f"{value:.{DIGITS}g}")


Line = TypeVar("Line", SplitLine, DrawLine)
Lines = Mapping[str, Mapping[str, Sequence[Line]]]  # by experiment and by scaling and C, the main choice of these first
NEARLY_ALWAYS, HARDLY_EVER = 0.95, 0.05

# Powers of k that count as linear: twice as many models take 1.7 to 2.3 times as long.
LINEAR = (0.8, 1.2)
SEVERAL = 2


@dataclass(frozen=True, slots=True)
class PaperClaim(Generic[Line]):
    """A claim of the paper, with a function (`is_true`) that tells whether the claim is true of one split or draw.

    Only splits or draws for which `among` is True are counted. A claim about time (`is_timed`) is tested only with the
    main choice of scaling and C, for which times are measured.
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
        "tied_but_different", (INJECTED,), lambda draw: draw.tied_predictors > 1, among=lambda draw: draw.tied > 1
    ),
    PaperClaim("fairer", (INJECTED,), lambda draw: draw.fairer >= SEVERAL),
)


def claims(tables: Mapping[str, TableExperiment], injection: InjectionExperiment | None) -> tuple[JudgedClaim, ...]:
    """Return for each claim of the paper the share of splits or draws of which it is true, and a verdict.

    The verdict is by the main choice of scaling and C; shares are also given for all other choices.
    """
    splits = {
        name: {variant: found.splits for variant, found in experiment.variants.items()}
        for name, experiment in tables.items()
    }
    draws = {INJECTED: {variant: found.draws for variant, found in injection.variants.items()}} if injection else {}
    return (*(_judged(claim, splits) for claim in SPLIT_CLAIMS), *(_judged(claim, draws) for claim in DRAW_CLAIMS))


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
    for variant, lines in islice(variants.items(), 1 if claim.is_timed else None):
        count = _counted(claim, lines)
        yield ClaimPart(count.trials, count.true, count.share, experiment, variant)


def _counted(claim: PaperClaim[Line], lines: Sequence[Line]) -> Count:
    marks = [claim.is_true(line) for line in lines if claim.among(line)]
    return Count(len(marks), sum(marks), share_of_draws(marks, LEVEL))


def _claim_verdict(value: float | None) -> ClaimVerdict:
    if value is None:
        return "not tried"
    if value >= NEARLY_ALWAYS:
        return "holds"
    return "does not hold" if value <= HARDLY_EVER else "holds sometimes"


Record = SplitRecord | PrintedRecord | DrawRecord
PACKAGES = ("fairenum", "numpy", "scipy", "scikit-learn")


def reproduce(
    experiments: Sequence[str] = EXPERIMENTS, plan: Plan | None = None, *, jobs: int = 1, progress: Progress = silent
) -> ReproductionDocument:
    """Repeat the paper's experiments on many random splits and draws, and return results and verdicts on its claims.

    `experiments` are some of german, ionosphere, sonar and compas. `jobs` is the number of processes; -1 stands for the
    number of processors, -2 for one less, and so on. `progress` is called with "reproduce", the number of finished
    splits and draws, and the number of all. The same plan gives the same document, except for times and for results
    that depend on a time limit. After Ctrl-C, the document holds the results that were finished.
    """
    plan = plan or Plan()
    started = time.perf_counter()
    calls = list(_calls(experiments, plan))
    finished = mapped(_called, calls, jobs=jobs)
    records, ended = collected(finished, lambda done: progress("reproduce", done, len(calls)))
    tables = {name: found for name in experiments if name in TABLES and (found := _table_experiment(name, records))}
    injection = _injection_experiment(records)
    return ReproductionDocument(
        environment=environment(PACKAGES),
        status="interrupted" if ended == "interrupted" else "complete",
        timings={"total": time.perf_counter() - started},
        plan=plan,
        tables=tables,
        injection=injection,
        claims=claims(tables, injection),
    )


def _calls(experiments: Sequence[str], plan: Plan) -> Iterator[Callable[[], Record]]:
    """Yield the functions to call, one for each split or draw, longest first, so that no process idles at the end."""
    tables = [name for name in TABLES if name in experiments]
    yield from (partial(run_printed, name, plan.seed, plan.printed_seconds) for name in tables if plan.printed_seconds)
    yield from (partial(run_split, name, plan.seed + number) for name in tables for number in range(plan.splits))
    if INJECTED in experiments:
        for number in range(plan.draws):
            yield partial(run_draw, plan.seed + number, number < plan.printed_draws)


@one_thread()
def _called(call: Callable[[], Record]) -> Record:
    return call()


def _table_experiment(name: str, records: Sequence[Record]) -> TableExperiment | None:
    """Return a summary of the splits of a table; None if no split was finished."""
    splits = [record for record in records if isinstance(record, SplitRecord) and record.table == name]
    if not splits:
        return None
    runs = [record.run for record in records if isinstance(record, PrintedRecord) and record.table == name]
    dataset = table(name)
    return TableExperiment(
        rows=len(dataset),
        features=len(dataset.features),
        fingerprint=dataset.fingerprint,
        variants=split_variants(sorted(splits, key=lambda split: split.seed)),
        printed=runs[0] if runs else None,
    )


def _injection_experiment(records: Sequence[Record]) -> InjectionExperiment | None:
    """Return a summary of the draws (random samples) of COMPAS; None if no draw was finished."""
    draws = [record for record in records if isinstance(record, DrawRecord)]
    if not draws:
        return None
    return InjectionExperiment(
        rows=len(compas()),
        features=len(compas().features),
        fingerprint=compas().fingerprint,
        variants=draw_variants(sorted(draws, key=lambda draw: draw.seed)),
    )
