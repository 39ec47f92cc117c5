"""An audit with a block on what label flips would do to it."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import Any

from fairenum.attack import AttackConfig, simulate
from fairenum.attack.simulate import Progress, Simulation
from fairenum.audit.facts import versions
from fairenum.audit.result import AuditResult
from fairenum.dataset import Dataset
from fairenum.errors import ResultError

# Enough for a first look beside an audit; `fairenum attack` has every option.
FORMAT = "fairenum attack 1"
STRATEGIES, FLIPS, TRIALS = ("paper", "random"), (0.02, 0.05, 0.1), 20
DRAWN = ("sizes", "C", "primary")  # a draw has sizes of its own; the others were resolved by the audit


def attacked(
    result: AuditResult,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress = lambda *_: None,
    **options: Any,
) -> AuditResult:
    """Simulate label flips in draws of an audited table, with the audit's own models and metric.

    Parameters
    ----------
    result
        Of an audit that was run here.
    jobs, cluster, progress
        As in `fairenum.attack.simulate`.
    **options
        Fields of `AttackConfig`; what the audit has settled, too, is taken from it.

    Returns
    -------
    AuditResult
        With the block ``attack``; partial if the simulation was interrupted.
    """
    if result.live is None:
        raise ResultError("a saved result holds no rows to flip labels of; run the audit again")
    started = time.perf_counter()
    simulation = simulate(
        result.live.prepared.dataset,
        _config(result).but(**options),
        jobs=jobs,
        cluster=cluster,
        progress=progress,
    )
    document = {key: value for key, value in result.document.items() if key != "timings"}
    if simulation.is_partial:
        document["status"] = "interrupted"
    seconds = result.document["timings"] | {"attack": time.perf_counter() - started}
    timings = {**seconds, "total": seconds["total"] + seconds["attack"]}
    return AuditResult({**document, "attack": simulation.block, "timings": timings}, result.live)


def document(dataset: Dataset, simulation: Simulation, seconds: float) -> dict[str, Any]:
    """Return a simulation on its own as one document; all but its timings is the same for the same input and seed."""
    return {
        "format": FORMAT,
        "environment": versions(simulation.block["config"]["solver"], dataset.fingerprint),
        "dataset": {
            "name": dataset.name,
            "rows": len(dataset),
            "label": dataset.label.column,
            "favourable": dataset.label.favourable,
        },
        "attack": simulation.block,
        "trials": list(simulation.records),
        "timings": {"attack": seconds},
    }


def _config(result: AuditResult) -> AttackConfig:
    config, known = result.live.config, {option.name for option in fields(AttackConfig)} - set(DRAWN)
    shared = {option.name: getattr(config, option.name) for option in fields(config) if option.name in known}
    primary = result.document["config"]["primary"]
    return AttackConfig(
        strategies=STRATEGIES, flips=FLIPS, trials=TRIALS, C=result.live.training.C, primary=primary, **shared
    )
