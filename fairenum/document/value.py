"""Building blocks of documents: frozen values, estimates, and pairs by split."""

from __future__ import annotations

from typing import Generic, Self, TypeVar

import msgspec

from fairenum.document.terms import Part

T = TypeVar("T")


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a document: typed, frozen, and refused if a field is missing, unknown or of another type."""

    def but(self, **changes: object) -> Self:
        """Return the value with some fields changed."""
        return msgspec.structs.replace(self, **changes)


class Estimate(Value, frozen=True):
    """An estimate with its limits.

    Attributes
    ----------
    value
        The estimate; null where it is undefined.
    low, high
        Null where no limits are computed.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def alone(self) -> Estimate:
        """The plain estimate, without the fields of a subclass."""
        return Estimate(self.value, self.low, self.high)


class Quantiles(Value, frozen=True):
    """Quantiles over trials."""

    q05: float
    q25: float
    q50: float
    q75: float
    q95: float


class Parts(Value, Generic[T], frozen=True):
    """Values for both splits: for the selection split, to choose models by, and for the holdout, to judge them by."""

    selection: T
    holdout: T

    def of(self, part: Part) -> T:
        """Return the value of one split."""
        return self.selection if part == "selection" else self.holdout
