"""Base types of documents: frozen structs, estimates with confidence limits, quantiles, pairs of values by split."""

from __future__ import annotations

from typing import Generic, Self, TypeVar

import msgspec

from fairenum.document.terms import Part

T = TypeVar("T")


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The base class of all parts of a document: frozen; missing fields, unknown fields and wrong types are refused."""

    def but(self, **changes: object) -> Self:
        """Return a copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)


class Estimate(Value, frozen=True):
    """An estimate with its confidence limits.

    Attributes
    ----------
    value
        The estimate; null where it is undefined.
    low, high
        Lower and upper confidence limit; null where no limits are computed.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def alone(self) -> Estimate:
        """The value and its limits as an `Estimate`, without the fields that a subclass adds."""
        return Estimate(self.value, self.low, self.high)


class Quantiles(Value, frozen=True):
    """The 5 %, 25 %, 50 %, 75 % and 95 % quantiles of a number over random draws."""

    q05: float
    q25: float
    q50: float
    q75: float
    q95: float


class Parts(Value, Generic[T], frozen=True):
    """A value for the selection split, by which models are chosen, and one for the holdout, which tests them."""

    selection: T
    holdout: T

    def of(self, part: Part) -> T:
        """Return the value for one split."""
        return self.selection if part == "selection" else self.holdout
