"""Guardrails: measures that a fairer model must not make worse, written as one line of text each.

``QUANTITY[@COLUMN] OP LIMIT``, such as ``equal_opportunity_difference@race<=+0.02`` or ``selection_rate=+-0.05``. A
limit with a sign is for the change against the reference (model 1, or the model in use), a limit without a sign is for
the value itself. In a list of guardrails, a leading ``none`` turns off the default ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from fairenum.document.metric_registry import metric_keys
from fairenum.document.options import shown
from fairenum.errors import ConfigError
from fairenum.runtime.hints import did_you_mean, plain_number, quoted

# Quantities that are measured by group, in addition to the gaps; and quantities of all rows.
GROUPED = ("other_gaps", "worst_group_selection_rate", "group_selection_rates")
OVERALL = ("selection_rate", "accuracy", "balanced_accuracy", "performance")
QUANTITIES: tuple[str, ...] = (*metric_keys(), *GROUPED, *OVERALL)

NONE = "none"
NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
PATTERN = re.compile(
    rf"""\s*(?P<quantity>\w+)\s*
    (?:@\s*(?:"(?P<quoted>(?:[^"]|"")*)"|(?P<column>[^"\s](?:.*?\S)?))\s*)?
    (?:(?P<side><=|>=)\s*(?P<sign>[-+]?)\s*(?P<limit>{NUMBER})|=\s*(?:\+-|±)\s*(?P<around>{NUMBER}))\s*""",
    re.VERBOSE | re.DOTALL,
)
EXAMPLES = "such as equal_opportunity_difference<=+0.02 or selection_rate=+-0.05"


@dataclass(frozen=True, slots=True)
class Guard:
    """One guardrail: limits on a measure, or on its change.

    Attributes
    ----------
    quantity
        The guarded measure; some quantities stand for several measures, each of which has to be within the limits.
    column
        The sensitive column, or intersection of columns, whose groups are guarded. None stands for the column that
        models are selected by or, if the quantity stands for several columns, for all of these.
    low, high
        Lower and upper limit; None if there is no such limit.
    is_relative
        Whether the limits are for the change against the reference, not for the value itself.
    """

    quantity: str
    column: str | None = None
    low: float | None = None
    high: float | None = None
    is_relative: bool = False

    @classmethod
    def of(cls, text: object) -> Self:
        """Return the guardrail that a text describes; refuse any other text."""
        found = PATTERN.fullmatch(text) if isinstance(text, str) else None
        if not found:
            raise _refusal(text, _why(text))
        quantity, column = found["quantity"], found["column"]
        if found["quoted"] is not None:
            column = found["quoted"].replace('""', '"')
        if quantity not in QUANTITIES:
            raise _refusal(text, _unknown(quantity))
        if column is not None and quantity in OVERALL:
            raise _refusal(text, f"{quantity} is about all rows; leave out @{column}")
        low, high = _limits(found)
        if not all(limit is None or abs(limit) <= 1.0 for limit in (low, high)):
            raise _refusal(text, "a limit lies between 0 and 1, or between -1 and +1 where it is a change")
        is_relative = found["around"] is not None or bool(found["sign"])
        return cls(quantity, column, low, high, is_relative)

    def __str__(self) -> str:
        at = "" if self.column is None else f"@{_name(self.column)}"
        if self.low is not None and self.high is not None:
            return f"{self.quantity}{at}=+-{plain_number(self.high)}"
        side, limit = (">=", self.low) if self.high is None else ("<=", self.high)
        sign = "" if not self.is_relative else "-" if math.copysign(1.0, limit or 0.0) < 0.0 else "+"
        return f"{self.quantity}{at}{side}{sign}{plain_number(abs(limit or 0.0))}"

    @property
    def about(self) -> tuple[str, str | None]:
        """The guarded quantity and column; a user's guardrail replaces the default one for the same pair."""
        return self.quantity, self.column


DEFAULT_GUARDS = ("other_gaps<=+0.05", "selection_rate=+-0.1", "group_selection_rates>=-0.1")


def canonical_guards(texts: Iterable[object]) -> tuple[str, ...]:
    """Return guardrails as `Guard.__str__` writes them, without repetitions; refuse a ``none`` that is not first."""
    written = tuple(dict.fromkeys(NONE if _is_none(text) else str(Guard.of(text)) for text in texts))
    if NONE in written[1:]:
        raise _refusal(NONE, f"{NONE} turns off the default guardrails and stands first: --guard none --guard X")
    return written


def resolved_guards(texts: Sequence[str], defaults: Sequence[str] = DEFAULT_GUARDS) -> tuple[str, ...]:
    """Return every guardrail in force: default ones that no given one replaces, then the given ones."""
    given = canonical_guards(texts)
    if NONE in given:
        return given[1:]
    replaced = {Guard.of(text).about for text in given}
    return (*(text for text in defaults if Guard.of(text).about not in replaced), *given)


def kept_guards(texts: Sequence[str]) -> tuple[str, ...]:
    """Return every guardrail in force, preceded by ``none`` if reading this list again would add default guardrails."""
    resolved = resolved_guards(texts)
    return resolved if resolved_guards(resolved) == resolved else (NONE, *resolved)


def stated_guards(texts: Sequence[str]) -> tuple[str, ...]:
    """Return exactly the given guardrails, without the word ``none`` and without adding defaults."""
    return tuple(text for text in texts if text != NONE)


def refuse_unknown_columns(texts: Iterable[str], columns: Sequence[str]) -> None:
    """Refuse guardrails about a column that is not in `columns`, the sensitive columns and their intersection."""
    for text in texts:
        column = Guard.of(text).column
        if column is not None and column not in columns:
            hint = did_you_mean(column, columns) or f"; there are {quoted(columns) or 'none'}"
            raise _refusal(text, f"no sensitive column is called {column!r}{hint}")


def _is_none(text: object) -> bool:
    return isinstance(text, str) and text.strip().casefold() == NONE


def _limits(found: re.Match[str]) -> tuple[float | None, float | None]:
    if found["around"] is not None:
        width = float(found["around"])
        return -width, width
    limit = float(found["sign"] + found["limit"])
    return (limit, None) if found["side"] == ">=" else (None, limit)


def _name(column: str) -> str:
    """Return a column name, in quotation marks if it would be ambiguous in the text of a guardrail."""
    is_plain = column == column.strip() and column and not column.startswith('"')
    if is_plain and (found := PATTERN.fullmatch(f"other_gaps@{column}<=+0")) and found["column"] == column:
        return column
    return '"' + column.replace('"', '""') + '"'


def _why(text: object) -> str:
    """Return the reason why a text is not a guardrail."""
    if not isinstance(text, str) or not (found := re.match(r"\s*(\w+)", text)):
        return f"it is QUANTITY[@COLUMN] with <=, >= or =+- and a number, {EXAMPLES}"
    if found[1] not in QUANTITIES:
        return _unknown(found[1])
    return f"after the quantity comes <=, >= or =+- and a number, {EXAMPLES}"


def _unknown(quantity: str) -> str:
    hint = did_you_mean(quantity, QUANTITIES) or f"; there are {', '.join(QUANTITIES)}"
    return f"no quantity is called {quantity!r}{hint}"


def _refusal(text: object, why: str) -> ConfigError:
    return ConfigError(f"option 'guards' cannot hold {shown(text)} (--guard): {why}")
