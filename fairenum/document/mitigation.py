"""The document of a comparison of guided search with other mitigations, over many splits."""

from __future__ import annotations

from typing import ClassVar

from fairenum.document.deciding import DecideText
from fairenum.document.header import Document
from fairenum.document.value import Estimate, Value


class Case(Value, frozen=True):
    """A bundled table, how many of its rows are trained on, and whether the sensitive columns are features, too.

    Attributes
    ----------
    decide
        Where every method is cut; those that cannot be cut there are left out.
    guards
        What a chosen model must not make worse on the rows it is chosen by. Methods that choose nothing are not bound
        by them, so a contest between equals has none.
    """

    data: str
    rows: int
    use_sensitive: bool = False
    decide: DecideText = "sign"
    guards: tuple[str, ...] = ()


class MethodScore(Value, frozen=True):
    """What a method does to the holdout of one split.

    Attributes
    ----------
    is_randomised
        Whether it decides by chance; its expected rates are scored then.
    needs_groups
        Whether it has to be told the group of whom it decides about.
    dominates_guided
        Whether it is as good as guided search in both, and better in one beyond the paired interval.
    selection_rate
        Share of the rows that it selects; null in runs that did not keep it.
    """

    method: str
    accuracy: float
    gap: float
    is_randomised: bool = False
    needs_groups: bool = False
    dominates_guided: bool = False
    selection_rate: float | None = None


class SplitTrial(Value, frozen=True):
    """One split.

    Attributes
    ----------
    guided_fits
        Time of the guided search in SVC fits on the same rows.
    left_out
        Training records that the guided model leaves out.
    objective_ratio
        Its objective as a share of that of model 1.
    errors
        Methods that failed, and why.
    """

    case: Case
    seed: int
    scores: tuple[MethodScore, ...]
    guided_fits: float
    left_out: int
    objective_ratio: float
    errors: tuple[str, ...]


class MethodSummary(Value, frozen=True):
    """Medians of one method over splits, with bootstrap intervals.

    Attributes
    ----------
    accuracy_change, gap_ratio
        Against model 1 of the same split.
    dominates_guided
        Share of splits in which it does.
    """

    method: str
    is_randomised: bool
    needs_groups: bool
    splits: int
    accuracy: Estimate
    gap: Estimate
    accuracy_change: Estimate
    gap_ratio: Estimate
    dominates_guided: float
    selection_rate: Estimate = Estimate()


class CaseSummary(Value, frozen=True):
    """All methods on the splits of one case.

    Attributes
    ----------
    not_dominated
        Share of splits in which no method dominates guided search.
    """

    case: Case
    splits: int
    methods: tuple[MethodSummary, ...]
    not_dominated: float
    guided_fits: Estimate
    left_out: Estimate
    objective_ratio: Estimate


class MitigationDocument(Document, frozen=True, kw_only=True, tag="mitigation"):
    """Guided search against what else a user would pick, over many splits."""

    title: ClassVar[str] = "comparison of mitigations"
    command: ClassVar[str] = "make mitigation"

    cases: tuple[CaseSummary, ...]
    trials: tuple[SplitTrial, ...]
