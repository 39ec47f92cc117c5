"""What models go by: how values become numbers, what each model gives for them, and whom two decide otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from fairenum.document.models import Cell
from fairenum.document.terms import Direction
from fairenum.document.value import Value

# Decision values that differ by less are equal, and below it 0: the margin is 1, and an answer is exact to about twelve
# digits.
ROUNDING = 1e-10
OTHER = "(other)"  # values that share one column


class EncodedFeature(Value, frozen=True):
    """How the values of one feature become numbers, as learned from the training rows.

    Attributes
    ----------
    median
        What a missing number becomes; null for a categorical feature.
    mean, scale
        A number becomes (number - mean) / scale.
    levels
        A text becomes one 0/1 column for each of these; null is the missing one.
    is_pooled
        Whether one more column, the last, stands for all other values.
    """

    name: str
    kind: Literal["numeric", "categorical"]
    median: float | None = None
    mean: float = 0.0
    scale: float = 1.0
    levels: tuple[str | None, ...] = ()
    is_pooled: bool = False

    @property
    def width(self) -> int:
        """How many columns it becomes."""
        return 1 if self.kind == "numeric" else len(self.columns)

    @property
    def columns(self) -> tuple[str | None, ...]:
        """What the columns of a categorical feature stand for."""
        return (*self.levels, OTHER) if self.is_pooled else self.levels

    def encoded(self, value: Cell) -> tuple[float, ...]:
        """Return the numbers for one value: a number, a text, or None if it is missing."""
        if self.kind == "categorical":
            known = tuple(float(value == level) for level in self.levels)
            return (*known, float(value not in self.levels)) if self.is_pooled else known
        number = self.median if value is None else value
        return ((float(number or 0.0) - self.mean) / self.scale,)


def spans(features: Sequence[EncodedFeature]) -> dict[str, slice]:
    """Say which encoded columns each feature has."""
    ends = list(accumulate(feature.width for feature in features))
    return {one.name: slice(end - one.width, end) for one, end in zip(features, ends, strict=True)}


class ModelWeights(Value, frozen=True):
    """The weights of one linear model, one for each encoded column.

    The decision value of a person is the sum of weights times encoded values, plus the model's bias and minus its cut.
    """

    rank: int
    weights: tuple[float, ...]


class FeatureEffects(Value, frozen=True):
    """How much one model goes by each feature, where its kernel gives no weights.

    Attributes
    ----------
    rows
        Rows of the selection split that it was measured on.
    effects
        For each feature the share of rows decided otherwise when its values are shuffled.
    """

    rank: int
    rows: int
    effects: tuple[float, ...]


class Anatomy(Value, frozen=True):
    """What the models go by.

    Attributes
    ----------
    features
        In the order of the encoded columns; features that do not vary are none.
    weights
        Of every model of a linear kernel or, where that would be too many numbers, of model 1 and the selected one.
    effects
        Of model 1 and the selected one, for other kernels.
    """

    features: tuple[EncodedFeature, ...]
    weights: tuple[ModelWeights, ...] = ()
    effects: tuple[FeatureEffects, ...] = ()

    def only(self, ranks: list[int]) -> Anatomy:
        """Keep some models alone."""
        return self.but(weights=tuple(one for one in self.weights if one.rank in ranks))


class GroupFlips(Value, frozen=True):
    """Rows of one group that the selected model decides otherwise than the reference.

    Attributes
    ----------
    rows
        All rows of the group in the holdout.
    gained, lost
        Those that get the favourable outcome from the selected model alone, and from the reference alone.
    """

    group: str
    rows: int
    gained: int
    lost: int


class FlippedRow(Value, frozen=True):
    """A row of the holdout that the selected model decides otherwise than the reference.

    Attributes
    ----------
    row
        Its number in the input table, counted from 0.
    groups
        Its group by sensitive column.
    becomes
        What the selected model decides.
    """

    row: int
    label: str
    groups: dict[str, str]
    becomes: Direction


class Flips(Value, frozen=True):
    """Which rows of the holdout the selected model decides otherwise than the reference: model 1, or the model in use.

    Attributes
    ----------
    rank
        The selected model.
    by_column
        Counts by sensitive column and group; everyone is one group where there is no such column.
    flipped
        The rows themselves; a redacted document has none.
    """

    rank: int
    by_column: dict[str, tuple[GroupFlips, ...]]
    flipped: tuple[FlippedRow, ...]
