"""The start of a cell of the scoreboard: a model in use trained on rows of its own, and the rows that all methods get.

A third of the rows, drawn at random, trains the model in use and is in no other part. The rest is divided as a default
audit would divide it, before any method runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import ROUNDING_DIGITS
from fairenum.document.scoreboard_cells import Judged, MethodResult
from fairenum.document.terms import Part
from fairenum.enumeration.division import PARTS, Division, EncodedRows, divide
from fairenum.errors import DataError
from fairenum.metrics.operating_point import OperatingPoint
from fairenum.research.study_tables import StudyTable
from fairenum.runtime.random_streams import stream
from fairenum.svm.problem import FloatArray, IntArray
from fairenum.svm.sparse_or_dense import dense
from fairenum.tables import Dataset, Encoding, split
from fairenum.tables.splitting import default_sizes

if TYPE_CHECKING:
    import pandas as pd

DECIDED, SCORED, PART = "decision of the model in use", "score of the model in use", "part of the table"
TOLERANCE = 0.01  # performance that a fairer model may lose, as in a default audit
RARE = 0.05  # a model in use that decides fewer rows one way is cut at the base rate instead


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(200, min_samples_leaf=5, random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=100, learning_rate=0.06, min_samples_leaf=20, random_state=seed)


KINDS: Mapping[str, Callable[[int], Any]] = {"logistic": _logistic, "forest": _forest, "boosting": _boosting}


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """One candidate of a method: the chance of a favourable decision for each row of both splits."""

    knob: str
    chances: Mapping[Part, FloatArray] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """The rows of a cell, and the scores and decisions of the model in use about them.

    Attributes
    ----------
    dataset
        The rows with their parts, and with decisions and scores of the model in use; for an audit.
    division
        The same rows, divided and encoded as in an audit.
    scores
        By row of the dataset, the probability of a favourable label that the model in use gives.
    in_use
        The decisions of the model in use about both splits.
    measure
        The measure of performance, which the default audit chooses by the training rows.
    own_rows
        Number of rows that trained the model in use.
    """

    dataset: Dataset
    division: Division
    scores: FloatArray = field(repr=False)
    in_use: Decided
    seed: int
    measure: str = "accuracy"
    own_rows: int = 0

    def measured_by(self, measure: str) -> Contest:
        """Return the same contest with another measure of performance."""
        return replace(self, measure=measure)

    def rows(self, part: Part | None = None) -> EncodedRows:
        """Return the rows of a split, by default the training rows, with all groups that are not compared as one."""
        rows = self.division.train if part is None else self.division.part(part)
        return replace(rows, groups=rows.groups.folded())

    def X(self, part: Part | None = None) -> FloatArray:  # noqa: N802 - a matrix
        """Return the encoded features of a split, by default of the training rows, with all zeros."""
        return dense(self.rows(part).X)

    def score(self, part: Part | None = None) -> FloatArray:
        """Return the scores of the model in use about a split, by default about the training rows."""
        return self.scores[self.division.split.train if part is None else self.division.rows[part]]

    @property
    def share(self) -> float:
        """The share of the selection split that the model in use decides favourably."""
        return float(self.in_use.chances["selection"].mean())

    def cut(self, knob: str, values: Mapping[Part, FloatArray]) -> Decided:
        """Return the decisions of a score that is cut where the model in use cuts: at its share of the selection split.

        The cut is found on the selection split.
        """
        cut = OperatingPoint(self.share).cut(np.round(values["selection"], ROUNDING_DIGITS))
        return Decided(knob, {part: (cut.centred(values[part]) >= 0.0).astype(np.float64) for part in PARTS})

    def judged(self, decided: Decided) -> Judged:
        """Return gap and performance of decisions on both splits."""
        selection, holdout = (self.rows(part) for part in PARTS)
        tried, chances = decided.chances["selection"], decided.chances["holdout"]
        return Judged(
            gap=gap_of(chances, holdout),
            performance=performance_of(chances, holdout, self.measure),
            accuracy=performance_of(chances, holdout, "accuracy"),
            rate=float(chances.mean()),
            selection_gap=gap_of(tried, selection),
            selection_performance=performance_of(tried, selection, self.measure),
        )

    def result(self, method: str, candidates: Iterable[Decided]) -> MethodResult:
        """Return what a method reaches whose candidates are chosen from by the rule of the scoreboard.

        Candidates that decide all rows of the selection split alike are left out.
        """
        decided = [one for one in candidates if np.ptp(one.chances["selection"]) > 0.0]
        judged = [self.judged(one) for one in decided]
        place = chosen(judged, self.judged(self.in_use)) if judged else None
        return self.result_of(method, decided, judged, place)

    def result_of(
        self, method: str, decided: Sequence[Decided], judged: Sequence[Judged], place: int | None
    ) -> MethodResult:
        """Return what a method reaches with the candidate at `place`; None if it keeps the model in use."""
        used = self.judged(self.in_use)
        within = [is_comparable(one.selection_performance, used.selection_performance) for one in judged]
        later = [one for one in judged if is_comparable(one.performance, used.performance)]
        taken = None if place is None else judged[place]
        return MethodResult(
            method=method,
            candidates=len(judged),
            comparable=sum(within),
            chosen=taken,
            knob="" if place is None else decided[place].knob,
            is_kept=place is None or not within[place] or not judged[place].selection_gap < used.selection_gap,
            hindsight=min(later, key=lambda one: one.gap, default=None),
        )


def is_comparable(performance: float, used: float) -> bool:
    """Tell whether a performance is within the tolerance of that of the model in use."""
    return round(performance - used + TOLERANCE, ROUNDING_DIGITS) >= 0.0


def chosen(judged: Sequence[Judged], used: Judged) -> int:
    """Return the place of the candidate that a user takes by the selection split.

    It is the one of least gap among those whose performance is within the tolerance of the model in use; of equal gaps
    the one of better performance. If none is within the tolerance, it is the one of best performance.
    """
    places = range(len(judged))
    within = [
        place for place in places if is_comparable(judged[place].selection_performance, used.selection_performance)
    ]
    if not within:
        return max(places, key=lambda place: judged[place].selection_performance)
    return min(within, key=lambda place: (judged[place].selection_gap, -judged[place].selection_performance))


def gap_of(chances: FloatArray, rows: EncodedRows) -> float:
    """Return the largest difference between the expected selection rates of two compared groups."""
    groups = rows.groups
    sums = np.bincount(groups.codes, chances, len(groups.names))
    compared = groups.compared & (groups.sizes > 0)
    return float(np.ptp(sums[compared] / groups.sizes[compared]))


def performance_of(chances: FloatArray, rows: EncodedRows, measure: str) -> float:
    """Return the expected accuracy or balanced accuracy."""
    right = np.where(rows.labels == 1, chances, 1.0 - chances)
    if measure == "accuracy":
        return float(right.mean())
    if measure == "balanced_accuracy":
        return float(np.mean([right[rows.labels == label].mean() for label in (0, 1)]))
    raise DataError(f"the scoreboard measures performance by accuracy or balanced_accuracy, not by {measure}")


def contest(table: StudyTable, kind: str, seed: int) -> Contest:
    """Return the rows of a cell, with the scores of a model in use that other rows trained."""
    whole = Dataset.from_frame(table.frame, table.label, table.favourable, (table.sensitive,), name=table.name)
    own, rest = own_rows(len(table.frame), seed)
    scores, base_rate = _scores(whole, own, rest, kind, seed)
    frame = table.frame.iloc[rest].reset_index(drop=True)
    frame[PART] = _parts(whole.take(rest), seed)
    frame[SCORED], frame[DECIDED] = scores, _decided(scores, base_rate)
    dataset = _dataset(table, frame)
    division = divide(dataset, default_sizes(dataset, "linear"), seed, fewest=AuditConfig().min_group_size)
    decisions = frame[DECIDED].to_numpy(dtype=np.float64)
    in_use = Decided("", {part: decisions[division.rows[part]] for part in PARTS})
    return Contest(dataset, division, scores, in_use, seed, own_rows=len(own))


def own_rows(count: int, seed: int) -> tuple[IntArray, IntArray]:
    """Return the rows that train the model in use, a random third, and all others, both in the order of the table."""
    order = stream(seed, "scoreboard", "model in use").permutation(count)
    own = count // 3
    return np.sort(order[:own]), np.sort(order[own:])


def _dataset(table: StudyTable, frame: pd.DataFrame) -> Dataset:
    return Dataset.from_frame(
        frame,
        table.label,
        table.favourable,
        (table.sensitive,),
        name=table.name,
        split_column=PART,
        incumbent=DECIDED,
        incumbent_favourable="1",
        incumbent_score=SCORED,
    )


def _scores(whole: Dataset, own: IntArray, rest: IntArray, kind: str, seed: int) -> tuple[FloatArray, float]:
    """Return the probability of a favourable label for each of the other rows, and the base rate of the own rows."""
    if len(np.unique(whole.y[own])) < 2:
        raise DataError(f"the {len(own)} rows for the model in use have one label alone; give a table with more rows")
    encoding = Encoding.fit(whole, own)
    model = KINDS[kind](seed).fit(dense(encoding.transform(whole, own)), whole.y[own])
    return model.predict_proba(dense(encoding.transform(whole, rest)))[:, 1], float(whole.y[own].mean())


def _decided(scores: FloatArray, base_rate: float) -> IntArray:
    """Return decisions at a probability of one half or, where that decides nearly all rows alike, at the base rate."""
    decided = scores >= 0.5
    if not RARE <= decided.mean() <= 1.0 - RARE:
        decided = scores >= OperatingPoint(base_rate).cut(scores).value
    return np.asarray(decided, dtype=np.intp)


def _parts(rest: Dataset, seed: int) -> NDArray[np.object_]:
    """Return the part of each row, as a default audit without a column of parts would draw it."""
    parts = split(rest, default_sizes(rest, "linear"), seed)
    named = np.full(len(rest), "train", dtype=object)
    named[parts.selection], named[parts.holdout] = PARTS
    return named
