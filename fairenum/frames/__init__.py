"""A document of an audit as pandas frames."""

from __future__ import annotations

import pandas as pd

from fairenum.document.audit import AuditDocument
from fairenum.frames import choice, features, scores
from fairenum.frames.cells import to_csv, to_xlsx

__all__ = ["models", "tables", "to_csv", "to_xlsx"]

SHEETS = {**scores.SHEETS, **choice.SHEETS, **features.SHEETS}


def models(document: AuditDocument) -> pd.DataFrame:
    """Return one row for each model: what is proven about it, and its scores on both splits."""
    return pd.DataFrame(list(scores.model_rows(document))).set_index("rank")


def tables(document: AuditDocument) -> dict[str, pd.DataFrame]:
    """Return everything that is a table, by name."""
    return {"models": models(document), **{name: sheet.frame(document) for name, sheet in SHEETS.items()}}
