"""An audit with a part on what label flips would do to it."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import fields, replace

from fairenum.attack import simulate
from fairenum.auditing.live import LiveRun
from fairenum.budget import Budget, OutOfTime, checkpoint, until
from fairenum.dataset import Dataset
from fairenum.document.attack_config import AttackConfig
from fairenum.document.audit import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.spending import AFTERWARDS, CutStage, Spending
from fairenum.errors import ConfigError
from fairenum.progress import Progress, silent

# Enough for a first look beside an audit; `fairenum attack` has every option.
STRATEGIES, FLIPS, TRIALS = ("paper", "random"), (0.02, 0.05, 0.1), 20
DELIVERY = 0.4  # seconds that are kept for showing and saving it
OWN = ("sizes", "machine", "primary")  # a draw has sizes of its own; the others were resolved by the audit


def attacked(
    document: AuditDocument,
    live: LiveRun,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress = silent,
    budget: Budget | None = None,
    **options: object,
) -> AuditDocument:
    """Simulate label flips in draws of an audited table, with the audit's own models, metric and compared groups.

    The models of a draw decide by the sign of their values, so an audit that cuts them elsewhere is refused.

    Parameters
    ----------
    document, live
        Of an audit that was run here.
    jobs, cluster, progress
        As in `fairenum.attack.simulate`.
    budget
        The time limit of the audit, where it is one for both.
    **options
        Fields of `AttackConfig`; what the audit has resolved, too, is taken from it.

    Returns
    -------
    AuditDocument
        With its part ``attack``; partial if the simulation was interrupted, without it if there was no time for a
        single trial.
    """
    if document.config.decide != "sign":
        raise ConfigError(
            f"label flips are simulated on models that decide by the sign; leave out decide={live.asked.decide!r} "
            "(--decide)"
        )
    config = _config(document, live).but(**options)
    budget = budget or Budget(shares=AFTERWARDS)
    budget.reserved = DELIVERY * budget.pace
    started, simulation = time.perf_counter(), None
    with suppress(OutOfTime), until(budget.deadline("attack")):
        checkpoint()
        simulation = simulate(_compared(live), config, jobs=jobs, cluster=cluster, progress=progress)
    seconds = time.perf_counter() - started
    timings = {**document.timings, "attack": seconds, "total": document.timings["total"] + seconds}
    document = document.but(attack=simulation and simulation.attack, timings=timings)
    if simulation is None or simulation.attack.is_out_of_time:
        return _cut(document, is_skipped=simulation is None)
    return document.but(status="interrupted" if simulation.is_partial else document.status)


def _cut(document: AuditDocument, *, is_skipped: bool) -> AuditDocument:
    """Say that there was no time for all trials."""
    spending = document.spending or Spending(document.config.max_seconds)
    cut = (*spending.cut, CutStage("attack", "time", is_skipped))
    document = document.but(spending=spending.but(cut=cut))
    return document.but(warnings=cautions(document))


def _compared(live: LiveRun) -> Dataset:
    """Return the audited table with the groups of the primary column alone, of which some may be set aside."""
    dataset, primary = live.division.dataset, live.division.primary
    return dataset if primary is None else replace(dataset, sensitive=(primary,))


def _config(document: AuditDocument, live: LiveRun) -> AttackConfig:
    """Take over from the audit what both have: models, metric, seed and level."""
    shared = {option.name for option in fields(AttackConfig)} & {option.name for option in fields(live.asked)}
    found = document.config.machine
    machine = replace(live.asked.machine, C=found.C, class_weight=found.class_weight)
    return AttackConfig(
        strategies=STRATEGIES,
        flips=FLIPS,
        trials=TRIALS,
        machine=machine,
        primary=document.column,
        patience=live.training.patience,
        **{name: getattr(live.asked, name) for name in shared.difference(OWN, {"patience"})},
    )
