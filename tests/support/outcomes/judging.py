"""What default audits answer about public tables, and whether fresh rows bear the answers out.

One half of a table's rows, drawn at random, is audited with default options. The other half, which the audit never saw,
tells whether the selected model's gap is smaller there than the reference's, and whether its performance falls by no
more than the tolerance.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import fairenum
from fairenum import AuditResult

MOST_ROWS = 20_000
ANSWERS = ("proposed", "not proposed", "no disparity", "not comparable", "kept", "candidate", "none", "refused")
Entry = Mapping[str, Any]
Row = dict[str, Any]


def halves(table: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a random half of the rows, at most 20,000, and the rest."""
    order = np.random.default_rng([30, seed]).permutation(len(table))
    count = min(len(table) // 2, MOST_ROWS)
    return table.iloc[order[:count]].reset_index(drop=True), table.iloc[order[count:]].reset_index(drop=True)


def judged(entry: Entry, table: pd.DataFrame, seed: int, **options: object) -> Row:
    """Audit one half of a table, and return the answer with what the other half says of it."""
    audited, fresh = halves(table, seed)
    row: Row = {"table": entry["name"], "seed": seed, "rows": len(audited), "fresh_rows": len(fresh)}
    started = time.process_time()
    try:
        result = fairenum.audit(
            audited,
            label=entry["label"],
            favourable=entry["favourable"],
            sensitive=list(entry["sensitive"]),
            seed=seed,
            **{**entry["options"], **options},
        )
    except fairenum.FairenumError as error:
        return row | {"answer": "refused", "reasons": [str(error)], "seconds": time.process_time() - started}
    row |= {"seconds": round(time.process_time() - started, 2), "answer": answer(result), "reasons": reasons(result)}
    row |= on_holdout(result)
    return row | on_fresh_rows(result, entry, fresh)


def answer(result: AuditResult) -> str:
    """Return the answer of an audit: one of `ANSWERS`."""
    selection = result.document.selection
    return str(getattr(selection, "answer", None) or selection.proposal or selection.outcome)


def reasons(result: AuditResult) -> list[str]:
    """Return the codes of the reasons for the answer."""
    selection = result.document.selection
    if (stated := getattr(selection, "reasons", None)) is not None:
        return list(stated)
    if selection.outcome != "selected":
        return [selection.reason]
    open_points = [] if selection.is_fairer else [f"fairness {selection.verdict and selection.verdict.value}"]
    return open_points + [f"guard {guard.guard}" for guard in selection.guards if not guard.is_kept]


def on_holdout(result: AuditResult) -> Row:
    """Return the split and what the audit itself reports about the change."""
    document, selection, splits = result.document, result.document.selection, result.document.dataset.splits
    row: Row = {"sizes": list(document.config.sizes), "splits": [splits.train, splits.selection, splits.holdout]}
    row |= {"against": document.config.against, "rank": selection.rank}
    for name in ("gap_change", "performance_change"):
        if (change := getattr(selection, name)) is not None:
            row[name] = [change.holdout.value, change.holdout.low, change.holdout.high]
    return row


def on_fresh_rows(result: AuditResult, entry: Entry, fresh: pd.DataFrame) -> Row:
    """Return gap and performance of the selected model and of the reference on rows that the audit never saw."""
    selection = result.document.selection
    if selection.rank is None or selection.column is None or selection.outcome != "selected":
        return {}
    labels = (fresh[entry["label"]].astype(str) == str(entry["favourable"])).to_numpy()
    groups = _groups(result, fresh)
    chosen = _decided(result, selection.rank, entry, fresh)
    reference = _decided(result, _reference_rank(result), entry, fresh)
    tolerances = selection.tolerances
    rates = [_rates(decisions, labels, groups, tolerances.metric) for decisions in (reference, chosen)]
    gaps = [_gap(kinds) for kinds in rates]
    performance = [_performance(decisions, labels, tolerances.performance) for decisions in (reference, chosen)]
    drop = performance[0] - performance[1]
    return {
        "metric": tolerances.metric,
        "column": selection.column,
        "fresh_rates": rates,
        "fresh_gaps": gaps,
        "fresh_performance": performance,
        "fresh_selection_rates": [float(decisions.mean()) for decisions in (reference, chosen)],
        "measure": tolerances.performance,
        "tolerance": tolerances.max_performance_drop,
        "fresh_drop": drop,
        "is_gap_smaller": gaps[1] < gaps[0],
        "is_drop_within": drop <= tolerances.max_performance_drop + 1e-12,
    }


def _reference_rank(result: AuditResult) -> int | None:
    """Return the rank of the reference; None if it is the model in use."""
    return None if result.document.config.against == "incumbent" else 1


def _decided(result: AuditResult, rank: int | None, entry: Entry, fresh: pd.DataFrame) -> np.ndarray:
    """Return whether the model of a rank, or the model in use, decides favourably about each row."""
    if rank is not None:
        return np.asarray(result.estimator(rank).predict(fresh)).astype(str) == str(entry["favourable"])
    options, incumbent = entry["options"], result.document.incumbent
    assert incumbent is not None
    if "incumbent" in options:
        return (fresh[options["incumbent"]].astype(str) == str(options.get("incumbent_favourable", "1"))).to_numpy()
    assert incumbent.cutoff is not None
    return (fresh[options["incumbent_score"]] >= incumbent.cutoff).to_numpy()


def _groups(result: AuditResult, fresh: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return the fresh rows of each group that the audit compares, as masks by name."""
    (column,) = (one for one in result.document.dataset.sensitive if one.column == result.document.selection.column)
    values = fresh[column.column].astype(str)
    return {group.name: (values == group.name).to_numpy() for group in column.compared}


def _rates(
    decisions: np.ndarray, labels: np.ndarray, groups: Mapping[str, np.ndarray], metric: str
) -> dict[str, dict[str, float]]:
    """Return the rates by group that a gap compares."""
    rows = {
        "demographic_parity_difference": {"selection rate": np.ones_like(labels)},
        "equal_opportunity_difference": {"true positive rate": labels},
        "equalized_odds_difference": {"true positive rate": labels, "false positive rate": ~labels},
    }[metric]
    return {
        name: {group: float(decisions[among & own].mean()) for group, own in groups.items()}
        for name, among in rows.items()
    }


def _gap(rates: Mapping[str, Mapping[str, float]]) -> float:
    """Return the largest difference between groups, over all rates."""
    return max(max(values.values()) - min(values.values()) for values in rates.values())


def _performance(decisions: np.ndarray, labels: np.ndarray, measure: str) -> float:
    if measure == "accuracy":
        return float((decisions == labels).mean())
    if measure == "balanced_accuracy":
        return float(((decisions[labels]).mean() + (~decisions[~labels]).mean()) / 2)
    raise NotImplementedError(f"{measure} on fresh rows")


def run(manifest: Sequence[Entry], folder: Path, seeds: Iterable[int], **options: object) -> list[Row]:
    """Judge every table of a manifest for every seed, printing one line for each."""
    rows = []
    for entry in manifest:
        table = pd.read_csv(folder / f"{entry['name']}.csv")
        for seed in seeds:
            row = judged(entry, table, seed, **options)
            rows.append(row)
            print(row["table"], seed, row["answer"], row["reasons"], f"{row['seconds']:.1f} s", flush=True)
    return rows


def table_of(rows: Sequence[Row]) -> str:
    """Return the answers by table as a Markdown table, with totals and the share that fresh rows bear out."""
    names = list(dict.fromkeys(row["table"] for row in rows))
    shown = [one for one in ANSWERS if any(row["answer"] == one for row in rows)]
    lines = [f"| table | rows | {' | '.join(shown)} | fresh: gap smaller | fresh: drop within | seconds |"]
    lines.append("|---|---:|" + "---:|" * (len(shown) + 3))
    lines += [_line(name, [row for row in rows if row["table"] == name], shown) for name in names]
    lines.append(_line("all", rows, shown))
    proposed = [row for row in rows if row["answer"] == "proposed"]
    borne = sum(row["is_gap_smaller"] and row["is_drop_within"] for row in proposed)
    answered = sum(row["answer"] not in ("candidate", "refused") for row in rows)
    lines += [
        "",
        f"An answer that is not a candidate: {answered} of {len(rows)} ({_percent(answered, len(rows))}). Proposed, "
        f"with a smaller gap and a drop within the tolerance on fresh rows: {borne} of {len(proposed)} "
        f"({_percent(borne, len(proposed))}).",
        "",
        "Reasons: " + "; ".join(f"{text} {count}" for text, count in _reason_counts(rows)),
    ]
    return "\n".join(lines) + "\n"


def _line(name: str, rows: Sequence[Row], shown: Sequence[str]) -> str:
    counts = Counter(row["answer"] for row in rows)
    tested = [row for row in rows if "fresh_gaps" in row]
    smaller, within = (sum(row[key] for row in tested) for key in ("is_gap_smaller", "is_drop_within"))
    cells = [name, str(max(row["rows"] for row in rows)), *(str(counts[one] or "") for one in shown)]
    cells += [f"{smaller} of {len(tested)}", f"{within} of {len(tested)}", f"{sum(row['seconds'] for row in rows):.0f}"]
    return "| " + " | ".join(cells) + " |"


def _reason_counts(rows: Sequence[Row]) -> list[tuple[str, int]]:
    return Counter(f"{row['answer']}: {', '.join(row['reasons'])}" for row in rows).most_common(20)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else str(math.nan)
