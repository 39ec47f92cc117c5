"""What single features give away: the label, the decisions of model 1, and the groups of sensitive columns."""

from __future__ import annotations

from fairenum.document.value import Value

GOOD_MODEL = 0.7  # area under the curve from which a machine is clearly better than chance
MOST_OF_LIFT = 0.95  # of what the machine knows beyond chance, by one feature alone
SAME_DECISIONS = 0.99
NEAR_COPY = 0.95


class Alone(Value, frozen=True):
    """What one feature alone tells, learned on training rows and measured on the selection split.

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
        Share of the selection split decided alike; both decisions count the same, however rare one is.
    """

    feature: str
    agreement: float


class GroupTell(Value, frozen=True):
    """How well the features tell the groups of a sensitive column.

    Attributes
    ----------
    groups
        Those that are compared, and have enough rows to be told apart.
    together
        Area under the curve of a linear model of all features, averaged over groups if there are more than two.
    features
        The most telling ones, best first.
    """

    column: str
    groups: tuple[str, ...]
    together: float | None
    features: tuple[Alone, ...]

    @property
    def copies(self) -> list[str]:
        """The features that are as good as the column itself."""
        return [one.feature for one in self.features if one.auc >= NEAR_COPY]


class Screening(Value, frozen=True):
    """What the features of a table give away.

    Attributes
    ----------
    rows
        Rows of the selection split that it was measured on.
    model_auc
        Area under the curve of model 1, as a measure for single features; null if these rows have one label only.
    features
        Those that alone tell the label best.
    lookalikes
        Those that decide as model 1 does.
    columns
        What tells the groups, by sensitive column.
    """

    rows: int
    model_auc: float | None
    features: tuple[Alone, ...]
    lookalikes: tuple[Lookalike, ...]
    columns: tuple[GroupTell, ...]

    @property
    def leaks(self) -> list[Alone]:
        """The features that alone tell the label nearly as well as model 1, where that is clearly above chance."""
        if self.model_auc is None or self.model_auc < GOOD_MODEL:
            return []
        bar = 0.5 + MOST_OF_LIFT * (self.model_auc - 0.5)
        return [one for one in self.features if one.auc >= bar]

    @property
    def other_leaks(self) -> list[Alone]:
        """Those of them that are not said to decide as model 1 does already."""
        known = {one.feature for one in self.lookalikes}
        return [one for one in self.leaks if one.feature not in known]

    @property
    def has_findings(self) -> bool:
        """Whether anything deserves a warning."""
        return bool(self.leaks or self.lookalikes or any(column.copies for column in self.columns))
