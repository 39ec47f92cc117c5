"""One person as a page: the decision of each listed model, and the main contributions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fairenum.document.flip_facts import FlippingModel, PersonFlipPrice, ValueRange, WeightChange
from fairenum.document.models import Cell
from fairenum.document.person import Person, PersonDecision
from fairenum.document.value import Value
from fairenum.document.words import NAME_WIDTH, TABLE_WIDTH, short
from fairenum.render.page import Column, Page, Section, Table
from fairenum.report import features_section
from fairenum.report.embedded_copy import copy_of_value
from fairenum.runtime.formatting import UNDEFINED, counted, sentence_list, shortened, signed

NO_DATA = (
    "What all other near-optimal models decide is not known from the run alone: it takes the training rows; name the "
    "data of the run, too: --data DATA."
)
TITLE = "The nearest model that decides otherwise"
NOTE = "a weight times the person's encoded value is what the feature adds to the decision value"
MOST_NAMED = 5
TOLD = 5e-4  # decision values that are closer look the same


def loss(price: float) -> str:
    """Show a relative loss in percent, with as many digits as tell it from 0."""
    return f"{100 * price:.3g} %"


def settled(found: PersonFlipPrice) -> Iterator[str]:
    """Say whether the decision depends on the choice of model, by how much, and on what."""
    yield _standing(found)
    if found.values:
        yield _values(found.values, found.eps)
    yield from _model(found.model)


def _standing(found: PersonFlipPrice) -> str:
    eps = loss(found.eps)
    if found.state == "flips":
        return (
            f"This decision depends on which of the near-optimal models is used: some model decides otherwise from a "
            f"training loss of {loss(found.high)} above the least on, and up to {eps} count as near-optimal."
        )
    if found.state == "settled":
        return (
            f"All models within a training loss of {eps} above the least decide this alike, listed or not; it takes "
            f"{loss(found.high)} to decide otherwise."
        )
    return (
        f"Whether some model within a training loss of {eps} above the least decides otherwise is not proven: it takes "
        f"at least {loss(found.low)} and at most {loss(found.high)}."
    )


def _values(found: ValueRange, eps: float) -> str:
    is_tight = found.low_attained - found.low_bound < TOLD and found.high_bound - found.high_attained < TOLD
    attained = "" if is_tight else f" ({signed(found.low_attained)} to {signed(found.high_attained)} were found)"
    return (
        f"Over all models within {loss(eps)} the decision value lies between {signed(found.low_bound)} and "
        f"{signed(found.high_bound)}{attained}; from 0 on the decision is favourable."
    )


def _model(found: FlippingModel) -> Iterator[str]:
    named = [f"{_name(one.feature, one.level)} ({signed(one.first)} to {signed(one.other)})" for one in found.weights]
    if named:
        yield f"The nearest model that decides otherwise weighs differently most of all: {sentence_list(named[:3])}."
    if found.dropped:
        rows = [f"{one.row} ({short(one.label)})" for one in found.examples[:MOST_NAMED]]
        hidden = found.dropped - len(rows)
        listed = [*rows, *([f"{hidden} more"] if hidden else [])] if rows else []
        which = f": rows {sentence_list(listed)}" if listed else ""
        yield f"It does without {counted(found.dropped, 'training example')} that model 1 rests on{which}."


def _name(feature: str, level: str | None) -> str:
    return short(feature) if level is None else f"{short(feature)} = {short(level)}"


WEIGHT_COLUMNS: tuple[Column[WeightChange], ...] = (
    Column("feature", "feature", lambda one: _name(one.feature, one.level), is_word=True),
    Column("first", "model 1", lambda one: signed(one.first)),
    Column("other", "nearest", lambda one: signed(one.other)),
    Column("change", "change", lambda one: signed(one.other - one.first)),
)


FEW_MODELS, FEW_FEATURES, SOME_FEATURES, MANY_FEATURES = 12, 10, 30, 60


MAIN = 3  # contributions that a line has room for
EMBEDDED = 5  # contributions by model that a page carries


def person_page(person: Person, *, brief: bool = False) -> Page:
    """Put a person on a page; a brief one has only the main models and features."""
    shown = [one for one in person.decisions if one.rank in (1, person.selected)]
    return Page(
        title=f"A person decided by the models of {shortened(person.data, TABLE_WIDTH)}",
        name="person",
        kicker="One person, all models",
        subject=features_section.person_subject(person),
        headline=features_section.person_headline(person),
        findings=(*features_section.person_findings(person, shown), *_settled(person)),
        warnings=tuple(features_section.person_warnings(person)),
        sections=(
            Section.of_table("weighs", contributions_table(person, shown, FEW_FEATURES if brief else MANY_FEATURES)),
            *(Section.of_table("nearest", table) for table in nearest_table(person)),
            Section.of_table("models", _models(person, _few(person) if brief else person.decisions)),
        ),
        copy=copy_of_value(_shortened(person), features_section.PERSON_COPY),
        copy_name="fairenum-person.json",
    )


class PersonWords(Value, frozen=True):
    """Decisions about a person in words: by the listed models, and by all other near-optimal ones."""

    headline: str
    findings: tuple[str, ...]
    settled: tuple[str, ...]
    warnings: tuple[str, ...]
    weighs: Table | None
    nearest: Table | None


def person_words(person: Person, model: int | None) -> PersonWords:
    """Put decisions about a person in words, with contributions in model 1, the selected model, and `model`."""
    wanted = (1, person.selected, model)
    shown = [one for one in person.decisions if one.rank in wanted]
    is_sum = any(one.contributions for one in shown)
    return PersonWords(
        headline=features_section.person_headline(person),
        findings=tuple(features_section.person_findings(person, shown)),
        settled=tuple(settled(person.flip_price)) if person.flip_price else (),
        warnings=tuple(features_section.person_warnings(person)),
        weighs=contributions_table(person, shown, SOME_FEATURES) if is_sum else None,
        nearest=next(nearest_table(person), None),
    )


def contributions_table(person: Person, shown: Sequence[PersonDecision], most: int) -> Table:
    """Show the contributions of features to the decision values of model 1 and the selected model."""
    parts = [{part.feature: part.contribution for part in one.contributions} for one in shown]
    names = sorted(person.values, key=lambda name: -max(abs(part[name]) for part in parts))
    rows = [(short(name), _cell(person, name), *(signed(part[name]) for part in parts)) for name in names[:most]]
    totals: tuple[tuple[str, Callable[[PersonDecision], str]], ...] = (
        ("bias", lambda one: signed(one.bias)),
        ("decision value", lambda one: signed(one.value)),
        ("decision", lambda one: short(person.decision(one))),
    )
    rows += [(name, "", *map(of, shown)) for name, of in totals]
    hidden = len(names) - most
    return Table(
        title="What weighs how much",
        headings=("feature", "value", *(f"model {one.rank}" for one in shown)),
        keys=("feature", "value", *(f"model_{one.rank}" for one in shown)),
        rows=tuple(rows),
        names=2,
        notes=(
            "the sum of all numbers is the decision value; from 0 on the decision is favourable",
            *((f"not shown: {counted(hidden, 'feature')} that weigh less; --json has all",) if hidden > 0 else ()),
        ),
    )


def _settled(person: Person) -> Iterator[str]:
    if person.flip_price:
        yield from settled(person.flip_price)
    else:
        yield NO_DATA


def nearest_table(person: Person) -> Iterator[Table]:
    """Show the weights that change most in the model of least loss that decides differently, if it has weights."""
    model = person.flip_price and person.flip_price.model
    if model and model.weights:
        yield Table.of(TITLE, WEIGHT_COLUMNS, model.weights, notes=(NOTE,))


def _cell(person: Person, name: str) -> str:
    if name in person.imputed:
        return f"{person.imputed[name]:g} (median)"
    value: Cell = person.values[name]
    if value is None:
        return UNDEFINED
    return shortened(value, NAME_WIDTH) if isinstance(value, str) else f"{value:g}"


def _few(person: Person) -> tuple[PersonDecision, ...]:
    """Choose models for a short table: model 1, the selected one, then the best."""
    wanted = [1, person.selected or 1, *(one.rank for one in person.decisions)]
    ranks = list(dict.fromkeys(wanted))[:FEW_MODELS]
    return tuple(one for one in person.decisions if one.rank in ranks)


def _models(person: Person, shown: Sequence[PersonDecision]) -> Table:
    """Show the decision of each model."""
    marked = [place for place, one in enumerate(shown) if one.rank == person.selected]
    columns: tuple[Column[PersonDecision], ...] = (
        Column("model", "model", lambda one: _rank(person, one), is_word=True),
        Column("decision", "decision", lambda one: short(person.decision(one)), is_word=True),
        Column("main", "what weighs most", _main, is_word=True),
        Column("value", "decision value", lambda one: signed(one.value)),
    )
    return Table.of(
        "What each model decides",
        columns,
        shown,
        marked=marked[0] if marked else None,
        notes=tuple(_model_notes(person, len(person.decisions) - len(shown))),
    )


def _rank(person: Person, one: PersonDecision) -> str:
    return f"*{one.rank}" if one.rank == person.selected else str(one.rank)


def _main(one: PersonDecision) -> str:
    return ", ".join(f"{short(part.feature)} {signed(part.contribution)}" for part in one.contributions[:MAIN])


def _model_notes(person: Person, hidden: int) -> Iterator[str]:
    if person.selected is not None:
        yield "*: the selected model"
    if hidden > 0:
        yield f"not shown: {counted(hidden, 'model')}; --json and --html have all"


def _shortened(person: Person) -> Person:
    """Keep the main contributions alone."""
    return person.but(decisions=tuple(one.but(contributions=one.contributions[:EMBEDDED]) for one in person.decisions))
