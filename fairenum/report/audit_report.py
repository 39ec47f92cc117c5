"""An audit as a page: in full, arranged for a certain reader, or in brief."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from msgspec.structs import asdict

from fairenum.document.audit_document import AuditDocument
from fairenum.document.cautions import caution_texts
from fairenum.document.consequences import claim_of, other_model
from fairenum.document.models import AuditedModel, Incumbent, Multiplicity
from fairenum.document.table_facts import TableFacts
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    IMPACT_RATIO,
    LONGEST,
    TABLE_WIDTH,
    VALUE_WIDTH,
    model_heading,
    model_name,
    model_title,
    performance_of,
    reference_name,
    short,
)
from fairenum.render.page import Block, Facts, Items, Page, Section, Table, Tile
from fairenum.report import (
    ambiguity_section,
    attack_report,
    choice_section,
    exploration_page,
    features_section,
    groups_section,
    memo,
    method_section,
    models_section,
    parity_range_section,
    profiles,
    scores_section,
    standing,
    strip_section,
)
from fairenum.report.ambiguity_section import loss
from fairenum.report.choice_section import left_out
from fairenum.report.embedded_copy import copy_of
from fairenum.report.headline import headline, is_good_news
from fairenum.report.method_section import operating_point
from fairenum.report.models_section import training_loss
from fairenum.report.rules import Rule, judge
from fairenum.report.standing import judged, reason, remedies, with_article
from fairenum.runtime.formatting import (
    capitalised,
    counted,
    estimate,
    file_name,
    percent,
    plain,
    sentence_list,
    share,
    shortened,
    signed,
)


def name(document: AuditDocument) -> str:
    """Call the table by its name."""
    return shortened(document.dataset.name, TABLE_WIDTH)


def subject(document: AuditDocument) -> str:
    """Say what was audited."""
    data = document.dataset
    columns = [short(column) for column in data.sensitive_columns]
    compared = f"groups by {sentence_list(columns)}" if columns else "no sensitive column"
    size = f"{counted(data.rows, 'row')}, {counted(len(data.features), 'feature')}"
    parts = (_in_use(document.incumbent), _weighted_by(data), _split_by(data), operating_point(document))
    more = [part for part in parts if part]
    favourable = f"favourable: {short(data.label)} = {short(data.favourable)}"
    return f"{name(document)}: " + "; ".join([size, favourable, compared, *more])


def _in_use(incumbent: Incumbent | None) -> str:
    """Name the model in use and, where only a score is known, the scores that it selects."""
    if incumbent is None:
        return ""
    side = "up to" if incumbent.is_lower_better else "from"
    cut = "" if incumbent.cutoff is None else f" {side} {incumbent.cutoff:.6g}"
    return f"in use: {short(incumbent.name)}{cut}"


def _weighted_by(data: TableFacts) -> str:
    return f"rows weighted by {short(data.weights.column)}" if data.weights else ""


def _split_by(data: TableFacts) -> str:
    """Say by which column rows were divided, and where the parts of a time begin."""
    origin = data.origin
    begins = zip(("selection", "holdout")[-len(origin.starts) :], origin.starts, strict=True) if origin.starts else ()
    starts = ", ".join(f"{part} from {short(time)}" for part, time in begins)
    column = f"split by {short(origin.column)}" if origin.column else ""
    return f"{column} ({starts})" if column and starts else column


def findings(document: AuditDocument) -> Iterator[str]:
    """Return the findings: inequality, the choice and its reason, certainty, disagreement, and the next step."""
    selection = document.selection
    if selection.column is not None:
        yield _gap_sentence(document, selection.column)
    yield capitalised(shortened(reason(document), LONGEST)) + "."
    yield from remedies(document)
    if selection.verdict is not None and document.selected:
        yield _change_sentence(document, document.selected)
    if words := standing.standing(document):
        yield shortened(words, LONGEST)
    yield from standing.confirmed(document)
    if document.explanation:
        yield left_out(document.explanation, is_against_incumbent=document.is_against_incumbent)
    if document.multiplicity and document.multiplicity.models > 1:
        yield _multiplicity_sentence(document.multiplicity, document.dataset.weights is not None)
    if document.ambiguity:
        yield ambiguity_section.finding(document, document.ambiguity)
    yield from standing.next_step(document)


def _gap_sentence(document: AuditDocument, column: str) -> str:
    metric, (rank, *others) = document.selection.tolerances.metric, _unselected(document)
    scores = document.member(rank).scores.holdout
    return (
        f"On the holdout ({counted(document.dataset.splits.holdout, 'row')}) the {GAP_NAMES[metric]} difference of "
        f"{model_name(rank)} by {short(column)} is {estimate(scores.gap(metric))}; its {performance_of(document)} is "
        f"{share(scores.performance.value)}.{''.join(_another(document, other) for other in others)}"
    )


def _unselected(document: AuditDocument) -> list[int]:
    """Return the reference, and the other one of model 1 and the model in use."""
    first = document.reference.rank
    return [first, *({0, 1} - {first} if document.incumbent else ())]


def _another(document: AuditDocument, rank: int) -> str:
    scores, metric = document.member(rank).scores.holdout, document.selection.tolerances.metric
    performance = f"{with_article(performance_of(document))} of {share(scores.performance.value)}"
    return f" That of {model_name(rank)} is {estimate(scores.gap(metric))}, at {performance}."


def _change_sentence(document: AuditDocument, chosen: AuditedModel) -> str:
    """State the change of the gap, which is known better than the two gaps."""
    rows, flips = counted(document.dataset.splits.holdout, "row"), flipped(document, chosen)
    claim = claim_of(document)
    if flips == 0 or claim is None:
        return f"It decides all {rows} of the holdout as {reference_name(document)} does."
    change = f"the gap changes by {estimate(claim.change, signed)}, {judged(document)}."
    if flips is None:
        return f"Against {reference_name(document)} {change}"
    return f"It decides {flips} of {rows} of the holdout otherwise; {change}"


def flipped(document: AuditDocument, chosen: AuditedModel) -> int | None:
    """Count the holdout rows that a model and the reference decide differently; None if that is not kept."""
    if not document.is_against_incumbent:
        return chosen.predictions_changed.holdout.rows
    if chosen.rank == 1:
        return document.reference.predictions_changed.holdout.rows
    if (flips := document.flips) is None or flips.rank != chosen.rank:
        return None
    return sum(one.gained + one.lost for one in next(iter(flips.by_column.values())))


def _multiplicity_sentence(found: Multiplicity, is_weighted: bool) -> str:
    by_weight = " by weight" if is_weighted else ""
    return (
        f"The {found.models} models decide {found.flipped} of {counted(found.rows, 'holdout row')} "
        f"({percent(found.ambiguity)}{by_weight}) in more than one way; one model differs from model 1 in up to "
        f"{percent(found.discrepancy)}{by_weight}."
    )


@dataclass(frozen=True, slots=True)
class Profile:
    """Arrangement of a page for a kind of reader: kicker, notice, sections, and perhaps a headline of its own.

    Such a headline stands before the verdict, which is then the first finding; with None the verdict is the headline.
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
    """Put an audit on a page for 80 columns, with all models or only the main ones."""
    return _page(document, rules, partial(_brief, all_models=all_models))


def _page(
    document: AuditDocument, rules: Iterable[Rule], sections: Callable[[AuditDocument], Iterator[Section]]
) -> Page:
    failed = attack_report.attack_warnings(document.attack) if document.attack else ()
    return Page(
        title=f"Fairness audit of {name(document)}",
        name=name(document),
        kicker="Fairness audit",
        subject=subject(document),
        headline=headline(document),
        findings=tuple(findings(document)),
        warnings=(*caution_texts(document), *failed),
        sections=tuple(sections(document)),
        copy=copy_of(document),
        copy_name=file_name(document.dataset.name, "json"),
        checks=tuple(judge(document, rule).check for rule in rules),
        is_good_news=is_good_news(document),
        strip=strip_section.strip(document),
    )


def _tiles(document: AuditDocument) -> Iterator[Tile]:
    """Return the main numbers, to be shown large."""
    metric, performance = document.selection.tolerances.metric, performance_of(document)
    shown = [(model_heading(rank), document.member(rank).scores.holdout) for rank in document.shortlist]
    yield from (Tile.of(f"{GAP_NAMES[metric]} gap, {name}", estimate(one.gap(metric))) for name, one in shown)
    if document.incumbent:
        ratios = ((name, estimate(one.ratio("demographic_parity_ratio"))) for name, one in shown)
        yield from (Tile.of(f"{IMPACT_RATIO}, {name}", ratio) for name, ratio in ratios)
    yield from (Tile.of(f"{performance}, {name}", estimate(one.performance)) for name, one in shown)
    if chosen := other_model(document):
        yield Tile(f"training loss, model {chosen.rank}", training_loss(chosen), "above the best, on all rows")
    if priced := document.ambiguity:
        words = f"by some model within {loss(priced.eps)}, listed or not"
        yield Tile("people decided otherwise", percent(priced.overall.ambiguity.least), words)
    elif found := document.multiplicity:
        yield Tile(
            "rows decided in more than one way", percent(found.ambiguity), f"by {counted(found.models, 'model')}"
        )


def _brief(document: AuditDocument, *, all_models: bool) -> Iterator[Section]:
    ranks = document.ranks if all_models else models_section.shown_ranks(document)
    yield from strip_section.guardrails(document)
    yield from strip_section.brief_grid(document)
    yield Section.of_table("models", models_section.ranked_models(document, ranks))
    yield Section.of_table("choice", choice_section.side_by_side(document, brief=True))
    yield from _methods(document)
    for place, table in enumerate(one for one in document.group_tables if one.rank in _brief_ranks(document)):
        yield Section.of_table(f"groups-{place + 1}", groups_section.impact(table))
    yield from scores_section.model_score_sections(document, is_brief=True)
    yield from ambiguity_section.brief_sections(document)
    yield from parity_range_section.brief_sections(document)
    yield from features_section.brief_sections(document)
    if document.attack:
        yield attack_report.attack_section(document.attack)


def _brief_ranks(document: AuditDocument) -> set[int]:
    """Return the models whose groups a brief page shows: the model in use, and the selected one or model 1."""
    own = document.selection.rank or (None if document.incumbent else 1)
    return {rank for rank in (0, own) if rank is not None}


def _standard(document: AuditDocument) -> Iterator[Section]:
    """Arrange a page for everybody."""
    yield from strip_section.guardrails(document)
    yield from strip_section.grid(document)
    yield models_section.explored(document)
    yield choice_section.chosen(document)
    yield from exploration_page.committed(document)
    yield groups_section.selected_groups(document)
    yield from _beside(document)
    if sum(model.origin == "exact" for model in document.models) > 1:
        yield models_section.by_rank(document)
    yield from _rest(document)


def _memo(document: AuditDocument) -> Iterator[Section]:
    """Arrange a memo on less discriminatory alternatives."""
    yield from memo.memo(document)
    yield from exploration_page.committed(document)
    yield from strip_section.guardrails(document)
    yield from strip_section.grid(document)
    yield from _beside(document)
    yield from _rest(document)
    yield memo.followed()


def _bias_audit(document: AuditDocument) -> Iterator[Section]:
    """Arrange a bias audit under New York City's Local Law 144, impact ratios by category first."""
    told = document.incumbent
    undecided = told.undecided if told else 0
    without = (("without a decision", profiles.without_decision(undecided)),) if undecided else ()
    facts = (*profiles.about_data(document.config), *without)
    yield profiles.ratios_section(profiles.decided_about(document), facts, _tools(document))
    yield from _standard(document)
    yield profiles.followed()


def _tools(document: AuditDocument) -> list[profiles.Tool]:
    """Return the tools of a bias audit: the model in use, model 1, and the selected model."""
    scored = {one.rank: tuple(column.scoring for column in one.score.columns) for one in document.scores}
    return [
        profiles.Tool(
            model_title(document, rank),
            tuple(table for table in document.group_tables if table.rank == rank),
            scored.get(rank, ()),
            is_lower_better=rank == 0 and document.incumbent is not None and document.incumbent.is_lower_better,
        )
        for rank in document.shortlist
    ]


def _beside(document: AuditDocument) -> Iterator[Section]:
    yield from _methods(document)
    yield from parity_range_section.sections(document)


def _methods(document: AuditDocument) -> Iterator[Section]:
    return (Section.of_table("methods", table) for table in models_section.other_methods(document))


def _rest(document: AuditDocument) -> Iterator[Section]:
    yield from scores_section.model_score_sections(document)
    yield from features_section.sections(document)
    yield from ambiguity_section.sections(document)
    if document.multiplicity:
        yield groups_section.disagreement(document.multiplicity)
    if document.attack:
        yield attack_report.attack_section(document.attack)
    steps, limits = Items(tuple(method_section.steps(document))), Items(tuple(method_section.limits(document)))
    yield Section("method", "Method and limits", (steps, limits))
    yield Section("setting", "Configuration", tuple(_setting(document)))


def _setting(document: AuditDocument) -> Iterator[Block]:
    """Show the whole configuration, the environment and the table."""
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
    """Return every option by its name, with the requested value beside those that had to be resolved."""
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
    "ll144": Profile(profiles.KICKER, profiles.BIAS_AUDIT, _bias_audit, lambda one: profiles.headline(_tools(one)[0])),
}
