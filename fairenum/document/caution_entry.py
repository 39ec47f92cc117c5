"""An entry in the table of cautions: its code, when it holds, its sentence and its remedy.

The entries themselves stand in `fairenum.document.cautions`, each as a decorated function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import Caution, GuardCheck
from fairenum.document.consequences import Reversal
from fairenum.document.flip_facts import BoundedShare, FlippedColumn
from fairenum.document.header import CutBy, Spending
from fairenum.document.measure_document import MeasureCaution, MeasuredDecisions, MeasureDocument
from fairenum.document.table_facts import Remark
from fairenum.document.terms import GapRate, Measure, Obstacle, RemarkKind

Judged = AuditDocument | MeasureDocument


AnyCaution = Caution | MeasureCaution


Subject = Mapping[str, Any]  # the fields of a caution beside its code


D = TypeVar("D")


C = TypeVar("C")


@dataclass(frozen=True)
class Say:
    """The words and ways to show numbers that the sentences of cautions share with the rest of a report.

    Attributes
    ----------
    named, short
        A name from outside, as long as a table shows it, and shorter.
    remark
        The sentence for all remarks of one kind.
    flipped
        The groups of a column that the choice of model decides about most and least often.
    opened
        Reports a holdout that was opened before the choice.
    """

    counted: Callable[[int, str], str]
    percent: Callable[[float | None], str]
    share: Callable[[float | None], str]
    signed: Callable[[float | None], str]
    sentence_list: Callable[[Iterable[str]], str]
    named: Callable[[str], str]
    short: Callable[[str], str]
    gaps: Mapping[Measure, str]
    rates: Mapping[GapRate, str]
    obstacles: Mapping[Obstacle, str]
    reference_name: Callable[[AuditDocument], str]
    reference_own: Callable[[AuditDocument], str]
    title: Callable[[MeasuredDecisions, MeasureDocument], str]
    guard: Callable[[GuardCheck], str]
    reversal: Callable[[Reversal], str]
    cut: Callable[[Spending, CutBy], str]
    remark: Callable[[RemarkKind, Sequence[Remark]], str]
    flipped: Callable[[FlippedColumn], str | None]
    bounded_gap: Callable[[BoundedShare], str]
    opened: str


@dataclass(frozen=True)
class Entry:
    """A caution.

    Attributes
    ----------
    documents
        The kinds of document that it is about.
    about
        Lists the columns, splits, models or decisions that it can be about; one empty subject if it is about the run.
    when
        Tells whether it holds for the subject that the caution names.
    sentence, remedy
        Put it in words; the remedy is empty if there is none.
    place
        The place among the cautions of a measurement; the tens are looked at in turn, subject by subject.
    """

    code: str
    documents: tuple[type, ...]
    about: Callable[[Any], Iterable[Subject]]
    when: Callable[[Any, Any], bool]
    sentence: Callable[[Say, Any, Any], str]
    remedy: Callable[[Any, Any], str]
    place: int

    @property
    def names_column(self) -> bool:
        """Whether the caution has to name a sensitive column."""
        return self.about in (each_column, each_split, primary_column, screened_column)

    def words(self, say: Say, document: Judged, caution: AnyCaution) -> str:
        """Put a caution in words: its sentence, then its remedy."""
        return "; ".join(filter(None, (self.sentence(say, document, caution), self.remedy(document, caution))))


TABLE: list[Entry] = []


def run(_document: object) -> Iterable[Subject]:
    """Look at the run as a whole."""
    return [{}]


def each_column(document: Judged) -> Iterable[Subject]:
    """Look at every sensitive column."""
    return [{"column": column.column} for column in document.dataset.sensitive]


def each_split(document: Judged) -> Iterable[Subject]:
    """Look at every sensitive column, in an audit once for each split that is scored."""
    if isinstance(document, MeasureDocument):
        return each_column(document)
    return [{**column, "part": part} for column in each_column(document) for part in ("selection", "holdout")]


def primary_column(document: Judged) -> Iterable[Subject]:
    """Look at the primary sensitive column."""
    primary = document.column if isinstance(document, AuditDocument) else document.dataset.primary.column
    return [] if primary is None else [{"column": primary}]


def screened_column(document: AuditDocument) -> Iterable[Subject]:
    """Look at every sensitive column that features were screened for."""
    return [{"column": one.column} for one in document.screening.columns] if document.screening else []


def shortlisted(document: AuditDocument) -> Iterable[Subject]:
    """Look at every model of the shortlist."""
    return [{"rank": rank} for rank in document.selection.shortlist]


def each_decision(document: MeasureDocument) -> Iterable[Subject]:
    """Look at all measured decisions, one after the other."""
    return [{"decision": number} for number in range(1, len(document.decisions) + 1)]


def _no_remedy(_document: object, _caution: object) -> str:
    return ""


@dataclass(frozen=True)
class Register(Generic[D, C]):
    """A decorator that puts a sentence into the table as the caution of a code; the order is that of the entries."""

    documents: tuple[type, ...]

    def __call__(
        self,
        code: str,
        *,
        when: Callable[[D, C], bool],
        about: Callable[[D], Iterable[Subject]] = run,
        remedy: Callable[[D, C], str] = _no_remedy,
        place: int = 0,
    ) -> Callable[[Callable[[Say, D, C], str]], Callable[[Say, D, C], str]]:
        """Return the decorator of one caution's sentence."""

        def enter(sentence: Callable[[Say, D, C], str]) -> Callable[[Say, D, C], str]:
            TABLE.append(Entry(code, self.documents, about, when, sentence, remedy, place))
            return sentence

        return enter


audited = Register[AuditDocument, Caution]((AuditDocument,))

measured = Register[MeasureDocument, MeasureCaution]((MeasureDocument,))

shared = Register[Judged, AnyCaution]((AuditDocument, MeasureDocument))
