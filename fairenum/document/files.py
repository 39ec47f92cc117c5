"""Documents as they are kept: JSON, written whole or not at all, and read strictly."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TypeVar

import msgspec

from fairenum.document.header import KIND, VERSION, Document
from fairenum.document.kinds import AnyDocument, converted
from fairenum.document.migration import migrated, old_kind, without_stand_in
from fairenum.document.received import decoded, received, shortened
from fairenum.document.value import Value
from fairenum.errors import FairenumError, ResultError

D = TypeVar("D", bound=Document)

HINT = "make one with: fairenum audit DATA"


def to_json(document: Value) -> str:
    """Write a document as text: the same for the same input and seed, but for its timings."""
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
    """Read a saved document of any kind; refuse what is none, and say where it goes wrong."""
    return parse(received(path), str(path))


def load_as(kind: type[D], path: str | Path) -> D:
    """Read a saved document of one kind."""
    document = load(path)
    if not isinstance(document, kind):
        article = "an" if document.title[0] in "aeiou" else "a"
        raise ResultError(
            f"{str(path)!r} is {article} {document.title}, no {kind.title}; make one with: {kind.command}"
        )
    return document


def parse(content: bytes, name: str) -> AnyDocument:
    """Read a document of any kind; `name` is what a message calls it."""
    found = _decoded(content, name)
    kind = old_kind(found)
    if kind is None:
        _require_header(found, name)
    try:
        return converted(without_stand_in(found)) if kind is None else migrated(found, kind)
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
    """Write a file beside its place and move it there, so that an old one survives a crash."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:20]}.", dir=target.parent)
    except OSError as error:
        raise ResultError(f"cannot write {str(path)!r}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # or a machine that stops might keep the name without the content
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
