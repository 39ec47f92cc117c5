"""What is known about the run before any score: configuration, environment, table, models."""

from __future__ import annotations

import math
import platform
from collections import Counter
from dataclasses import fields
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from fairenum import __version__
from fairenum.audit.config import AuditConfig
from fairenum.audit.listing import Listing
from fairenum.audit.preparation import PARTS, Prepared, Training
from fairenum.audit.scorecard import Block, plain
from fairenum.dataset import Column, Groups, merge_identical
from fairenum.dataset.columns import IntArray
from fairenum.enumeration.model import Model
from fairenum.scoring import Groups as GroupedRows
from fairenum.solvers.registry import list_solvers


def configuration(config: AuditConfig, prepared: Prepared, training: Training) -> Block:
    """Return the options as they were resolved."""
    dataset, primary = prepared.dataset, prepared.primary
    options = {field.name: getattr(config, field.name) for field in fields(config)}
    return {
        "label": dataset.label.column,
        "favourable": dataset.label.favourable,
        "sensitive": [groups.column for groups in dataset.sensitive],
        **options,
        "primary": primary.column if primary else None,
        "reference": reference(primary, config) if primary else None,
        "C": training.C,
        "gamma": training.gamma,
        "max_nodes": training.max_nodes,
        "requested": {"C": config.C, "gamma": config.gamma, "max_nodes": config.max_nodes},
        "sizes": list(config.sizes),
        "drop": list(config.drop),
        "bands": {column: list(ends) for column, ends in config.bands.items()},
    }


def reference(groups: Groups, config: AuditConfig, primary: Groups | None = None) -> str:
    """Name the group that others are compared with: the one asked for in the primary column, else the largest."""
    asked = config.reference if primary is None or groups is primary else None
    return groups.names[GroupedRows(groups.codes, groups.names).reference(asked)]


def environment(config: AuditConfig, prepared: Prepared) -> Block:
    """Return the versions of what computed the result, and the hash of what it was computed from."""
    return versions(config.solver, prepared.dataset.fingerprint)


def versions(solver: str, fingerprint: str) -> Block:
    """Return the versions of everything that computes, and the hash of the table."""
    packages = ("numpy", "scipy", "pandas", "scikit-learn", "fairlearn")
    return {
        "python": platform.python_version(),
        "fairenum": __version__,
        **{package.replace("-", "_"): version(package) for package in packages},
        "solver": {**_solver(solver)},
        "fingerprint": fingerprint,
    }


@cache  # finding out which package brings what costs more than a small audit
def _solver(name: str) -> Block:
    info = next(info for info in list_solvers() if info.name == name)
    return {"name": name, "provider": info.provider, "version": info.version, "backends": dict(info.backends)}


def table(config: AuditConfig, prepared: Prepared, training: Training) -> Block:
    """Return what is known about the table and its splits."""
    dataset, split = prepared.dataset, prepared.split
    distinct = len(merge_identical(prepared.train, dataset.signs[split.train]))
    favourable = int(dataset.y.sum())
    return {
        "name": dataset.name,
        "rows": len(dataset),
        "columns": len({column.name for column in dataset.features} | {g.column for g in dataset.sensitive}) + 1,
        "features": [_feature(column) for column in dataset.features],
        "encoded": list(prepared.encoding.names),
        "label": dataset.label.column,
        "favourable": dataset.label.favourable,
        "unfavourable": dataset.label.unfavourable,
        "class_counts": {"favourable": favourable, "unfavourable": len(dataset) - favourable},
        "splits": {"train": len(split.train), **{part: len(prepared.rows[part]) for part in PARTS}},
        "sensitive": [_sensitive(groups, config, prepared) for groups in prepared.columns],
        "missing": dataset.missing,
        "dropped": list(prepared.encoding.dropped),
        "unseen": prepared.encoding.unseen(dataset, np.concatenate([prepared.rows[part] for part in PARTS])),
        "identical_rows": len(split.train) - distinct,
        "examples": training.problem.size,
    }


def _feature(column: Column) -> Block:
    return {
        "name": column.name,
        "kind": "numeric" if column.is_numeric else "categorical",
        "missing": column.missing,
    }


def _sensitive(groups: Groups, config: AuditConfig, prepared: Prepared) -> Block:
    parts: dict[str, IntArray] = {"train": prepared.split.train}
    parts |= {part: prepared.rows[part] for part in PARTS}
    sizes = {part: _sizes(groups, rows) for part, rows in parts.items()}
    labels = prepared.dataset.y
    positives = {part: _sizes(groups, rows[labels[rows] == 1]) for part, rows in prepared.rows.items()}
    return {
        "column": groups.column,
        "is_primary": groups is prepared.primary,
        "is_intersection": groups not in prepared.dataset.sensitive,
        "reference": reference(groups, config, prepared.primary),
        "groups": [
            {
                "name": name,
                **{part: sizes[part][code] for part in parts},
                **{f"{part}_positives": positives[part][code] for part in PARTS},
                "is_small": min(sizes[part][code] for part in PARTS) < config.min_group_size,
            }
            for code, name in enumerate(groups.names)
        ],
    }


def _sizes(groups: Groups, rows: IntArray) -> list[int]:
    sizes: list[int] = np.bincount(groups.codes[rows], minlength=len(groups.names)).tolist()
    return sizes


def models(prepared: Prepared, training: Training, listing: Listing) -> list[Block]:
    """Return what is proven about each model, and what it leaves out and changes; scores come later."""
    ratios = listing.objective_ratio
    undetermined = {part: [m.undetermined(prepared.audited[part]) for m in listing.models] for part in PARTS}
    bits = {part: listing.values[part] >= 0.0 for part in PARTS}
    changed = {part: (bits[part] != bits[part][0]).sum(1) for part in PARTS}
    return [
        {
            "rank": place + 1,
            "origin": listing.origins[place],
            "support_rank": model.rank if listing.origins[place] == "exact" else None,
            "objective": model.objective,
            "objective_bound": model.certificate.bound,
            "objective_ratio": float(ratios[place]),
            "relative_gap": model.certificate.relative_gap,
            "is_order_certified": model.is_order_certified,
            "loss_ratio": model.loss_ratio,
            "support_size": len(model.support),
            "supports": listing.sizes[place],
            "left_out": left_out(model, prepared, training),
            "bias": model.intercept,
            "bias_interval": [plain(end) for end in model.bias_interval],
            "undetermined": {part: int(undetermined[part][place].sum()) for part in PARTS},
            "predictions_changed": {
                part: {"rows": int(changed[part][place]), "share": float(changed[part][place] / bits[part].shape[1])}
                for part in PARTS
            },
            "is_constant": len(set(bits["selection"][place].tolist())) == 1,
        }
        for place, model in enumerate(listing.models)
    ]


def left_out(model: Model, prepared: Prepared, training: Training) -> list[Block]:
    """Return the training examples that a model was not shown, or not all copies of."""
    return [
        {
            "row": int(training.records[example].min()),
            "copies": copies,
            "of": len(training.records[example]),
            "label": _label(prepared, training.records[example]),
            "groups": _groups(prepared, training.records[example]),
        }
        for example, copies in sorted(model.left_out.items())
    ]


def examples(prepared: Prepared, training: Training, listing: Listing) -> list[Block]:
    """Return the training examples that some model leaves out, as their owner knows them."""
    wanted = sorted({example for model in listing.models for example in model.left_out})
    return [
        {
            "row": int(training.records[example].min()),
            "rows": training.records[example].tolist(),
            "label": _label(prepared, training.records[example]),
            "groups": _groups(prepared, training.records[example]),
            "values": {
                column.name: cell(column.values[training.records[example][0]]) for column in prepared.dataset.features
            },
        }
        for example in wanted
    ]


def _label(prepared: Prepared, records: IntArray) -> str:
    label = prepared.dataset.label
    return label.favourable if label.y[records[0]] == 1 else label.unfavourable


def _groups(prepared: Prepared, records: IntArray) -> dict[str, dict[str, int]]:
    """Count the groups of identical records: features and label are the same, sensitive columns need not be."""
    return {
        groups.column: dict(sorted(Counter(groups.names[code] for code in groups.codes[records]).items()))
        for groups in prepared.dataset.sensitive
    }


def cell(value: Any) -> float | str | None:
    """Return a cell of the table as the document holds it; None if it is missing."""
    if isinstance(value, str):
        return value
    return None if math.isnan(value) else float(value)


def tuning(training: Training) -> Block | None:
    """Return the accuracy of each C that was tried; None if C was given."""
    if training.tuning is None:
        return None
    grid = [{"C": cost, "accuracy": accuracy} for cost, accuracy in training.tuning.items()]
    return {"folds": training.folds, "grid": grid}


def enumeration(listing: Listing) -> Block:
    """Return how the models were found, and why no more of them."""
    sizes = [size for size, origin in zip(listing.sizes, listing.origins, strict=True) if origin == "exact"]
    return {
        "stopped": listing.stopped,
        "nodes": listing.nodes,
        "supports": sum(sizes),
        "models": len(sizes),
        "audited_rows": listing.audited_rows,
        "note": listing.note,
    }
