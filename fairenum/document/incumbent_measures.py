"""The model in use by itself: its decisions about all rows of an audit, measured between groups."""

from __future__ import annotations

from fairenum.document.measure_document import ColumnMeasures
from fairenum.document.scores import GroupTable
from fairenum.document.terms import GAPS, RATIOS, Measure
from fairenum.document.value import Estimate, Value


class IncumbentMeasures(Value, frozen=True):
    """The decisions of the model in use about all rows that it decided, not of the holdout alone.

    No part of the audit chose the model in use, so all rows count. Comparisons with other models are on the holdout.

    Attributes
    ----------
    rows
        Number of rows: all that have a decision and take part in the audit, those of weight 0 apart.
    selected
        Number of rows that get the favourable decision.
    accuracy, balanced_accuracy
        Share of decisions that agree with the label, and mean of this share over the two labels.
    columns
        Measures by sensitive column; the `rank` of an adverse-impact table is 0.
    """

    rows: int
    selected: int
    selection_rate: Estimate
    accuracy: Estimate
    balanced_accuracy: Estimate
    columns: tuple[ColumnMeasures, ...] = ()

    @property
    def tables(self) -> tuple[GroupTable, ...]:
        """The adverse-impact tables, one for each sensitive column."""
        return tuple(column.impact for column in self.columns)

    def of_column(self, column: str | None) -> ColumnMeasures | None:
        """Return the measures for one sensitive column; None if it was not measured."""
        return next((one for one in self.columns if one.column == column), None)

    def measure(self, name: Measure, column: str | None) -> Estimate | None:
        """Return a measure by its name, gaps and ratios in the given column; None if it was not measured."""
        if name in (*GAPS, *RATIOS):
            found = self.of_column(column)
            own: Estimate | None = getattr(found.scores, name) if found else None
            return own
        overall: Estimate | None = getattr(self, name, None)
        return overall
