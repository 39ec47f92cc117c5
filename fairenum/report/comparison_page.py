"""A page that compares audits, such as those before and after a mitigation, or of clean and of poisoned data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import caution_texts
from fairenum.document.consequences import ended_with
from fairenum.document.terms import Gap, Measure
from fairenum.document.value import Estimate
from fairenum.document.words import GAP_NAMES, MEASURES, TITLE_WIDTH, model_cell, model_heading, performance_of, short
from fairenum.render.page import Block, Figure, Items, Page, Paragraph, Section, Table
from fairenum.report import audit_report, groups_section, models_section
from fairenum.report.audit_report import options
from fairenum.report.embedded_copy import copy_of_all
from fairenum.report.headline import headline
from fairenum.runtime.formatting import UNDEFINED, counted, estimate, sentence_list, shortened

DIFFERENT_ROWS = (
    "table, seed or splits differ, so the runs may judge different rows; where two intervals overlap, this page alone "
    "does not show that the gaps differ"
)
SAME_ROWS = (
    "the runs judge the same rows, but their intervals are not paired: where two overlap, a paired comparison might "
    "still show that the gaps differ"
)
FACT_WIDTH = 70


@dataclass(frozen=True, slots=True)
class Run:
    """An audit, with the name that it has in the comparison."""

    name: str
    document: AuditDocument

    @property
    def rank(self) -> int:
        """The rank of the run's model: the selected one, 0 if it keeps the model in use, and 1 if it selects none."""
        rank = ended_with(self.document)
        return 1 if rank is None else rank

    @property
    def metric(self) -> Gap:
        """The kind of gap that the run reduces."""
        return self.document.selection.tolerances.metric

    @property
    def gap(self) -> Estimate:
        """The gap on the holdout of the model that the run selects or keeps."""
        return self.measured(self.metric, self.rank)

    def measured(self, measure: Measure, rank: int) -> Estimate:
        """Return one measure, on the holdout, of the model with this rank."""
        return self.document.member(rank).scores.holdout.measure(measure)


def _subject(run: Run) -> str:
    """Return a description of the audited table that begins with the run's name, which is put in front if missing."""
    subject = audit_report.subject(run.document)
    return subject if subject.startswith(f"{run.name}: ") else f"{run.name}: {subject}"


def compare(documents: Mapping[str, AuditDocument], *, brief: bool = False) -> Page:
    """Return a page that compares audits, given by name; a brief page has only a summary and the differences."""
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
    """Return a sentence that names the run with the smallest gap, and says whether the intervals overlap."""
    if len({run.metric for run in runs}) > 1:
        return "The runs reduce different gaps; they are shown side by side and not ranked."
    known = [(run.gap.value, run) for run in runs if run.gap.value is not None]
    if len(known) < len(runs):
        return "Not every run has a gap; they are shown side by side and not ranked."
    least, best = min(known, key=lambda one: one[0])
    gap = f"{GAP_NAMES[best.metric]} gap, {estimate(best.gap)}"
    if all(value == least for value, _ in known):
        return f"All runs end with the same {gap}."
    is_certain = _is_below_all(best, runs)
    sure = "its interval lies below all others" if is_certain else "the intervals overlap, so this may be chance"
    return f"{best.name} ends with the smallest {gap}; {sure}."


def _is_below_all(best: Run, runs: Sequence[Run]) -> bool:
    high, lows = best.gap.high, [run.gap.low for run in runs if run is not best]
    return high is not None and all(low is not None and high < low for low in lows)


def _warnings(runs: Sequence[Run]) -> Iterator[str]:
    yield SAME_ROWS if _share_rows(runs) else DIFFERENT_ROWS
    columns = {run.document.selection.column for run in runs}
    if len(columns) > 1:
        names = (short(column or "no column") for column in sorted(columns, key=str))
        yield f"the runs compare groups by different columns: {sentence_list(names)}"
    yield from (f"{run.name}: {warning}" for run in runs for warning in caution_texts(run.document))


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
        findings = Items(tuple(audit_report.findings(run.document)))
        yield Section(f"run-{place}", f"What {run.name} found", (findings,))


def _summary(runs: Sequence[Run]) -> Table:
    """Return a table with one row for each run and model: the model in use, model 1 and the selected model."""
    has_incumbent = any(run.document.incumbent for run in runs)
    models = "The model in use, model 1" if has_incumbent else "Model 1"
    metrics = sorted({GAP_NAMES[run.metric] for run in runs})
    names = {performance_of(run.document) for run in runs}
    # runs with different measures of performance are compared by accuracy, which all of them have
    measure: Measure = "performance" if len(names) == 1 else "accuracy"
    performance = names.pop() if len(names) == 1 else "accuracy"
    return Table(
        title=f"{models} and the selected model of each run, on its holdout",
        headings=("run", "model", performance, "gap"),
        rows=tuple(
            (run.name, model_cell(rank), *(estimate(run.measured(one, rank)) for one in (measure, run.metric)))
            for run, rank in _shortlists(runs)
        ),
        notes=(f"gap: {sentence_list(metrics)} difference",),
    )


def _shortlists(runs: Sequence[Run]) -> Iterator[tuple[Run, int]]:
    return ((run, rank) for run in runs for rank in run.document.shortlist)


def _scatter(runs: Sequence[Run]) -> Block:
    plots = models_section.holdout_scatters({run.name: run.document for run in runs})
    caption = "Every model of each run on its holdout, with intervals; all plots have the same axes."
    return Figure(plots, caption) if plots else Paragraph("No run has a gap to show.")


def _measures(runs: Sequence[Run]) -> Table:
    """Return a table with a row for each measure, and a column for each shown model of each run."""
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
            yield Paragraph(f"{run.name} names no sensitive column.")
        for table in tables:
            caption = groups_section.impact_caption(table.column, table.rank, run.name)
            yield Figure((groups_section.group_rates([table]),), caption)
            yield groups_section.whole_impact(table, run.name)


def _differences(runs: Sequence[Run]) -> Block:
    facts = [_facts(run.document) for run in runs]
    names = dict.fromkeys(name for one in facts for name in one)
    unlike = [name for name in names if len({one.get(name) for one in facts}) > 1]
    if not unlike:
        return Paragraph("Data, options and versions are the same.")
    rows = tuple((shortened(name, TITLE_WIDTH), *(one.get(name, UNDEFINED) for one in facts)) for name in unlike)
    return Table("", ("", *(run.name for run in runs)), rows, names=len(runs) + 1)


def _facts(document: AuditDocument) -> dict[str, str]:
    """Return data, options, versions and sizes of a run as texts by name."""
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
