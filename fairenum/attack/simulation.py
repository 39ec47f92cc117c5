"""Simulation of label flips in many random samples of a table's rows, on its own or as a part of an audit."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace

import numpy as np

from fairenum.attack.defences import DEFENCES
from fairenum.attack.strategies import STRATEGIES
from fairenum.attack.trial import Trial, failed, run_trial
from fairenum.auditing.run_state import RunState
from fairenum.document.attack_document import (
    Attack,
    AttackConfig,
    AttackCurve,
    AttackDocument,
    Attacked,
    AttackPoint,
    DefenceSummary,
    Detection,
    DrawnTable,
    Levels,
    Measured,
    Recovery,
    TrialDetection,
    TrialFailure,
    TrialRecord,
    budget,
)
from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.header import AFTERWARDS, CutStage, Spending, environment
from fairenum.document.reading import spelled
from fairenum.errors import AttackError, ConfigError
from fairenum.metrics.intervals import mean, mean_change, quantiles, share_of_draws
from fairenum.runtime.budget import Budget, Cut, OutOfTime, Progress, checkpoint, silent, until
from fairenum.runtime.hints import did_you_mean, quoted
from fairenum.runtime.parallel import collected, mapped
from fairenum.runtime.random_streams import stream
from fairenum.solvers.isolation import solver_run
from fairenum.solvers.registry import load_solver, solver_version
from fairenum.svm.problem import FloatArray
from fairenum.tables import Dataset, Groups
from fairenum.tables.groups import named_groups
from fairenum.tables.splitting import row_counts


def summary(records: Sequence[TrialRecord], config: AttackConfig, ended: Cut | None = None) -> Attack:
    """Return a summary of the records of all trials; `ended` says why, if the simulation ended early."""
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
    """Return a summary of all trials of one strategy with the same `flips`, a number or a share of training rows."""
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
        raised=share_of_draws(gap_change[~np.isnan(gap_change)] > 0.0, level),
        recovery=_recovery(attacks, gap_change, level),
        predictors=mean(_column(attack.predictors for attack in attacks), level, least=1.0, most=float(config.k)),
        one_predictor=share_of_draws([attack.predictors == 1 for attack in attacks], level),
        all_differ=share_of_draws([attack.predictors == attack.models for attack in attacks], level),
        all_tied=share_of_draws([attack.tied == attack.models for attack in attacks], level),
        detection=_detection([attack.detection for attack in attacks if attack.detection], level),
        defences=tuple(_defence(name, attacks, level) for name in config.defences),
    )


def _paired(
    records: Iterable[TrialRecord], strategy: str, flips: float
) -> tuple[Sequence[Measured], Sequence[Attacked]]:
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
    ranks = _column(attack.recovery.rank for attack in attacks)
    is_recovered = ~np.isnan(ranks)
    return Recovery(
        share=share_of_draws(is_recovered, level),
        at_rank_1=share_of_draws(ranks == 1, level),
        of_raised=share_of_draws(is_recovered[gap_change > 0.0], level),
        rank_quantiles=quantiles(ranks),
        paper_share=share_of_draws([attack.recovery.paper_rank is not None for attack in attacks], level),
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
    """Return a summary of one defence over all attacks, with its changes of gap and error against no defence."""
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
    return (
        _column(one.gap for one in measured),
        _column(one.error for one in measured),
        _column(one.train_gap for one in measured),
    )


def _column(values: Iterable[float | None]) -> FloatArray:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """The result of a simulation of label flips: a summary, and the record of each finished trial in order."""

    attack: Attack
    records: tuple[TrialRecord, ...]

    @property
    def is_partial(self) -> bool:
        """Whether the user interrupted the simulation before all trials were finished."""
        return self.attack.status == "interrupted"

    def document(self, dataset: Dataset, seconds: float) -> AttackDocument:
        """Return the simulation as a document, given its table and the seconds that it took."""
        return AttackDocument(
            environment=environment(solver=solver_version(self.attack.config.svm.solver)),
            status=self.attack.status,
            timings={"attack": seconds},
            dataset=DrawnTable(
                name=dataset.name,
                rows=len(dataset),
                label=dataset.label.column,
                favourable=dataset.label.favourable,
                fingerprint=dataset.fingerprint,
                remarks=dataset.remarks,
            ),
            attack=self.attack,
            trials=self.records,
        )


def simulate(
    dataset: Dataset,
    config: AttackConfig | None = None,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress = silent,
    **options: object,
) -> Simulation:
    """Flip training labels in many random samples of a table's rows, and measure the effect on the models.

    Each sample, called a draw, is one trial. Measured are the changes of the gap and the error of the best model, how
    often another of the listed models is as fair as before the attack, and how well defences work.

    Parameters
    ----------
    dataset
        The table, with at least one sensitive column.
    config
        Options of the simulation; the defaults of `AttackConfig` if not given.
    jobs
        Number of processes to run trials in; with 1, they run in this process.
    cluster
        Address of a Dask scheduler to run the trials on, instead of processes of this computer.
    progress
        Called with "attack", the number of finished trials, and the number of all trials.
    **options
        Fields of `AttackConfig` and of its SVM settings, which override those in ``config``.

    Returns
    -------
    Simulation
        The same for the same table, options and seed, wherever the trials run. After a keyboard interrupt, or at the
        end of the time limit, it holds the trials that were finished.
    """
    if dataset.weights:
        raise ConfigError(f"label flips are simulated on rows that count alike; leave out {spelled('weight')}")
    config = resolved((config or AttackConfig()).but(**options), dataset)
    with solver_run(config.svm):  # for trials in this process: a solver that has failed is not asked again
        # a trial records its own failures; `failed` records trials that the cluster lost
        running = mapped(run_trial, draws(dataset, config), jobs=jobs, cluster=cluster, lost=failed)
        finished, ended = collected(running, lambda done: progress("attack", done, config.trials))
    records = tuple(sorted(finished, key=lambda record: record.trial))
    if not any(record.attacks for record in records):
        raise AttackError(_all_failed(records))
    return Simulation(summary(records, config, ended if len(records) < config.trials else None), records)


def check_names(config: AttackConfig) -> None:
    """Refuse options that name a strategy or a defence that does not exist."""
    for name in config.strategies:
        STRATEGIES.load(name)
    for name in config.defences:
        if name not in DEFENCES:
            raise ConfigError(f"no defence is called {name!r}; there are {', '.join(DEFENCES)}")


def resolved(config: AttackConfig, dataset: Dataset) -> AttackConfig:
    """Return the options as settled for a table: sizes in rows, and sensitive column and target group by name.

    Options that no trial could follow are refused, such as more flips than training rows.
    """
    check_names(config)
    load_solver(config.svm.solver)
    train, selection, holdout = row_counts(config.sizes_for(len(dataset)), len(dataset))
    for flips in config.flips:
        if budget(flips, train) > train:
            raise ConfigError(f"{flips} flips were asked for, but a draw has {train} training rows; ask for fewer")
    groups = named_groups(dataset.columns, config.primary)
    target = _target(dataset, groups, config.group)
    return config.but(sizes=(train, selection, holdout), primary=groups.column, group=target)


def draws(dataset: Dataset, config: AttackConfig) -> Iterator[Trial]:
    """Yield the trials of a simulation, each with rows drawn at random from the whole table, without replacement.

    The rows of a trial depend only on its seed, so that a single trial can be repeated.
    """
    rows = int(sum(config.sizes_for(len(dataset))))
    for number in range(config.trials):
        seed = config.seed + number
        drawn = stream(seed).permutation(len(dataset))[:rows]
        yield Trial(number, seed, dataset.take(drawn), config)


def _target(dataset: Dataset, groups: Groups, asked: str | None) -> str:
    """Return the target group: `asked` or, if None, the compared group with the lowest share of favourable labels."""
    if asked is None:
        favoured = np.bincount(groups.codes, weights=dataset.y, minlength=len(groups.names)) / groups.sizes
        return groups.names[int(np.where(groups.compared, favoured, np.inf).argmin())]
    if asked not in groups.names:
        hint = did_you_mean(asked, groups.names) or f"; there are {quoted(groups.names)}"
        raise ConfigError(f"no group of {groups.column!r} is called {asked!r}{hint}")
    return asked


def _all_failed(records: Sequence[TrialRecord]) -> str:
    first = records[0]
    where = "the only trial" if len(records) == 1 else f"all {len(records)} trials"
    return f"{where} failed; seed {first.seed}: {first.failures[0].message}"


# Options of the simulation within an audit, which is kept short; `fairenum attack` has more options.
TRIED, FLIPS, TRIALS = ("paper", "random"), (0.02, 0.05, 0.1), 20
DELIVERY = 0.4  # seconds of the time limit that are reserved for showing and saving the document
OWN = ("sizes", "svm", "primary")  # options not taken from the request for the audit: `_config` sets the last two


def attacked(
    document: AuditDocument,
    state: RunState,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress = silent,
    budget: Budget | None = None,
    **options: object,
) -> AuditDocument:
    """Return the document of an audit with a simulation of label flips added to it.

    SVM settings, metric and compared groups are those of the audit. Models decide by the sign of their decision values;
    an audit that was told to cut them elsewhere is refused. `jobs`, `cluster` and `progress` are as in
    `fairenum.attack.simulate`; `budget` is the time limit that the simulation shares with the audit, if any; `options`
    are fields of `AttackConfig`, which override those of the audit. If the simulation is interrupted, the status of the
    document is "interrupted"; if there was no time for a single trial, its `attack` is None.
    """
    if state.asked.decide not in ("auto", "sign"):
        raise ConfigError(
            f"label flips are simulated on models that decide by the sign; leave out decide={state.asked.decide!r} "
            "(--decide)"
        )
    if state.asked.around != "none":
        raise ConfigError(
            "label flips are simulated on models of the features alone; leave out around='incumbent' (--around "
            "incumbent)"
        )
    config = _config(document, state).but(**options)
    budget = budget or Budget(shares=AFTERWARDS)
    budget.reserved = DELIVERY * budget.pace
    started, simulation = time.perf_counter(), None
    with suppress(OutOfTime), until(budget.deadline("attack")):
        checkpoint()
        simulation = simulate(_compared(state), config, jobs=jobs, cluster=cluster, progress=progress)
    seconds = time.perf_counter() - started
    timings = {**document.timings, "attack": seconds, "total": document.timings["total"] + seconds}
    found = document.but(attack=simulation and simulation.attack, timings=timings)
    if simulation is None or simulation.attack.is_out_of_time:
        spending = document.spending or Spending(document.config.max_seconds)
        cut = (*spending.cut, CutStage("attack", "time", simulation is None))
        found = found.but(spending=spending.but(cut=cut))
        return found.but(warnings=cautions(found))
    return found.but(status="interrupted") if simulation.is_partial else found


def _compared(state: RunState) -> Dataset:
    dataset, primary = state.division.dataset, state.division.primary
    return dataset if primary is None else replace(dataset, sensitive=(primary,))


def _config(document: AuditDocument, state: RunState) -> AttackConfig:
    """Return the options of a simulation; options that audits and simulations share are taken from the given audit."""
    shared = {option.name for option in fields(AttackConfig)} & {option.name for option in fields(state.asked)}
    found = document.config.svm
    svm = replace(state.asked.svm, C=found.C, class_weight=found.class_weight)
    return AttackConfig(
        strategies=TRIED,
        flips=FLIPS,
        trials=TRIALS,
        svm=svm,
        primary=document.column,
        patience=state.training.patience,
        **{name: getattr(state.asked, name) for name in shared.difference(OWN, {"patience"})},
    )
