"""The whole order of an audit: the only place that knows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairenum.audit import facts
from fairenum.audit.alternatives import baselines, possible_range
from fairenum.audit.calibration import calibrate
from fairenum.audit.choice import chosen
from fairenum.audit.classifier import pipeline
from fairenum.audit.config import AuditConfig
from fairenum.audit.disagreement import disagreement
from fairenum.audit.explanation import explanation
from fairenum.audit.guiding import Guidance, join_guided
from fairenum.audit.listing import Listing, enumerate_models
from fairenum.audit.preparation import PARTS, Prepared, Progress, Training, load, pose, prepare
from fairenum.audit.result import SCHEMA_VERSION, AuditResult
from fairenum.audit.scorecard import score_part, stream, without_verdicts
from fairenum.dataset import Dataset
from fairenum.dataset.naming import Names
from fairenum.selection import Tolerances, expected_optimism
from fairenum.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline


@dataclass(frozen=True, slots=True, eq=False)
class LiveRun:
    """What a run still holds of its rows and models, and a saved document does not."""

    config: AuditConfig
    prepared: Prepared
    training: Training
    listing: Listing
    guidance: Guidance | None
    baselines: list[dict[str, Any]] | None

    def estimator(self, rank: int) -> Pipeline:
        """Build the scikit-learn pipeline of a model."""
        label = self.prepared.dataset.label
        classes = (label.unfavourable, label.favourable)
        return pipeline(self.listing.models[rank - 1], self.prepared.encoding, classes)

    def expected_optimism(self, tolerances: Tolerances) -> float:
        """Estimate how much choosing flatters, by choosing again on rows drawn again."""
        primary = self.prepared.primary
        decisions = self.listing.decisions(self.prepared, "selection", primary.column if primary else None)
        ratios, draws = self.listing.objective_ratio, self.config.replications
        return expected_optimism(decisions, ratios, tolerances, stream(self.config, len(PARTS)), draws)

    def explanation(self, rank: int, tolerances: Tolerances) -> dict[str, Any] | None:
        """Explain a model's gain over model 1."""
        return explanation(self.prepared, self.training, self.listing, self.config, rank, tolerances.metric)


@one_thread()
def audit(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None = None,
    favourable: object = None,
    sensitive: Names | None = None,
    *,
    config: AuditConfig | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> AuditResult:
    """Audit a table: list the near-optimal SVMs, score and compare them, and select the fairest.

    Parameters
    ----------
    data
        A bundled name, the path of a file, a pandas frame, or a `Dataset`.
    label, favourable, sensitive
        The column to predict, its favourable value, and the columns whose groups are compared. A bundled dataset has
        them on its card.
    config
        All other options; the defaults of `AuditConfig` if not given.
    progress
        Called with the name of a stage, how much of it is done, and of how much (None if that is not known).
    **options
        Fields of `AuditConfig`, which win over ``config``.

    Returns
    -------
    AuditResult
        Marked as partial if the enumeration was interrupted from the keyboard.
    """
    config = (config or AuditConfig()).but(**options)
    clock = _Clock(progress or _silent)
    with clock.stage("load"):
        dataset = load(data, label, favourable, sensitive, config)
    with clock.stage("prepare"):
        prepared = prepare(dataset, config)
    with clock.stage("tune"):
        training = pose(prepared, config, clock.progress)
    with clock.stage("enumerate"):
        listing = enumerate_models(prepared, training, config, clock.progress)
    with clock.stage("guide"):
        listing, guidance = join_guided(listing, prepared, training, config, clock.progress)
    with clock.stage("baselines"):
        others = baselines(prepared, training, listing, config, clock.progress)
    live = LiveRun(config, prepared, training, listing, guidance, others)
    with clock.stage("score"):
        document = _document(live)
    with clock.stage("select"):
        tolerances = Tolerances(config.metric, config.eps, config.max_accuracy_drop)
        document = chosen(document, tolerances, live)
    return AuditResult({**document, "timings": clock.timings()}, live)


def _document(live: LiveRun) -> dict[str, Any]:
    """Return the document up to the choice."""
    config, prepared, training, listing = live.config, live.prepared, live.training, live.listing
    models = facts.models(prepared, training, listing)
    scores = {part: score_part(prepared, listing, part, config) for part in PARTS}
    for place, model in enumerate(models):
        model["scores"] = {part: scores[part][place] for part in PARTS}
        if model["origin"] == "guided":
            model["scores"]["selection"] = without_verdicts(model["scores"]["selection"])
    labels = prepared.dataset.y[prepared.rows["selection"]]
    chances = calibrate(listing.values["selection"], labels, listing.values["holdout"])
    return {
        "schema_version": SCHEMA_VERSION,
        "status": "interrupted" if listing.stopped == "interrupted" else "complete",
        "is_exploratory": prepared.is_exploratory,
        "config": facts.configuration(config, prepared, training),
        "environment": facts.environment(config, prepared),
        "dataset": facts.table(config, prepared, training),
        "tuning": facts.tuning(training),
        "enumeration": facts.enumeration(listing),
        "guided": asdict(live.guidance) if live.guidance else None,
        "models": models,
        "examples": facts.examples(prepared, training, listing),
        "multiplicity": disagreement(prepared, listing, chances),
        "range": possible_range(prepared, training, listing, config),
        "baselines": live.baselines,
        "timings": {},
    }


def _silent(stage: str, done: int, total: int | None) -> None:
    """Report nothing."""


@dataclass(slots=True)
class _Clock:
    """Seconds by stage, and the announcement of each."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    now: Callable[[], float] = time.perf_counter

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.progress(name, 0, None)
        started = self.now()
        yield
        self.seconds[name] = self.now() - started

    def timings(self) -> dict[str, float]:
        return {**self.seconds, "total": sum(self.seconds.values())}
