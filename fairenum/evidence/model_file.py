"""A model as a skops file whose bytes depend on the model alone.

skops names objects and arrays by where they lie in memory, and files bear the time of their writing.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from zipfile import ZipFile

from fairenum.evidence.archive import packed

SCHEMA = "schema.json"
LOADER, NUMBER, FILE = "__loader__", "__id__", "file"  # a node of the schema, its number, and the file of an array

Node = dict[str, object]


def settled(content: bytes) -> bytes:
    """Write a skops file again, with objects and arrays numbered in the order in which they are met."""
    with ZipFile(io.BytesIO(content)) as archive:
        schema = json.loads(archive.read(SCHEMA))
        nodes = list(_nodes(schema))
        numbers = {found: place for place, found in enumerate(dict.fromkeys(node.get(NUMBER) for node in nodes), 1)}
        arrays = dict.fromkeys(str(node[FILE]) for node in nodes if FILE in node)
        names = {name: f"{place}.{name.rpartition('.')[2]}" for place, name in enumerate(arrays, 1)}
        files = {new: archive.read(old) for old, new in names.items()}
    for node in nodes:
        if NUMBER in node:
            node[NUMBER] = numbers[node[NUMBER]]
        if FILE in node:
            node[FILE] = names[str(node[FILE])]
    return packed({**files, SCHEMA: json.dumps(schema, indent=2).encode()})


def _nodes(part: object) -> Iterator[Node]:
    """Find the nodes of a schema, in their order; what an object calls its own attributes is no node."""
    if isinstance(part, dict):
        if LOADER in part:
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from _nodes(one)
