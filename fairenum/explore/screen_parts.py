"""The JSON values that an exploration's live page shows, in parts that the page fetches as needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fairenum.document.choice import GapChange, GuardValue
from fairenum.document.exploration_view import (
    ExplorationView,
    GroupPair,
    ModelComparison,
    Standpoint,
    WeightPair,
)
from fairenum.document.feature_facts import EncodedFeature, FlippedRow
from fairenum.document.models import Cell
from fairenum.document.person import Person
from fairenum.document.terms import Gap
from fairenum.document.value import Value
from fairenum.document.words import GAP_NAMES
from fairenum.explore.worker import Busy, Worker
from fairenum.report.person_page import PersonWords, person_words
from fairenum.report.screen_words import (
    MOST_FLIPPED,
    MOST_WEIGHTS,
    ComparisonWords,
    FocusWords,
    ModelRow,
    ScreenWords,
    StandWords,
    StepWords,
    comparison_words,
    focus_words,
    model_row,
    screen_words,
    stand_words,
    step_words,
)

if TYPE_CHECKING:
    from fairenum.explore.exploration import Exploration

LAST_STEPS, MOST_STEPS, MOST_ROWS, FIRST_ROWS = 50, 200, 500, 20
MOST_LEVELS = 200  # values of a feature that a form offers


class Field(Value, frozen=True):
    """An input field of the form about a person: a number, or a choice of values, for one feature."""

    name: str
    kind: Literal["number", "category"]
    values: tuple[str | None, ...]


class Metric(Value, frozen=True):
    """A gap by which models can be chosen: its name and its text for the page."""

    name: Gap
    text: str


class Saved(Value, frozen=True):
    """Names of the saved files: record, run and HTML report; null for each file that does not exist."""

    record: str | None
    run: str | None
    page: str | None


class ShownCluster(Value, frozen=True):
    """A cluster of rows that a model leaves out: its index, its size, and the first of its row numbers."""

    index: int
    records: float
    rows: int
    first_rows: tuple[int, ...]


class Focus(Value, frozen=True):
    """The details of one model: its gaps, guardrails and clusters of left-out rows."""

    model: int
    strip: tuple[GapChange, ...]
    guards: tuple[GuardValue, ...]
    clusters: tuple[ShownCluster, ...]
    words: FocusWords


class Screen(Value, frozen=True, kw_only=True):
    """All that the page shows of one state, except models and earlier steps, which the page fetches separately."""

    revision: int
    view: ExplorationView | None = None
    numbers: tuple[int, ...] = ()
    words: ScreenWords | None = None
    focus: Focus | None = None
    steps: int = 0
    busy: Busy | None
    trouble: str | None
    features: tuple[Field, ...] = ()
    metrics: tuple[Metric, ...] = tuple(Metric(*one) for one in GAP_NAMES.items())
    saved: Saved = Saved(None, None, None)
    can_undo: bool = False
    has_report: bool = False


class Rows(Value, frozen=True):
    """Listed models as rows of the page's table, at one revision (state number)."""

    revision: int
    models: tuple[ModelRow, ...]


class Steps(Value, frozen=True):
    """Recorded steps of an exploration, in words."""

    steps: tuple[StepWords, ...]


class Preview(Value, frozen=True):
    """The candidates and the chosen model under tolerances that are only tried, with sentences about them."""

    standpoint: Standpoint
    words: StandWords


class Compared(Value, frozen=True):
    """The comparison of two models: weights, group rates, gaps, and rows that they decide differently."""

    first: int
    second: int
    weights: tuple[WeightPair, ...]
    groups: tuple[GroupPair, ...]
    strip: tuple[GapChange, ...]
    flipped: tuple[FlippedRow, ...]
    words: ComparisonWords


class ModelDecision(Value, frozen=True):
    """The decision of one model about a person."""

    model: int
    is_favourable: bool
    value: float
    text: str


class Decided(Value, frozen=True):
    """The decisions about a person; `reach` is the range of decision values over all near-optimal models."""

    row: int | None
    values: dict[str, Cell]
    decisions: tuple[ModelDecision, ...]
    reach: tuple[float, float] | None
    words: PersonWords


def screen(worker: Worker) -> Screen:
    """Return all that the page shows now; only progress and errors while the exploration is being opened."""
    revision, busy, trouble = worker.revision, worker.busy, worker.trouble  # before the view: it is this new, or newer
    if not worker.is_open:
        return Screen(revision=revision, busy=busy, trouble=trouble)
    exploration = worker.exploration
    view, decision = exploration.view, exploration.decision
    last = view.timeline[-LAST_STEPS:]
    return Screen(
        revision=revision,
        view=view.but(models=(), timeline=last, clusters=()),
        numbers=tuple(model.number for model in view.models),
        words=screen_words(view, last, decision, was_torn=exploration.was_torn),
        focus=_focus(view),
        steps=len(view.timeline),
        busy=busy,
        trouble=trouble,
        features=tuple(map(_field, exploration.features)),
        saved=_saved(exploration),
        can_undo=exploration.state.before is not None,
        has_report=decision is not None,
    )


def rows(worker: Worker, first: int, last: int | None) -> Rows:
    """Return the listed models with numbers from `first` to `last`, at most `MOST_ROWS`."""
    revision, view = worker.revision, worker.exploration.view
    wanted = [one for one in view.models if first <= one.number and (last is None or one.number <= last)]
    return Rows(revision, tuple(model_row(view, one) for one in wanted[:MOST_ROWS]))


def steps(exploration: Exploration, before: int) -> Steps:
    """Return the recorded steps with numbers below `before`, at most the last `MOST_STEPS`."""
    earlier = [entry for entry in exploration.view.timeline if entry.number < before]
    return Steps(tuple(map(step_words, earlier[-MOST_STEPS:])))


def focus(exploration: Exploration, model: int) -> Focus:
    """Return the details of the listed model whose number is `model`."""
    return _focus(exploration.focused(model))


def _focus(view: ExplorationView) -> Focus:
    clusters = tuple(
        ShownCluster(index, one.records, len(one.rows), one.rows[:FIRST_ROWS])
        for index, one in enumerate(view.clusters)
    )
    return Focus(view.current, view.strip, view.guards, clusters, focus_words(view))


def preview(exploration: Exploration, standpoint: Standpoint) -> Preview:
    """Return the candidates and the chosen model under tolerances that are only tried, with sentences about them."""
    return Preview(standpoint, stand_words(exploration.view, standpoint))


def compared(pair: ModelComparison) -> Compared:
    """Return a comparison of two models as the page shows it, with its longest lists shortened."""
    return Compared(
        pair.first,
        pair.second,
        pair.weights[:MOST_WEIGHTS],
        pair.groups,
        pair.strip,
        pair.flipped[:MOST_FLIPPED],
        comparison_words(pair),
    )


def decided(person: Person, model: int | None) -> Decided:
    """Return the decisions of all models about a person; `model` is the number of the model to explain in words."""
    decisions = tuple(
        ModelDecision(one.rank, one.is_favourable, one.value, person.decision(one)) for one in person.decisions
    )
    values = person.flip_price and person.flip_price.values
    reach = (values.low_bound, values.high_bound) if values else None
    return Decided(person.row, person.values, decisions, reach, person_words(person, model))


def _field(feature: EncodedFeature) -> Field:
    if feature.kind == "numeric":
        return Field(feature.name, "number", ())
    return Field(feature.name, "category", feature.levels[:MOST_LEVELS])


def _saved(exploration: Exploration) -> Saved:
    names = [None if path is None else path.name for path in (exploration.record, *exploration.outputs)]
    return Saved(*names)
