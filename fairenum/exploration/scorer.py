"""Scores of one model on the selection split: one more model does not score the others again."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import numpy as np
from msgspec.structs import asdict

from fairenum.auditing.members import left_out
from fairenum.auditing.preparing import Prepared
from fairenum.auditing.scorecard import BALANCED, GAPS, RATIOS, UNDEFINED
from fairenum.dataset import Groups
from fairenum.document.deciding import Decide
from fairenum.document.decision_record import ModelMark
from fairenum.document.exploration import ExploredModel
from fairenum.document.models import ChangedRows
from fairenum.document.performance import ACCURACY
from fairenum.document.scores import ChangedEstimate, ColumnScores, GapEstimate, GroupScores, SplitScores
from fairenum.document.terms import Origin
from fairenum.document.value import Estimate
from fairenum.enumeration.model import Model
from fairenum.experiment import operating_point
from fairenum.exploration.state import Shown
from fairenum.problem import FloatArray
from fairenum.scoring import Decisions, gap_intervals, rate_intervals, score
from fairenum.scoring.auc import auc_intervals
from fairenum.scoring.counts import BoolArray, confusion
from fairenum.scoring.estimates import estimate, estimates
from fairenum.scoring.guarded import Measured, Tally
from fairenum.scoring.operating import Cut
from fairenum.scoring.performance import decided_intervals, performance, performance_intervals
from fairenum.scoring.ratios import ratio_intervals


class Scorer:
    """Scores models on the selection split, one by one.

    Attributes
    ----------
    rows
        Of the selection split.
    point
        Where models are cut.
    """

    def __init__(self, prepared: Prepared) -> None:
        self._prepared, division = prepared, prepared.division
        self.rows = division.selection
        point = operating_point(Decide.of(prepared.config.decide), division.train)
        self.point = replace(point, weights=self.rows.weights)
        self._measure = prepared.config.tolerances.measure
        self._tally = Tally(self.rows.labels, (self.rows.groups, *self.rows.others), self.rows.weights)
        self._columns = tuple(groups.take(division.rows["selection"]) for groups in division.columns)
        self._everyone = Groups.everyone(len(self.rows))
        self._best = prepared.training.best.certificate.objective

    def cut(self, model: Model) -> tuple[Cut, FloatArray]:
        """Cut a model by the selection split, and return its decision values there minus the cut."""
        values = model.decision_function(self.rows.X)
        cut = self.point.cut(values)
        return cut, cut.centred(values)

    def decided(self, model: Model) -> bytes:
        """Return what a model decides about the selection split, eight rows to a byte."""
        return np.packbits(self.cut(model)[1] >= 0.0).tobytes()

    def measured(self, decided: BoolArray, values: FloatArray) -> Measured:
        """Measure all that can be guarded of one model."""
        counts, metric = self._tally.count(decided[None]), self._prepared.config.metric
        performs = performance(self._decisions(decided, self._everyone), values[None], self._measure)
        return self._tally.measured(decided[None], performs, metric, counts)

    @staticmethod
    def digest(model: Model) -> str:
        """Return the sha256 of a model: its weights, its bias, and what it leaves out."""
        found = sha256(model.alpha.tobytes())
        found.update(repr((model.intercept, sorted(model.left_out.items()))).encode())
        return found.hexdigest()

    def shown(self, model: Model, number: int, origin: Origin, first: Shown | None) -> Shown:
        """Score a model.

        Parameters
        ----------
        model, number, origin
            What it is, the how manyeth that is looked at, and how it was found.
        first
            Model 1; None if this is it.
        """
        cut, values = self.cut(model)
        decided = values >= 0.0
        bits, measured = np.packbits(decided).tobytes(), self.measured(decided, values)
        mark = ModelMark(number, len(model.support), self.digest(model), sha256(bits).hexdigest())
        changed = 0 if first is None else int(np.count_nonzero(decided != (first.values >= 0.0)))
        training, division = self._prepared.training, self._prepared.division
        document = ExploredModel(
            number=number,
            origin=origin,
            objective=model.objective,
            objective_ratio=model.objective / self._best,
            loss_ratio=model.loss_ratio,
            support_size=len(model.support),
            supports=1,
            left_out=left_out(model, division, training),
            bias=model.intercept,
            cut=cut.value,
            tied=cut.tied,
            is_constant=bool(measured.is_constant[0]),
            predictions_changed=ChangedRows(changed, changed / len(decided)),
            scores=self.scores(decided, values, values + cut.value),
        )
        return Shown(number, origin, model, cut, values, bits, mark, measured, document)

    def scores(self, decided: BoolArray, values: FloatArray, uncut: FloatArray | None) -> SplitScores:
        """Score decisions: overall, and between the groups of every sensitive column, with limits one by one."""
        everyone, level = self._decisions(decided, self._everyone), self._prepared.config.confidence
        scores = score(everyone, decision_values=None if uncut is None else uncut[None])
        counts, loss = scores.counts.overall(), scores.overall.hinge_loss
        columns = {groups.column: self._of_column(decided, groups) for groups in self._columns}
        primary = columns[column] if (column := self._prepared.division.column) else UNDEFINED
        own = estimates(performance_intervals(everyone, values[None], self._measure, level))[0]
        right = estimates(decided_intervals(counts, ACCURACY, level))[0]
        return SplitScores(
            **{name: getattr(primary, name) for name in GroupScores.__struct_fields__},
            rows=len(decided),
            accuracy=ChangedEstimate(right.value, right.low, right.high),
            balanced_accuracy=estimates(decided_intervals(counts, BALANCED, level))[0],
            selection_rate=estimates(rate_intervals(counts, "selection_rate", level))[0],
            hinge_loss=Estimate() if loss is None else estimate(loss[0]),
            by_column=columns,
            auc=self._auc(values, level) if uncut is not None else Estimate(),
            performance=ChangedEstimate(own.value, own.low, own.high),
        )

    def _auc(self, values: FloatArray, level: float) -> Estimate:
        return estimates(auc_intervals(values[None], self.rows.labels, level, self.rows.weights))[0]

    def _decisions(self, decided: BoolArray, groups: Groups) -> Decisions:
        rows = self.rows
        return Decisions(decided[None].astype(np.uint8), rows.labels, groups, rows.weights, rows.drawn)

    def _of_column(self, decided: BoolArray, groups: Groups) -> ColumnScores:
        """Score decisions between the groups of one column."""
        decisions, level = self._decisions(decided, groups), self._prepared.config.confidence
        scores = score(decisions)
        selected = confusion(replace(decisions, weights=None)).selected[0].astype(int)
        gaps = [estimates(gap_intervals(scores, gap, level))[0] for gap in GAPS]
        ratios = [estimates(ratio_intervals(scores, ratio, level))[0] for ratio in RATIOS]
        return ColumnScores(
            **asdict(GroupScores(*(GapEstimate(one.value, one.low, one.high) for one in gaps), *ratios)),
            selected=tuple(selected.sum(-1).tolist()),
            true_positives=tuple(selected[:, 1].tolist()),
        )
