"""Documents of version 0.1, and older ones of this version, as documents of today."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from fairenum.document.audit import AuditDocument
from fairenum.document.cautions import cautions
from fairenum.document.choice import reason_for
from fairenum.document.kinds import AnyDocument, converted
from fairenum.document.machine import Machine
from fairenum.document.reading import Reading

Json = dict[str, Any]  # the one untyped value: a document that was read and is not yet understood

PARTS = {"machine": Machine, "reading": Reading}  # of a configuration; version 0.1 had all options in one list
PACKAGES = ("fairenum", "numpy", "scipy", "pandas", "scikit_learn", "fairlearn")
TIES = re.compile(r": (\d+) examples lie on the margin of the best model where (\d+) determine it")
OBSTACLES = {
    "no sensitive column was named": "no_sensitive_column",
    "it looks at the rows that models are selected by, so it needs a holdout apart from them": "no_holdout",
    "the enumeration was cut short": "cut_short",
}


def old_kind(found: Json) -> str | None:
    """Tell of which kind a document of version 0.1 is; None if it is none."""
    if found.get("schema_version") == "1.0":
        return "audit"
    if found.get("format") == 1 and "standings" in found:
        return "bench"
    if "kind" not in found and {"cases", "trials"} <= found.keys():
        return "mitigation"
    return {"fairenum attack 1": "attack", "fairenum reproduction 1": "reproduction"}.get(str(found.get("format")))


def without_stand_in(found: Json) -> Json:
    """Leave out the range that older runs gave: of mean decision values, which is no range of the gap itself."""
    old = found.get("range")
    return {**found, "range": None} if isinstance(old, dict) and "levels" not in old else found


def migrated(old: Json, kind: str) -> AnyDocument:
    """Read a document of version 0.1."""
    try:
        document = converted(without_stand_in({"kind": kind, **UPGRADES[kind](old)}))
        # messages were kept in words; the codes follow from the document
        return document.but(warnings=cautions(document)) if isinstance(document, AuditDocument) else document
    except KeyError as error:
        raise ValueError(f"it lacks {error}") from error
    except (AttributeError, TypeError) as error:
        raise ValueError(f"it is no {kind} as version 0.1 wrote it") from error


def _audit(old: Json) -> Json:
    new = {name: old[name] for name in old if name not in ("schema_version", "attack")}
    config = {**old["config"], "small_groups": "keep"}  # all groups were compared
    new["requested"] = config.pop("requested")
    for name in ("label", "favourable", "sensitive"):
        del config[name]
    new["config"] = _with_parts(config, "machine", "reading")
    new["environment"] = _environment(old["environment"])
    new["dataset"] = {**old["dataset"], "fingerprint": old["environment"]["fingerprint"]}
    new["enumeration"] = _enumeration(old["enumeration"])
    new["guided"] = _guided(old["guided"]) if old["guided"] else None
    if old["baselines"] is not None:
        new["baselines"] = [_without(method, "title") for method in old["baselines"]]
    new["config"] |= {"performance": "accuracy", "max_performance_drop": new["config"].pop("max_accuracy_drop")}
    new["selection"] = _selection(old)
    new["warnings"] = []
    if "attack" in old:
        new["attack"] = _simulation(old["attack"])
    return new


def _enumeration(old: Json) -> Json:
    new, supports, models = _without(old, "note"), old["supports"], old["models"]
    if old["note"]:
        found = TIES.search(old["note"])
        # without ties on the margin the numbers were not told: no example lies there beyond those that determine it
        examples, independent = map(int, found.groups()) if found else (0, 0)
        new["ties"] = {"examples": examples, "independent": independent}
    return {**new, "supports": supports, "models": models}


def _guided(old: Json) -> Json:
    return {**_without(old, "note"), "obstacle": OBSTACLES[old["note"]] if old["note"] else None}


def _selection(old: Json) -> Json:
    selection = _without(old["selection"], "reason", "is_fairer")
    tolerances = {**selection["tolerances"]}
    tolerances["max_performance_drop"] = tolerances.pop("max_accuracy_drop")
    column, candidates = tolerances.pop("column"), set(selection["candidates"])
    reason = reason_for(selection["outcome"], column, len(old["models"]), candidates - {1})
    return {**selection, "reason": reason, "column": column, "tolerances": tolerances}


def _attack(old: Json) -> Json:
    return {
        "environment": _environment(old["environment"]),
        "status": old["attack"]["status"],
        "timings": old["timings"],
        "dataset": {**old["dataset"], "fingerprint": old["environment"]["fingerprint"]},
        "attack": _simulation(old["attack"]),
        "trials": old["trials"],
    }


def _simulation(old: Json) -> Json:
    return {**old, "config": _with_parts(old["config"], "machine")}


def _bench(old: Json) -> Json:
    return _without(old, "format")


def _reproduction(old: Json) -> Json:
    experiments = {**old["experiments"]}
    injection = experiments.pop("compas", None)
    claims = [_without(claim, "statement") for claim in old["claims"]]
    new = {name: old[name] for name in ("status", "plan", "timings")}
    environment = _environment(old["environment"])
    return {**new, "environment": environment, "tables": experiments, "injection": injection, "claims": claims}


def _mitigation(old: Json) -> Json:
    return {
        "environment": {"python": "unknown", "packages": {}},
        "cases": [_case_summary(case) for case in old["cases"]],
        "trials": [{**trial, "scores": [_without(one, "title") for one in trial["scores"]]} for trial in old["trials"]],
    }


def _case_summary(old: Json) -> Json:
    case = {name: old[name] for name in ("data", "rows", "use_sensitive")}
    methods = [_without(method, "title") for method in old["methods"]]
    return {**_without(old, "title", *case), "case": case, "methods": methods}


def _with_parts(config: Json, *parts: str) -> Json:
    new = {**config}
    for part in parts:
        names = [option.name for option in fields(PARTS[part]) if option.name in config]
        new[part] = {name: new.pop(name) for name in names}
    return new


def _environment(old: Json) -> Json:
    packages = {name.replace("_", "-"): old[name] for name in PACKAGES if name in old}
    return {"python": old["python"], "packages": packages, "solver": old.get("solver")}


def _without(old: Json, *names: str) -> Json:
    return {name: value for name, value in old.items() if name not in names}


UPGRADES: Mapping[str, Callable[[Json], Json]] = {
    "audit": _audit,
    "attack": _attack,
    "bench": _bench,
    "reproduction": _reproduction,
    "mitigation": _mitigation,
}
