"""One person as a page: what each listed model decides, and what weighs most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fairenum.document.models import Cell
from fairenum.document.person import Person, PersonDecision
from fairenum.document.value import Value
from fairenum.rendering.numbers import UNDEFINED, counted, signed
from fairenum.rendering.page import Page, Section, Table
from fairenum.rendering.text import shortened
from fairenum.report.embedded import copy_of_value
from fairenum.report.wording import NAME_WIDTH, TABLE_WIDTH, short, tolerance
from fairenum.report.wording import features as wording

FEW_MODELS, FEW_FEATURES, SOME_FEATURES, MANY_FEATURES = 12, 10, 30, 60
MAIN = 3  # contributions that a line has room for
EMBEDDED = 5  # contributions by model that a page carries


def person_page(person: Person, *, brief: bool = False) -> Page:
    """Put a person on a page; a brief one has the telling models and features alone."""
    shown = [one for one in person.decisions if one.rank in (1, person.selected)]
    return Page(
        title=f"A person decided by the models of {shortened(person.data, TABLE_WIDTH)}",
        name="person",
        kicker="One person, all models",
        subject=wording.person_subject(person),
        headline=wording.person_headline(person),
        findings=(*wording.person_findings(person, shown), *_settled(person)),
        warnings=tuple(wording.person_warnings(person)),
        sections=(
            Section.of_table("weighs", contributions_table(person, shown, FEW_FEATURES if brief else MANY_FEATURES)),
            *(Section.of_table("nearest", table) for table in nearest_table(person)),
            Section.of_table("models", _models(person, _few(person) if brief else person.decisions)),
        ),
        copy=copy_of_value(_shortened(person), wording.PERSON_COPY),
        copy_name="fairenum-person.json",
    )


class PersonWords(Value, frozen=True):
    """What models decide about a person, in words: those of a list, and all others that are near-optimal."""

    headline: str
    findings: tuple[str, ...]
    settled: tuple[str, ...]
    warnings: tuple[str, ...]
    weighs: Table | None
    nearest: Table | None


def person_words(person: Person, model: int | None) -> PersonWords:
    """Say what models decide about a person; what weighs in model 1, the chosen one, and another that is asked for."""
    wanted = (1, person.selected, model)
    shown = [one for one in person.decisions if one.rank in wanted]
    is_sum = any(one.contributions for one in shown)
    return PersonWords(
        headline=wording.person_headline(person),
        findings=tuple(wording.person_findings(person, shown)),
        settled=tuple(tolerance.settled(person.tolerance)) if person.tolerance else (),
        warnings=tuple(wording.person_warnings(person)),
        weighs=contributions_table(person, shown, SOME_FEATURES) if is_sum else None,
        nearest=next(nearest_table(person), None),
    )


def contributions_table(person: Person, shown: Sequence[PersonDecision], most: int) -> Table:
    """Show what features add to the decision values of model 1 and the selected one."""
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
        rows=tuple(rows),
        names=2,
        notes=(
            "the sum of all numbers is the decision value; from 0 on the decision is favourable",
            *((f"not shown: {counted(hidden, 'feature')} that weigh less; --json has all",) if hidden > 0 else ()),
        ),
    )


def _settled(person: Person) -> Iterator[str]:
    if person.tolerance:
        yield from tolerance.settled(person.tolerance)
    else:
        yield tolerance.NO_DATA


def nearest_table(person: Person) -> Iterator[Table]:
    """Show the weights that the nearest model that decides otherwise changes most, if it has any."""
    machine = person.tolerance and person.tolerance.machine
    if machine and machine.weights:
        yield Table(
            title=tolerance.TITLE,
            headings=("feature", "model 1", "nearest", "change"),
            rows=tolerance.weight_rows(machine),
            notes=(tolerance.NOTE,),
        )


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
    """Show what each model decides."""
    marked = [place for place, one in enumerate(shown) if one.rank == person.selected]
    return Table(
        title="What each model decides",
        headings=("model", "decision", "what weighs most", "decision value"),
        rows=tuple((_rank(person, one), short(person.decision(one)), _main(one), signed(one.value)) for one in shown),
        names=3,
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
