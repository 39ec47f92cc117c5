"""How the machine of an audit was chosen before it was trained: C, and the weights of the classes."""

from __future__ import annotations

from fairenum.document.value import Value


class TriedCost(Value, frozen=True):
    """The accuracy of one C over folds of the training rows; balanced accuracy where classes are weighted."""

    C: float
    accuracy: float


class Tuning(Value, frozen=True):
    """The choice of C by cross-validation."""

    folds: int
    grid: tuple[TriedCost, ...]


class ClassWeights(Value, frozen=True):
    """What a violated margin costs by the label of its row, as multiples of C.

    Attributes
    ----------
    favourable, unfavourable
        The weights; 1 and 1 if classes are not weighted.
    plain_selection_rate
        The share of the selection split that the machine without weights selects; null unless the audit was to choose
        by it whether to weight classes.
    """

    favourable: float = 1.0
    unfavourable: float = 1.0
    plain_selection_rate: float | None = None


class SolverLapse(Value, frozen=True):
    """A solver that failed in a run that went on with another.

    Attributes
    ----------
    solver, fallback
        Their names.
    message
        What happened.
    """

    solver: str
    fallback: str
    message: str
