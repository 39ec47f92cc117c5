"""A hand-made document of an audit, for tests of what is made of documents; `audit_document` is valid by the schema."""

from typing import Any

GAPS = (
    "demographic_parity_difference",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "predictive_parity_difference",
)
RATIOS = ("demographic_parity_ratio", "equal_opportunity_ratio", "equalized_odds_ratio")


def estimate(value: float | None, margin: float = 0.04) -> dict[str, Any]:
    if value is None:
        return {"value": None, "low": None, "high": None}
    return {"value": value, "low": round(value - margin, 6), "high": round(value + margin, 6)}


def gap(value: float, change: float, verdict: str) -> dict[str, Any]:
    return {**estimate(value), "change": estimate(change, 0.01), "verdict": verdict}


def scores(value: float, change: float, verdict: str, column: str) -> dict[str, Any]:
    gaps = {name: gap(value, change, verdict) for name in GAPS}
    ratios = {name: estimate(0.8) for name in RATIOS}
    return {
        "rows": 400,
        "accuracy": {**estimate(0.7), "change": estimate(-0.002, 0.01)},
        "balanced_accuracy": estimate(0.69),
        "selection_rate": estimate(0.5),
        "hinge_loss": {"value": 0.6, "low": None, "high": None},
        **gaps,
        **ratios,
        "by_column": {column: {**gaps, **ratios, "selected": [120, 60], "true_positives": [80, 40]}},
    }


def model(rank: int, value: float, verdict: str, column: str) -> dict[str, Any]:
    found = scores(value, value - 0.2, verdict, column)
    changed = {"rows": rank - 1, "share": (rank - 1) / 400}
    return {
        "rank": rank,
        "origin": "exact",
        "support_rank": rank,
        "objective": 100 - rank,
        "objective_bound": 100 - rank,
        "objective_ratio": 1 - (rank - 1) * 1e-4,
        "relative_gap": 1e-12,
        "is_order_certified": True,
        "loss_ratio": 1e-5,
        "support_size": 300 + rank,
        "supports": 1,
        "left_out": [],
        "bias": 0.1,
        "bias_interval": [0.1, None],
        "undetermined": {"selection": 0, "holdout": 0},
        "predictions_changed": {"selection": changed, "holdout": changed},
        "is_constant": False,
        "scores": {"selection": found, "holdout": found},
    }


def group_row(name: str, n: int, selected: int, is_small: bool) -> dict[str, Any]:
    return {
        "group": name,
        "n": n,
        "selected": selected,
        "rate": estimate(selected / n),
        "ratio": 0.75,
        "difference": estimate(-0.1),
        "p": 0.0004,
        "shortfall": 12.3,
        "detectable": 0.1,
        "is_small": is_small,
    }


def group_entry(name: str, holdout: int, is_small: bool) -> dict[str, Any]:
    counts = {"train": 600, "selection": holdout, "holdout": holdout}
    return {"name": name, **counts, "selection_positives": 90, "holdout_positives": 90, "is_small": is_small}


def audit_document(
    models: int = 20,
    selected: int | None = 3,
    verdict: str = "fairer",
    column: str = "sex",
    groups: tuple[str, str] = ("man", "woman"),
    small: bool = False,
    status: str = "complete",
) -> dict[str, Any]:
    """Build the document of an audit in which model `selected` has got `verdict`."""
    kept = selected in (None, 1)
    other = None if kept else {"selection": estimate(-0.05, 0.02), "holdout": estimate(-0.05, 0.02)}
    found = [
        model(rank, 0.15 if rank == selected else 0.2, verdict if rank == selected else "not distinguishable", column)
        for rank in range(1, models + 1)
    ]
    rows = [group_row(groups[0], 200, 120, False), group_row(groups[1], 20 if small else 200, 10, small)]
    return {
        "schema_version": "1.0",
        "status": status,
        "is_exploratory": False,
        "config": config(column),
        "environment": environment(),
        "dataset": dataset(column, groups, small),
        "tuning": None,
        "enumeration": {
            "stopped": "models" if status == "complete" else "interrupted",
            "nodes": 99,
            "supports": 40,
            "models": models,
            "audited_rows": 800,
            "note": "",
        },
        "guided": None,
        "models": found,
        "examples": [],
        "multiplicity": multiplicity(models),
        "range": None,
        "baselines": None,
        "selection": {
            "rank": selected,
            "outcome": "none" if selected is None else "kept" if kept else "selected",
            "reason": "of 12 models within the tolerances it has the smallest gap",
            "tolerances": {"metric": GAPS[0], "column": column, "eps": 0.05, "max_accuracy_drop": 0.01},
            "candidates": [1, 2, 3],
            "pareto_front": sorted({1, min(3, models), models}),
            "gap_change": other,
            "accuracy_change": other,
            "verdict": None if kept else verdict,
            "is_fairer": not kept and verdict == "fairer",
            "optimism": None,
        },
        "explanation": None,
        "group_tables": [
            {"rank": rank, "column": column, "reference": groups[0], "most_selected": groups[0], "groups": rows}
            for rank in sorted({1, selected or 1})
        ],
        "reference_check": {"library": "fairlearn", "ranks": [1], "compared": 7, "largest_difference": 0.0},
        "warnings": [{"code": "small_group", "message": "a group is small"}] if small else [],
        "timings": {"enumeration": 0.5},
    }


def spread_document(models: int = 40, selected: int = 3) -> dict[str, Any]:
    """Build a document whose models differ in accuracy and gap, each at a place of its own."""
    document = audit_document(models=models, selected=selected)
    for found in document["models"]:
        rank = found["rank"]
        for part, turn in (("selection", 7), ("holdout", 11)):
            wave = (rank * turn) % models / models
            scores = {**found["scores"][part]}
            change = scores["accuracy"]["change"]
            scores["accuracy"] = {**estimate(round(0.7 - 0.03 * wave, 6)), "change": change}
            value = 0.05 if rank == selected else 0.1 + 0.1 * ((rank * 13) % models) / models
            gap = scores[GAPS[0]]
            scores[GAPS[0]] = {**gap, **estimate(round(value, 6)), "change": estimate(round(value - 0.2, 6), 0.01)}
            found["scores"] = {**found["scores"], part: scores}
        found["objective_ratio"] = 1 - (rank - 1) ** 2 * 1e-5
    return document


def full_document(models: int = 40) -> dict[str, Any]:
    """Build a document with every block that an audit can have: guided models, other methods, range, attack."""
    document = spread_document(models)
    for found in document["models"][-5:]:
        found.update(origin="guided", support_rank=None)
    example = {"row": 7, "copies": 1, "of": 2, "label": "no", "groups": {"sex": {"woman": 1}}}
    document["models"][2]["left_out"] = [example]
    document["examples"] = [
        {
            "row": 7,
            "rows": [7, 9],
            "label": "no",
            "groups": {"sex": {"woman": 1}},
            "values": {"income": 2.5, "job": "x"},
        }
    ]
    document["guided"] = {"stopped": "solves", "solves": 99, "front": 6, "models": 5, "note": ""}
    document["range"] = {
        "column": "sex",
        "groups": ["man", "woman"],
        "eps": 0.05,
        "low": {"bound": -0.21, "attained": -0.19, "solves": 9},
        "high": {"bound": 0.91, "attained": 0.89, "solves": 9},
        "models": [
            {"rank": rank, "value": 0.5 - 0.01 * rank, "loss_ratio": 0.001, "is_within": rank < models}
            for rank in range(1, models + 1)
        ],
    }
    document["baselines"] = [
        baseline("threshold_optimizer", "ThresholdOptimizer", is_randomised=True),
        baseline("reweighing", "Reweighing", is_randomised=False),
        {**baseline("grid_search", "GridSearch", is_randomised=False), "scores": None, "error": "no <b>answer</b>"},
    ]
    document["explanation"] = {
        "rank": 3,
        "records": 4,
        "clusters": [
            {
                "label": "no",
                "group": "woman",
                "cell": {"job": "x"},
                "records": 3,
                "share": 0.75,
                "share_of_training": 0.3,
                "rows": [7],
            },
            {
                "label": "yes",
                "group": None,
                "cell": {},
                "records": 1,
                "share": 0.25,
                "share_of_training": 0.2,
                "rows": [8],
            },
        ],
        "core": {
            "records": 2,
            "left_out": [example],
            "objective_ratio": 0.999,
            "gap": {"selection": 0.06, "holdout": 0.07},
            "share_of_gain": 0.8,
        },
    }
    return {**document, "attack": attack()}


def baseline(name: str, title: str, *, is_randomised: bool) -> dict[str, Any]:
    found = scores(0.12, -0.08, "fairer", "sex")
    kept = {key: found[key] for key in ("rows", "accuracy", "selection_rate", *GAPS)}
    return {
        "name": name,
        "title": title,
        "is_randomised": is_randomised,
        "needs_groups": True,
        "error": None,
        "scores": kept,
    }


def attack() -> dict[str, Any]:
    options = config("sex")
    shared = ("k", "C", "kernel", "gamma", "degree", "coef0", "solver", "distinct", "min_difference", "rows")
    shared += ("patience", "metric", "primary", "seed", "confidence", "standardise")
    quantiles = {"q05": 0.02, "q25": 0.05, "q50": 0.08, "q75": 0.1, "q95": 0.2}
    levels = {"gap_quantiles": quantiles, "error": estimate(0.3), "train_gap": estimate(0.1)}

    def point(flips: int, gap: float) -> dict[str, Any]:
        changes = ("gap_change", "error_change", "train_gap_change")
        recovery = dict.fromkeys(("share", "at_rank_1", "of_raised", "paper_share"), estimate(0.4))
        return {
            "flips": flips,
            "share": flips / 300,
            "trials": 20,
            "gap": estimate(gap, 0.02),
            **levels,
            **dict.fromkeys(changes, estimate(gap - 0.08, 0.01)),
            "gap_change_quantiles": quantiles,
            "raised": estimate(0.7),
            "recovery": {**recovery, "rank_quantiles": quantiles},
            **dict.fromkeys(("predictors", "one_predictor", "all_differ", "all_tied"), estimate(0.5)),
            "detection": dict.fromkeys(("precision", "recall", "chance", "support_chance"), estimate(0.1))
            | {"trials": 20},
            "defences": [
                {
                    "name": "knn_relabelling",
                    "trials": 20,
                    **dict.fromkeys(("gap", "gap_change", "error", "error_change"), estimate(0.09)),
                    "failed": 0,
                    "failure": None,
                }
            ],
        }

    return {
        "status": "complete",
        "config": {
            **{name: options[name] for name in shared},
            "strategies": ["paper", "random"],
            "flips": [10, 30],
            "trials": 20,
            "group": "woman",
            "direction": None,
            "sees": "train",
            "defences": ["knn_relabelling"],
            "sizes": [300, 0, 700],
        },
        "clean": {"trials": 20, "gap": estimate(0.08, 0.02), **levels},
        "curves": [
            {"strategy": "paper", "points": [point(10, 0.1), point(30, 0.15)]},
            {"strategy": "random", "points": [point(10, 0.08), point(30, 0.09)]},
        ],
        "failures": [{"trial": 3, "seed": 3, "strategy": "paper", "flips": 10, "message": "too few"}],
    }


def config(column: str) -> dict[str, Any]:
    return {
        "label": "approved",
        "favourable": "yes",
        "sensitive": [column],
        "primary": column,
        "reference": None,
        "k": 20,
        "C": 1.0,
        "kernel": "linear",
        "gamma": 0.1,
        "degree": 3,
        "coef0": 0.0,
        "requested": {"C": 1.0, "gamma": "scale", "max_nodes": "auto"},
        "solver": "path",
        "distinct": "predictions",
        "min_difference": 0.01,
        "rows": False,
        "patience": 1000,
        "max_nodes": None,
        "max_seconds": None,
        "search": "both",
        "max_left_out": 0.2,
        "baselines": False,
        "eps": 0.05,
        "max_accuracy_drop": 0.01,
        "metric": GAPS[0],
        "seed": 0,
        "sizes": [0.6, 0.2, 0.2],
        "confidence": 0.95,
        "min_group_size": 30,
        "replications": 1000,
        "standardise": True,
        "use_sensitive": False,
        "drop": [],
        "bands": {},
        "categorical": "onehot",
        "delimiter": None,
    }


def environment() -> dict[str, Any]:
    packages = ("python", "fairenum", "numpy", "scipy", "pandas", "scikit_learn", "fairlearn")
    solver = {"name": "path", "provider": "fairenum", "version": "0.1.0", "backends": {}}
    return {**dict.fromkeys(packages, "1.0"), "solver": solver, "fingerprint": "0" * 64}


def dataset(column: str, groups: tuple[str, str], small: bool) -> dict[str, Any]:
    entries = [group_entry(groups[0], 200, False), group_entry(groups[1], 20 if small else 200, small)]
    return {
        "name": "loans",
        "rows": 2000,
        "columns": 5,
        "features": [{"name": name, "kind": "numeric", "missing": 0} for name in ("income", "debt", "age")],
        "encoded": ["income", "debt", "age"],
        "label": "approved",
        "favourable": "yes",
        "unfavourable": "no",
        "class_counts": {"favourable": 900, "unfavourable": 1100},
        "splits": {"train": 1200, "selection": 400, "holdout": 400},
        "sensitive": [
            {
                "column": column,
                "is_primary": True,
                "is_intersection": False,
                "reference": groups[0],
                "groups": entries,
            }
        ],
        "missing": {},
        "dropped": [],
        "unseen": {},
        "identical_rows": 10,
        "examples": 1190,
    }


def multiplicity(models: int) -> dict[str, Any]:
    return {
        "rows": 400,
        "models": models,
        "flipped": 12,
        "ambiguity": 0.03,
        "discrepancy": 0.02,
        "disagreement": 0.01,
        "viable_range": 0.05,
        "capacity": 0.001,
        "by_column": {},
    }
