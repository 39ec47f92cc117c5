"""Where models are cut: what makes a decision of a decision value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from msgspec import Meta

from fairenum.checking import is_number, shown
from fairenum.document.ranges import FARTHEST_CUT
from fairenum.errors import ConfigError
from fairenum.phrases import plain_number

DecidingRule = Literal["sign", "rate", "base-rate", "threshold", "like-incumbent"]
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
PATTERN = rf"(?:sign|base-rate|like-incumbent|rate=({NUMBER})|threshold=({NUMBER}))"
# How a rule is written in options and documents.
DecideText = Annotated[str, Meta(pattern=f"^{PATTERN}$")]


@dataclass(frozen=True, slots=True)
class Decide:
    """Who gets the favourable outcome, given decision values.

    Attributes
    ----------
    rule
        Sign: values of at least 0; threshold: of at least `number`; rate: cut each model where it selects this share
        of the selection split; base-rate: the share of favourable labels among the training rows; like-incumbent: the
        share of the selection split that the model in use selects.
    number
        The share, or the threshold.
    """

    rule: DecidingRule = "sign"
    number: float | None = None

    @classmethod
    def of(cls, text: object) -> Self:
        """Read what was asked for: a word, ``rate=SHARE`` or ``threshold=VALUE``."""
        words = "sign, base-rate, like-incumbent, rate=SHARE or threshold=VALUE"
        rule, share, threshold = read_rule("decide", text, PATTERN, words)
        return cls(rule.split("=")[0], threshold if share is None else share)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.rule if self.number is None else f"{self.rule}={plain_number(self.number)}"


def read_rule(option: str, text: object, pattern: str, words: str) -> tuple[str, float | None, float | None]:
    """Read where something is cut; return what was written, the share that is selected, and the value of the cut.

    Parameters
    ----------
    option
        Its name.
    text
        What was asked for.
    pattern
        Of what can be asked for: its groups are the share and the value.
    words
        The same as people read it.
    """
    found = re.fullmatch(pattern, text) if isinstance(text, str) else None
    if not found:
        raise ConfigError(f"option {option!r} must be {words}, not {shown(text)} (--{option})")
    share, value = (None if part is None else float(part) for part in found.groups())
    if share is not None and not 0.0 < share < 1.0:
        raise ConfigError(
            f"option {option!r} selects a share between 0 and 1, such as rate=0.7, not {shown(text)} (--{option})"
        )
    if value is not None and not is_number(value, -FARTHEST_CUT, FARTHEST_CUT):
        raise ConfigError(
            f"option {option!r} needs a finite number, at most {FARTHEST_CUT:g} from 0, not {shown(text)} (--{option})"
        )
    return found[0], share, value
