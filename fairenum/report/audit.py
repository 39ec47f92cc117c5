"""An audit as a page: in full, arranged for a certain reader, or in brief."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from msgspec.structs import asdict

from fairenum.document.audit import AuditDocument
from fairenum.document.consequences import other_model
from fairenum.document.table import TableFacts
from fairenum.rendering.numbers import counted, estimate, percent
from fairenum.rendering.page import Block, Facts, Items, Page, Section, Table, Tile
from fairenum.rendering.text import file_name, plain, shortened
from fairenum.report import (
    arbitrariness,
    attack,
    bias_audit,
    choice,
    exploration,
    features,
    grid,
    groups,
    memo,
    models,
    possible,
    scores,
    strip,
)
from fairenum.report.embedded import copy_of
from fairenum.report.models import training_loss
from fairenum.report.rules import Rule, judge
from fairenum.report.wording import (
    GAPS,
    GROUP_WIDTH,
    IMPACT_RATIO,
    VALUE_WIDTH,
    cautions,
    experiments,
    method,
    model_heading,
    model_title,
    performance_of,
    profiles,
)
from fairenum.report.wording import audit as wording
from fairenum.report.wording.arbitrariness import loss
from fairenum.report.wording.headline import headline, is_good_news


@dataclass(frozen=True, slots=True)
class Profile:
    """How a page is arranged: its kicker, what is said before anything else, its sections, and a headline of its own.

    Attributes
    ----------
    headline
        Stands before the verdict, which is then the first finding; None where the verdict is the headline.
    """

    kicker: str
    notice: str
    sections: Callable[[AuditDocument], Iterator[Section]]
    headline: Callable[[AuditDocument], str] | None = None

    def dated(self, day: date | None) -> str:
        """Write the notice with its date."""
        return f"{(day or date.today()).isoformat()}. {self.notice}" if self.notice else ""


def audit_page(
    document: AuditDocument, *, rules: Iterable[Rule] = (), profile: str | None = None, day: date | None = None
) -> Page:
    """Put an audit on a page: for everybody, or arranged by one of `PROFILES`."""
    arranged = PROFILES[profile]
    page = _page(document, rules, arranged.sections)
    page = replace(page, kicker=arranged.kicker, notice=arranged.dated(day), tiles=tuple(_tiles(document)))
    if arranged.headline is None:
        return page
    lead = arranged.headline(document)
    return replace(page, headline=lead, findings=(page.headline, *page.findings), is_good_news=False)


def brief_page(document: AuditDocument, *, rules: Iterable[Rule] = (), all_models: bool = False) -> Page:
    """Put an audit on a page for 80 columns; with all models, or the telling ones alone."""
    return _page(document, rules, partial(_brief, all_models=all_models))


def _page(
    document: AuditDocument, rules: Iterable[Rule], sections: Callable[[AuditDocument], Iterator[Section]]
) -> Page:
    failed = experiments.attack_warnings(document.attack) if document.attack else ()
    return Page(
        title=f"Fairness audit of {wording.name(document)}",
        name=wording.name(document),
        kicker="Fairness audit",
        subject=wording.subject(document),
        headline=headline(document),
        findings=tuple(wording.findings(document)),
        warnings=(*cautions.warnings(document), *failed),
        sections=tuple(sections(document)),
        copy=copy_of(document),
        copy_name=file_name(document.dataset.name, "json"),
        checks=tuple(judge(document, rule).check for rule in rules),
        is_good_news=is_good_news(document),
        strip=strip.strip(document),
    )


def _tiles(document: AuditDocument) -> Iterator[Tile]:
    """Give the numbers to see first."""
    metric, performance = document.selection.tolerances.metric, performance_of(document)
    shown = [(model_heading(rank), document.member(rank).scores.holdout) for rank in document.shortlist]
    yield from (Tile.of(f"{GAPS[metric]} gap, {name}", estimate(one.gap(metric))) for name, one in shown)
    if document.incumbent:
        ratios = ((name, estimate(one.demographic_parity_ratio)) for name, one in shown)
        yield from (Tile.of(f"{IMPACT_RATIO}, {name}", ratio) for name, ratio in ratios)
    yield from (Tile.of(f"{performance}, {name}", estimate(one.performance)) for name, one in shown)
    if chosen := other_model(document):
        yield Tile(f"training loss, model {chosen.rank}", training_loss(chosen), "above the best, on all rows")
    if priced := document.arbitrariness:
        words = f"by some model within {loss(priced.eps)}, listed or not"
        yield Tile("people decided otherwise", percent(priced.overall.ambiguity.least), words)
    elif found := document.multiplicity:
        yield Tile(
            "rows decided in more than one way", percent(found.ambiguity), f"by {counted(found.models, 'model')}"
        )


def _brief(document: AuditDocument, *, all_models: bool) -> Iterator[Section]:
    ranks = document.ranks if all_models else models.shown_ranks(document)
    yield from strip.guardrails(document)
    yield from grid.brief_grid(document)
    yield Section.of_table("models", models.ranked_models(document, ranks))
    yield Section.of_table("choice", choice.side_by_side(document, brief=True))
    yield from _methods(document)
    for place, table in enumerate(one for one in document.group_tables if one.rank in _brief_ranks(document)):
        yield Section.of_table(f"groups-{place + 1}", groups.impact(table))
    yield from scores.model_score_sections(document, is_brief=True)
    yield from arbitrariness.brief_sections(document)
    yield from possible.brief_sections(document)
    yield from features.brief_sections(document)
    if document.attack:
        yield attack.attack_section(document.attack)


def _brief_ranks(document: AuditDocument) -> set[int]:
    """Return whose groups a brief page has room for: the model in use, and the selected one or model 1."""
    own = document.selection.rank or (None if document.incumbent else 1)
    return {rank for rank in (0, own) if rank is not None}


def _standard(document: AuditDocument) -> Iterator[Section]:
    """Arrange a page for everybody."""
    yield from strip.guardrails(document)
    yield from grid.grid(document)
    yield models.explored(document)
    yield choice.chosen(document)
    yield from exploration.committed(document)
    yield groups.selected_groups(document)
    yield from _beside(document)
    if sum(model.origin == "exact" for model in document.models) > 1:
        yield models.by_rank(document)
    yield from _rest(document)


def _memo(document: AuditDocument) -> Iterator[Section]:
    """Arrange a memo on less discriminatory alternatives."""
    yield from memo.memo(document)
    yield from exploration.committed(document)
    yield from strip.guardrails(document)
    yield from grid.grid(document)
    yield from _beside(document)
    yield from _rest(document)
    yield memo.followed()


def _bias_audit(document: AuditDocument) -> Iterator[Section]:
    """Arrange what a bias audit under New York City's Local Law 144 publishes first: impact ratios by category."""
    told = document.incumbent
    undecided = told.undecided if told else 0
    without = (("without a decision", profiles.without_decision(undecided)),) if undecided else ()
    facts = (*profiles.about_data(document.config), *without)
    yield bias_audit.ratios_section(profiles.decided_about(document), facts, _tools(document))
    yield from _standard(document)
    yield bias_audit.followed()


def _tools(document: AuditDocument) -> list[bias_audit.Tool]:
    """Return the models as what a bias audit is about: the one in use, model 1, and the selected one."""
    scored = {one.rank: tuple(column.scoring for column in one.score.columns) for one in document.scores}
    return [
        bias_audit.Tool(
            model_title(document, rank),
            tuple(table for table in document.group_tables if table.rank == rank),
            scored.get(rank, ()),
            is_lower_better=rank == 0 and document.incumbent is not None and document.incumbent.is_lower_better,
        )
        for rank in document.shortlist
    ]


def _beside(document: AuditDocument) -> Iterator[Section]:
    yield from _methods(document)
    yield from possible.sections(document)


def _methods(document: AuditDocument) -> Iterator[Section]:
    return (Section.of_table("methods", table) for table in models.other_methods(document))


def _rest(document: AuditDocument) -> Iterator[Section]:
    yield from scores.model_score_sections(document)
    yield from features.sections(document)
    yield from arbitrariness.sections(document)
    if document.multiplicity:
        yield groups.disagreement(document.multiplicity)
    if document.attack:
        yield attack.attack_section(document.attack)
    steps, limits = Items(tuple(method.steps(document))), Items(tuple(method.limits(document)))
    yield Section("method", "Method and limits", (steps, limits))
    yield Section("setting", "Configuration", tuple(_setting(document)))


def _setting(document: AuditDocument) -> Iterator[Block]:
    """Give the whole configuration, the environment and the table."""
    environment, data = document.environment, document.dataset
    packages = {"python": environment.python, **environment.packages}
    versions = ", ".join(f"{name} {version}" for name, version in packages.items())
    facts = [("data", data.name), ("fingerprint (sha256)", data.fingerprint)]
    if solver := environment.solver:
        facts.append(("solver", f"{solver.name} {solver.version}, {solver.provider}"))
    facts.append(("versions", versions))
    if document.options_file:
        facts.append(("options from", document.options_file))
    yield Facts(tuple((name, shortened(text, VALUE_WIDTH)) for name, text in facts))
    rows = tuple((plain(name), shortened(text, VALUE_WIDTH)) for name, text in options(document).items())
    yield Table("Options as they were resolved", ("option", "value"), rows, names=2, is_folded=True)
    yield _features(data)


def options(document: AuditDocument) -> Mapping[str, str]:
    """Give every option by its name, and those that had to be resolved as they were asked for, too."""
    data, resolved = document.dataset, document.config.options
    columns = {"label": data.label, "favourable": data.favourable, "sensitive": data.sensitive_columns}
    asked = {f"{name} asked for": value for name, value in asdict(document.requested).items()}
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in {**columns, **resolved, **asked}.items()
    }


def _features(data: TableFacts) -> Table:
    rows = tuple((shortened(one.name, GROUP_WIDTH), one.kind, str(one.missing)) for one in data.features)
    return Table("Features", ("name", "kind", "missing cells"), rows, names=2, is_folded=True)


PROFILES: Mapping[str | None, Profile] = {
    None: Profile("Fairness audit", "", _standard),
    "lda": Profile(memo.KICKER, profiles.MEMO, _memo),
    "ll144": Profile(
        bias_audit.KICKER, profiles.BIAS_AUDIT, _bias_audit, lambda one: bias_audit.headline(_tools(one)[0])
    ),
}
