"""The words of a model card: what a model is, what it was made of, and what is left for its users to say."""

from __future__ import annotations

from fairenum.document.audit import AuditDocument
from fairenum.document.models import AuditedModel
from fairenum.rendering.numbers import counted, percent
from fairenum.rendering.text import shortened
from fairenum.report.wording import GROUP_WIDTH, PERFORMANCES

INTENDED_USE = (
    "Left to whoever puts the model to use; an audit cannot know it. To be filled in:",
    "for which decisions the model is meant, who decides, and who can have a decision looked at again",
    "whom it must not be used for: people, places or times that the table does not speak of",
    "who watches it in use, how often, and what makes them withdraw it",
)
FILE = (
    "The file model.skops beside this card holds the model with its preprocessing, as a scikit-learn pipeline that "
    "takes rows of the table as they are; skops.io.load reads it, and refuses types that it was not told to trust."
)
SCORES = "On the holdout, which had no part in training or choice; limits in brackets."
TOGETHER = "change, verdict: all models judged together"
SENSITIVE = "The sensitive columns are no features: groups are known to the audit, not to the model."
SENSITIVE_USED = "The sensitive columns are features: the model is told the group of whom it decides about."


def title(document: AuditDocument, model: AuditedModel) -> str:
    """Head the card."""
    return f"Model card: model {model.rank} of {shortened(document.dataset.name, GROUP_WIDTH)}"


def machine(document: AuditDocument) -> str:
    """Say what kind of model it is."""
    trained = document.config.machine
    gamma = "" if trained.kernel == "linear" else f", gamma = {trained.gamma}"
    return f"support vector machine, {trained.kernel} kernel{gamma}, C = {trained.cost:g}"


def place(document: AuditDocument, model: AuditedModel) -> str:
    """Say where it stands among the others."""
    if model.rank == 1:
        return f"the best of {counted(len(document.models), 'listed model')} by its training objective"
    lacking, is_tilted = percent(model.shortfall, 3), model.objective_ratio is None
    price = f"training loss {lacking} above the best" if is_tilted else f"{lacking} of the best objective is lost"
    return f"one of {counted(len(document.models), 'listed model')}; {price}"


def left_out(document: AuditDocument, model: AuditedModel) -> str:
    """Say how many training rows it was not shown."""
    return f"{model.records_left_out} of {counted(document.dataset.splits.train, 'training row')}"


def performance(document: AuditDocument) -> str:
    """Say what the audit counted as performance."""
    return PERFORMANCES[document.selection.tolerances.measure.name]


def levels(document: AuditDocument) -> str:
    """Say how sure the limits of each model's gaps are."""
    return f"intervals of models have a level of {100 * document.config.confidence:g} %"


def labels(document: AuditDocument) -> str:
    """Count the labels."""
    counts, table = document.dataset.class_counts, document.dataset
    favourable, unfavourable = (shortened(text, GROUP_WIDTH) for text in (table.favourable, table.unfavourable))
    return f"{counts.favourable} {favourable} (favourable), {counts.unfavourable} {unfavourable}"


def splits(document: AuditDocument) -> str:
    """Count the rows of each split."""
    sizes = document.dataset.splits
    return f"{sizes.train} to train, {sizes.selection} to choose by, {sizes.holdout} held out"


def features(document: AuditDocument) -> str:
    """Count what models learn from."""
    table = document.dataset
    numbers = sum(one.kind == "numeric" for one in table.features)
    missing = counted(sum(table.missing.values()), "missing cell")
    return f"{numbers} numeric, {len(table.features) - numbers} categorical; {missing}"
