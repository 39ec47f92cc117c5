"""An assertion for test suites that decisions, or a model of an audit, keep fairness rules.

It works with pytest, unittest and any other test runner that reports an AssertionError, and imports none of them.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal, TypeVar, Unpack, overload

from fairenum.api import Result
from fairenum.document.keywords import MeasureOptions
from fairenum.document.measure_document import MeasureConfig
from fairenum.errors import ConfigError
from fairenum.runtime.hints import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import ArrayLike

    from fairenum.api import AuditResult, MeasureResult
    from fairenum.document.audit_document import JudgedDocument
    from fairenum.report.rules import Judgement
    from fairenum.tables.naming import Names

    Judged = TypeVar("Judged", AuditResult, MeasureResult)


WhenOpen = Literal["fail", "warn"]


class RuleLeftOpen(UserWarning):
    """Warns that a rule passed although it is open: the rows show neither that it is kept nor that it is violated."""


class MeasureArguments(MeasureOptions, total=False):
    """The keyword arguments of `fairenum.measure`."""

    score: str | None
    label: str | None
    favourable: object
    decision_favourable: object
    counts: bool
    config: MeasureConfig | None


@overload
def assert_fair(data: Judged, *, rules: str | Iterable[str], when_open: WhenOpen = "fail") -> Judged: ...


@overload
def assert_fair(
    data: str | Path | pd.DataFrame | Mapping[str, ArrayLike],
    decision: Names = (),
    sensitive: Names = (),
    *,
    rules: str | Iterable[str],
    when_open: WhenOpen = "fail",
    **measuring: Unpack[MeasureArguments],
) -> MeasureResult: ...


def assert_fair(
    data: AuditResult | MeasureResult | str | Path | pd.DataFrame | Mapping[str, ArrayLike],
    decision: Names = (),
    sensitive: Names = (),
    *,
    rules: str | Iterable[str],
    when_open: WhenOpen = "fail",
    **measuring: Unpack[MeasureArguments],
) -> AuditResult | MeasureResult:
    """Raise an AssertionError unless decisions keep every rule.

    Rules are written and judged as in ``fairenum measure --fail-on``: for every decision column, between the groups of
    the primary sensitive column. A rule is kept if the whole confidence interval of its metric is within the limit,
    violated if no part of the interval is, and open otherwise.

    Parameters
    ----------
    data
        Decisions as for `fairenum.measure` (a file, a frame, or arrays by name), or the result of `measure` or `audit`.
        Of an audit, the model in use is judged, or the selected model if there is none in use, on the holdout.
    decision, sensitive
        As for `fairenum.measure`. Rules are about one sensitive column; if several are given, `primary` names that one.
    rules
        One or several rules, such as ``"demographic_parity_ratio>=0.8"``. For an audit, "selected:", "incumbent:" or
        "best:" before a rule names the model that it is about.
    when_open
        Effect of an open rule. "fail", the default, raises an AssertionError, as a test with few rows would otherwise
        always pass. "warn" lets the rule pass with a `RuleLeftOpen` warning.
    **measuring
        Further arguments of `fairenum.measure` (``label="good", favourable="yes", confidence=0.99``).

    Returns
    -------
    MeasureResult or AuditResult
        The result that was judged.

    Raises
    ------
    AssertionError
        With every rule that is not kept, its estimate and interval, the rates of the groups, and what to do.
    FairenumError
        If nothing can be judged: no rules, an unknown metric, a missing column.
    """
    __tracebackhide__ = True  # pytest shows the line of the test, and not this one
    from fairenum.report.rules import judge_all, parse_rules

    if when_open not in ("fail", "warn"):
        raise ConfigError(f"when_open must be 'fail' or 'warn', not {when_open!r}")
    parsed = parse_rules([rules] if isinstance(rules, str) else rules)
    if not parsed:
        raise ConfigError("there are no rules to judge by; give some, such as rules='demographic_parity_ratio>=0.8'")
    result = _judged(data, decision, sensitive, measuring)
    judgements = judge_all(result.document, parsed)
    if failure := _failure(result.document, judgements, when_open):
        raise AssertionError(failure)
    for judgement in judgements:
        if judgement.outcome == "open":
            warnings.warn(f"{judgement.rule}: {judgement.reason}", RuleLeftOpen, stacklevel=2)
    return result


def _judged(
    data: AuditResult | MeasureResult | str | Path | pd.DataFrame | Mapping[str, ArrayLike],
    decision: Names,
    sensitive: Names,
    measuring: MeasureArguments,
) -> AuditResult | MeasureResult:
    """Return `data` if it is a result already; otherwise measure the table, and return the result."""
    from fairenum.api import measure
    from fairenum.tables.naming import listed

    if isinstance(data, Result):
        if decision or sensitive or measuring:
            raise ConfigError("a result is judged as it is; decision, sensitive and options are for measuring a table")
        return data
    columns = listed(sensitive)
    config = measuring.get("config") or MeasureConfig()
    if len(columns) > 1 and measuring.get("primary", config.primary) is None:
        raise ConfigError(
            f"rules are about one sensitive column, and there are {quoted(columns)}; name it, such as with "
            f"primary={columns[0]!r}, or assert once for each"
        )
    return measure(data, decision, sensitive, **measuring)


def _failure(document: JudgedDocument, judgements: Sequence[Judgement], when_open: WhenOpen) -> str:
    """Return the message of the AssertionError about rules that fail; an empty string if none fails."""
    from fairenum.report import rules as assertion

    if document.is_partial:
        return f"{assertion.subject(document)}: {assertion.INTERRUPTED}"
    fatal = ("violated", "open") if when_open == "fail" else ("violated",)
    failed = [one for one in judgements if one.outcome in fatal]
    if not failed:
        return ""
    opened = [one.rule.measure for one in failed if one.outcome == "open"]
    lines = [assertion.unkept(document, len(failed), len(judgements))]
    lines += [line for one in failed for line in _lines(one)]
    lines += assertion.advice(document, len(opened) < len(failed), opened)
    return "\n".join(lines)


def _lines(judgement: Judgement) -> Iterator[str]:
    from fairenum.report.rules import group_rates

    yield f"  {judgement.outcome}: {judgement.rule}: {judgement.reason}"
    if judgement.table:
        yield from (f"    {line}" for line in group_rates(judgement.table, judgement.rule.measure))
