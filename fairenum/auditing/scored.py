"""The models of a run, scored on both splits: all of them or, where the user has asked to come to an end, a few."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from fairenum.auditing import members
from fairenum.auditing.course import Course
from fairenum.auditing.estimate import scoring_seconds
from fairenum.auditing.listing import Listing
from fairenum.auditing.live import LiveRun
from fairenum.auditing.scorecard import score_part
from fairenum.auditing.together import together
from fairenum.budget import Deadline, Interrupted, checkpoint, until, waited
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel
from fairenum.document.scores import SplitScores
from fairenum.document.terms import Gap, Part
from fairenum.document.value import Parts
from fairenum.experiment import PARTS, Division

HASTE = 0.8  # seconds for scores once the user has asked to come to an end


def scored_in_time(
    live: LiveRun, course: Course, *, is_free: bool
) -> tuple[LiveRun, tuple[AuditedModel, ...], Incumbent | None]:
    """Score all models or, where the user does not want to wait, as many as are scored in a moment.

    Parameters
    ----------
    live, course
        The run, and how it goes on.
    is_free
        Whether models may be left out: not where somebody has chosen one of them already.
    """
    if not course.budget.is_interrupted or not is_free:
        with suppress(Interrupted), until(course.budget.whenever() if is_free else Deadline()):
            return live, *waited(partial(_scored, live))
    most = max(1, int(HASTE / (scoring_seconds(live.division) * course.budget.pace)))
    fewer = replace(live, listing=few_of(live.listing, live.division, live.config.metric, most))
    if len(fewer.listing.models) < len(live.listing.models):
        course.ended("score", "interrupted")
    return fewer, *_scored(fewer)


def _scored(live: LiveRun) -> tuple[tuple[AuditedModel, ...], Incumbent | None]:
    """Score the models on both splits, beside what is proven about them, and the model in use."""
    lineup = live.lineup
    scores: dict[Part, list[SplitScores]] = {}
    for part in PARTS:
        scores[part] = score_part(lineup, part, live.config)
        checkpoint()
    limits = together(lineup, live.config)
    scores["holdout"] = [one.but(together=own) for one, own in zip(scores["holdout"], limits, strict=True)]
    row_0 = None
    if live.incumbent is not None:
        place = lineup.ranks.index(0)
        own = Parts(*(scores[part].pop(place) for part in PARTS))
        row_0 = members.incumbent(live.incumbent, lineup, own, live.config)
    return members.audited_models(live.division, live.training, live.listing, scores), row_0


def few_of(listing: Listing, division: Division, metric: Gap, most: int) -> Listing:
    """Keep model 1 and, of the others, so many as are to be kept: those of least gap on the selection split."""
    count = len(listing.models)
    if count <= most:
        return listing
    gaps = np.nan_to_num(division.selection.gaps(listing.values["selection"], metric), nan=np.inf)
    gaps[0] = -np.inf
    return listing.taken(np.sort(np.argsort(gaps, kind="stable")[:most]))
