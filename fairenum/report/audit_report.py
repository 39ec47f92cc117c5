"""The page of an audit: in full, arranged for a kind of reader, or in brief."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from msgspec.structs import asdict

from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.cautions import caution_texts
from fairenum.document.consequences import claim_of, other_model
from fairenum.document.models import AuditedModel, Incumbent, Multiplicity
from fairenum.document.table_facts import TableFacts
from fairenum.document.value import Estimate
from fairenum.document.words import (
    GAP_NAMES,
    GROUP_WIDTH,
    IMPACT_RATIO,
    IN_USE,
    LONGEST,
    TABLE_WIDTH,
    VALUE_WIDTH,
    groups_between,
    model_heading,
    model_name,
    model_title,
    performance_of,
    reference_name,
    short,
    with_article,
)
from fairenum.render.page import Block, Facts, Items, Page, Section, Table, Tile
from fairenum.report import (
    ambiguity_section,
    attack_report,
    choice_section,
    choice_words,
    exploration_page,
    features_section,
    groups_section,
    memo,
    method_section,
    models_section,
    parity_range_section,
    profiles,
    scores_section,
    strip_section,
)
from fairenum.report.choice_words import constant_model_remedies, how_judged, reason
from fairenum.report.embedded_copy import copy_of
from fairenum.report.headline import headline, is_good_news
from fairenum.report.rules import Rule, judge
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
    """Return the name of the audited table, shortened for a page."""
    return shortened(document.dataset.name, TABLE_WIDTH)


def subject(document: AuditDocument) -> str:
    """Return a phrase that describes the audited table: rows, features, label and groups.

    Where they apply, it adds the model in use, weights, the column that rows were split by, and the decision value from
    which on models decide favourably.
    """
    data = document.dataset
    columns = [short(column) for column in data.sensitive_columns]
    compared = f"groups by {sentence_list(columns)}" if columns else "no sensitive column"
    size = f"{counted(data.rows, 'row')}, {counted(len(data.features), 'feature')}"
    favourable = f"favourable: {short(data.label)} = {short(data.favourable)}"
    weighted = f"rows weighted by {short(data.weights.column)}" if data.weights else ""
    treated = (_in_use(document.incumbent), weighted, _split_by(data), method_section.operating_point(document))
    return f"{name(document)}: " + "; ".join([size, favourable, compared, *filter(None, treated)])


def _in_use(incumbent: Incumbent | None) -> str:
    """Return a phrase with the name and cutoff (if any) of the model in use; empty if there is no such model."""
    if incumbent is None:
        return ""
    side = "up to" if incumbent.is_lower_better else "from"
    cut = "" if incumbent.cutoff is None else f" {side} {incumbent.cutoff:.6g}"
    return f"in use: {short(incumbent.name)}{cut}"


def _split_by(data: TableFacts) -> str:
    """Return a phrase with the column that rows were split by and, for a split by time, the start of each part."""
    origin = data.origin
    begins = zip(("selection", "holdout")[-len(origin.starts) :], origin.starts, strict=True) if origin.starts else ()
    starts = ", ".join(f"{part} from {short(time)}" for part, time in begins)
    column = f"split by {short(origin.column)}" if origin.column else ""
    return f"{column} ({starts})" if column and starts else column


def findings(document: AuditDocument) -> Iterator[str]:
    """Yield sentences on the gap, the choice with reason and evidence, disagreement of models, and the next step."""
    selection = document.selection
    yield from _in_use_sentence(document)
    if selection.column is not None:
        yield _gap_sentence(document, selection.column)
    yield capitalised(shortened(reason(document), LONGEST)) + "."
    yield from constant_model_remedies(document)
    if selection.verdict is not None and document.selected:
        yield _change_sentence(document, document.selected)
    if words := choice_words.proposal_status(document):
        yield shortened(words, LONGEST)
    yield from choice_words.claims_made(document)
    yield from choice_words.other_confirmed(document)
    if document.explanation:
        yield choice_section.left_out(document, document.explanation)
    if document.multiplicity and document.multiplicity.models > 1:
        yield _multiplicity_sentence(document.multiplicity, document.dataset.weights is not None)
    if document.ambiguity:
        yield ambiguity_section.finding(document, document.ambiguity)
    yield from choice_words.next_step(document)


def _in_use_sentence(document: AuditDocument) -> Iterator[str]:
    """Yield a sentence with gap and lowest impact ratio of the model in use, on all rows that it decided."""
    measures = document.incumbent_measures
    if measures is None or (found := measures.of_column(document.selection.column)) is None:
        return
    metric = document.selection.tolerances.metric
    yield (
        f"On all {counted(measures.rows, 'row')} that it decided the {GAP_NAMES[metric]} difference of {IN_USE} by "
        f"{short(found.column)} is {estimate(found.scores.gap(metric))}; its lowest impact ratio is "
        f"{estimate(found.scores.ratio('demographic_parity_ratio'))}."
    )


def _gap_sentence(document: AuditDocument, column: str) -> str:
    """Return a sentence with gap and performance on the holdout of model 1 and, if there is one, the model in use."""
    metric, performance, first = document.selection.tolerances.metric, performance_of(document), document.reference
    scores = first.scores.holdout
    sentence = (
        f"On the holdout ({counted(document.dataset.splits.holdout, 'row')}) the {GAP_NAMES[metric]} difference of "
        f"{model_name(first.rank)} by {short(column)} is {estimate(scores.gap(metric))}; its {performance} is "
        f"{share(scores.performance.value)}."
    )
    for rank in {0, 1} - {first.rank} if document.incumbent else ():
        other = document.member(rank).scores.holdout
        at = f"{with_article(performance)} of {share(other.performance.value)}"
        sentence += f" That of {model_name(rank)} is {estimate(other.gap(metric))}, at {at}."
    return sentence


def _change_sentence(document: AuditDocument, chosen: AuditedModel) -> str:
    """Return a sentence on how the selected model changes the gap, and how many decisions it changes."""
    rows, flips = counted(document.dataset.splits.holdout, "row"), _flipped(document, chosen)
    claim = claim_of(document)
    if flips == 0 or claim is None:
        return f"It decides all {rows} of the holdout as {reference_name(document)} does."
    change = f"the gap{groups_between(claim, ())} changes by {estimate(claim.change, signed)}, {how_judged(document)}."
    if flips is None:
        return f"Against {reference_name(document)} {change}"
    return f"It decides {flips} of {rows} of the holdout differently; {change}"


def _flipped(document: AuditDocument, chosen: AuditedModel) -> int | None:
    """Return how many holdout rows a model and the reference model decide differently; None if no count was saved."""
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
    """The arrangement of an audit's page for one kind of reader.

    If the profile has a `headline`, the verdict becomes the first finding, and the profile places the strip of gaps
    among its sections; otherwise the verdict is the headline, and the strip stands before all sections.
    """

    kicker: str
    notice: str
    sections: Callable[[AuditDocument], Iterator[Section]]
    headline: Callable[[AuditDocument], str] | None = None


def audit_page(
    document: AuditDocument, *, rules: Iterable[Rule] = (), profile: str | None = None, day: date | None = None
) -> Page:
    """Return the full page of an audit, arranged by the entry `profile` of `PROFILES`; None is the standard one."""
    arranged = PROFILES[profile]
    page = _page(document, rules, arranged.sections)
    notice = f"{(day or date.today()).isoformat()}. {arranged.notice}" if arranged.notice else ""
    page = replace(page, kicker=arranged.kicker, notice=notice, tiles=tuple(_tiles(document)))
    if arranged.headline is None:
        return page
    lead = arranged.headline(document)
    findings = (page.headline, *page.findings)
    return replace(page, headline=lead, findings=findings, is_good_news=False, strip=None)


def brief_page(document: AuditDocument, *, rules: Iterable[Rule] = (), all_models: bool = False) -> Page:
    """Return a page of an audit that fits 80 columns and shows the main models or, with `all_models`, every model."""
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
    """Yield the main numbers of an audit, which a page shows in large type, each with its label."""
    metric, performance = document.selection.tolerances.metric, performance_of(document)
    shown = [(model_heading(rank), document.member(rank).scores.holdout) for rank in document.shortlist]
    yield from (Tile.of(f"{GAP_NAMES[metric]} gap, {name}", estimate(one.gap(metric))) for name, one in shown)
    if document.incumbent:
        yield from (Tile.of(f"{IMPACT_RATIO}, {name}", estimate(ratio)) for name, ratio in _impact_ratios(document))
    yield from (Tile.of(f"{performance}, {name}", estimate(one.performance)) for name, one in shown)
    if chosen := other_model(document):
        loss = models_section.training_loss(chosen)
        yield Tile(f"training loss, model {chosen.rank}", loss, "above the best, on all rows")
    if priced := document.ambiguity:
        words = f"by some model within {ambiguity_section.loss(priced.eps)}, listed or not"
        yield Tile("people decided differently", percent(priced.overall.ambiguity.least), words)
    elif found := document.multiplicity:
        models = f"by {counted(found.models, 'model')}"
        yield Tile("rows decided in more than one way", percent(found.ambiguity), models)


def _impact_ratios(document: AuditDocument) -> Iterator[tuple[str, Estimate]]:
    """Yield name and lowest impact ratio of the models shown, that of the model in use on all rows that it decided."""
    for rank in document.shortlist:
        name, measures = model_heading(rank), document.incumbent_measures if rank == 0 else None
        own = measures.of_column(document.column) if measures else None
        scores = document.member(rank).scores.holdout if own is None else own.scores
        where = f", all {counted(measures.rows, 'row')}" if measures and own else ""
        yield f"{name}{where}", scores.ratio("demographic_parity_ratio")


def _brief(document: AuditDocument, *, all_models: bool) -> Iterator[Section]:
    ranks = document.ranks if all_models else models_section.shown_ranks(document)
    yield from groups_section.in_use(document, is_brief=True)
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
        yield attack_report.attack_section(document.attack, is_cut=document.config.decide != "sign")


def _brief_ranks(document: AuditDocument) -> set[int]:
    """Return the ranks of the models whose selection rates by group a brief page shows.

    They are the model in use (0), unless it has a section of its own, and the selected model, or model 1 if there is
    neither.
    """
    own = document.selection.rank or (None if document.incumbent else 1)
    return {rank for rank in (None if document.incumbent_measures else 0, own) if rank is not None}


def _standard(document: AuditDocument) -> Iterator[Section]:
    yield from groups_section.in_use(document)
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
    yield from memo.memo(document)
    yield from groups_section.in_use(document)
    yield from exploration_page.committed(document)
    yield from strip_section.guardrails(document)
    yield from strip_section.grid(document)
    yield from _beside(document)
    yield from _rest(document)
    yield memo.followed()


def _bias_audit(document: AuditDocument) -> Iterator[Section]:
    facts = profiles.about_data(document.config, document.incumbent.undecided if document.incumbent else 0)
    yield profiles.ratios_section(profiles.decided_about(document), facts, _tools(document))
    if found := strip_section.strip(document):
        yield Section.of_table("changes", found.table)
    yield from _standard(document)
    yield profiles.followed()


def _tools(document: AuditDocument) -> list[profiles.Tool]:
    """Return the tools that a bias audit reports on: the model in use, if any, model 1, and the selected model.

    The model in use is on all rows that it decided, if the run measured it so, the others are on the holdout.
    """
    own = document.incumbent_measures
    scored = {one.rank: tuple(column.scoring for column in one.score.columns) for one in document.scores}
    return [
        profiles.Tool(
            model_title(document, rank),
            own.tables if own and rank == 0 else tuple(one for one in document.group_tables if one.rank == rank),
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
        yield attack_report.attack_section(document.attack, is_cut=document.config.decide != "sign")
    steps, limits = Items(tuple(method_section.steps(document))), Items(tuple(method_section.limits(document)))
    yield Section("method", "Method and limits", (steps, limits))
    yield configuration(document, options(document), _features(document.dataset))


def configuration(document: JudgedDocument, options: Mapping[str, object], *more: Block) -> Section:
    """Return a section with the data, the environment and the options of a run, followed by the blocks `more`."""
    environment, data = document.environment, document.dataset
    facts = [("data", data.name), ("fingerprint (sha256)", data.fingerprint)]
    if solver := environment.solver:
        facts.append(("solver", f"{solver.name} {solver.version}, {solver.provider}"))
    packages = {"python": environment.python, **environment.packages}
    facts.append(("versions", ", ".join(f"{name} {version}" for name, version in packages.items())))
    if isinstance(document, AuditDocument) and document.options_file:
        facts.append(("options from", document.options_file))
    shown = Facts(tuple((name, shortened(text, VALUE_WIDTH)) for name, text in facts))
    rows = tuple((plain(name), shortened(_option_text(value), VALUE_WIDTH)) for name, value in options.items())
    table = Table("Options as they were resolved", ("option", "value"), rows, names=2, is_folded=True)
    return Section("setting", "Configuration", (shown, table, *more))


def options(document: AuditDocument) -> Mapping[str, str]:
    """Return the value of every option as text, by name.

    An option that the run had to resolve, such as an automatic C, appears twice: its value, and, under a name that ends
    in "asked for", what the user gave.
    """
    data, resolved = document.dataset, document.config.options
    columns = {"label": data.label, "favourable": data.favourable, "sensitive": data.sensitive_columns}
    asked = {f"{name} asked for": value for name, value in asdict(document.requested).items()}
    return {name: _option_text(value) for name, value in {**columns, **resolved, **asked}.items()}


def _option_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _features(data: TableFacts) -> Table:
    rows = tuple((shortened(one.name, GROUP_WIDTH), one.kind, str(one.missing)) for one in data.features)
    return Table("Features", ("name", "kind", "missing cells"), rows, names=2, is_folded=True)


PROFILES: Mapping[str | None, Profile] = {
    None: Profile("Fairness audit", "", _standard),
    "lda": Profile(memo.KICKER, profiles.MEMO, _memo),
    "ll144": Profile(profiles.KICKER, profiles.BIAS_AUDIT, _bias_audit, lambda one: profiles.headline(_tools(one)[0])),
}
