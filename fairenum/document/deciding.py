"""Where models are cut: what makes a decision of a decision value."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from msgspec import Meta

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
        found = re.fullmatch(PATTERN, text) if isinstance(text, str) else None
        if not found:
            raise ConfigError(
                "option 'decide' must be sign, base-rate, like-incumbent, rate=SHARE or threshold=VALUE, not "
                f"{text!r} (--decide)"
            )
        share, threshold = found.groups()
        if share is not None and not 0.0 < float(share) < 1.0:
            raise ConfigError(
                f"option 'decide' selects a share between 0 and 1, such as rate=0.7, not {text!r} (--decide)"
            )
        if threshold is not None and not math.isfinite(float(threshold)):
            raise ConfigError(f"option 'decide' needs a finite threshold, not {text!r} (--decide)")
        number = share if share is not None else threshold
        return cls(found[0].split("=")[0], None if number is None else float(number))  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.rule if self.number is None else f"{self.rule}={plain_number(self.number)}"
