"""From the records of splits and draws to what a reader sees of them: quantiles by rank, and a line for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fairenum.document.paper import CLOCKED, MODELS
from fairenum.document.reproduction import (
    Bands,
    DrawLine,
    DrawVariant,
    Numbers,
    PrintedDraw,
    PrintedDraws,
    Refusal,
    SplitLine,
    SplitVariant,
    TimeBands,
)
from fairenum.problem import FloatArray
from fairenum.reproduction.injection import DrawMeasures, DrawRecord, PrintedMeasures
from fairenum.reproduction.splits import SplitMeasures, SplitRecord
from fairenum.scoring.trials import QUANTILES, mean, quantiles

LEVEL = 0.95
DIGITS, SMALLEST = 6, 1e-12
ROUNDING = 1e-9  # a loss ratio nearer to 1 is that of a model which decides alike
# From here to the last model the growth of the running time is measured; before, the first solve weighs.
FROM_RANK = 50


def split_variants(records: Sequence[SplitRecord]) -> dict[str, SplitVariant]:
    """Sum up the splits of a table, with standardised and with raw columns."""
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
    """Return p of the time T(1) + c (k - 1)^p, fitted to the logarithms from model 50 on."""
    ranks = np.array(CLOCKED[: len(seconds)])
    is_late = ranks >= FROM_RANK
    times = np.array(seconds) - seconds[0]
    return float(np.polyfit(np.log(ranks[is_late] - 1), np.log(times[is_late]), 1)[0])


def _time(seconds: Sequence[Sequence[float]]) -> TimeBands | None:
    return TimeBands(**_quantiles_by_place(seconds, len(CLOCKED)), ranks=CLOCKED) if seconds else None


def bands(rows: Sequence[npt.ArrayLike], length: int) -> Bands:
    """Return quantiles over rows at each place; shorter rows and undefined values do not count."""
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
    """Sum up the draws of COMPAS in each variant."""
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
    """Return a number as a reader sees it; None for one that is undefined."""
    return None if np.isnan(value) else rounded(value)


def rounded(value: float) -> float:
    """Keep six digits, what a reader or a plot can see; what is below all of them is rounding."""
    return 0.0 if abs(value) < SMALLEST else float(f"{value:.{DIGITS}g}")
