"""Texts for an evidence file, which is an archive of a run.

They describe its files and tables, and report the result of verifying it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.header import FaultKind, Verification
from fairenum.document.words import IN_USE, reference_name
from fairenum.render.markdown import escaped
from fairenum.runtime.formatting import counted, sentence_list

ABOUT: Mapping[str, str] = {
    "README.md": "this list",
    "run.json": "the run: everything that was found, as `fairenum report` and `fairenum select` read it; timings aside",
    "report.html": "the report",
    "summary.md": "the report in brief",
    "model-card.md": "what the model is, what it was made of, and what is left for its users to say",
    "model.skops": "the model, with its preprocessing",
    "environment.json": "versions of what computed the run, and of what wrote this file",
    "SHA256SUMS": "the SHA-256 of every other file",
}
PROFILE = "the report, arranged for a certain reader"
INDEX = "what each table shows"
CHECK = (
    "Check it with `fairenum verify FILE`, or unpacked with `sha256sum --check SHA256SUMS`. A list can be rewritten "
    "together with what it lists: whoever needs more than a safeguard against accidents compares the SHA-256 of the "
    "whole file, which `fairenum verify` prints, with one that came another way."
)
SAVED = "a saved run holds no models; make a new one, or name the data: fairenum select RUN --data DATA"
ROWS_WITHIN = "a model of this kernel holds training rows, which a redacted file leaves out"
FAULTS: Mapping[FaultKind, str] = {
    "missing": "{name} is missing",
    "extra": "{name} is not listed",
    "changed": "{name} is not the file that is listed",
    "no_document": "{name} is no valid run: {detail}",
    "no_copy": "{name} carries no copy of a run",
    "other_copy": "{name} is not a page of the run beside it",
}


def read_me(title: str, names: Iterable[str], tables: Mapping[str, str], no_model: str | None) -> str:
    """Return the README of an evidence file in Markdown, with a line for each file.

    `tables` maps the names of tables to their descriptions. `no_model` says why the evidence file contains no model;
    None if nothing has to be said.
    """
    lines = [f"# {escaped(title)}", "", CHECK, "", *(f"- `{name}`: {_about(name, tables)}" for name in sorted(names))]
    if no_model:
        lines += ["", f"There is no model in it: {escaped(no_model)}."]
    return "\n".join(lines) + "\n"


def _about(name: str, tables: Mapping[str, str]) -> str:
    folder, _, table = name.removesuffix(".csv").rpartition("/")
    return tables.get(table, INDEX) if folder else ABOUT.get(name, PROFILE)


def outcome(found: Verification, name: str) -> Iterator[str]:
    """Yield the lines of text that report whether an evidence file was verified, and what is wrong with it."""
    if found.is_verified:
        yield f"verified: {name} holds {counted(found.files, 'file')}, all as listed, and its pages show its run"
    else:
        yield f"not verified: {name}"
        yield from (f"  {FAULTS[one.kind].format(name=one.name, detail=one.detail)}" for one in found.faults)
    if found.unchecked:
        yield f"not compared with the run, as another version of fairenum wrote it: {sentence_list(found.unchecked)}"
    yield f"sha256: {found.sha256}"


TABLES: Mapping[str, str] = {
    "models": "the listed models: what is proven about each, and its scores on selection split and holdout; rank 0 is "
    "the model in use",
    "incumbent": "the model in use: where its decisions come from; empty if there is none",
    "incumbent_gaps": "gaps and ratios of the model in use by sensitive column, on all rows that it decided",
    "incumbent_groups": "its selection rates, impact ratios and differences by group, on all rows that it decided",
    "scores": "every measure of every model on both splits, with its limits, its change against {reference} and a "
    "verdict",
    "groups": "selection rates, impact ratios and differences by group on the holdout, {shown}",
    "rankings": "the scores of models by group: share above the median, means, AUC; of the model in use on all rows "
    "that it decided, of others on the holdout; empty without a score",
    "cutoffs": "selection rates by group, gap, lowest ratio and accuracy at every cutoff of these scores",
    "calibration": "the share of favourable labels by group and range of these scores",
    "outcomes": "rows by model, split, sensitive column and group: all, with a favourable label, selected, both",
    "disagreement": "how far the models disagree about the rows of each group",
    "baselines": "other mitigations on the holdout; empty if none was tried",
    "ambiguity": "for how many people some model within the loss eps decides differently from model 1, over all "
    "models, by group; a row without a group is everybody; least and most differ where some rows are open",
    "ambiguity_curve": "the ambiguity over losses eps, for everybody and by group",
    "flip_prices": "the examined holdout rows: what model 1 decides, and the relative loss at which some model first "
    "decides differently, proven to lie between low and high; no high where it is above the largest loss examined; "
    "empty in a redacted run",
    "strip": "every gap in every sensitive column on the holdout: {reference} (the reference), the selected model, "
    "and what changes",
    "guards": "whether every guardrail is kept; empty if there was none",
    "left_out": "the training examples that each model leaves out",
    "examples": "the values of training examples that some model leaves out; empty in a redacted run",
    "clusters": "what the examples that the selected model leaves out have in common",
    "flips": "the holdout rows that the selected model decides differently from {reference}; empty in a redacted run",
    "flipped_groups": "how many rows of each group the selected model decides differently from {reference}",
    "range": "bounds on the parity gap and on selection rates over all near-optimal models: proven (low, high) and "
    "found (least, most)",
    "warnings": "the cautions, by code",
    "features": "the columns that models learn from",
    "group_sizes": "rows by sensitive column, group and split",
    "screening": "how well each feature alone predicts the label, the decisions of model 1, or the groups, "
    "with the lower limit of an AUC; a row without a feature is about all of them together",
    "weights": "the weights of linear models",
    "effects": "the share of rows that are decided differently when a feature is shuffled, for other kernels",
    "tuning": "the values of C that were tried; empty if C was given",
    "splits": "which row of the table is in which split; empty in a redacted run",
}
MEASURED: Mapping[str, str] = {
    "decisions": "all decisions by sensitive column: rates, gaps, changes against the first decisions, verdicts",
    "groups": "selection rates, impact ratios, differences and other rates by group",
    "given": "differences to the reference group within strata: Mantel-Haenszel estimates and tests, and parts",
    "strata": "rows and selected rows by stratum and group, and the gap of each stratum",
    "periods": "rows, selected rows and rate by period and group, and the gap of each period",
    "alarms": "the watched rates: the limit of the difference to the control group, the evidence, and the alarm",
    "probable": "groups known by probability: weighted rates, bounds and differences to the largest group",
    "scores": "the score by group: share above the median, means, standardised differences, AUC",
    "cutoffs": "selection rates, gap, lowest ratio and accuracy at every cutoff of the sweep",
    "calibration": "the share of favourable labels by range of the score; empty without a label",
    "warnings": "the cautions, by code",
}


def about_tables(document: JudgedDocument) -> Mapping[str, str]:
    """Return a description of each table of a document in one line, by the name of the table."""
    if not isinstance(document, AuditDocument):
        return MEASURED
    shown = f"{IN_USE}, model 1 and the selected model" if document.incumbent else "model 1 and the selected model"
    return {name: text.format(reference=reference_name(document), shown=shown) for name, text in TABLES.items()}
