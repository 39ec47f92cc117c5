"""Features: their encoding, the weights of models, decisions that change, and the screening of single features."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from fairenum.document.models import Cell
from fairenum.document.terms import Direction
from fairenum.document.value import Value

# Decision values closer than this are equal, and smaller ones 0; the margin is 1, and answers have about twelve digits.
ROUNDING = 1e-10
OTHER = "(other)"  # values that share one column


class EncodedFeature(Value, frozen=True):
    """Encoding of one feature as numbers, learned from the training rows.

    Attributes
    ----------
    median
        The number that stands for a missing one; null for a categorical feature.
    mean, scale
        A number becomes (number - mean) / scale.
    levels
        Values with a 0/1 column each; null is the missing value.
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
        """The number of encoded columns."""
        return 1 if self.kind == "numeric" else len(self.columns)

    @property
    def columns(self) -> tuple[str | None, ...]:
        """The value that each encoded column of a categorical feature stands for."""
        return (*self.levels, OTHER) if self.is_pooled else self.levels

    def encoded(self, value: Cell) -> tuple[float, ...]:
        """Return the numbers for one value: a number, a text, or None if it is missing."""
        if self.kind == "categorical":
            known = tuple(float(value == level) for level in self.levels)
            return (*known, float(value not in self.levels)) if self.is_pooled else known
        number = self.median if value is None else value
        return ((float(number or 0.0) - self.mean) / self.scale,)


def spans(features: Sequence[EncodedFeature]) -> dict[str, slice]:
    """Return the encoded columns of each feature."""
    ends = list(accumulate(feature.width for feature in features))
    return {one.name: slice(end - one.width, end) for one, end in zip(features, ends, strict=True)}


class ModelWeights(Value, frozen=True):
    """The weights of one linear model, one for each encoded column.

    The decision value of a person is the sum of weights times encoded values, plus the model's bias and minus its cut.
    """

    rank: int
    weights: tuple[float, ...]


class FeatureEffects(Value, frozen=True):
    """How much one model without weights depends on each feature.

    Attributes
    ----------
    rows
        Rows of the selection split that the effects were measured on.
    effects
        For each feature, the share of rows whose decision changes when the values of the feature are shuffled.
    """

    rank: int
    rows: int
    effects: tuple[float, ...]


class Anatomy(Value, frozen=True):
    """Encoding of the features, and the weights or effects of the models.

    Attributes
    ----------
    features
        In the order of the encoded columns; features that do not vary are left out.
    weights
        Of every model with a linear kernel or, where that would be too many numbers, of model 1 and the selected model.
    effects
        Of model 1 and the selected model, for other kernels.
    """

    features: tuple[EncodedFeature, ...]
    weights: tuple[ModelWeights, ...] = ()
    effects: tuple[FeatureEffects, ...] = ()

    def only(self, ranks: list[int]) -> Anatomy:
        """Keep the weights of some models only."""
        return self.but(weights=tuple(one for one in self.weights if one.rank in ranks))


class GroupFlips(Value, frozen=True):
    """Rows of one group that the selected model and the reference decide differently.

    Attributes
    ----------
    rows
        All rows of the group in the holdout.
    gained, lost
        Rows with the favourable outcome from the selected model alone, and from the reference alone.
    """

    group: str
    rows: int
    gained: int
    lost: int


class FlippedRow(Value, frozen=True):
    """A row of the holdout that the selected model and the reference decide differently.

    Attributes
    ----------
    row
        Row number in the input table, counted from 0.
    groups
        The group of the row, by sensitive column.
    becomes
        The decision of the selected model.
    """

    row: int
    label: str
    groups: dict[str, str]
    becomes: Direction


class Flips(Value, frozen=True):
    """Rows of the holdout that the selected model and the reference (model 1, or the model in use) decide differently.

    Attributes
    ----------
    rank
        Rank of the selected model.
    by_column
        Counts by sensitive column and group; all rows are one group without a sensitive column.
    flipped
        The rows themselves; a redacted document has none.
    """

    rank: int
    by_column: dict[str, tuple[GroupFlips, ...]]
    flipped: tuple[FlippedRow, ...]


GOOD_MODEL = 0.7  # area under the curve from which model 1 is clearly better than chance
MOST_OF_LIFT = 0.95  # share of model 1's lift over chance that one feature reaches
SAME_DECISIONS = 0.99
NEAR_COPY = 0.95


class SingleFeature(Value, frozen=True):
    """How well one feature alone predicts, learned on training rows and measured on the selection split.

    Attributes
    ----------
    auc
        Area under the curve; 0.5 is chance.
    """

    feature: str
    auc: float


class Lookalike(Value, frozen=True):
    """A feature that decides as model 1 does, by one threshold or by its values.

    Attributes
    ----------
    agreement
        Share of the selection split decided alike; both decisions weigh the same, however rare one is.
    """

    feature: str
    agreement: float


class ScreenedColumn(Value, frozen=True):
    """How well the features predict the groups of a sensitive column.

    Attributes
    ----------
    groups
        Compared groups with enough rows to be predicted.
    together
        Area under the curve of a linear model of all features, averaged over groups if there are more than two.
    features
        The features that predict the groups best, best first.
    """

    column: str
    groups: tuple[str, ...]
    together: float | None
    features: tuple[SingleFeature, ...]

    @property
    def copies(self) -> list[str]:
        """The features that are nearly copies of the column."""
        return [one.feature for one in self.features if one.auc >= NEAR_COPY]


class Screening(Value, frozen=True):
    """How well single features predict the label, the decisions of model 1, and the groups.

    Attributes
    ----------
    rows
        Rows of the selection split that the screening was measured on.
    model_auc
        Area under the curve of model 1, to compare features with; null if these rows have one label only.
    features
        The features that best predict the label alone.
    lookalikes
        The features that decide as model 1 does.
    columns
        Features that predict the groups, by sensitive column.
    """

    rows: int
    model_auc: float | None
    features: tuple[SingleFeature, ...]
    lookalikes: tuple[Lookalike, ...]
    columns: tuple[ScreenedColumn, ...]

    @property
    def leaks(self) -> list[SingleFeature]:
        """The features that alone predict the label nearly as well as a model 1 that is clearly better than chance."""
        if self.model_auc is None or self.model_auc < GOOD_MODEL:
            return []
        bar = 0.5 + MOST_OF_LIFT * (self.model_auc - 0.5)
        return [one for one in self.features if one.auc >= bar]

    @property
    def other_leaks(self) -> list[SingleFeature]:
        """The leaks that are not already lookalikes."""
        known = {one.feature for one in self.lookalikes}
        return [one for one in self.leaks if one.feature not in known]

    @property
    def has_findings(self) -> bool:
        """Whether anything deserves a warning."""
        return bool(self.leaks or self.lookalikes or any(column.copies for column in self.columns))
