"""What a run still holds of its rows and models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from fairenum.auditing.anatomy import anatomy, flips
from fairenum.auditing.choice import choose_again
from fairenum.auditing.classifier import pipeline
from fairenum.auditing.course import Course
from fairenum.auditing.explanation import explanation
from fairenum.auditing.incumbent import InPlace
from fairenum.auditing.lineup import Lineup
from fairenum.auditing.listing import Listing
from fairenum.auditing.ranked import model_scores
from fairenum.auditing.scorecard import stream
from fairenum.auditing.tolerance import settled
from fairenum.auditing.training import Training
from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import AuditConfig
from fairenum.document.machine import Tolerances
from fairenum.document.person import Person
from fairenum.experiment import PARTS, Division
from fairenum.optimism import expected_optimism
from fairenum.selection import guard_excess

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


@dataclass(frozen=True, slots=True, eq=False)
class LiveRun:
    """What a run still holds of its rows and models, and a saved document does not.

    Attributes
    ----------
    asked, config
        The options as they were given, and as they were resolved.
    """

    asked: AuditConfig
    config: AuditConfig
    division: Division
    training: Training
    listing: Listing
    incumbent: InPlace | None = None

    @property
    def lineup(self) -> Lineup:
        """Who is scored together."""
        return Lineup(self.division, self.listing, self.incumbent, self.config.against == "incumbent")

    def estimator(self, rank: int) -> Pipeline:
        """Build the scikit-learn pipeline of a model."""
        label = self.division.dataset.label
        classes = (label.unfavourable, label.favourable)
        cut = self.listing.cuts[rank - 1].value
        return pipeline(self.listing.models[rank - 1], self.division.encoding, classes, cut)

    def choose_again(self, document: AuditDocument, tolerances: Tolerances, rank: int | None) -> AuditDocument:
        """Return the document with another choice, explained, and with what choosing is expected to flatter by."""
        chosen = self.weighed(self.explained(choose_again(document, tolerances, rank)))
        return chosen.redacted() if document.is_redacted else chosen

    def explained(self, document: AuditDocument, course: Course | None = None) -> AuditDocument:
        """Add what the models go by and, of a model that was selected, why it is fairer and what it changes."""
        selection = document.selection
        parts = anatomy(self.division, self.listing, selection.shortlist, self.config)
        document = document.but(anatomy=parts, scores=model_scores(document, self.lineup))
        if selection.outcome != "selected" or selection.rank is None:
            return document.but(explanation=None, flips=None)
        found, metric = None, selection.tolerances.metric
        if selection.rank > 1 and self.config.explanation:  # model 1 leaves nothing out
            explain = partial(explanation, self.division, self.training, self.listing, selection.rank, metric)
            found = course.optional("explain", explain) if course else explain()
        return document.but(explanation=found, flips=flips(self.lineup, selection.rank))

    def settled(self, document: AuditDocument, person: Person) -> Person:
        """Add how far the training rows settle the decision about a person."""
        return settled(document, person, self.division, self.training)

    def weighed(self, document: AuditDocument) -> AuditDocument:
        """Add how much of the gain choosing is expected to have feigned, by choosing again on rows drawn again.

        A model that was searched for was made to look fair on these rows, which drawing them again cannot undo; one
        that was asked for by its rank was not chosen by the rule. Against a model in use the holdout's own answer is
        all there is.
        """
        selection, chosen = document.selection, document.selected
        is_ruled = selection.reason == "smallest_gap" and not document.is_against_incumbent
        if not is_ruled or selection.optimism is None or chosen is None or chosen.is_searched:
            return document
        values = self.listing.values["selection"]
        expected = expected_optimism(
            self.listing.decisions(self.division, "selection", self.division.column),
            values,
            self.listing.objective_ratio,
            selection.tolerances,
            stream(self.config, len(PARTS)),
            self.config.replications,
            loss_ratio=self.listing.loss_ratio,
            excess=guard_excess(self.division.selection, values, selection.tolerances),
        )
        return document.but(selection=selection.but(optimism=selection.optimism.but(expected=expected)))
