"""Decisions of the models of a saved run about one person, computed from the document alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real

from fairenum.document.audit_document import AuditDocument
from fairenum.document.feature_facts import ROUNDING, Anatomy, EncodedFeature, ModelWeights
from fairenum.document.flip_facts import PersonFlipPrice
from fairenum.document.models import Cell
from fairenum.document.reading import number
from fairenum.document.received import LARGEST_CELL, shortened
from fairenum.document.table_facts import TableFacts
from fairenum.document.value import Value
from fairenum.errors import ResultError
from fairenum.runtime.hints import did_you_mean, quoted


class Contribution(Value, frozen=True):
    """The contribution of one feature to a decision value: the sum of its weights times its encoded values."""

    feature: str
    contribution: float


class PersonDecision(Value, frozen=True):
    """The decision of one model about a person.

    Attributes
    ----------
    value
        Decision value: the sum of `bias` and all contributions; the decision is favourable if it is at least 0.
    bias
        Bias of the model, minus the decision value from which on its decisions are favourable.
    contributions
        One for each feature, the largest absolute value first.
    """

    rank: int
    is_favourable: bool
    value: float
    bias: float
    contributions: tuple[Contribution, ...]


class Person(Value, frozen=True):
    """A person, and the decision of each listed model about the person.

    Attributes
    ----------
    data, label, favourable, unfavourable
        The table that was audited, its label, and the names of the two decisions.
    row
        The person's row in the input table, counted from 0; null if values were given.
    values
        The person's values by feature; null if a value is missing.
    imputed
        Numeric features without a value, each with the median of the training rows, which is used instead.
    unseen
        Features whose text is in no training row, and contributes nothing to a decision value.
    pooled
        Features whose text is rare or absent in the training rows, and treated as "(other)".
    selected
        Rank of the selected model; null if none was selected.
    decisions
        Decisions of all models whose weights are in the document.
    flip_price
        The least relative rise of the loss at which some model, listed or not, decides differently; null where the data
        of the run were not available.
    """

    data: str
    label: str
    favourable: str
    unfavourable: str
    row: int | None
    values: dict[str, Cell]
    imputed: dict[str, float]
    unseen: tuple[str, ...]
    pooled: tuple[str, ...]
    selected: int | None
    decisions: tuple[PersonDecision, ...]
    flip_price: PersonFlipPrice | None = None

    def decision(self, decided: PersonDecision) -> str:
        """Return the word for a model's decision: the favourable or the unfavourable value of the label."""
        return self.favourable if decided.is_favourable else self.unfavourable


class Panel(Value, frozen=True):
    """Models with a linear kernel, and what is needed to compute their decisions about a person.

    Attributes
    ----------
    table
        The table that the models were trained on.
    features
        Encoding of the features.
    models
        Weights of each model.
    offsets
        Constant part of each model's decision values, by rank.
    selected
        Rank of the selected model; null if none was selected.
    """

    table: TableFacts
    features: tuple[EncodedFeature, ...]
    models: tuple[ModelWeights, ...]
    offsets: dict[int, float]
    selected: int | None


def decide_about(document: AuditDocument, values: Mapping[str, object], row: int | None = None) -> Person:
    """Return the decisions of all listed models about one person; refuse a run without a linear kernel.

    `values` are the person's values by feature: numbers, texts, or None; a feature that is not named counts as missing.
    A text that no training row has is refused as a likely mistake, unless `row` says which row of the table the values
    come from.
    """
    anatomy = _weighed(document)
    offsets = {model.rank: model.offset for model in document.models}
    panel = Panel(document.dataset, anatomy.features, anatomy.weights, offsets, document.selection.rank)
    return decide(panel, values, row)


def decide(panel: Panel, values: Mapping[str, object], row: int | None = None) -> Person:
    """Return the decisions of all models of a panel about one person, whose `values` are by feature."""
    features, table = panel.features, panel.table
    cells = read_cells(panel, values, is_made_up=row is None)
    unlisted = [one for one in features if _is_unlisted(one, cells[one.name])]
    encoded = [one.encoded(cells[one.name]) for one in features]
    return Person(
        data=table.name,
        label=table.label,
        favourable=table.favourable,
        unfavourable=table.unfavourable,
        row=row,
        values=cells,
        imputed={one.name: one.median for one in features if one.median is not None and cells[one.name] is None},
        unseen=tuple(one.name for one in unlisted if not one.is_pooled),
        pooled=tuple(one.name for one in unlisted if one.is_pooled),
        selected=panel.selected,
        decisions=tuple(_decided(features, one, panel.offsets[one.rank], encoded) for one in panel.models),
    )


def read_cells(panel: Panel, values: Mapping[str, object], *, is_made_up: bool) -> dict[str, Cell]:
    """Return a person's values by feature, None where missing; refuse unknown feature names.

    With `is_made_up`, the values come from no row of the table, and a text that no training row has is refused, too.
    """
    features = {feature.name: feature for feature in panel.features}
    names = {feature.column: feature.name for feature in panel.features if feature.column}
    values = {names.get(name, name): value for name, value in values.items()}
    for name in values:
        if name not in features and name not in panel.table.dropped:
            hint = did_you_mean(name, features) or f"; the features are {quoted(features)}"
            raise ResultError(f"the models know no feature {name!r}{hint}")
    cells = {name: _cell(feature, values.get(name)) for name, feature in features.items()}
    for one in panel.features if is_made_up else ():
        if _is_unlisted(one, cells[one.name]) and not one.is_pooled:
            raise _unknown_level(one, str(cells[one.name]))
    return cells


def _weighed(document: AuditDocument) -> Anatomy:
    kernel = document.config.svm.kernel
    if kernel != "linear":
        raise ResultError(
            f"the models of this run have kernel {kernel!r}, whose decision is no sum over features; only runs with "
            "kernel='linear' (--kernel linear) can be explained person by person"
        )
    if document.anatomy is None:
        raise ResultError("this run holds no weights; run the audit again")
    return document.anatomy


def _cell(feature: EncodedFeature, value: object) -> Cell:
    """Return one value as it would be read from a cell of the table; None if it is missing."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, Real):
        measured = float(value)
        if math.isnan(measured):
            return None
    elif isinstance(value, str):
        if feature.kind == "categorical":
            return value.strip()
        measured = number(value.strip())
    else:
        raise ResultError(f"feature {feature.name!r} takes a number or a text, not {value!r}")
    if feature.kind == "categorical":
        return str(int(measured)) if measured.is_integer() and not isinstance(value, bool) else str(value)
    if not abs(measured) <= LARGEST_CELL:  # which nan is not, either
        most = f", at most {LARGEST_CELL:g} from 0" if abs(measured) > LARGEST_CELL else ""
        raise ResultError(f"feature {feature.name!r} takes a number{most}, not {shortened(repr(value))}")
    return measured


def _is_unlisted(feature: EncodedFeature, value: Cell) -> bool:
    return feature.kind == "categorical" and value is not None and value not in feature.levels


def _unknown_level(feature: EncodedFeature, value: str) -> ResultError:
    levels = [level for level in feature.levels if level]
    hint = did_you_mean(value, levels) or f"; they have {quoted(levels)}"
    return ResultError(f"no training row has {feature.name} = {value!r}{hint}")


def _decided(
    features: Sequence[EncodedFeature], found: ModelWeights, offset: float, encoded: list[tuple[float, ...]]
) -> PersonDecision:
    """Return the decision of one model, with the contributions of all features to its decision value."""
    weights, contributions = iter(found.weights), []
    for feature, numbers in zip(features, encoded, strict=True):
        share = _sum(next(weights) * number for number in numbers)
        contributions.append(Contribution(feature.name, share))
    value = _sum([offset, *(one.contribution for one in contributions)])
    value = 0.0 if abs(value) <= ROUNDING else value
    largest = sorted(contributions, key=lambda one: -abs(one.contribution))
    return PersonDecision(found.rank, value >= 0.0, value, offset, tuple(largest))


def _sum(parts: Iterable[float]) -> float:
    """Return the sum of numbers; refuse a sum that is not finite, as the weights in a forged document can give."""
    try:
        found = math.fsum(parts)
    except (OverflowError, ValueError):
        found = math.inf
    if not math.isfinite(found):
        raise ResultError("a decision value of this person is no finite number; audit DATA again")
    return found
