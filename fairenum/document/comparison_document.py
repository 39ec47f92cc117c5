"""The document of a comparison: how every gap changed from one saved run to another, about other people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from fairenum.document.audit_config import AuditConfig
from fairenum.document.header import Document
from fairenum.document.options import STATISTICS, Options, documented, like
from fairenum.document.terms import Gap
from fairenum.document.value import Estimate, Value

GapVerdict = Literal["widened", "narrowed", "same", "open"]


@documented
@dataclass(frozen=True, slots=True)
class CompareConfig(Options):
    """Options of a comparison."""

    subject: ClassVar[str] = "a comparison"

    metric: Gap | None = like(
        AuditConfig,
        "metric",
        None,
        panel=STATISTICS,
        unset="all gaps that both runs have",
        help="Compare this gap only.",
    )
    confidence: float = like(AuditConfig, "confidence", panel=STATISTICS)
    same_within: float = like(
        AuditConfig, "same_within", panel=STATISTICS, help="A gap that changed by no more than this is the same."
    )


class ComparedRun(Value, frozen=True):
    """One of the two runs.

    Attributes
    ----------
    name
        The name of the run, or of its file.
    kind
        The kind of the run: a measurement, or an audit, of which the holdout is compared.
    rows
        Number of rows that the gaps are about.
    facts
        Data, options and versions of the run, as texts by name.
    """

    name: str
    kind: Literal["measurement", "audit"]
    rows: int
    facts: dict[str, str]


class ComparedGap(Value, frozen=True):
    """The change of one gap between the groups of one sensitive column.

    Attributes
    ----------
    old_decisions, new_decisions
        The decisions of each run whose gaps are compared.
    groups
        The groups that both runs compare; the gaps are between these.
    old, new
        The gap in each run, with limits that hold by themselves.
    change
        New gap minus old gap; the limits of all changes of the document hold together.
    confidence
        The confidence of the interval of the change.
    is_main
        Whether this is the main gap, which gets four fifths of the error: that of the new run's metric, primary column
        and first decisions.
    verdict
        Widened or narrowed if the whole interval of the change is above or below 0, same if it is within the margin,
        open otherwise.
    """

    old_decisions: str
    new_decisions: str
    column: str
    metric: Gap
    groups: tuple[str, ...]
    old: Estimate
    new: Estimate
    change: Estimate
    verdict: GapVerdict
    confidence: float
    is_main: bool


class ComparisonDocument(Document, frozen=True, kw_only=True, tag="comparison"):
    """The comparison of two runs about different rows.

    Attributes
    ----------
    config
        The options.
    old, new
        The two runs.
    gaps
        The compared gaps, the main one first if there is one.
    left_out
        Sentences about columns, groups and decisions that only one of the runs has.
    """

    title: ClassVar[str] = "comparison"
    command: ClassVar[str] = "fairenum compare OLD NEW"

    config: CompareConfig
    old: ComparedRun
    new: ComparedRun
    gaps: tuple[ComparedGap, ...]
    left_out: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the comparison: those of both runs."""
        return f"{self.old.name}-{self.new.name}"

    def of_verdict(self, verdict: GapVerdict) -> tuple[ComparedGap, ...]:
        """Return the gaps with a verdict."""
        return tuple(gap for gap in self.gaps if gap.verdict == verdict)
