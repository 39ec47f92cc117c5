"""Who can be chosen, and against whom: what a choice needs of a document."""

from __future__ import annotations

from dataclasses import dataclass

from fairenum.document.audit import AuditDocument
from fairenum.document.incumbent import Incumbent
from fairenum.document.models import AuditedModel
from fairenum.document.table import SensitiveColumn


@dataclass(frozen=True, slots=True)
class Field:
    """The scored models, what they are compared with, and the columns they are compared in.

    Attributes
    ----------
    models
        Model 1 first.
    sensitive
        Without them, nothing is guarded about single groups.
    incumbent
        The model in use, where models are to take its place; None where model 1 is what they are compared with.
    is_exploratory
        Whether models are chosen and judged by rows that are not separate, so that nothing confirms a choice.
    """

    models: tuple[AuditedModel, ...]
    sensitive: tuple[SensitiveColumn, ...] = ()
    incumbent: Incumbent | None = None
    is_exploratory: bool = False

    @property
    def reference(self) -> AuditedModel | Incumbent:
        """What models are compared with."""
        return self.incumbent or self.models[0]

    def model(self, rank: int) -> AuditedModel:
        """Return a model by its rank."""
        return self.models[rank - 1]


def field_of(document: AuditDocument) -> Field:
    """Take from a document what a choice needs."""
    incumbent = document.incumbent if document.is_against_incumbent else None
    return Field(document.models, document.dataset.sensitive, incumbent, document.is_exploratory)
