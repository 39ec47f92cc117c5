"""What each table of a run shows, in a line."""

from __future__ import annotations

from collections.abc import Mapping

from fairenum.document.audit import AuditDocument
from fairenum.document.kinds import JudgedDocument
from fairenum.report.wording import IN_USE, reference_name

TABLES: Mapping[str, str] = {
    "models": "the listed models: what is proven about each, and its scores on selection split and holdout; rank 0 is "
    "the model in use",
    "incumbent": "the model in use: where its decisions come from; empty if there is none",
    "scores": "every measure of every model on both splits, with its limits, its change against {reference} and a "
    "verdict",
    "groups": "selection rates, impact ratios and differences by group on the holdout, {shown}",
    "rankings": "how groups score, by what models rank people by: share above the median, means, AUC; empty without a "
    "score",
    "cutoffs": "selection rates by group, gap, lowest ratio and accuracy at every cutoff of these scores",
    "calibration": "the share of favourable labels by group and range of these scores",
    "outcomes": "rows by model, split, sensitive column and group: all, with a favourable label, selected, both",
    "disagreement": "how far the models disagree about the rows of each group",
    "baselines": "other mitigations on the holdout; empty if none was tried",
    "ambiguity": "for how many people some model within the loss eps decides otherwise than model 1, over all models, "
    "by group; a row without a group is everybody; least and most are apart where some rows are open",
    "ambiguity_curve": "the same share over losses eps, for everybody and by group",
    "flip_prices": "the examined holdout rows: what model 1 decides, and the relative loss at which some model first "
    "decides otherwise, proven to lie between low and high; no high where it is beyond what was looked for; empty in a "
    "redacted run",
    "strip": "every gap in every sensitive column on the holdout: {reference} (the reference), the selected model, "
    "and what changes",
    "guards": "what became of every guardrail; empty if there was none",
    "left_out": "the training examples that each model leaves out",
    "examples": "the values of training examples that some model leaves out; empty in a redacted run",
    "clusters": "what the examples that the selected model leaves out have in common",
    "flips": "the holdout rows that the selected model decides otherwise than {reference}; empty in a redacted run",
    "flipped_groups": "how many rows of each group the selected model decides otherwise than {reference}",
    "range": "between what the parity gap and selection rates lie for all machines that are nearly as good: proven "
    "(low, high) and found (least, most)",
    "warnings": "what to beware of, by code",
    "features": "the columns that models learn from",
    "group_sizes": "rows by sensitive column, group and split",
    "screening": "what each feature alone gives away: the label, the decisions of model 1, or the groups; "
    "a row without a feature is about all of them together",
    "weights": "the weights of linear models",
    "effects": "the share of rows that are decided otherwise when a feature is shuffled, for other kernels",
    "tuning": "the values of C that were tried; empty if C was given",
    "splits": "which row of the table is in which split; empty in a redacted run",
}
MEASURED: Mapping[str, str] = {
    "decisions": "all decisions by sensitive column: rates, gaps, changes against the first decisions, verdicts",
    "groups": "selection rates, impact ratios, differences and other rates by group",
    "scores": "the score by group: share above the median, means, standardised differences, AUC",
    "cutoffs": "selection rates, gap, lowest ratio and accuracy at every cutoff of the sweep",
    "calibration": "the share of favourable labels by range of the score; empty without a label",
    "warnings": "what to beware of, by code",
}


def about_tables(document: JudgedDocument) -> Mapping[str, str]:
    """Say what each table of a document shows."""
    if not isinstance(document, AuditDocument):
        return MEASURED
    shown = f"{IN_USE}, model 1 and the selected model" if document.incumbent else "model 1 and the selected model"
    return {name: text.format(reference=reference_name(document), shown=shown) for name, text in TABLES.items()}
