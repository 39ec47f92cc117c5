"""Runs that were saved before a field of their documents changed, rewritten as they would be saved now."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def renewed(found: Json) -> Json:
    """Return the decoded JSON of a document with the fields of an audit that have changed in their present form."""
    selection, config = found.get("selection"), found.get("config")
    if not isinstance(selection, dict) or not isinstance(config, dict):
        return found
    present = _with_all_differences(selection)
    if isinstance(tolerances := selection.get("tolerances"), dict):
        present |= {"tolerances": _without_second_loss(tolerances)}
    return {**found, "config": _without_second_loss(config), "selection": present}


def _without_second_loss(options: Json) -> Json:
    """Return options without a limit of null on the loss, which was a limit of its own beside `eps`."""
    return {name: value for name, value in options.items() if (name, value) != ("max_loss", None)}


def _with_all_differences(selection: Json) -> Json:
    """Return a selection in which `incomparable` is a list, and no longer null or one difference of selection rates."""
    found = selection.get("incomparable", [])
    if found is None:
        return {**selection, "incomparable": []}
    if isinstance(found, dict):
        return {**selection, "incomparable": [{"measure": "selection_rate", **found}]}
    return selection
