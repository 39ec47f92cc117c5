"""How to read the strip, the grid and the guardrails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import GapChange, GuardCheck
from fairenum.document.consequences import Reversal
from fairenum.document.rates import GroupRate
from fairenum.document.terms import Verdict
from fairenum.rendering.numbers import share
from fairenum.report.wording import GAPS, reference_name, short
from fairenum.report.wording.audit import judged

FEW = "°"
SELECTED_BY = "*: the gap that models are selected by"
STATUS = "broken: all of the interval lies beyond the limit; holds: all of it within; beyond: measured so, not proven"
RATES: dict[GroupRate, str] = {
    "selection_rate": "selection rate",
    "true_positive_rate": "true positive rate",
    "false_positive_rate": "false positive rate",
    "precision": "precision",
    "base_rate": "base rate",
}
NARROW: dict[GroupRate, str] = {
    "selection_rate": "selected",
    "true_positive_rate": "TPR",
    "false_positive_rate": "FPR",
    "precision": "PPV",
    "base_rate": "base",
}
GRID = (
    "base: share of favourable labels; TPR, FPR: selected of those with a favourable and an unfavourable label; PPV: "
    "favourable labels among the selected"
)


def gap_name(cell: GapChange) -> str:
    """Name a gap, with the marks that the legend explains."""
    return f"{'*' if cell.is_claim else ''}{GAPS[cell.metric]}{FEW if cell.is_coarse else ''}"


def legend(document: AuditDocument, cells: Sequence[GapChange]) -> Iterator[str]:
    """Say what the words and the limits mean."""
    yield f"{SELECTED_BY}; change: {_levels(cells)}, {judged(document)}"
    found = {cell.verdict for cell in cells}
    margin = f"{document.config.same_within:g}"
    words = {
        Verdict.FAIRER: "fairer: the gap is smaller",
        Verdict.LESS_FAIR: "less fair: it is larger",
        Verdict.SAME: f"same: it changes by at most {margin}",
        Verdict.OPEN: "open: these rows do not tell",
    }
    yield "; ".join(text for verdict, text in words.items() if verdict in found) or "nothing can be compared"
    if any(cell.is_coarse for cell in cells):
        yield f"{FEW}: fewer than {document.config.min_group_size} rows of a group stand behind it, so it is left open"


def _levels(cells: Sequence[GapChange]) -> str:
    """Say with which confidence limits hold: those of the claim, and those of the others, which share what is left."""
    (claim, *_), others = cells, {f"{100 * cell.confidence:.3g}" for cell in cells if not cell.is_claim}
    level = f"{100 * claim.confidence:.3g}"
    if others <= {level}:
        return f"with its {level} % interval"
    return f"its interval has {level} % for the claim, {' or '.join(sorted(others))} % for each other gap"


def first_legend(document: AuditDocument) -> tuple[str, ...]:
    """Say the same where no change is shown."""
    return (f"{SELECTED_BY}; with {100 * document.config.confidence:g} % intervals",)


def guards(document: AuditDocument) -> tuple[str, ...]:
    """Say how to read guardrails."""
    change = f"a signed limit is about the change against {reference_name(document)}"
    return f"{change}; the holdout's value has its interval", STATUS


def status(check: GuardCheck) -> str:
    """Say what became of a guardrail; one that is only measured to be broken is not proven to be."""
    return "beyond" if check.status == "open" and not check.is_kept else check.status


def reversal(found: Reversal) -> str:
    """Say that the order of two groups is reversed."""
    (behind, ahead), low, high = map(short, found.names), found.behind, found.ahead
    return (
        f"the order is reversed in {GAPS[found.cell.metric]}: {RATES[found.rate]} of {behind} {share(low.first)} to "
        f"{share(low.selected)}, of {ahead} {share(high.first)} to {share(high.selected)}"
    )
