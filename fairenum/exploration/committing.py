"""The run of a decision: the models that were looked at become a listing, and the holdout is opened to judge one."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from fairenum.auditing.course import Course
from fairenum.auditing.listing import Listing, cut_values
from fairenum.auditing.live import LiveRun
from fairenum.auditing.pipeline import conclude
from fairenum.auditing.preparing import Prepared
from fairenum.budget import Budget
from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import AuditConfig
from fairenum.document.exploration import Explored
from fairenum.document.guards import kept_guards
from fairenum.document.machine import Tolerances
from fairenum.document.models import GuidedRun
from fairenum.enumeration.model import Model
from fairenum.exploration.bench import Bench
from fairenum.exploration.state import Shown, State
from fairenum.progress import Progress
from fairenum.scoring.ties import tied_ranks


def judged_run(bench: Bench, state: State, explored: Explored, progress: Progress) -> tuple[AuditDocument, LiveRun]:
    """Judge the committed model by the holdout, alone if it is opened for the first time, else with all others.

    Models that an earlier commit has shown on the holdout stay in the listing, even if they were taken back since.
    """
    ordered = _ordered(state.judged)
    rank = 1 + [one.number for one in ordered].index(explored.number)
    prepared = _under(bench.prepared, state.tolerances, ordered)
    if explored.look > 1:  # what was chosen after a look at these rows is not confirmed by them
        prepared = replace(prepared, division=replace(prepared.division, is_exploratory=True))
    listing = _listing(bench, state, ordered)
    course = Course.of(prepared.config, Budget(None), progress)
    document, live = conclude(prepared, listing, course, guided=_guided(state, ordered), rank=rank)
    return document.but(exploration=explored), live


def _ordered(shown: tuple[Shown, ...]) -> list[Shown]:
    """Put models in the order of an audit: best objective first, of equals the one that was looked at first."""
    ranks = tied_ranks(np.array([-one.model.objective for one in shown]))
    return [shown[place] for place in np.argsort(ranks, kind="stable")]


def _under(prepared: Prepared, tolerances: Tolerances, ordered: list[Shown]) -> Prepared:
    """Ask for what was explored: under the tolerances of the decision, as many models as there are."""
    config: AuditConfig = prepared.config.but(
        metric=tolerances.metric,
        eps=tolerances.eps,
        max_performance_drop=tolerances.max_performance_drop,
        max_loss=tolerances.max_loss,
        guards=kept_guards(tolerances.guards or ("none",)),
        k=len(ordered),
        search="both" if any(one.origin == "guided" for one in ordered) else "exact",
    )
    return replace(prepared, config=config)


def _listing(bench: Bench, state: State, ordered: list[Shown]) -> Listing:
    models, supports = (
        _certified([one.model for one in ordered]),
        {one.number: len(one.supports) for one in state.listed},
    )
    cuts, values = cut_values(models, bench.division, bench.scorer.point)
    return Listing(
        models=tuple(models),
        origins=tuple(one.origin for one in ordered),
        sizes=tuple(max(1, supports.get(one.number, 1)) for one in ordered),
        point=bench.scorer.point,
        cuts=cuts,
        values=values,
        stopped="caller",
        nodes=bench.solved(state),
        ties=None,
        audited_rows=len(bench.division.selection),
    )


def _certified(models: list[Model]) -> list[Model]:
    """Say of each model whether the intervals prove that it comes after the one before."""
    later = (
        replace(model, is_order_certified=model.certificate.bound < before.objective)
        for before, model in pairwise(models)
    )
    return [models[0], *later]


def _guided(state: State, ordered: list[Shown]) -> GuidedRun | None:
    """Say how the guided search went, if there was one."""
    solves, found = sum(state.solves.values()), sum(one.origin == "guided" for one in ordered)
    return GuidedRun("caller", solves, found + 1, found) if solves or found else None
