"""All of a run in one file: pages, tables, of an audit model and card, versions, and a list with digests."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

from fairenum.document.audit import AuditDocument
from fairenum.document.environment import environment
from fairenum.document.evidence import Versions
from fairenum.document.files import to_json
from fairenum.document.kinds import JudgedDocument
from fairenum.errors import FairenumError
from fairenum.evidence.archive import packed
from fairenum.evidence.manifest import (
    CARD,
    MANIFEST,
    MODEL,
    PAGE,
    READ_ME,
    RUN,
    SUMMARY,
    TABLES,
    VERSIONS,
    to_manifest,
)
from fairenum.evidence.model_file import settled
from fairenum.evidence.tables import table_files
from fairenum.rendering.html import to_html
from fairenum.rendering.markdown import to_markdown
from fairenum.report import page
from fairenum.report.card import model_card
from fairenum.report.rules import Rule
from fairenum.report.wording.evidence import ROWS_WITHIN, SAVED, read_me
from fairenum.report.wording.tables import about_tables

Export = Callable[[str], None]


def evidence(
    document: JudgedDocument,
    *,
    rules: Iterable[Rule] = (),
    profile: str | None = None,
    day: date | None = None,
    export: Export | None = None,
) -> bytes:
    """Write an audit or a measurement as one file: the same bytes for the same run, made again or not.

    Parameters
    ----------
    document
        What was found; a redacted one gives a file without single rows.
    rules, profile, day
        As for a page; a profile's page stands beside the report for everybody.
    export
        Writes the selected model to a file, or refuses to; None where a run holds no models.
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
    """Return the model's file, or why there is none."""
    if export is None:
        return None, SAVED
    if document.is_redacted and document.config.machine.kernel != "linear":
        return None, ROWS_WITHIN
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / MODEL
        try:
            export(str(place))
        except FairenumError as error:
            return None, str(error)
        return settled(place.read_bytes()), None
