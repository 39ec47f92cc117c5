"""A document of an audit or a measurement as pandas frames."""

from __future__ import annotations

import pandas as pd

from fairenum.document.audit import AuditDocument
from fairenum.document.kinds import JudgedDocument
from fairenum.document.measure import MeasureDocument
from fairenum.frames import arbitrariness, choice, features, measured, scores
from fairenum.frames.cells import to_csv, to_xlsx

__all__ = ["models", "tables", "to_csv", "to_xlsx"]

SHEETS = {**scores.SHEETS, **arbitrariness.SHEETS, **choice.SHEETS, **features.SHEETS}


def models(document: AuditDocument) -> pd.DataFrame:
    """Return one row for each model: what is proven about it, and its scores on both splits.

    The model in use comes first, with rank 0; nothing is proven about it.
    """
    frame = pd.DataFrame(list(scores.model_rows(document))).set_index("rank")
    return frame.astype(dict.fromkeys(scores.COUNTED, "Int64")) if document.incumbent else frame


def tables(document: JudgedDocument) -> dict[str, pd.DataFrame]:
    """Return everything that is a table, by name."""
    if isinstance(document, MeasureDocument):
        return measured.tables(document)
    return {"models": models(document), **{name: sheet.frame(document) for name, sheet in SHEETS.items()}}
