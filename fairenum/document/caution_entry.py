"""The type of the entries in the table of cautions, and decorators that add an entry.

The entries themselves are in `fairenum.document.cautions`, each as a decorated function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.choice import AnyCaution, Caution, MeasureCaution
from fairenum.document.measure_document import MeasureDocument

Subject = Mapping[str, Any]  # fields of a caution that say what it is about, such as {"column": "sex"}
D = TypeVar("D")
C = TypeVar("C")


@dataclass(frozen=True)
class Entry:
    """One kind of caution: when it holds, and how it is worded.

    Attributes
    ----------
    documents
        The types of document that can have this caution.
    about
        Returns the subjects to check in a document, each a mapping from fields of a caution (column, split, rank or
        decision) to values; one empty mapping if the caution is about the whole run.
    when
        Tells whether the caution holds, given the document and the caution with its subject.
    sentence
        Returns the text of the caution, given the document and the caution.
    remedy
        What to do about it: a text, or a function that returns one, given the document and the caution; empty if there
        is nothing to do.
    """

    code: str
    documents: tuple[type, ...]
    about: Callable[[Any], Iterable[Subject]]
    when: Callable[[Any, Any], bool]
    sentence: Callable[[Any, Any], str]
    remedy: str | Callable[[Any, Any], str]

    @property
    def names_column(self) -> bool:
        """Whether a caution of this kind is always about a sensitive column."""
        return self.about in (each_column, each_split, primary_column, screened_column)

    def words(self, document: JudgedDocument, caution: AnyCaution) -> str:
        """Return the text of a caution: its sentence, then its remedy if there is one."""
        remedy = self.remedy if isinstance(self.remedy, str) else self.remedy(document, caution)
        return "; ".join(filter(None, (self.sentence(document, caution), remedy)))


TABLE: list[Entry] = []


def run(_document: object) -> Iterable[Subject]:
    """Return one empty mapping, as a caution about the whole run names no column, split, rank or decision."""
    return [{}]


def each_column(document: JudgedDocument) -> Iterable[Subject]:
    """Return ``{"column": name}`` for each sensitive column."""
    return [{"column": column.column} for column in document.dataset.sensitive]


def each_split(document: JudgedDocument) -> Iterable[Subject]:
    """Return ``{"column": name}`` for each sensitive column; in an audit, one with ``"part"`` for each scored split."""
    if isinstance(document, MeasureDocument):
        return each_column(document)
    return [{**column, "part": part} for column in each_column(document) for part in ("selection", "holdout")]


def primary_column(document: JudgedDocument) -> Iterable[Subject]:
    """Return ``{"column": name}`` of the primary sensitive column in a list, which is empty if there is none."""
    primary = document.column if isinstance(document, AuditDocument) else document.dataset.primary.column
    return [] if primary is None else [{"column": primary}]


def screened_column(document: AuditDocument) -> Iterable[Subject]:
    """Return ``{"column": name}`` for each sensitive column whose groups were predicted from the features."""
    return [{"column": one.column} for one in document.screening.columns] if document.screening else []


def shortlisted(document: AuditDocument) -> Iterable[Subject]:
    """Return ``{"rank": 1}`` and, if another model than model 1 was selected, a mapping with its rank."""
    return [{"rank": rank} for rank in document.selection.shortlist]


def each_decision(document: MeasureDocument) -> Iterable[Subject]:
    """Return ``{"decision": number}`` for each set of decisions in a measurement, numbered from 1."""
    return [{"decision": number} for number in range(1, len(document.decisions) + 1)]


@dataclass(frozen=True)
class Register(Generic[D, C]):
    """A callable that makes decorators, each of which adds a kind of caution for the types `documents` to `TABLE`."""

    documents: tuple[type, ...]

    def __call__(
        self,
        code: str,
        *,
        when: Callable[[D, C], bool],
        about: Callable[[D], Iterable[Subject]] = run,
        remedy: str | Callable[[D, C], str] = "",
    ) -> Callable[[Callable[[D, C], str]], Callable[[D, C], str]]:
        """Return a decorator that adds a kind of caution to `TABLE`; the decorated function returns its sentence."""

        def enter(sentence: Callable[[D, C], str]) -> Callable[[D, C], str]:
            TABLE.append(Entry(code, self.documents, about, when, sentence, remedy))
            return sentence

        return enter


audited = Register[AuditDocument, Caution]((AuditDocument,))
measured = Register[MeasureDocument, MeasureCaution]((MeasureDocument,))
shared = Register[JudgedDocument, AnyCaution]((AuditDocument, MeasureDocument))
