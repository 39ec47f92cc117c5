"""Several runs side by side: before and after a mitigation, two solvers, clean and poisoned data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fairenum.report import figures, scatter, sections
from fairenum.report.embedded import several_embedded
from fairenum.report.numbers import UNDEFINED, counted, estimate
from fairenum.report.page import Block, Figure, Grid, Items, Page, Paragraph, Section
from fairenum.report.tables import METRICS, NAME_WIDTH, Document, Table
from fairenum.report.text import sentence_list, shortened
from fairenum.report.view import View, view

RUN_WIDTH = 32
DIFFERENT_ROWS = (
    "table, seed or splits differ, so the runs may judge different rows; where two intervals overlap, this page alone "
    "does not tell the gaps apart"
)
SAME_ROWS = (
    "the runs judge the same rows, which their intervals make no use of: where two overlap, a paired comparison might "
    "still tell the gaps apart"
)


@dataclass(frozen=True, slots=True)
class Run:
    """A document and what it is called beside others."""

    name: str
    document: Document
    view: View

    @property
    def rank(self) -> int:
        """The rank of the model that the run ends with."""
        rank: int = self.document["selection"]["rank"] or 1
        return rank

    def measure(self, name: str, rank: int) -> Mapping[str, Any]:
        """Return what one model measures on the holdout."""
        found: Mapping[str, Any] = self.document["models"][rank - 1]["scores"]["holdout"][name]
        return found


def runs(documents: Mapping[str, Document]) -> tuple[Run, ...]:
    """Take documents by their names."""
    return tuple(Run(shortened(name, RUN_WIDTH), document, view(document)) for name, document in documents.items())


def compare(documents: Mapping[str, Document]) -> Page:
    """Put several runs on one page."""
    found = runs(documents)
    return Page(
        title=f"Fairness audits of {sentence_list(run.name for run in found)}",
        kicker=f"Comparison of {counted(len(found), 'audit')}",
        subject="; ".join(f"{run.name}: {run.view.subject}" for run in found),
        headline=headline(found),
        findings=tuple(f"{run.name}: {run.view.headline}" for run in found),
        warnings=tuple(_warnings(found)),
        sections=tuple(_sections(found)),
        copy=partial(several_embedded, documents),
        copy_name="fairenum-comparison.json",
    )


def headline(found: Sequence[Run]) -> str:
    """Say which run ends with the smallest gap, and whether the intervals carry that."""
    metrics = {run.document["selection"]["tolerances"]["metric"] for run in found}
    if len(metrics) > 1:
        return "The runs reduce different gaps; they are shown side by side and not ranked."
    (metric,) = metrics
    gaps = [(run.measure(metric, run.rank), run) for run in found]
    known = [(gap, run) for gap, run in gaps if gap["value"] is not None]
    if len(known) < len(found):
        return "Not every run has a gap; they are shown side by side and not ranked."
    best, run = min(known, key=lambda one: one[0]["value"])
    others = [gap for gap, other in known if other is not run]
    if all(gap["value"] == best["value"] for gap in others):
        return f"All runs end with the same {METRICS[metric]} gap, {estimate(best)}."
    apart = None not in (best["high"], *(gap["low"] for gap in others)) and all(
        best["high"] < gap["low"] for gap in others
    )
    sure = "its interval lies below all others" if apart else "the intervals overlap, so this may be chance"
    return f"{run.name} ends with the smallest {METRICS[metric]} gap, {estimate(best)}; {sure}."


def summary(found: Sequence[Run]) -> Table:
    """Show the first and the selected model of each run in a line."""
    rows = []
    for run in found:
        metric = run.document["selection"]["tolerances"]["metric"]
        rows += [
            (run.name, str(rank), estimate(run.measure("accuracy", rank)), estimate(run.measure(metric, rank)))
            for rank in sorted({1, run.rank})
        ]
    metrics = sorted({METRICS[run.document["selection"]["tolerances"]["metric"]] for run in found})
    return Table(
        title="Model 1 and the selected model of each run, on its holdout",
        headings=("run", "model", "accuracy", "gap"),
        rows=tuple(rows),
        notes=(f"gap: {sentence_list(metrics)} difference",),
    )


def measures(found: Sequence[Run]) -> Table:
    """Show the first and the selected model of each run, measure by measure."""
    columns = [(run, rank) for run in found for rank in sorted({1, run.rank})]
    return Table(
        title="",
        headings=("measure", *(f"{run.name}: model {rank}" for run, rank in columns)),
        rows=tuple(
            (name, *(estimate(run.measure(measure, rank)) for run, rank in columns))
            for measure, name in METRICS.items()
        ),
    )


def _warnings(found: Sequence[Run]) -> Iterator[str]:
    yield SAME_ROWS if _same_rows(found) else DIFFERENT_ROWS
    columns = {run.document["selection"]["tolerances"]["column"] for run in found}
    if len(columns) > 1:
        names = (shortened(column or "no column", NAME_WIDTH) for column in sorted(columns, key=str))
        yield f"the runs compare groups by different columns: {sentence_list(names)}"
    yield from (f"{run.name}: {warning}" for run in found for warning in run.view.warnings)


def _same_rows(found: Sequence[Run]) -> bool:
    keys = {
        (
            run.document["environment"]["fingerprint"],
            run.document["config"]["seed"],
            json.dumps(run.document["dataset"]["splits"], sort_keys=True),
        )
        for run in found
    }
    return len(keys) == 1


def _sections(found: Sequence[Run]) -> Iterator[Section]:
    yield Section("runs", "Run by run", tuple(_scatter_blocks(found)))
    yield Section("measures", "Measure by measure", (Grid(summary(found)), Grid(measures(found))))
    yield Section("groups", "Who is selected", tuple(_group_blocks(found)))
    yield Section("differences", "What differs between the runs", tuple(_differences(found)))
    for number, run in enumerate(found, start=1):
        yield Section(f"run-{number}", f"What {run.name} found", (Items(run.view.findings),))


def _scatter_blocks(found: Sequence[Run]) -> Iterator[Block]:
    plots = scatter.judged([(run.name, run.document) for run in found])
    if plots:
        yield Figure(plots, "Every model of each run on its holdout, with intervals; all plots have the same axes.")
    else:
        yield Paragraph("No run has a gap to show.")


def _group_blocks(found: Sequence[Run]) -> Iterator[Block]:
    for run in found:
        tables = [table for table in run.document["group_tables"] if table["rank"] == run.rank]
        if not tables:
            yield Paragraph(f"{run.name} names no sensitive column.")
        for table in tables:
            caption = f"{run.name}, model {table['rank']}, by {shortened(table['column'], 60)}."
            yield Figure((figures.group_rates([table]),), f"{caption} {sections.IMPACT_CAPTION}")
            yield Grid(sections.impact_table(table, run.name))


def _differences(found: Sequence[Run]) -> Iterator[Block]:
    facts = [_facts(run.document) for run in found]
    keys = [
        key for key in dict.fromkeys(key for one in facts for key in one) if len({one.get(key) for one in facts}) > 1
    ]
    if not keys:
        yield Paragraph("Data, options and versions are the same.")
        return
    rows = tuple((key, *(one.get(key, UNDEFINED) for one in facts)) for key in keys)
    yield Grid(Table("", ("", *(run.name for run in found)), rows, names=len(found) + 1))


def _facts(document: Document) -> dict[str, str]:
    data, environment = document["dataset"], document["environment"]
    facts = {
        "data": data["name"],
        "fingerprint": environment["fingerprint"],
        "rows": data["rows"],
        **{f"{part} rows": rows for part, rows in data["splits"].items()},
        **{f"option {key}": value for key, value in document["config"].items()},
        **{f"version of {key}": environment[key] for key in environment if key not in ("solver", "fingerprint")},
        "models": len(document["models"]),
        "search ended at": document["enumeration"]["stopped"],
    }
    return {key: shortened(value if isinstance(value, str) else json.dumps(value), 70) for key, value in facts.items()}
