"""The simulation: budgets x strategies on many draws of a table, and what they do to the audit of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairenum.attack.strategies import STRATEGIES
from fairenum.attack.summary import summary
from fairenum.attack.trial import Trial, failed, run_trial
from fairenum.dataset import Dataset, Groups
from fairenum.dataset.groups import named_groups
from fairenum.dataset.splitting import row_counts
from fairenum.document.attack import Attack, AttackDocument, DrawnTable
from fairenum.document.attack_config import AttackConfig, budget
from fairenum.document.environment import environment
from fairenum.document.reading import spelled
from fairenum.document.trial import TrialRecord
from fairenum.errors import AttackError, ConfigError
from fairenum.mitigation.defences import DEFENCES
from fairenum.parallel import collected, mapped
from fairenum.phrases import did_you_mean, quoted
from fairenum.progress import Progress, silent
from fairenum.solvers.guarding import watching
from fairenum.solvers.registry import load_solver, solver_version


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What was simulated.

    Attributes
    ----------
    attack
        The summary over trials.
    records
        One for each trial that was finished, in order.
    """

    attack: Attack
    records: tuple[TrialRecord, ...]

    @property
    def is_partial(self) -> bool:
        """Whether trials are missing because the user interrupted."""
        return self.attack.status == "interrupted"

    def document(self, dataset: Dataset, seconds: float) -> AttackDocument:
        """Return the simulation as one document, given the table and how long it took."""
        return AttackDocument(
            environment=environment(solver=solver_version(self.attack.config.machine.solver)),
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
    """Flip labels in many draws of a table, and measure what that does and what the listed models can do about it.

    Parameters
    ----------
    dataset
        The table, with at least one sensitive column.
    config
        What to simulate; the defaults of `AttackConfig` if not given.
    jobs
        Processes to run trials in; 1 for this one alone.
    cluster
        Address of a Dask scheduler to run them on instead.
    progress
        Called with "attack", the number of finished trials, and of how many.
    **options
        Fields of `AttackConfig` and of its machine, which win over ``config``.

    Returns
    -------
    Simulation
        The same for the same table, options and seed, whoever runs the trials. An interrupt from the keyboard, or the
        end of the time that there is, keeps the trials that were finished.
    """
    if dataset.weights:
        raise ConfigError(f"label flips are simulated on rows that count alike; leave out {spelled('weight')}")
    config = resolved((config or AttackConfig()).but(**options), dataset)
    with watching(config.machine):  # for trials in this process: a solver that has failed is not asked again
        # a trial records its own failures: one that is lost is the cluster's
        running = mapped(run_trial, draws(dataset, config), jobs=jobs, cluster=cluster, lost=failed)
        finished, ended = collected(running, lambda done: progress("attack", done, config.trials))
    records = tuple(sorted(finished, key=lambda record: record.trial))
    if not any(record.attacks for record in records):
        raise AttackError(_all_failed(records))
    return Simulation(summary(records, config, ended if len(records) < config.trials else None), records)


def check_names(config: AttackConfig) -> None:
    """Refuse strategies and defences that do not exist, before anything is computed."""
    for name in config.strategies:
        STRATEGIES.load(name)
    for name in config.defences:
        if name not in DEFENCES:
            raise ConfigError(f"no defence is called {name!r}; there are {', '.join(DEFENCES)}")


def resolved(config: AttackConfig, dataset: Dataset) -> AttackConfig:
    """Settle what depends on the table: rows of a draw, column and target; refuse what no trial could do."""
    check_names(config)
    load_solver(config.machine.solver)
    train, selection, holdout = row_counts(config.sizes_for(len(dataset)), len(dataset))
    for flips in config.flips:
        if budget(flips, train) > train:
            raise ConfigError(f"{flips} flips were asked for, but a draw has {train} training rows; ask for fewer")
    groups = named_groups(dataset.columns, config.primary)
    target = _target(dataset, groups, config.group)
    return config.but(sizes=(train, selection, holdout), primary=groups.column, group=target)


def draws(dataset: Dataset, config: AttackConfig) -> Iterator[Trial]:
    """Draw the rows of each trial: at random, without repetition within a draw, from the whole table.

    The draw of a trial depends on its seed alone, so a trial can be repeated by itself.
    """
    rows = int(sum(config.sizes_for(len(dataset))))
    for number in range(config.trials):
        seed = config.seed + number
        drawn = np.random.default_rng([seed, 0]).permutation(len(dataset))[:rows]
        yield Trial(number, seed, dataset.take(drawn), config)


def _target(dataset: Dataset, groups: Groups, asked: str | None) -> str:
    """Name the group to aim at: the one asked for, or else the compared one with the fewest favourable labels."""
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
