"""The view: a document in words and formatted numbers, which every rendering shows and none changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairenum.report import sentences, tables
from fairenum.report.attack import AttackView, attack_view
from fairenum.report.rules import Judgement, Rule, judge
from fairenum.report.tables import Table
from fairenum.report.text import plain, shortened

SHOWN_MODELS = 12


@dataclass(frozen=True, slots=True)
class View:
    """An audit as a person reads it.

    Attributes
    ----------
    name
        Of the table.
    is_partial
        Whether the run was interrupted.
    subject
        What was audited.
    headline
        The verdict in one sentence.
    is_good_news
        Whether a fairer model was found and confirmed.
    findings
        The sentences behind the verdict.
    models, comparison, methods, groups
        The ranked models, model 1 beside the selected one, other mitigations if they were tried, and the groups of each
        sensitive column.
    judgements
        What became of the rules.
    warnings
        What to beware of.
    files
        What was written, and where.
    attack
        What label flips do, if that was simulated.
    """

    name: str
    is_partial: bool
    subject: str
    headline: str
    is_good_news: bool
    findings: tuple[str, ...]
    models: Table
    comparison: Table
    methods: tuple[Table, ...]
    groups: tuple[Table, ...]
    judgements: tuple[Judgement, ...]
    warnings: tuple[str, ...]
    files: tuple[tuple[str, str], ...]
    attack: AttackView | None = None


def view(
    document: Mapping[str, Any],
    *,
    rules: Iterable[Rule] = (),
    files: Iterable[tuple[str, str]] = (),
    all_models: bool = False,
) -> View:
    """Put a document in words.

    Parameters
    ----------
    document
        Of an audit, fresh or saved.
    rules
        To judge it by.
    files
        What was written: kinds of files and their paths.
    all_models
        Show every model, not only the best ones and those that matter.
    """
    ranks = range(1, len(document["models"]) + 1) if all_models else shown_ranks(document)
    shown = document["selection"]["rank"] or 1
    return View(
        name=shortened(document["dataset"]["name"], 40),
        is_partial=document["status"] == "interrupted",
        subject=sentences.subject(document),
        headline=sentences.headline(document),
        is_good_news=document["selection"]["is_fairer"],
        findings=tuple(sentences.findings(document)),
        models=tables.ranked_models(document, ranks),
        comparison=tables.side_by_side(document),
        methods=(tables.other_methods(document),) if document["baselines"] else (),
        groups=tuple(tables.adverse_impact(table) for table in document["group_tables"] if table["rank"] == shown),
        judgements=tuple(judge(document, rule) for rule in rules),
        warnings=sentences.warnings(document),
        files=tuple((kind, plain(path)) for kind, path in files),
        attack=attack_view(document["attack"]) if "attack" in document else None,
    )


def shown_ranks(document: Mapping[str, Any], limit: int = SHOWN_MODELS) -> Sequence[int]:
    """Choose models for a short table: the first, the selected one, the Pareto front, then the best."""
    selection = document["selection"]
    wanted = [1, selection["rank"] or 1, *selection["pareto_front"], *range(1, len(document["models"]) + 1)]
    return sorted(list(dict.fromkeys(wanted))[:limit])
