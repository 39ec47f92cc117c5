"""The whole reproduction: every split and draw, run here or in processes beside, and what they add up to."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

from fairenum import __version__
from fairenum.attack.runners import called_beside, collected
from fairenum.reproduction.claims import claims
from fairenum.reproduction.injection import compas, run_draw
from fairenum.reproduction.plan import EXPERIMENTS, TABLES, Plan
from fairenum.reproduction.splits import Record, run_printed, run_split, table
from fairenum.reproduction.summary import injection_block, splits_block
from fairenum.threads import one_thread

FORMAT = "fairenum reproduction 1"
Progress = Callable[[str, int, int | None], None]
Document = dict[str, Any]


def reproduce(
    experiments: Sequence[str] = EXPERIMENTS,
    plan: Plan | None = None,
    *,
    jobs: int = 1,
    progress: Progress = lambda *_: None,
) -> Document:
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
    dict
        One JSON document: all but its timings is the same for the same plan, whoever runs it. An interrupt from the
        keyboard keeps what was finished.
    """
    plan = plan or Plan()
    started = time.perf_counter()
    calls = list(_calls(experiments, plan))
    finished = map(_called, calls) if jobs == 1 else called_beside([partial(_called, call) for call in calls], jobs)
    records, is_partial = collected(finished, lambda done: progress("reproduce", done, len(calls)))
    records.sort(key=lambda record: (EXPERIMENTS.index(record["experiment"]), "printed" in record, record["seed"]))
    blocks = {name: block for name in experiments if (block := _block(name, records))}
    return {
        "format": FORMAT,
        "status": "interrupted" if is_partial else "complete",
        "environment": _environment(),
        "plan": {name: getattr(plan, name) for name in plan.__slots__},
        "experiments": blocks,
        "claims": claims(blocks),
        "timings": {"total": time.perf_counter() - started},
    }


def _calls(experiments: Sequence[str], plan: Plan) -> Iterator[Callable[[], Record]]:
    """Name everything to be run; what takes long comes first, so that no process is left with it at the end."""
    tables = [name for name in TABLES if name in experiments]
    yield from (partial(run_printed, name, plan.seed, plan.printed_seconds) for name in tables if plan.printed_seconds)
    yield from (partial(run_split, name, plan.seed + number) for name in tables for number in range(plan.splits))
    if "compas" in experiments:
        for number in range(plan.draws):
            yield partial(run_draw, plan.seed + number, number < plan.printed_draws)


@one_thread()
def _called(call: Callable[[], Record]) -> Record:
    return call()


def _block(name: str, records: Sequence[Record]) -> Document | None:
    mine = [record for record in records if record["experiment"] == name]
    if name == "compas":
        return {**_facts(compas()), **injection_block(mine)} if mine else None
    splits = [record for record in mine if "variants" in record]
    printed = next((record["printed"] for record in mine if "printed" in record), None)
    return {**_facts(table(name)), **splits_block(splits), "printed": printed} if splits else None


def _facts(dataset: Any) -> Document:
    return {"rows": len(dataset), "features": len(dataset.features), "fingerprint": dataset.fingerprint}


def _environment() -> Document:
    packages = ("numpy", "scipy", "scikit-learn")
    return {
        "fairenum": __version__,
        "python": platform.python_version(),
        **{package.replace("-", "_"): version(package) for package in packages},
    }
