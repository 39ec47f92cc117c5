"""The whole reproduction: every split and draw, run here or in processes beside, and what they add up to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from fairenum.document.environment import environment
from fairenum.document.paper import EXPERIMENTS, INJECTED, TABLES
from fairenum.document.reproduction import InjectionExperiment, Plan, ReproductionDocument, TableExperiment
from fairenum.parallel import collected, mapped
from fairenum.progress import Progress, silent
from fairenum.reproduction.claims import claims
from fairenum.reproduction.injection import DrawRecord, compas, run_draw
from fairenum.reproduction.splits import PrintedRecord, SplitRecord, run_printed, run_split, table
from fairenum.reproduction.summary import draw_variants, split_variants
from fairenum.threads import one_thread

Record = SplitRecord | PrintedRecord | DrawRecord

PACKAGES = ("fairenum", "numpy", "scipy", "scikit-learn")


def reproduce(
    experiments: Sequence[str] = EXPERIMENTS,
    plan: Plan | None = None,
    *,
    jobs: int = 1,
    progress: Progress = silent,
) -> ReproductionDocument:
    """Run the paper's experiments many times over, and judge what it claims.

    Parameters
    ----------
    experiments
        Some of german, ionosphere, sonar and compas.
    plan
        How much to run.
    jobs
        Processes; below 0 they count from the number of processors.
    progress
        Called with "reproduce", the number of finished calls, and of how many.

    Returns
    -------
    ReproductionDocument
        All but its timings, and what the clock decides, is the same for the same plan, whoever runs it. An interrupt
        from the keyboard keeps what was finished.
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
    """Name everything to be run; what takes long comes first, so that no process is left with it at the end."""
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
    """Sum up the splits of a table; None if none was finished."""
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
    """Sum up the draws of COMPAS; None if none was finished."""
    draws = [record for record in records if isinstance(record, DrawRecord)]
    if not draws:
        return None
    return InjectionExperiment(
        rows=len(compas()),
        features=len(compas().features),
        fingerprint=compas().fingerprint,
        variants=draw_variants(sorted(draws, key=lambda draw: draw.seed)),
    )
