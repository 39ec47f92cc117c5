"""The page of one person: each listed model's decision, the features that contribute most to it, and the flip price."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fairenum.document.flip_facts import FlippingModel, PersonFlipPrice, ValueRange, WeightChange
from fairenum.document.models import Cell
from fairenum.document.person import Person, PersonDecision
from fairenum.document.value import Value
from fairenum.document.words import GROUP_WIDTH, NAME_WIDTH, TABLE_WIDTH, short
from fairenum.render.page import Column, Page, Section, Table
from fairenum.report.embedded_copy import copy_of_value
from fairenum.runtime.formatting import UNDEFINED, counted, sentence_list, shortened, signed

NO_DATA = (
    "What all other near-optimal models decide is not known from the run alone: it takes the training rows; name the "
    "data of the run, too: --data DATA."
)
COPY = "The decisions, and what weighs most in each; `fairenum explain RUN --json PATH` has all of it."
TITLE = "The nearest model that decides differently"
NOTE = "a weight times the person's encoded value is what the feature adds to the decision value"
MOST_NAMED = 5
SAME = 5e-4  # decision values that are closer are shown with the same digits
FEW_MODELS, FEW_FEATURES, SOME_FEATURES, MANY_FEATURES = 12, 10, 30, 60
MAIN = 3  # contributions in a line of the table of models
EMBEDDED = 5  # contributions by model in the data of a page


def _loss(price: float) -> str:
    return f"{100 * price:.3g} %"


def _flip_price(found: PersonFlipPrice) -> Iterator[str]:
    yield _state(found)
    if found.values:
        yield _values(found.values, found.eps)
    yield from _model(found.model)


def _state(found: PersonFlipPrice) -> str:
    eps = _loss(found.eps)
    if found.state == "flips":
        return (
            f"This decision depends on which of the near-optimal models is used: some model decides differently from a "
            f"training loss of {_loss(found.high)} above the least on, and up to {eps} count as near-optimal."
        )
    if found.state == "settled":
        return (
            f"All models within a training loss of {eps} above the least decide this alike, listed or not; it takes "
            f"{_loss(found.high)} to decide differently."
        )
    return (
        f"Whether some model within a training loss of {eps} above the least decides differently is not proven: it "
        f"takes at least {_loss(found.low)} and at most {_loss(found.high)}."
    )


def _values(found: ValueRange, eps: float) -> str:
    is_tight = found.low_attained - found.low_bound < SAME and found.high_bound - found.high_attained < SAME
    attained = "" if is_tight else f" ({signed(found.low_attained)} to {signed(found.high_attained)} were found)"
    return (
        f"Over all models within {_loss(eps)} the decision value lies between {signed(found.low_bound)} and "
        f"{signed(found.high_bound)}{attained}; from 0 on the decision is favourable."
    )


def _model(found: FlippingModel) -> Iterator[str]:
    named = [f"{_name(one)} ({signed(one.first)} to {signed(one.other)})" for one in found.weights]
    if named:
        yield f"The nearest model that decides differently weighs differently most of all: {sentence_list(named[:3])}."
    if found.dropped:
        rows = [f"{one.row} ({short(one.label)})" for one in found.examples[:MOST_NAMED]]
        hidden = found.dropped - len(rows)
        listed = [*rows, *([f"{hidden} more"] if hidden else [])] if rows else []
        which = f": rows {sentence_list(listed)}" if listed else ""
        yield f"It does without {counted(found.dropped, 'training example')} that model 1 rests on{which}."


def _name(one: WeightChange) -> str:
    if one.level is None:
        return short(one.feature)
    return f"{short(one.feature)} {'' if one.is_condition else '= '}{short(one.level)}"


WEIGHT_COLUMNS: tuple[Column[WeightChange], ...] = (
    Column("feature", "feature", _name, is_word=True),
    Column("first", "model 1", lambda one: signed(one.first)),
    Column("other", "nearest", lambda one: signed(one.other)),
    Column("change", "change", lambda one: signed(one.other - one.first)),
)


def person_page(person: Person, *, brief: bool = False) -> Page:
    """Return the page of a person; if `brief`, with the main models and features only."""
    shown = [one for one in person.decisions if one.rank in (1, person.selected)]
    return Page(
        title=f"A person decided by the models of {shortened(person.data, TABLE_WIDTH)}",
        name="person",
        kicker="One person, all models",
        subject=_subject(person),
        headline=_headline(person),
        findings=(
            *_findings(person, shown),
            *(_flip_price(person.flip_price) if person.flip_price else (NO_DATA,)),
        ),
        warnings=tuple(person_warnings(person)),
        sections=(
            Section.of_table("weighs", contributions_table(person, shown, FEW_FEATURES if brief else MANY_FEATURES)),
            *(Section.of_table("nearest", table) for table in nearest_table(person)),
            Section.of_table("models", _models(person, _few(person) if brief else person.decisions)),
        ),
        copy=copy_of_value(_shortened(person), COPY),
        copy_name="fairenum-person.json",
    )


def _subject(person: Person) -> str:
    """Return a line that names the table, the row of the person, and the favourable value of the label."""
    who = "values as given" if person.row is None else f"row {person.row}, counted from 0"
    return (
        f"{shortened(person.data, TABLE_WIDTH)}: {who}; favourable: {short(person.label)} = {short(person.favourable)}"
    )


def _headline(person: Person) -> str:
    favourable, models = sum(one.is_favourable for one in person.decisions), len(person.decisions)
    outcome = f"{short(person.label)} = {short(person.favourable)}"
    if models == 1:
        return f"The model decides {short(person.label)} = {short(person.decision(person.decisions[0]))}."
    if favourable in (0, models):
        other = outcome if favourable else f"{short(person.label)} = {short(person.unfavourable)}"
        return f"All {models} models decide {other}."
    return f"{favourable} of {models} models decide {outcome}; the others do not."


def _findings(person: Person, shown: Sequence[PersonDecision]) -> Iterator[str]:
    """Yield, for each shown model, a sentence with its decision, decision value and main contributions of features."""
    for one in shown:
        outcome = short(person.decision(one))
        main = [part for part in one.contributions if part.contribution][:MAIN]
        listed = [f"{short(part.feature)} ({signed(part.contribution)})" for part in main]
        most = f"; what weighs most: {sentence_list(listed)}" if listed else ""
        yield f"Model {one.rank} decides {outcome}, by a decision value of {signed(one.value)}{most}."


def person_warnings(person: Person) -> Iterator[str]:
    """Yield warnings that name the person's features whose values are missing, or rare or absent in training."""
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


class PersonWords(Value, frozen=True):
    """The decisions about a person in texts and tables: by the listed models, and by all near-optimal ones.

    `settled` says whether near-optimal models decide differently. `weighs` holds the contributions of features,
    `nearest` the weights of the model of least loss that decides differently.
    """

    headline: str
    findings: tuple[str, ...]
    settled: tuple[str, ...]
    warnings: tuple[str, ...]
    weighs: Table | None
    nearest: Table | None


def person_words(person: Person, model: int | None) -> PersonWords:
    """Return the decisions about a person in words, in detail for model 1, the selected model and the rank `model`."""
    wanted = (1, person.selected, model)
    shown = [one for one in person.decisions if one.rank in wanted]
    is_sum = any(one.contributions for one in shown)
    return PersonWords(
        headline=_headline(person),
        findings=tuple(_findings(person, shown)),
        settled=tuple(_flip_price(person.flip_price)) if person.flip_price else (),
        warnings=tuple(person_warnings(person)),
        weighs=contributions_table(person, shown, SOME_FEATURES) if is_sum else None,
        nearest=next(nearest_table(person), None),
    )


ContributionRow = tuple[str, str, Callable[[PersonDecision], str]]  # feature or total, value, and cell of a model


def contributions_table(person: Person, shown: Sequence[PersonDecision], most: int) -> Table:
    """Return the table of the `most` largest contributions of features to the decision values of the shown models."""
    parts = {one.rank: {part.feature: part.contribution for part in one.contributions} for one in shown}
    names = sorted(person.values, key=lambda name: -max(abs(part[name]) for part in parts.values()))
    rows = [_contribution_row(person, name, parts) for name in names[:most]]
    totals: list[ContributionRow] = [
        ("bias", "", lambda one: signed(one.bias)),
        ("decision value", "", lambda one: signed(one.value)),
        ("decision", "", lambda one: short(person.decision(one))),
    ]
    columns: tuple[Column[ContributionRow], ...] = (
        Column("feature", "feature", lambda row: row[0], is_word=True),
        Column("value", "value", lambda row: row[1], is_word=True),
        *map(_contribution_column, shown),
    )
    hidden = len(names) - most
    notes = (
        "the sum of all numbers is the decision value; from 0 on the decision is favourable",
        *((f"not shown: {counted(hidden, 'feature')} that weigh less; --json has all",) if hidden > 0 else ()),
    )
    return Table.of("What weighs how much", columns, [*rows, *totals], notes=notes)


def _contribution_row(person: Person, name: str, parts: Mapping[int, Mapping[str, float]]) -> ContributionRow:
    return short(name), _cell(person, name), lambda one: signed(parts[one.rank][name])


def _contribution_column(one: PersonDecision) -> Column[ContributionRow]:
    return Column(f"model_{one.rank}", f"model {one.rank}", lambda row: row[2](one))


def nearest_table(person: Person) -> Iterator[Table]:
    """Yield a table of the weights that differ most between model 1 and the model at the flip price, if known."""
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
    """Return the decisions that a short table shows: of model 1, the selected model, then the best models by rank."""
    wanted = [1, person.selected or 1, *(one.rank for one in person.decisions)]
    ranks = list(dict.fromkeys(wanted))[:FEW_MODELS]
    return tuple(one for one in person.decisions if one.rank in ranks)


def _models(person: Person, shown: Sequence[PersonDecision]) -> Table:
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
    return person.but(decisions=tuple(one.but(contributions=one.contributions[:EMBEDDED]) for one in person.decisions))
