"""An entry in the table of cautions: its code, when it holds, its sentence and its remedy.

The entries themselves stand in `fairenum.document.cautions`, each as a decorated function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.choice import AnyCaution, Caution, MeasureCaution
from fairenum.document.measure_document import MeasureDocument

Subject = Mapping[str, Any]  # the fields of a caution beside its code
D = TypeVar("D")
C = TypeVar("C")


@dataclass(frozen=True)
class Entry:
    """A caution.

    Attributes
    ----------
    documents
        The kinds of document that can call for it.
    about
        Lists the columns, splits, models or decisions that it can be about; one empty subject if it is about the run.
    when
        Tells whether the caution holds for its subject.
    sentence
        Puts the caution in words.
    remedy
        What to do about it, as a text or as a function that words it; empty if there is nothing to do.
    """

    code: str
    documents: tuple[type, ...]
    about: Callable[[Any], Iterable[Subject]]
    when: Callable[[Any, Any], bool]
    sentence: Callable[[Any, Any], str]
    remedy: str | Callable[[Any, Any], str]

    @property
    def names_column(self) -> bool:
        """Whether the caution has to name a sensitive column."""
        return self.about in (each_column, each_split, primary_column, screened_column)

    def words(self, document: JudgedDocument, caution: AnyCaution) -> str:
        """Return the sentence of a caution, followed by its remedy."""
        remedy = self.remedy if isinstance(self.remedy, str) else self.remedy(document, caution)
        return "; ".join(filter(None, (self.sentence(document, caution), remedy)))


TABLE: list[Entry] = []


def run(_document: object) -> Iterable[Subject]:
    """Return one empty subject, for a caution about the run as a whole."""
    return [{}]


def each_column(document: JudgedDocument) -> Iterable[Subject]:
    """List all sensitive columns."""
    return [{"column": column.column} for column in document.dataset.sensitive]


def each_split(document: JudgedDocument) -> Iterable[Subject]:
    """List all sensitive columns, in an audit once for each split that is scored."""
    if isinstance(document, MeasureDocument):
        return each_column(document)
    return [{**column, "part": part} for column in each_column(document) for part in ("selection", "holdout")]


def primary_column(document: JudgedDocument) -> Iterable[Subject]:
    """Return the primary sensitive column, if there is one."""
    primary = document.column if isinstance(document, AuditDocument) else document.dataset.primary.column
    return [] if primary is None else [{"column": primary}]


def screened_column(document: AuditDocument) -> Iterable[Subject]:
    """List the sensitive columns that features were screened for."""
    return [{"column": one.column} for one in document.screening.columns] if document.screening else []


def shortlisted(document: AuditDocument) -> Iterable[Subject]:
    """List the ranks of the shortlist."""
    return [{"rank": rank} for rank in document.selection.shortlist]


def each_decision(document: MeasureDocument) -> Iterable[Subject]:
    """List the numbers of all measured decisions."""
    return [{"decision": number} for number in range(1, len(document.decisions) + 1)]


@dataclass(frozen=True)
class Register(Generic[D, C]):
    """A decorator that adds a sentence to the table as the caution of a code."""

    documents: tuple[type, ...]

    def __call__(
        self,
        code: str,
        *,
        when: Callable[[D, C], bool],
        about: Callable[[D], Iterable[Subject]] = run,
        remedy: str | Callable[[D, C], str] = "",
    ) -> Callable[[Callable[[D, C], str]], Callable[[D, C], str]]:
        """Return the decorator of one caution's sentence."""

        def enter(sentence: Callable[[D, C], str]) -> Callable[[D, C], str]:
            TABLE.append(Entry(code, self.documents, about, when, sentence, remedy))
            return sentence

        return enter


audited = Register[AuditDocument, Caution]((AuditDocument,))
measured = Register[MeasureDocument, MeasureCaution]((MeasureDocument,))
shared = Register[JudgedDocument, AnyCaution]((AuditDocument, MeasureDocument))
