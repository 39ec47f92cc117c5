"""The public function that measures decisions, and what its result can show of itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from fairenum.document.files import load_as
from fairenum.document.measure import MeasuredDecisions, MeasureDocument
from fairenum.document.measure_config import MeasureConfig, MeasureOptions
from fairenum.errors import ResultError
from fairenum.phrases import quoted
from fairenum.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import ArrayLike

    from fairenum.dataset.naming import Names


@dataclass(frozen=True, slots=True, eq=False)
class MeasureResult(Result):
    """What decisions and scores measure.

    Parameters
    ----------
    document
        Everything, as a typed value that is kept as JSON.
    """

    document: MeasureDocument

    def __repr__(self) -> str:
        names = [decisions.name for decisions in self.document.decisions]
        return f"MeasureResult({self.document.dataset.name!r}, decisions={names})"

    def decisions(self, name: str | None = None) -> MeasuredDecisions:
        """Return decisions by their column, or by that of the score they come from; the first if none is named."""
        found = {decisions.name: decisions for decisions in reversed(self.document.decisions)}
        if name is None:
            return self.document.decisions[0]
        if name not in found:
            raise ResultError(f"the result has no decisions {name!r}; there are {quoted(reversed(found))}")
        return found[name]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables by name: decisions, groups, warnings and, with a score, scores, cutoffs and calibration."""
        from fairenum.frames import tables

        return tables(self.document)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved measurement, and refuse what is none."""
        return cls(load_as(MeasureDocument, path))


def measure(
    data: str | Path | pd.DataFrame | Mapping[str, ArrayLike],
    decision: Names = (),
    sensitive: Names = (),
    *,
    score: str | None = None,
    label: str | None = None,
    favourable: object = None,
    decision_favourable: object = None,
    counts: bool = False,
    config: MeasureConfig | None = None,
    **options: Unpack[MeasureOptions],
) -> MeasureResult:
    """Measure the decisions or scores that a table holds; nothing is trained.

    Parameters
    ----------
    data
        A bundled name, the path of a file, a pandas frame, or arrays of one length by the names of columns.
    decision
        Columns of decisions, those that others are compared with first: 0 and 1, yes and no, or values of the label.
    sensitive
        Columns whose groups are compared.
    score
        Column of numbers that rank rows.
    label, favourable
        Column of what was true in the end, and its favourable value; rates that need it are left out without one.
    decision_favourable
        Favourable value of decisions, where it is not clear.
    counts
        Whether the table counts rows by group, in the columns n, selected and perhaps positives and true_positives.
    config
        All other options; the defaults of `MeasureConfig` if not given.
    **options
        Options of `MeasureConfig` and of its reading (``cutoff=0.5, bands={"age": [40]}``), which win over ``config``.
    """
    from fairenum.dataset.decided import Roles
    from fairenum.dataset.naming import listed
    from fairenum.measuring.pipeline import run_measure

    roles = Roles(listed(sensitive), listed(decision), score, label, favourable, decision_favourable)
    config = (config or MeasureConfig()).but(**options)
    return MeasureResult(run_measure(data, roles, config, counts=counts))
