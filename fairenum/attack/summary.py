"""Trials in numbers: what each strategy does at each budget, with intervals over draws.

Trials of one number share their draw, so strategies and budgets are compared on the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from fairenum.budget import Cut
from fairenum.document.attack import (
    Attack,
    AttackCurve,
    AttackPoint,
    DefenceSummary,
    Detection,
    Levels,
    Recovery,
    TrialFailure,
)
from fairenum.document.attack_config import AttackConfig, budget
from fairenum.document.trial import Attacked, Measured, TrialDetection, TrialRecord
from fairenum.problem import FloatArray
from fairenum.scoring.trials import mean, mean_change, quantiles, share


def summary(records: Sequence[TrialRecord], config: AttackConfig, ended: Cut | None = None) -> Attack:
    """Sum up the records of all trials, and say what ended them early."""
    return Attack(
        status="interrupted" if ended == "interrupted" else "complete",
        config=config,
        clean=_levels([record.clean for record in records if record.clean], config.confidence),
        curves=tuple(
            AttackCurve(strategy, tuple(_point(records, strategy, flips, config) for flips in config.flips))
            for strategy in config.strategies
        ),
        failures=tuple(
            TrialFailure(failure.strategy, failure.flips, failure.message, record.trial, record.seed)
            for record in records
            for failure in record.failures
        ),
        is_out_of_time=ended == "time",
    )


def _point(records: Iterable[TrialRecord], strategy: str, flips: float, config: AttackConfig) -> AttackPoint:
    """Sum up one strategy at one budget."""
    cleans, attacks = _paired(records, strategy, flips)
    level, rows = config.confidence, budget(flips, config.rows_trained)
    levels = _levels(attacks, level)
    gap_change, error_change, train_gap_change = (
        after - before for before, after in zip(_columns(cleans), _columns(attacks), strict=True)
    )
    return AttackPoint(
        trials=levels.trials,
        gap=levels.gap,
        gap_quantiles=levels.gap_quantiles,
        error=levels.error,
        train_gap=levels.train_gap,
        flips=rows,
        share=rows / config.rows_trained,
        gap_change=mean_change(gap_change, level),
        gap_change_quantiles=quantiles(gap_change),
        error_change=mean_change(error_change, level),
        train_gap_change=mean_change(train_gap_change, level),
        raised=share(gap_change[~np.isnan(gap_change)] > 0.0, level),
        recovery=_recovery(attacks, gap_change, level),
        predictors=mean(_column(attack.predictors for attack in attacks), level, least=1.0, most=float(config.k)),
        one_predictor=share([attack.predictors == 1 for attack in attacks], level),
        all_differ=share([attack.predictors == attack.models for attack in attacks], level),
        all_tied=share([attack.tied == attack.models for attack in attacks], level),
        detection=_detection([attack.detection for attack in attacks if attack.detection], level),
        defences=tuple(_defence(name, attacks, level) for name in config.defences),
    )


def _paired(
    records: Iterable[TrialRecord], strategy: str, flips: float
) -> tuple[Sequence[Measured], Sequence[Attacked]]:
    """Return the clean models of all trials in which an attack was made, and the attacks beside them."""
    pairs = [
        (record.clean, attack)
        for record in records
        if record.clean
        for attack in record.attacks
        if (attack.strategy, attack.flips) == (strategy, flips)
    ]
    return [clean for clean, _ in pairs], [attack for _, attack in pairs]


def _levels(measured: Sequence[Measured], level: float) -> Levels:
    gap, error, train_gap = _columns(measured)
    return Levels(
        trials=len(measured),
        gap=mean(gap, level),
        gap_quantiles=quantiles(gap),
        error=mean(error, level),
        train_gap=mean(train_gap, level),
    )


def _recovery(attacks: Sequence[Attacked], gap_change: FloatArray, level: float) -> Recovery:
    """Say how often a listed model makes up for the attack; where it did no harm there is nothing to make up for."""
    ranks = _column(attack.recovery.rank for attack in attacks)
    is_recovered = ~np.isnan(ranks)
    return Recovery(
        share=share(is_recovered, level),
        at_rank_1=share(ranks == 1, level),
        of_raised=share(is_recovered[gap_change > 0.0], level),
        rank_quantiles=quantiles(ranks),
        paper_share=share([attack.recovery.paper_rank is not None for attack in attacks], level),
    )


def _detection(detected: Sequence[TrialDetection], level: float) -> Detection | None:
    if not detected:
        return None
    return Detection(
        trials=len(detected),
        precision=mean(_column(one.precision for one in detected), level),
        recall=mean(_column(one.recall for one in detected), level),
        chance=mean(_column(one.chance for one in detected), level),
        support_chance=mean(_column(one.support_chance for one in detected), level),
    )


def _defence(name: str, attacks: Sequence[Attacked], level: float) -> DefenceSummary:
    """Sum up one defence; changes are against the undefended model of the same trial."""
    done = [attack for attack in attacks if attack.defences[name].failure is None]
    failures = [failure for attack in attacks if (failure := attack.defences[name].failure) is not None]
    gaps = _column(attack.defences[name].gap for attack in done)
    errors = _column(attack.defences[name].error for attack in done)
    return DefenceSummary(
        name=name,
        trials=len(done),
        gap=mean(gaps, level),
        gap_change=mean_change(gaps - _column(attack.gap for attack in done), level),
        error=mean(errors, level),
        error_change=mean_change(errors - _column(attack.error for attack in done), level),
        failed=len(failures),
        failure=failures[0] if failures else None,
    )


def _columns(measured: Sequence[Measured]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gather gap, error and the gap that the attacker sees of every trial."""
    return (
        _column(one.gap for one in measured),
        _column(one.error for one in measured),
        _column(one.train_gap for one in measured),
    )


def _column(values: Iterable[float | None]) -> FloatArray:
    """Gather a number of every trial; what is undefined in one is NaN."""
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)
