"""The JSON Schema of all documents, made from their types and docstrings.

``python -m fairenum.document.schema > schema.json`` writes it to a file.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator

import msgspec

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import entries
from fairenum.document.files import AnyDocument, Json
from fairenum.document.measure_document import MeasureDocument

# "name, other" at the left, its description indented below: one entry of a numpydoc section.
ENTRY = re.compile(r"^(\w+(?:, \w+)*)\n((?:    .*\n?)+)", re.MULTILINE)
SECTION = re.compile(r"^(?:Attributes|Parameters)\n-+\n", re.MULTILINE)


def schema() -> Json:
    """Return one JSON Schema for documents of all kinds."""
    types = {kind.__name__: kind for kind in _described(AnyDocument)}
    (root,), parts = msgspec.json.schema_components([AnyDocument], ref_template="#/$defs/{name}")
    for name, part in parts.items():
        if name in types:
            _document(part, types[name])
    for name, kind in (("Caution", AuditDocument), ("MeasureCaution", MeasureDocument)):
        parts[name]["properties"]["code"] = {"enum": sorted(entries(kind))}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "fairenum documents",
        "description": "A run of fairenum: an audit, a measurement of decisions, a comparison of two runs, a simulated "
        "attack, a benchmark, a comparison of mitigations or a reproduction of the paper. Undefined numbers are null.",
        **root,
        "$defs": parts,
    }


def _described(root: object) -> Iterator[type]:
    """Yield, once each, the structs and dataclasses that a type consists of, at any depth."""
    pending, seen = [msgspec.inspect.type_info(root)], set[type]()
    while pending:
        found = pending.pop()
        kind = getattr(found, "cls", None)
        if isinstance(found, msgspec.inspect.StructType | msgspec.inspect.DataclassType) and kind is not None:
            if kind in seen:
                continue
            seen.add(kind)
            yield kind
            pending += [part.type for part in found.fields]
        for name in ("types", "item_types", "item_type", "key_type", "value_type"):
            part = getattr(found, name, ())
            pending += part if isinstance(part, tuple) else [part]


def _document(part: Json, kind: type) -> None:
    """Add descriptions to the schema of a type and of its fields, from the docstrings of the type and its bases."""
    part["description"] = _summary(kind)
    for base in reversed(kind.__mro__):
        for names, text in _entries(base):
            for name in names:
                if name in part.get("properties", {}):
                    part["properties"][name]["description"] = text


def _summary(kind: type) -> str:
    text = SECTION.split(inspect.cleandoc(kind.__doc__ or ""))[0]
    return " ".join(text.split())


def _entries(kind: type) -> Iterator[tuple[list[str], str]]:
    sections = SECTION.split(inspect.cleandoc(vars(kind).get("__doc__") or ""))[1:]
    for section in sections:
        for names, text in ENTRY.findall(section + "\n"):
            yield names.split(", "), " ".join(text.split())


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1))
