"""The evidence file of a run: a zip archive of pages, tables, the model and its card, versions, and digests."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from zipfile import ZipFile

from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.files import to_json
from fairenum.document.header import Versions, environment
from fairenum.errors import FairenumError
from fairenum.evidence.archive import (
    CARD,
    MANIFEST,
    MODEL,
    PAGE,
    READ_ME,
    RUN,
    SUMMARY,
    TABLES,
    VERSIONS,
    packed,
    to_manifest,
)
from fairenum.evidence.frames import table_files
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.report import page
from fairenum.report.evidence_words import ROWS_WITHIN, SAVED, about_tables, read_me
from fairenum.report.model_card import model_card
from fairenum.report.rules import Rule

SCHEMA = "schema.json"
LOADER, NUMBER, FILE = "__loader__", "__id__", "file"  # keys of a node of the schema: its type, number, and array file
Node = dict[str, object]
Export = Callable[[str], None]


def settled(content: bytes) -> bytes:
    """Return a skops file with its objects and arrays renumbered in order, so that equal models give equal bytes."""
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
    """Yield the nodes of a skops schema in order: the dictionaries, at any depth, that have a loader."""
    if isinstance(part, dict):
        if LOADER in part:
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from _nodes(one)


def evidence(
    document: JudgedDocument,
    *,
    rules: Iterable[Rule] = (),
    profile: str | None = None,
    day: date | None = None,
    export: Export | None = None,
) -> bytes:
    """Return an audit or a measurement as an evidence file, with the same bytes for the same run.

    A redacted document gives an evidence file without data of single rows. With a `profile`, its page is added to the
    general report. `export` writes the selected model to a path, or raises an error; it is None for a saved run, which
    holds no models.
    """
    document, rules = document.but(timings={}), tuple(rules)
    files = {
        RUN: to_json(document).encode(),
        PAGE: to_html(page(document, rules=rules)).encode(),
        SUMMARY: to_markdown(page(document, rules=rules, brief=True)).encode(),
        VERSIONS: to_json(Versions(document.environment, environment())).encode(),
        **{f"{TABLES}/{name}": content for name, content in table_files(document).items()},
    }
    if profile:
        files[f"report-{profile}.html"] = to_html(page(document, rules=rules, profile=profile, day=day)).encode()
    no_model = None
    if isinstance(document, AuditDocument):
        model, no_model = _model(document, export)
        files[CARD] = to_markdown(model_card(document, has_file=model is not None)).encode()
        files |= {} if model is None else {MODEL: model}
    title = f"Evidence: {page(document, brief=True).title}"
    names = (*files, READ_ME, MANIFEST)
    files[READ_ME] = read_me(title, names, about_tables(document), no_model).encode()
    return packed({**files, MANIFEST: to_manifest(files)})


def _model(document: AuditDocument, export: Export | None) -> tuple[bytes | None, str | None]:
    """Return the bytes of the model file and None, or None and the reason why there is no model file."""
    if export is None:
        return None, SAVED
    if document.is_redacted and document.config.svm.kernel != "linear":
        return None, ROWS_WITHIN
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / MODEL
        try:
            export(str(place))
        except FairenumError as error:
            return None, str(error)
        return settled(place.read_bytes()), None
