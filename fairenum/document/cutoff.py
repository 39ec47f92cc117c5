"""Where a score is cut: what makes a decision of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairenum.checking import HUGE, is_number
from fairenum.document.deciding import NUMBER, read_rule
from fairenum.phrases import plain_number

CutoffRule = Literal["value", "rate", "base-rate", "median"]
PATTERN = rf"(?:base-rate|median|rate=({NUMBER})|({NUMBER}))"
# How a cutoff is written in options and documents.
CutoffText = Annotated[str, Meta(pattern=f"^{PATTERN}$")]


@dataclass(frozen=True, slots=True)
class Cutoff:
    """Where a score is cut.

    Attributes
    ----------
    rule
        Value: rows of at least `number` are selected, or of at most so much where lower is better; rate: this share of
        the rows; base-rate: as many as have a favourable label; median: those that score above the median.
    number
        The value, or the share.
    """

    rule: CutoffRule
    number: float | None = None

    @classmethod
    def of(cls, text: object) -> Cutoff:
        """Read what was asked for: a number, ``rate=SHARE``, ``base-rate`` or ``median``."""
        written = plain_number(text) if is_number(text, -HUGE, HUGE) else text  # type: ignore[arg-type]
        rule, share, value = read_rule("cutoff", written, PATTERN, "a number, rate=SHARE, base-rate or median")
        if share is not None:
            return cls("rate", share)
        return cls("value", value) if value is not None else cls(rule)  # type: ignore[arg-type]

    def __str__(self) -> str:
        number = "" if self.number is None else plain_number(self.number)
        return {"value": number, "rate": f"rate={number}"}.get(self.rule, self.rule)
