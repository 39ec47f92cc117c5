"""Facts about features: encoding, weights of models, rows decided differently, and tests of what a feature predicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

from fairenum.document.models import Cell
from fairenum.document.terms import Direction, Features
from fairenum.document.value import Value
from fairenum.runtime.hints import plain_number

# Decision values that differ by less are equal, and smaller ones are 0; solvers give about twelve correct digits.
ROUNDING = 1e-10
OTHER = "(other)"  # name of the encoded column that rare and unknown values share
MISSING = "missing"  # of the encoded column that says whether a number is missing


class EncodedFeature(Value, frozen=True):
    """Encoding of one feature as numbers, learned from the training rows.

    Attributes
    ----------
    median
        The number that replaces a missing one; null for a categorical feature.
    mean, scale
        A number is encoded as (number - mean) / scale.
    levels
        Values of a categorical feature that have a 0/1 column each; null is the missing value.
    is_pooled
        Whether there is one more 0/1 column, the last, for all values that are not in levels.
    cuts
        Cut points of a numeric feature, ascending; each has a 0/1 column after that of the number.
    origin
        Number of cut points below the median. Their columns are 1 for numbers up to the cut point, those of the other
        cut points for numbers above it.
    has_missing
        Whether a numeric feature has one more 0/1 column, the last, for missing numbers.
    clip
        Where given, the number is a probability, brought to at least `clip` and at most 1 - `clip`, and its log-odds
        log(p / (1 - p)) take the place of the number in the formula above; null for other numbers.
    column
        The column of the table that the feature is read from, where that has another name; null otherwise.
    """

    name: str
    kind: Literal["numeric", "categorical"]
    median: float | None = None
    mean: float = 0.0
    scale: float = 1.0
    levels: tuple[str | None, ...] = ()
    is_pooled: bool = False
    cuts: tuple[float, ...] = ()
    origin: int = 0
    has_missing: bool = False
    clip: float | None = None
    column: str | None = None

    @property
    def width(self) -> int:
        """The number of encoded columns of the feature."""
        return len(self.columns)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The condition that each 0/1 column of a numeric feature stands for: "<= 30", "> 50", "missing"."""
        cuts = (f"{'<=' if place < self.origin else '>'} {plain_number(cut)}" for place, cut in enumerate(self.cuts))
        return (*cuts, MISSING) if self.has_missing else tuple(cuts)

    @property
    def columns(self) -> tuple[str | None, ...]:
        """The value or the condition that each encoded column stands for; None for the number itself."""
        if self.kind == "numeric":
            return (None, *self.conditions)
        return (*self.levels, OTHER) if self.is_pooled else self.levels

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the encoded columns for readers: "job = clerk", "age", "age <= 30", "age missing"."""
        if self.kind == "numeric":
            return (self.name, *(f"{self.name} {condition}" for condition in self.conditions))
        return tuple(f"{self.name} = {'(missing)' if level is None else level}" for level in self.columns)

    def encoded(self, value: Cell) -> tuple[float, ...]:
        """Return the numbers in the encoded columns for one value, which is None if it is missing."""
        if self.kind == "categorical":
            known = tuple(float(value == level) for level in self.levels)
            return (*known, float(value not in self.levels)) if self.is_pooled else known
        number = float((self.median if value is None else value) or 0.0)
        marks = tuple(float(value is not None and self._meets(number, place)) for place in range(len(self.cuts)))
        missing = (float(value is None),) if self.has_missing else ()
        if self.clip is not None:
            likely = min(max(number, self.clip), 1.0 - self.clip)
            number = math.log(likely / (1.0 - likely))
        return ((number - self.mean) / self.scale, *marks, *missing)

    def _meets(self, number: float, place: int) -> bool:
        return number <= self.cuts[place] if place < self.origin else number > self.cuts[place]


def spans(features: Sequence[EncodedFeature]) -> dict[str, slice]:
    """Return the slice of each feature's columns in the encoded table, by the name of the feature."""
    ends = list(accumulate(feature.width for feature in features))
    return {one.name: slice(end - one.width, end) for one, end in zip(features, ends, strict=True)}


class EncodingComparison(Value, frozen=True):
    """Comparison of linear and additive encoding by cross-validation on the training rows, with linear SVMs.

    Attributes
    ----------
    folds, rows
        Number of folds, and of training rows that were divided among them.
    linear, additive
        Area under the ROC curve with each encoding, the mean over the folds.
    gain, error
        Mean gain of the additive encoding over the folds, and its standard error.
    """

    folds: int
    rows: int
    linear: float
    additive: float
    gain: float
    error: float


class FeatureEncoding(Value, frozen=True):
    """How numbers are encoded: as they are (linear), or with 0/1 columns for cut points beside them (additive).

    Attributes
    ----------
    added
        Number of 0/1 columns for cut points and missing numbers.
    comparison
        The comparison that chose the encoding; null if there was none, as the encoding was asked for.
    is_too_large
        Whether the additive encoding was left out because it has too many columns, or takes too much memory.
    """

    features: Features
    added: int = 0
    comparison: EncodingComparison | None = None
    is_too_large: bool = False


class ModelWeights(Value, frozen=True):
    """The weights of one linear model, one for each encoded column.

    The decision value of a person is the sum of weights times encoded values, plus the model's bias and minus its cut.
    """

    rank: int
    weights: tuple[float, ...]


class FeatureEffects(Value, frozen=True):
    """How much the decisions of one model with a nonlinear kernel depend on each feature.

    Attributes
    ----------
    rows
        Number of rows of the selection split that the effects were measured on.
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
        Encoding of each feature, in the order of the encoded columns; features that do not vary are left out.
    weights
        For a linear kernel, weights of every model or, where that would be too many numbers, of model 1 and the
        selected model.
    effects
        For other kernels, effects of each feature on the decisions of model 1 and of the selected model.
    """

    features: tuple[EncodedFeature, ...]
    weights: tuple[ModelWeights, ...] = ()
    effects: tuple[FeatureEffects, ...] = ()

    def only(self, ranks: list[int]) -> Anatomy:
        """Return a copy that has the weights of the models with these ranks only."""
        return self.but(weights=tuple(one for one in self.weights if one.rank in ranks))


class GroupFlips(Value, frozen=True):
    """Numbers of rows of one group that the selected model decides unlike the reference (model 1 or the model in use).

    Attributes
    ----------
    rows
        Number of all rows of the group in the holdout.
    gained
        Number of rows that only the selected model decides favourably.
    lost
        Number of rows that only the reference decides favourably.
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
        Numbers of such rows by sensitive column and group; without a sensitive column, all rows are one group.
    flipped
        The rows that are decided differently; a redacted document has none.
    """

    rank: int
    by_column: dict[str, tuple[GroupFlips, ...]]
    flipped: tuple[FlippedRow, ...]


GOOD_MODEL = 0.7  # least AUC at which model 1 is clearly better than chance
MOST_OF_LIFT = 0.95  # share of model 1's lift over chance that one feature reaches
SAME_DECISIONS = 0.99  # least agreement with model 1 at which a feature counts as reproducing its decisions
NEARLY_ALL = 0.95  # least AUC at which a feature counts as knowing the label, however good model 1 is
MOST_MISTAKES = 0.8  # or the share of the mistakes of always guessing the commoner label that it avoids
PROXY = 0.7  # least AUC at which a feature counts as telling the groups of a sensitive column apart
NEAR_COPY = 0.95  # least AUC at which a feature that predicts the groups counts as nearly a copy of the column


class SingleFeature(Value, frozen=True):
    """How well one feature alone predicts the label, or the groups of a sensitive column.

    Attributes
    ----------
    auc
        Area under the ROC curve on the selection split, of a prediction learned on the training rows; 0.5 is chance. Of
        more than two groups, that of the group which is told best from all others.
    low
        Lower limit of the AUC, with 95 % confidence for all features and groups together; null in older runs.
    accuracy
        Share of these rows whose label it predicts; null where groups are predicted, and in older runs.
    group
        The group that is told best from all others; null for labels and for two groups.
    average
        Mean AUC of each group against all others; null as for group.
    """

    feature: str
    auc: float
    low: float | None = None
    accuracy: float | None = None
    group: str | None = None
    average: float | None = None

    @property
    def is_copy(self) -> bool:
        """Whether the feature tells all groups apart almost perfectly, as a copy of their column would."""
        return (self.auc if self.average is None else self.average) >= NEAR_COPY


class Lookalike(Value, frozen=True):
    """A feature that alone reproduces the decisions of model 1, by one threshold or by its values.

    Attributes
    ----------
    agreement
        Mean of two shares of rows of the selection split in which the feature gives the decision of model 1: among the
        rows that model 1 decides favourably, and among the others.
    """

    feature: str
    agreement: float


class ScreenedColumn(Value, frozen=True):
    """How well the features predict the groups of a sensitive column.

    Attributes
    ----------
    groups
        Names of the compared groups with enough rows to be predicted.
    together
        Area under the ROC curve of a linear model of all features, averaged over groups if there are more than two;
        null without features.
    features
        The features that predict the groups best, best first.
    """

    column: str
    groups: tuple[str, ...]
    together: float | None
    features: tuple[SingleFeature, ...]

    @property
    def copies(self) -> list[str]:
        """Names of the features that alone predict the groups almost perfectly, as a copy of the column would."""
        return [one.feature for one in self.features if one.is_copy]

    @property
    def proxies(self) -> list[SingleFeature]:
        """The features that alone tell a group from the others, beyond chance, but are no copies of the column."""
        return [one for one in self.features if one.auc >= PROXY and not one.is_copy and (one.low or 0.0) > 0.5]


class Screening(Value, frozen=True):
    """How well single features predict the label, the decisions of model 1, and the groups.

    Attributes
    ----------
    rows
        Number of rows of the selection split on which the predictions were tested.
    model_auc
        Area under the ROC curve of model 1, to compare features with; null if these rows have one label only.
    features
        The features that alone predict the label best, best first.
    lookalikes
        The features that alone reproduce the decisions of model 1.
    columns
        How well features predict the groups, for each sensitive column.
    commoner
        Share of these rows with the commoner label; null in older runs.
    """

    rows: int
    model_auc: float | None
    features: tuple[SingleFeature, ...]
    lookalikes: tuple[Lookalike, ...]
    columns: tuple[ScreenedColumn, ...]
    commoner: float | None = None

    @property
    def leaks(self) -> list[SingleFeature]:
        """The features that alone predict the label nearly perfectly, or nearly as well as a model 1 that is good."""
        model_auc = self.model_auc or 0.0
        lift = MOST_OF_LIFT * (model_auc - 0.5) if model_auc >= GOOD_MODEL else 0.5
        bar = min(0.5 + lift, NEARLY_ALL)
        return [one for one in self.features if one.auc >= bar or self.is_right_too_often(one)]

    def is_right_too_often(self, one: SingleFeature) -> bool:
        """Tell whether a feature avoids most mistakes of a guess, which a rare label allows at a moderate AUC."""
        if one.accuracy is None or self.commoner is None:
            return False
        return 1.0 - one.accuracy <= (1.0 - MOST_MISTAKES) * (1.0 - self.commoner)

    @property
    def other_leaks(self) -> list[SingleFeature]:
        """The features in `leaks` that do not also reproduce the decisions of model 1."""
        known = {one.feature for one in self.lookalikes}
        return [one for one in self.leaks if one.feature not in known]

    @property
    def has_findings(self) -> bool:
        """Whether a feature gives away the label, the decisions of model 1 or a sensitive column."""
        return bool(self.leaks or self.lookalikes or any(column.copies or column.proxies for column in self.columns))
