"""One model against model 1, fixed before these rows were seen: no correction for models that were not asked about.

Two groups and one rate. Pointwise limits of d and s (see :mod:`~fairenum.scoring.changes`) are enough. If |y| = |x|,
then d = 0 or s = 0; "fairer" and "less fair" need both to be shown to differ from 0, so they are wrong no more often
than the limits of the one that is 0 are. The interval covers as often, too: docs/statistics.md has the proof.

More pairs. :func:`~fairenum.scoring.changes.one_by_one` has limits that are enough, and why. Nothing has to be drawn,
so that a high confidence costs nothing but width.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fairenum.document.terms import Gap, Verdict
from fairenum.scoring.changes import Criticals, change_limits, is_single, movement, one_by_one
from fairenum.scoring.comparison import change_verdict, small_groups
from fairenum.scoring.counts import Decisions
from fairenum.scoring.intervals import Interval, normal_critical
from fairenum.scoring.rates import GAP_RATES, score


class JudgedAlone(NamedTuple):
    """The change of a gap from model 1 to another, and what it shows; None where nothing can be compared."""

    change: Interval
    verdict: Verdict | None


def judge_alone(
    decisions: Decisions, model: int, gap: Gap, *, confidence: float = 0.95, margin: float = 0.0
) -> JudgedAlone:
    """Bound the change of a gap from model 1 to a model that was chosen without these rows.

    Parameters
    ----------
    decisions
        Of all models, model 1 first. Rows of groups that are set aside change nothing.
    model
        The place of the one to judge.
    gap
        One of the four differences.
    confidence
        Of the interval, and so of the verdict.
    margin
        A gap that changes by no more than this is the same.

    Returns
    -------
    JudgedAlone
        All that is possible, and no verdict, where the gap is undefined or there is but one group. A model that decides
        all rows alike has no verdict.
    """
    pair = replace(decisions, predictions=decisions.predictions[[0, model]]).compared()
    rates, present, gaps = GAP_RATES[gap], pair.groups.sizes > 0, getattr(score(pair).gaps, gap)
    single = is_single(rates, present)
    if single:
        criticals = Criticals(*[normal_critical(confidence)] * 5)
    else:
        criticals = one_by_one(confidence, int(present.sum()), len(rates))
    moved = movement(pair, rates, present, criticals)
    lower, upper = (limit[1] for limit in change_limits(moved, present, single=single))
    is_told = not (pair.is_constant[1] or np.isnan(gaps).any() or int(present.sum()) < 2)
    verdict = change_verdict(lower, upper, margin) if is_told else None
    return JudgedAlone(Interval(*map(np.asarray, (gaps[1] - gaps[0], lower, upper))), verdict)


def is_coarse(decisions: Decisions, model: int, gap: Gap, least: int) -> bool:
    """Tell whether fewer rows than that stand behind a rate of the gap, in a compared group of either model."""
    pair = replace(decisions, predictions=decisions.predictions[[0, model]]).compared()
    return bool(small_groups(score(pair), GAP_RATES[gap], least)[:, pair.groups.sizes > 0].any())
