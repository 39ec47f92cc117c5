"""The models that are scored together: the listed ones and, if there is one, the model in use as row 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from fairenum.auditing.incumbent_rows import IncumbentDecisions
from fairenum.auditing.listing import Listing
from fairenum.document.terms import Origin, Part
from fairenum.enumeration.division import Division
from fairenum.metrics import Decisions
from fairenum.svm.problem import FloatArray

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSet:
    """The listed models and the model in use, with the one that others are compared with first.

    Attributes
    ----------
    is_against_incumbent
        Whether that one is the model in use, and not model 1.
    """

    division: Division
    listing: Listing
    incumbent: IncumbentDecisions | None = None
    is_against_incumbent: bool = False

    @property
    def ranks(self) -> list[int]:
        """The ranks in the order of the scored_set; the model in use has rank 0."""
        return self._joined(range(1, len(self.listing.models) + 1), 0)

    @property
    def origins(self) -> list[Origin | None]:
        """How each was found; None for the model in use."""
        return self._joined(self.listing.origins, None)

    def is_ranked(self, place: int) -> bool:
        """Tell whether a model has values to rank rows by, and not only decisions."""
        return self.ranks[place] > 0 or (self.incumbent is not None and self.incumbent.answers.scores is not None)

    def values(self, part: Part) -> FloatArray:
        """Return the values that rank the rows of a split, shape (scored_set, rows)."""
        own = None if self.incumbent is None else self.incumbent.values[self.division.rows[part]]
        return np.array(self._joined(self.listing.values[part], own))

    def uncut(self, part: Part) -> FloatArray:
        """Return decision values without the cut subtracted; NaN for the model in use."""
        models = self.listing.uncut(part)
        return np.array(self._joined(models, np.full(models.shape[1], np.nan)))

    def decisions(self, part: Part, column: str | None) -> Decisions:
        """Return the decisions of all about a split, with the groups of a column, or all rows in one group."""
        models = self.listing.decisions(self.division, part, column)
        own = None if self.incumbent is None else self.incumbent.bits[self.division.rows[part]]
        predictions = np.array(self._joined(models.predictions, own))
        return replace(models, predictions=predictions)

    def _joined(self, models: Iterable[T], incumbent: T) -> list[T]:
        if self.incumbent is None:
            return [*models]
        return [incumbent, *models] if self.is_against_incumbent else [*models, incumbent]
