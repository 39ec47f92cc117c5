"""What an evidence file states about itself, and what a check of one found."""

from __future__ import annotations

from typing import Literal

from fairenum.document.header import Environment
from fairenum.document.value import Value

FaultKind = Literal["missing", "extra", "changed", "no_document", "no_copy", "other_copy"]


class Versions(Value, frozen=True):
    """What computed the run of an evidence file, and what wrote the file.

    Attributes
    ----------
    run
        As the run states it.
    evidence
        What the pages, the tables and the rest were made with.
    """

    run: Environment
    evidence: Environment


class Fault(Value, frozen=True):
    """Why an evidence file is not what it claims to be.

    Attributes
    ----------
    kind
        Missing: listed or needed, but not there; extra: there, but not listed; changed: not the bytes that are listed;
        no_document: the run cannot be read; no_copy: a page carries no copy of a run; other_copy: it carries one of
        another run.
    name
        Of the file in it.
    detail
        What else there is to say; empty if nothing.
    """

    kind: FaultKind
    name: str
    detail: str = ""


class Verification(Value, frozen=True):
    """What a check of an evidence file found.

    Attributes
    ----------
    files
        How many it holds, its list aside.
    sha256
        Of the file as a whole: whoever has this number from elsewhere knows that nobody has rewritten file and list.
    faults
        Empty if it is verified.
    unchecked
        Pages that another version of fairenum has written, whose copy of the run could not be made again here.
    """

    files: int
    sha256: str
    faults: tuple[Fault, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def is_verified(self) -> bool:
        """Whether every file is the one that is listed, and the pages show the run."""
        return not self.faults
