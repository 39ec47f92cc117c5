"""Several audits side by side: before and after a mitigation, two solvers, clean and poisoned data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairenum.document.audit import AuditDocument
from fairenum.document.consequences import ended_with
from fairenum.document.terms import Gap, Measure
from fairenum.document.value import Estimate
from fairenum.rendering.numbers import UNDEFINED, counted, estimate
from fairenum.rendering.page import Block, Figure, Items, Page, Paragraph, Section, Table
from fairenum.rendering.text import sentence_list, shortened
from fairenum.report import groups, model_plots
from fairenum.report.audit import options
from fairenum.report.embedded import copy_of_all
from fairenum.report.wording import (
    GAPS,
    MEASURES,
    TITLE_WIDTH,
    cautions,
    model_cell,
    model_heading,
    performance_of,
    short,
)
from fairenum.report.wording import audit as wording
from fairenum.report.wording import comparison as words
from fairenum.report.wording.headline import headline

FACT_WIDTH = 70


@dataclass(frozen=True, slots=True)
class Run:
    """An audit and what it is called beside others."""

    name: str
    document: AuditDocument

    @property
    def rank(self) -> int:
        """The rank of the model that the run ends with."""
        rank = ended_with(self.document)
        return 1 if rank is None else rank

    @property
    def metric(self) -> Gap:
        """The gap that the run reduces."""
        return self.document.selection.tolerances.metric

    @property
    def gap(self) -> Estimate:
        """The gap that the run ends with."""
        return self.measured(self.metric, self.rank)

    def measured(self, measure: Measure, rank: int) -> Estimate:
        """Return what one model measures on the holdout."""
        return self.document.member(rank).scores.holdout.measure(measure)


def _subject(run: Run) -> str:
    """Say what a run audited; its name is told once where it is that of the table."""
    subject = wording.subject(run.document)
    return subject if subject.startswith(f"{run.name}: ") else f"{run.name}: {subject}"


def compare(documents: Mapping[str, AuditDocument], *, brief: bool = False) -> Page:
    """Put several audits on one page; in brief their summary and what differs."""
    runs = [Run(shortened(name, TITLE_WIDTH), document) for name, document in documents.items()]
    names = sentence_list(run.name for run in runs)
    return Page(
        title=f"Fairness audits of {names}",
        name=names,
        kicker=f"Comparison of {counted(len(runs), 'audit')}",
        subject="; ".join(map(_subject, runs)),
        headline=_headline(runs),
        findings=tuple(f"{run.name}: {headline(run.document)}" for run in runs),
        warnings=tuple(_warnings(runs)),
        sections=tuple(_brief(runs) if brief else _sections(runs)),
        copy=copy_of_all(documents),
        copy_name="fairenum-comparison.json",
    )


def _headline(runs: Sequence[Run]) -> str:
    """Say which run ends with the smallest gap, and whether the intervals carry that."""
    if len({run.metric for run in runs}) > 1:
        return words.DIFFERENT_GAPS
    known = [(run.gap.value, run) for run in runs if run.gap.value is not None]
    if len(known) < len(runs):
        return words.MISSING_GAPS
    least, best = min(known, key=lambda one: one[0])
    if all(value == least for value, _ in known):
        return words.equal_gaps(best.metric, best.gap)
    return words.smallest_gap(best.name, best.metric, best.gap, is_certain=_is_below_all(best, runs))


def _is_below_all(best: Run, runs: Sequence[Run]) -> bool:
    high, lows = best.gap.high, [run.gap.low for run in runs if run is not best]
    return high is not None and all(low is not None and high < low for low in lows)


def _warnings(runs: Sequence[Run]) -> Iterator[str]:
    yield words.SAME_ROWS if _share_rows(runs) else words.DIFFERENT_ROWS
    columns = {run.document.selection.column for run in runs}
    if len(columns) > 1:
        names = (short(column or "no column") for column in sorted(columns, key=str))
        yield words.different_columns(names)
    yield from (f"{run.name}: {warning}" for run in runs for warning in cautions.warnings(run.document))


def _share_rows(runs: Sequence[Run]) -> bool:
    documents = [run.document for run in runs]
    keys = {(one.dataset.fingerprint, one.config.seed, one.dataset.splits) for one in documents}
    return len(keys) == 1


def _brief(runs: Sequence[Run]) -> Iterator[Section]:
    yield Section.of_table("runs", _summary(runs))
    yield Section("differences", "What differs between the runs", (_differences(runs),))


def _sections(runs: Sequence[Run]) -> Iterator[Section]:
    yield Section("runs", "Run by run", (_summary(runs), _scatter(runs)))
    yield Section("measures", "Measure by measure", (_measures(runs),))
    yield Section("groups", "Who is selected", tuple(_group_blocks(runs)))
    yield Section("differences", "What differs between the runs", (_differences(runs),))
    for place, run in enumerate(runs, start=1):
        findings = Items(tuple(wording.findings(run.document)))
        yield Section(f"run-{place}", f"What {run.name} found", (findings,))


def _summary(runs: Sequence[Run]) -> Table:
    """Show the model in use, the first and the selected model of each run in a line."""
    is_used = any(run.document.incumbent for run in runs)
    metrics = sorted({GAPS[run.metric] for run in runs})
    names = {performance_of(run.document) for run in runs}
    # where runs differ in what counts as performance, what all of them have is shown
    measure: Measure = "performance" if len(names) == 1 else "accuracy"
    performance = names.pop() if len(names) == 1 else "accuracy"
    return Table(
        title=words.IN_USE_BESIDE if is_used else words.SIDE_BY_SIDE,
        headings=("run", "model", performance, "gap"),
        rows=tuple(
            (
                run.name,
                model_cell(rank),
                estimate(run.measured(measure, rank)),
                estimate(run.measured(run.metric, rank)),
            )
            for run, rank in _shortlists(runs)
        ),
        notes=(f"gap: {sentence_list(metrics)} difference",),
    )


def _shortlists(runs: Sequence[Run]) -> Iterator[tuple[Run, int]]:
    return ((run, rank) for run in runs for rank in run.document.shortlist)


def _scatter(runs: Sequence[Run]) -> Block:
    plots = model_plots.judged({run.name: run.document for run in runs})
    return Figure(plots, words.RUNS_CAPTION) if plots else Paragraph(words.NO_GAPS)


def _measures(runs: Sequence[Run]) -> Table:
    """Show the first and the selected model of each run, measure by measure."""
    columns = list(_shortlists(runs))
    return Table(
        title="",
        headings=("measure", *(f"{run.name}: {model_heading(rank)}" for run, rank in columns)),
        rows=tuple(
            (title, *(estimate(run.measured(measure, rank)) for run, rank in columns))
            for measure, title in MEASURES.items()
        ),
    )


def _group_blocks(runs: Sequence[Run]) -> Iterator[Block]:
    for run in runs:
        tables = [table for table in run.document.group_tables if table.rank == run.rank]
        if not tables:
            yield Paragraph(words.without_columns(run.name))
        for table in tables:
            caption = wording.impact_caption(table.column, table.rank, run.name)
            yield Figure((groups.group_rates([table]),), caption)
            yield groups.whole_impact(table, run.name)


def _differences(runs: Sequence[Run]) -> Block:
    facts = [_facts(run.document) for run in runs]
    names = dict.fromkeys(name for one in facts for name in one)
    unlike = [name for name in names if len({one.get(name) for one in facts}) > 1]
    if not unlike:
        return Paragraph(words.ALIKE)
    rows = tuple((shortened(name, TITLE_WIDTH), *(one.get(name, UNDEFINED) for one in facts)) for name in unlike)
    return Table("", ("", *(run.name for run in runs)), rows, names=len(runs) + 1)


def _facts(document: AuditDocument) -> dict[str, str]:
    """Give what may differ between runs."""
    data, environment = document.dataset, document.environment
    facts = {
        "data": data.name,
        "fingerprint": data.fingerprint,
        "rows": data.rows,
        "train rows": data.splits.train,
        "selection rows": data.splits.selection,
        "holdout rows": data.splits.holdout,
        **{f"option {name}": value for name, value in options(document).items()},
        **{f"version of {name}": version for name, version in environment.packages.items()},
        "version of python": environment.python,
        "models": len(document.models),
        "search ended at": document.enumeration.stopped,
    }
    return {name: shortened(value, FACT_WIDTH) for name, value in facts.items()}
