"""Saving and loading documents as JSON: written whole or not at all, and read strictly."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from fairenum.document.attack_document import AttackDocument
from fairenum.document.audit_document import AuditDocument
from fairenum.document.coherence import refuse_contradictions
from fairenum.document.comparison_document import ComparisonDocument
from fairenum.document.earlier_runs import renewed
from fairenum.document.header import KIND, VERSION, Document
from fairenum.document.measure_document import MeasureDocument
from fairenum.document.received import decoded, received, refuse_unwritable, shortened
from fairenum.document.research_documents import BenchDocument, MitigationDocument, ReproductionDocument
from fairenum.document.value import Value
from fairenum.errors import FairenumError, ResultError

AnyDocument = (
    AuditDocument
    | AttackDocument
    | BenchDocument
    | ComparisonDocument
    | MeasureDocument
    | MitigationDocument
    | ReproductionDocument
)


def converted(found: dict[str, object]) -> AnyDocument:
    """Return decoded JSON as a document; refuse missing, unknown, mistyped or contradictory values."""
    found = renewed(found)
    document = cast(AnyDocument, msgspec.convert(found, AnyDocument))
    refuse_unwritable(document)
    _refuse_unread(found, msgspec.to_builtins(document), "$")
    refuse_contradictions(document)
    return document


def _refuse_unread(found: object, read: object, place: str) -> None:
    """Refuse fields of the JSON `found` that the document `read` from it lacks; msgspec ignores them in dataclasses."""
    if isinstance(found, dict) and isinstance(read, dict):
        for name, value in found.items():
            if name not in read:
                raise ValueError(f"Object contains unknown field `{name}` - at `{place}`")
            _refuse_unread(value, read[name], f"{place}.{name}")
    elif isinstance(found, list) and isinstance(read, list | tuple):
        for number, (value, kept) in enumerate(zip(found, read, strict=True)):
            _refuse_unread(value, kept, f"{place}[{number}]")


Json = dict[str, Any]  # decoded JSON that has not been checked yet
D = TypeVar("D", bound=Document)
HINT = "make one with: fairenum audit DATA"


def to_json(document: Value) -> str:
    """Return a document as JSON text; the same input and seed give the same text, apart from timings."""
    try:
        return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"
    except UnicodeEncodeError as error:
        raise ResultError(
            f"the text {shortened(repr(error.object))} cannot be written, as it holds a lone surrogate; rename it"
        ) from error


def save(document: Document, path: str | Path) -> None:
    """Write a document to a file, whole or not at all."""
    write_atomically(path, to_json(document).encode())


def load(path: str | Path) -> AnyDocument:
    """Return the document, of any kind, that is saved in a file; refuse a file that holds no valid document."""
    return parse(received(path), str(path))


def load_as(kind: type[D], path: str | Path) -> D:
    """Return the document that is saved in a file; refuse a document of another kind."""
    document = load(path)
    if not isinstance(document, kind):
        article = "an" if document.title[0] in "aeiou" else "a"
        raise ResultError(
            f"{str(path)!r} is {article} {document.title}, no {kind.title}; make one with: {kind.command}"
        )
    return document


def parse(content: bytes, name: str) -> AnyDocument:
    """Return the document, of any kind, in the bytes of a JSON file; error messages call the file `name`."""
    found = _decoded(content, name)
    _require_header(found, name)
    try:
        return converted(found)
    except (FairenumError, ValueError) as error:
        raise ResultError(f"{name!r} is no valid document: {shortened(error)}") from error


def _decoded(content: bytes, name: str) -> dict[str, object]:
    try:
        found = decoded(content)
    except ValueError as error:
        raise ResultError(f"{name!r} is no JSON: {shortened(error)}; name a run that fairenum saved") from error
    if not isinstance(found, dict):
        raise ResultError(f"{name!r} is no document of fairenum: it is no JSON object; {HINT}")
    return found


def _require_header(found: dict[str, object], name: str) -> None:
    if KIND not in found:
        raise ResultError(f"{name!r} is no document of fairenum: it does not say of which kind it is; {HINT}")
    if found.get("version") != VERSION:
        raise ResultError(
            f"{name!r} has version {shortened(repr(found.get('version')))}, this fairenum reads {VERSION!r}"
        )


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a temporary file and rename it to `path`, so that a crash leaves an older file at `path` unchanged."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:20]}.", dir=target.parent)
    except OSError as error:
        raise ResultError(f"cannot write {str(path)!r}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # or a computer that stops might keep the name without the content
        os.chmod(temporary, 0o666 & ~_umask())  # a temporary file is private; a result is like any other file
        os.replace(temporary, target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ResultError(f"cannot write {str(path)!r}: {error.strerror}") from error
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
