"""The words on features: what they give away, what models go by, and whom a choice changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fairenum.document.anatomy import Anatomy, Flips
from fairenum.document.audit import AuditDocument
from fairenum.document.person import Person, PersonDecision
from fairenum.document.screening import Alone, Screening
from fairenum.phrases import without
from fairenum.rendering.numbers import counted, percent, share, signed
from fairenum.rendering.text import sentence_list, shortened
from fairenum.report.wording import GROUP_WIDTH, NAME_WIDTH, TABLE_WIDTH, reference_name, short

MOST_NAMED = 3
SCREENED = (
    "Each feature alone, and all of them together, were used to tell the label and the groups: learned on training "
    "rows, measured on the selection split. The numbers are areas under the curve: 0.5 is chance, 1 is certainty. A "
    "feature that alone tells the label nearly as well as the machine may be known only after the decision; one that "
    "tells the group stands in for it, whether or not the sensitive column is left out."
)
WEIGHED = (
    "A decision value is the sum of these weights times the person's encoded values, plus the bias (minus the cut, "
    "where models are cut elsewhere than at 0); from 0 on the decision is favourable. "
)
PER_DEVIATION = "A weight of a number is per standard deviation, a weight of a text is for having it."
PER_UNIT = "Numbers were not standardised: a weight is per unit, so columns of small numbers have large weights."
PERSON_COPY = "The decisions, and what weighs most in each; `fairenum explain RUN --json PATH` has all of it."


def leaks(found: Screening) -> str:
    """Warn of features that alone tell the label nearly as well as the machine."""
    named = found.other_leaks[:MOST_NAMED]
    they, them = ("it is", "it") if len(named) == 1 else ("they are", "them")
    return (
        f"{_alone(named)}, model 1 with AUC {share(found.model_auc)}: check that {they} known before the decision, "
        f"else leave {them} out with {without(*(one.feature for one in named))}"
    )


def _alone(features: Iterable[Alone]) -> str:
    words = [
        f"{shortened(one.feature, TABLE_WIDTH)!r} alone predicts the label with AUC {share(one.auc)}"
        for one in features
    ]
    return sentence_list(words)


def lookalikes(found: Screening) -> str:
    """Warn that model 1 is one column."""
    names = [one.feature for one in found.lookalikes[:MOST_NAMED]]
    agreement = min(one.agreement for one in found.lookalikes[:MOST_NAMED])
    listed = " or ".join(repr(shortened(name, TABLE_WIDTH)) for name in names)
    return (
        f"model 1 decides as {listed} alone does ({percent(agreement)} of the selection split, both decisions counted "
        f"alike): check that it is known before the decision, else leave it out with {without(*names)}"
    )


def proxies(found: Screening, column: str | None) -> str:
    """Warn of features that are nearly copies of a sensitive column."""
    tell = next(one for one in found.columns if one.column == column)
    copies = [one for one in tell.features if one.feature in tell.copies[:MOST_NAMED]]
    names = [one.feature for one in copies]
    listed = sentence_list(f"{shortened(one.feature, TABLE_WIDTH)!r} (AUC {share(one.auc)})" for one in copies)
    verb, them = ("is nearly a copy", "it") if len(copies) == 1 else ("are nearly copies", "them")
    return f"{listed} {verb} of the sensitive column {short(tell.column)!r}; leave {them} out with {without(*names)}"


def weighed(document: AuditDocument, anatomy: Anatomy) -> str:
    """Say how to read weights or effects."""
    if anatomy.effects:
        rows = anatomy.effects[0].rows
        return (
            f"Share of {counted(rows, 'row')} of the selection split that a model decides otherwise when the values of "
            "one feature are shuffled among them: how much the model goes by it, whatever the direction."
        )
    return WEIGHED + (PER_DEVIATION if document.config.standardise else PER_UNIT)


def flipped(document: AuditDocument, flips: Flips) -> str:
    """Say how many rows a choice changes, and which way."""
    groups = next(iter(flips.by_column.values()))
    gained, lost, rows = (sum(getattr(one, name) for one in groups) for name in ("gained", "lost", "rows"))
    return (
        f"Of {counted(rows, 'row')} of the holdout, {gained} get the favourable outcome from model {flips.rank} and "
        f"not from {reference_name(document)}, {lost} the other way round."
    )


def person_subject(person: Person) -> str:
    """Say whom it is about."""
    who = "values as given" if person.row is None else f"row {person.row}, counted from 0"
    return (
        f"{shortened(person.data, TABLE_WIDTH)}: {who}; favourable: {short(person.label)} = {short(person.favourable)}"
    )


def person_headline(person: Person) -> str:
    """Say what most models decide."""
    favourable, models = sum(one.is_favourable for one in person.decisions), len(person.decisions)
    outcome = f"{short(person.label)} = {short(person.favourable)}"
    if models == 1:
        return f"The model decides {short(person.label)} = {short(person.decision(person.decisions[0]))}."
    if favourable in (0, models):
        other = outcome if favourable else f"{short(person.label)} = {short(person.unfavourable)}"
        return f"All {models} models decide {other}."
    return f"{favourable} of {models} models decide {outcome}; the others do not."


def person_findings(person: Person, shown: Sequence[PersonDecision]) -> Iterator[str]:
    """Say what weighs most in some models, and by how much they decide."""
    for one in shown:
        outcome = short(person.decision(one))
        main = [part for part in one.contributions if part.contribution][:MOST_NAMED]
        listed = [f"{short(part.feature)} ({signed(part.contribution)})" for part in main]
        most = f"; what weighs most: {sentence_list(listed)}" if listed else ""
        yield f"Model {one.rank} decides {outcome}, by a decision value of {signed(one.value)}{most}."


def person_warnings(person: Person) -> Iterator[str]:
    """Say what was not known about the person."""
    if person.imputed:
        cells = (f"{shortened(name, NAME_WIDTH)} = {value:g}" for name, value in person.imputed.items())
        yield shortened(f"not given, so the median of the training rows: {sentence_list(cells)}", 4 * TABLE_WIDTH)
    blank = [name for name, value in person.values.items() if value is None and name not in person.imputed]
    if blank:
        yield shortened(f"not given, so they count as missing: {sentence_list(map(short, blank))}", 4 * TABLE_WIDTH)
    if person.pooled:
        names = sentence_list(shortened(name, GROUP_WIDTH) for name in person.pooled)
        yield f"rare in training or not there, so the value counts as all such values do: {names}"
    if person.unseen:
        names = sentence_list(shortened(name, GROUP_WIDTH) for name in person.unseen)
        yield f"no training row has such a value, so it counts as none: {names}"
