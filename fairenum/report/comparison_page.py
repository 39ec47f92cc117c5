"""Pages that compare runs: audits side by side, and two runs about different people with a verdict for each gap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import caution_texts
from fairenum.document.comparison_document import ComparedGap, ComparisonDocument, GapVerdict
from fairenum.document.consequences import ended_with
from fairenum.document.terms import Gap, Measure
from fairenum.document.value import Estimate
from fairenum.document.words import GAP_NAMES, MEASURES, TITLE_WIDTH, model_cell, model_heading, performance_of, short
from fairenum.render.page import Block, Column, Figure, Items, Page, Paragraph, Section, Table, Tile
from fairenum.report import audit_report, groups_section, models_section
from fairenum.report.audit_report import options
from fairenum.report.embedded_copy import copy_of, copy_of_all
from fairenum.report.headline import headline
from fairenum.runtime.formatting import (
    UNDEFINED,
    counted,
    estimate,
    file_name,
    percent,
    sentence_list,
    share,
    shortened,
    signed,
)

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
    return _unlike({run.name: _facts(run.document) for run in runs})


def _unlike(facts: Mapping[str, Mapping[str, str]]) -> Block:
    """Return a table of the facts that differ between runs, given by the name of the run."""
    names = dict.fromkeys(name for one in facts.values() for name in one)
    unlike = [name for name in names if len({one.get(name) for one in facts.values()}) > 1]
    if not unlike:
        return Paragraph("Data, options and versions are the same.")
    rows = tuple(
        (shortened(name, TITLE_WIDTH), *(shortened(one.get(name, UNDEFINED), FACT_WIDTH) for one in facts.values()))
        for name in unlike
    )
    return Table("", ("", *facts), rows, names=len(facts) + 1)


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


INDEPENDENT = (
    "no person may be in both runs: the intervals of changes hold for independent rows, and this cannot be seen from "
    "the saved runs"
)
GAPS: tuple[Column[ComparedGap], ...] = (
    Column("column", "by", lambda gap: short(gap.column), is_word=True),
    Column("metric", "gap", lambda gap: GAP_NAMES[gap.metric], is_word=True),
    Column("verdict", "verdict", lambda gap: gap.verdict, is_word=True),
    Column("old", "old", lambda gap: estimate(gap.old)),
    Column("new", "new", lambda gap: estimate(gap.new)),
    Column("change", "change", lambda gap: estimate(gap.change, signed)),
)
BRIEF: tuple[Column[ComparedGap], ...] = (
    *GAPS[:3],
    Column("old", "old", lambda gap: share(gap.old.value)),
    Column("new", "new", lambda gap: share(gap.new.value)),
    GAPS[5],
)
DECISIONS: Column[ComparedGap] = Column(
    "decisions",
    "decisions",
    lambda gap: ", ".join(dict.fromkeys((gap.old_decisions, gap.new_decisions))),
    is_word=True,
)


def comparison_page(document: ComparisonDocument, *, brief: bool = False) -> Page:
    """Return the page of a comparison: the verdict on the change of every gap from the old run to the new one."""
    old, new = (shortened(run.name, TITLE_WIDTH) for run in (document.old, document.new))
    sections = [Section.of_table("gaps", _changed_gaps(document, is_brief=brief))]
    if not brief:
        facts = {f"old: {old}": document.old.facts, f"new: {new}": document.new.facts}
        sections.append(Section("differences", "What differs between the runs", (_unlike(facts),)))
        sections.append(Section("method", "Method and limits", (Items(tuple(_method(document))),)))
    return Page(
        title=f"What changed from {old} to {new}",
        name=f"{old}, {new}",
        kicker="Comparison of two runs",
        subject=f"old: {_of_rows(document, old, is_new=False)}; new: {_of_rows(document, new, is_new=True)}",
        headline=_change_headline(document),
        findings=tuple(_change_findings(document)),
        warnings=(INDEPENDENT, *document.left_out),
        sections=tuple(sections),
        copy=copy_of(document),
        copy_name=file_name(document.name, "json"),
        tiles=tuple(Tile(f"gaps {verdict}", str(len(document.of_verdict(verdict)))) for verdict in VERDICT_ORDER),
    )


VERDICT_ORDER: tuple[GapVerdict, ...] = ("widened", "narrowed", "same", "open")


def _of_rows(document: ComparisonDocument, name: str, *, is_new: bool) -> str:
    run = document.new if is_new else document.old
    part = " of the holdout" if run.kind == "audit" else ""
    return f"{name}, {run.kind} of {counted(run.rows, 'row')}{part}"


def _change_headline(document: ComparisonDocument) -> str:
    """Return the verdict on the main gap, and the number of other gaps with each verdict."""
    main = [gap for gap in document.gaps if gap.is_main]
    others = [gap.verdict for gap in document.gaps if not gap.is_main]
    told = [f"{others.count(verdict)} {verdict}" for verdict in VERDICT_ORDER if verdict in others]
    rest = f"Of {counted(len(others), 'other gap' if main else 'gap')}: {', '.join(told)}." if others else ""
    return " ".join(filter(None, (*map(_sentence, main), rest)))


SAYS: Mapping[GapVerdict, str] = {
    "widened": "widened",
    "narrowed": "narrowed",
    "same": "is the same",
    "open": "may have changed or not",
}


def _sentence(gap: ComparedGap) -> str:
    return (
        f"The {GAP_NAMES[gap.metric]} gap by {short(gap.column)} {SAYS[gap.verdict]}: from {estimate(gap.old)} to "
        f"{estimate(gap.new)}, a change of {estimate(gap.change, signed)}."
    )


def _change_findings(document: ComparisonDocument) -> Iterator[str]:
    found = (gap for verdict in VERDICT_ORDER[:2] for gap in document.of_verdict(verdict))
    yield from (_sentence(gap) for gap in found if not gap.is_main)


def _changed_gaps(document: ComparisonDocument, *, is_brief: bool) -> Table:
    is_several = len({gap.old_decisions for gap in document.gaps}) > 1 or any(
        gap.old_decisions != gap.new_decisions for gap in document.gaps
    )
    columns = [DECISIONS, *GAPS] if is_several and not is_brief else list(BRIEF if is_brief else GAPS)
    notes = (
        f"limits of all changes hold together, at {percent(document.config.confidence, 0)}; most of the error is for "
        "the main gap, the first",
        f"same: within {document.config.same_within:g}; open: the rows show neither",
    )
    return Table.of("What changed", columns, document.gaps, notes=notes)


def _method(document: ComparisonDocument) -> Iterator[str]:
    error = percent(1 - document.config.confidence, 0)
    yield (
        "Each gap is between the groups that both runs compare. The interval of its change comes from those of the "
        "signed differences of rates in both runs, which are independent (Newcombe), by the rule for changes between "
        "models."
    )
    yield (
        f"The probability that any verdict widened or narrowed is false is at most {error}, all "
        f"{counted(len(document.gaps), 'gap')} together: four fifths for the main gap, the rest for the others."
    )
    yield "Open does not mean unchanged: few rows leave large changes open. Who is in the rows may have changed, too."
