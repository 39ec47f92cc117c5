"""One person as a page: what each listed model decides, and what weighs most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fairenum.document.models import Cell
from fairenum.document.person import Person, PersonDecision
from fairenum.rendering.numbers import UNDEFINED, counted, signed
from fairenum.rendering.page import Page, Section, Table
from fairenum.rendering.text import shortened
from fairenum.report.embedded import copy_of_value
from fairenum.report.wording import NAME_WIDTH, TABLE_WIDTH, short
from fairenum.report.wording import features as wording

FEW_MODELS, FEW_FEATURES, MANY_FEATURES = 12, 10, 60
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
        findings=tuple(wording.person_findings(person, shown)),
        warnings=tuple(wording.person_warnings(person)),
        sections=(
            Section.of_table("weighs", _contributions(person, shown, FEW_FEATURES if brief else MANY_FEATURES)),
            Section.of_table("models", _models(person, _few(person) if brief else person.decisions)),
        ),
        copy=copy_of_value(_shortened(person), wording.PERSON_COPY),
        copy_name="fairenum-person.json",
    )


def _contributions(person: Person, shown: Sequence[PersonDecision], most: int) -> Table:
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
