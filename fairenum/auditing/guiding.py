"""The guided models of an audit, joined to the listed ones."""

from __future__ import annotations

from fairenum.auditing.incumbent import InPlace
from fairenum.auditing.joining import joined
from fairenum.auditing.listing import Listing
from fairenum.auditing.training import Training
from fairenum.budget import OutOfTime, how_ended, is_time_over, seconds_left
from fairenum.document.audit_config import AuditConfig
from fairenum.document.models import GuidedRun
from fairenum.document.terms import Obstacle
from fairenum.enumeration.bounds import Bounds
from fairenum.enumeration.guided import GuidedSearch
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import ConfigError, SolverError
from fairenum.experiment import Division
from fairenum.progress import Progress
from fairenum.scoring.operating import OperatingPoint

NEEDS = {
    "no_sensitive_column": "no sensitive column was named",
    "no_holdout": "it looks at the rows that models are selected by, so it needs a holdout apart from them",
    "cut_short": "the enumeration was cut short",
    "no_time": "no time was left for it",
}


def watched_rows(
    division: Division, point: OperatingPoint, config: AuditConfig, incumbent: InPlace | None = None
) -> Watched:
    """Return the rows of the selection split as searches watch them, beside the model in use if it is to be beaten."""
    tolerances = config.tolerances
    watched = Watched(division.selection, config.metric, tolerances.measure, point, tolerances.guardrails)
    if incumbent is None or config.against != "incumbent":
        return watched
    rows = division.rows["selection"]
    return watched.compared_with(incumbent.bits[rows], incumbent.values[rows])


def join_guided(
    listing: Listing,
    division: Division,
    training: Training,
    watched: Watched,
    config: AuditConfig,
    progress: Progress,
) -> tuple[Listing, GuidedRun | None]:
    """Search for fairer models on the selection split and list them with the others, best objective first.

    A guided model that decides all audited rows as a listed one does is nothing new.
    """
    if config.search == "exact":
        return listing, None
    if obstacle := _obstacle(division, listing):
        if config.search == "guided" and obstacle not in ("cut_short", "no_time"):
            raise ConfigError(f"search='guided' is not possible: {NEEDS[obstacle]}")
        return listing, GuidedRun("skipped", obstacle=obstacle)
    search, stopped = _run(training, watched, config, progress)
    front = search.front
    longer = joined(listing, [found.model for found in front], "guided", division)
    return longer, GuidedRun(stopped, search.solves, len(front), len(longer.models) - len(listing.models))


def _obstacle(division: Division, listing: Listing) -> Obstacle | None:
    """Say why there is nothing to guide a search; None if there is."""
    if division.primary is None:
        return "no_sensitive_column"
    if division.is_exploratory:
        return "no_holdout"
    if listing.stopped in ("interrupted", "solver"):
        return "cut_short"
    return "no_time" if is_time_over() else None


def _run(training: Training, watched: Watched, config: AuditConfig, progress: Progress) -> tuple[GuidedSearch, str]:
    """Search until a bound is reached, the user interrupts, or the solver fails; what was proven by then stays."""
    bounds = Bounds(
        config.eps,
        config.max_performance_drop,
        config.max_left_out,
        seconds=seconds_left(),
        training_loss=config.max_loss,
    )
    search = GuidedSearch(training.workspace, watched, bounds, root=training.best)
    try:
        for _ in search:
            progress("guide", search.solves, search.most_solves)
    except SolverError:
        return search, "solver"
    except (KeyboardInterrupt, OutOfTime) as reason:
        return search, how_ended(reason)
    return search, str(search.stopped)
