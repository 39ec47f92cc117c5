"""Runs that were saved before a field of their documents changed, rewritten as they would be saved now."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def renewed(found: Json) -> Json:
    """Return the decoded JSON of a document with the fields of an audit that have changed in their present form."""
    selection = found.get("selection")
    if not isinstance(selection, dict):
        return found
    return {**found, "selection": _with_all_differences(selection)}


def _with_all_differences(selection: Json) -> Json:
    """Return a selection in which `incomparable` is a list, and no longer null or one difference of selection rates."""
    found = selection.get("incomparable", [])
    if found is None:
        return {**selection, "incomparable": []}
    if isinstance(found, dict):
        return {**selection, "incomparable": [{"measure": "selection_rate", **found}]}
    return selection
