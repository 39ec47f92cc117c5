"""The tilted models of an audit, joined to the listed ones."""

from __future__ import annotations

from functools import partial

from fairenum.auditing.joining import joined
from fairenum.auditing.listing import Listing
from fairenum.auditing.training import Training
from fairenum.budget import OutOfTime, how_ended, is_time_over, seconds_left
from fairenum.document.audit_config import AuditConfig
from fairenum.document.models import GuidedRun
from fairenum.document.terms import TiltedEnd
from fairenum.document.tilted import TiltedRun
from fairenum.enumeration.tilted import TiltedSearch
from fairenum.enumeration.unfairness import Watched
from fairenum.errors import ProblemError
from fairenum.experiment import Division
from fairenum.problem import SvmProblem
from fairenum.progress import Progress
from fairenum.solvers.certified import CertifiedWorkspace
from fairenum.solvers.registry import open_workspace

NATIVE = "path"


def join_tilted(
    listing: Listing,
    guided: GuidedRun | None,
    division: Division,
    training: Training,
    watched: Watched,
    config: AuditConfig,
    progress: Progress,
) -> tuple[Listing, TiltedRun | None]:
    """Tilt planes towards parity on the selection split, and list the models after the others.

    They are part of the search for fairer models: where that was not asked for, skipped or interrupted, or where no
    time is left, there are none.
    """
    if guided is None or guided.obstacle or is_time_over():
        return listing, None
    rise = config.tolerances.allowed_loss
    search = TiltedSearch(
        partial(_opened, solver=training.machine.solver),
        training.problem,
        training.best,
        watched,
        rise,
        config.max_performance_drop,
        seconds_left(),
    )
    stopped = _run(search, progress)
    front = search.front
    longer = joined(listing, [found.model for found in front], "tilted", division)
    added = len(longer.models) - len(listing.models)
    return longer, TiltedRun(stopped, rise, search.solves, len(front), added)


def _opened(problem: SvmProblem, solver: str) -> CertifiedWorkspace:
    """Open a tilted problem in the solver of the audit, or in the native one where that knows one margin for all."""
    try:
        return open_workspace(solver, problem)
    except ProblemError:
        return open_workspace(NATIVE, problem)


def _run(search: TiltedSearch, progress: Progress) -> TiltedEnd:
    try:
        for _ in search:
            progress("tilt", search.solves, search.most_solves)
    except (KeyboardInterrupt, OutOfTime) as reason:
        return how_ended(reason)
    return search.stopped or "exhausted"
