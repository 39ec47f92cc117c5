"""The steps of an exploration: each step is a function from a state to the next state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

import numpy as np

from fairenum.auditing.ambiguity_stage import flip_price
from fairenum.auditing.explanation import clusters, few_valued
from fairenum.auditing.model_training import Training
from fairenum.auditing.preparing import Prepared
from fairenum.document.audit_config import AuditConfig
from fairenum.document.choice import Cluster
from fairenum.document.decision_record import (
    Commit,
    Fairer,
    LeaveOut,
    Next,
    Pin,
    Step,
    StepEnd,
    StepOutcome,
    Tolerate,
    Undo,
)
from fairenum.document.exploration_view import IncumbentScores, Standpoint
from fairenum.document.flip_facts import PersonFlipPrice
from fairenum.document.terms import Distinctness, Origin
from fairenum.document.training import Tolerances
from fairenum.document.words import OBSTACLES
from fairenum.enumeration.distinct import first_alike
from fairenum.enumeration.division import Division
from fairenum.enumeration.guided import Bounds, GuidedSearch, front
from fairenum.enumeration.model import Model
from fairenum.enumeration.search import WHOLE_COPY, Enumeration, Limits
from fairenum.enumeration.unfairness import ScoredModel, Watched
from fairenum.errors import ExplorationError, SolverError
from fairenum.explore.state import Listed, Scorer, Shown, State, standpoint
from fairenum.metrics.counts import BitArray
from fairenum.metrics.guardrails import Measured
from fairenum.runtime.budget import Progress
from fairenum.svm.problem import FloatArray, IntArray, Solution, SvmProblem, read_only

NO_LIMIT = Limits(models=None)
MOST_SOLVES = 10**9  # limit of a guided search that is never reached: its caller decides when to stop
# subproblems after which `next` returns without a new model: about a tenth of a second
BOXES, WORK = (20, 150), 4.5e6


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """The limits on models that the user's left-out and pinned rows set, for each training example.

    An example stands for one or more identical rows: `allowed` is how many of them a model may use, and `floor` how
    many it must not leave out.
    """

    allowed: IntArray
    floor: IntArray

    @property
    def key(self) -> bytes:
        """Bytes that identify these limits."""
        return self.allowed.tobytes() + self.floor.tobytes()

    def holds(self, model: Model) -> bool:
        """Tell whether a model keeps the limits: it uses no more rows than allowed, and leaves out no pinned row.

        A left-out row may be among the model's training rows if it is no support vector, as training without it gives
        the same model.
        """
        problem = model.problem
        kept = problem.copies.copy()
        for example, copies in model.left_out.items():
            kept[example] -= copies
        return bool((used_copies(model) <= self.allowed).all() and (kept >= self.floor).all())

    def upper(self, problem: SvmProblem) -> FloatArray:
        """Return the upper bounds of the dual variables of an SVM problem under these limits."""
        return read_only(self.allowed * problem.cost)


class KnownModels:
    """Finds the listed model that counts as equal to a new one, by the audit's option `distinct`.

    Decisions are compared on the selection split. Only listed models within the limits of the `Box` are considered.
    """

    def __init__(self, listed: Sequence[Listed], box: Box, config: AuditConfig, rows: int) -> None:
        self._places = [place for place, one in enumerate(listed) if box.holds(one.shown.model)]
        self._by_support: dict[bytes, int] = {}
        self._by_decisions: dict[bytes, int] = {}
        self._decisions: BitArray | None = None
        self._min_difference = config.min_difference * rows
        if config.distinct == "support":
            self._by_support = {mark: place for place in self._places for mark in listed[place].supports}
            return
        for place in self._places:
            self._by_decisions.setdefault(listed[place].shown.decided, place)
        if config.distinct == "diverse" and self._places:
            self._decisions = np.array([_unpacked(listed[place].shown.decided) for place in self._places])

    def find(self, mark: bytes, decided: bytes) -> int | None:
        """Return the index of the listed model that counts as equal to a new model; None if there is none.

        `mark` is the digest of the new model's support, `decided` its decisions packed into bits.
        """
        known = self._by_support.get(mark, self._by_decisions.get(decided))
        if known is not None or self._decisions is None:
            return known
        near = first_alike(self._decisions, _unpacked(decided), self._min_difference)
        return None if near is None else self._places[near]


def _unpacked(decided: bytes) -> BitArray:
    return np.frombuffer(decided, dtype=np.uint8)


class TrainingRows:
    """Maps row numbers of the input table to training examples, each of which is a set of identical rows."""

    def __init__(self, division: Division, training: Training) -> None:
        self._dataset, self._problem = division.dataset, training.problem
        self._example = {
            number: example
            for example, records in enumerate(training.records)
            for number in division.dataset.numbered(records).tolist()
        }

    def checked(self, rows: Iterable[int]) -> tuple[int, ...]:
        """Return the row numbers, sorted and without repeats; refuse rows that are not training rows."""
        found = sorted({int(row) for row in rows})
        if not found:
            raise ExplorationError("no row was named; give the numbers of training rows, counted from 0")
        for row in found:
            if row not in self._example:
                kind = "row of the table" if self._dataset.placed(row) is None else "training row"
                raise ExplorationError(f"row {row} is no {kind}; only training rows can be kept or left out")
        return tuple(found)

    def box(self, left_out: frozenset[int], pinned: frozenset[int]) -> Box:
        """Return the limits on models that leave out some rows and keep others.

        Refuse to leave out all training rows of a label.
        """
        copies = self._problem.copies
        allowed, floor = copies - self._counted(left_out), self._counted(pinned)
        if len(np.unique(self._problem.y[allowed > 0])) < 2:
            raise ExplorationError("no training row of one label would be left; leave out fewer rows")
        return Box(allowed, floor)

    def _counted(self, rows: frozenset[int]) -> IntArray:
        examples = np.array([self._example[row] for row in sorted(rows)], dtype=np.intp)
        return np.bincount(examples, minlength=self._problem.size).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class PassedSupport:
    """A model that the enumeration has yielded, identified by its support.

    `mark` is the digest of the support, `decided` packs the decisions on the selection split into bits, and `nodes` is
    the number of SVMs solved up to this model. `model` is None, to save memory, if models are distinguished by their
    decisions and an earlier model makes the same ones.
    """

    mark: bytes
    decided: bytes
    nodes: int
    model: Model | None


class BoxModels:
    """The models for fixed left-out and pinned rows (a `Box`), best first, computed on demand and kept.

    `open_enumeration` starts the same enumeration every time; `decide` packs a model's decisions on the selection split
    into bits. `end` says why the enumeration ended; None if it goes on.
    """

    def __init__(
        self, open_enumeration: Callable[[], Enumeration], decide: Callable[[Model], bytes], notion: Distinctness
    ) -> None:
        self._open, self._decide, self._notion = open_enumeration, decide, notion
        self._enumeration: Enumeration | None = None
        self._passed: list[PassedSupport] = []
        self._known: set[bytes] = set()
        self.end: StepEnd | None = None

    def nodes(self, place: int) -> int:
        """Return the number of SVMs solved to find the first `place` models."""
        return self._passed[place - 1].nodes if place else 0

    def at(self, place: int) -> PassedSupport | None:
        """Return the model at an index, computed on demand; None if the enumeration ends before this index."""
        while len(self._passed) <= place and self.end is None:
            self._advance()
        return self._passed[place] if place < len(self._passed) else None

    def _advance(self) -> None:
        enumeration = self._enumeration or self._caught_up()
        try:
            model = next(enumeration, None)
        except SolverError:
            self.end = "solver"  # models found so far stay; nothing can be proven about later ones
            raise
        except BaseException:
            self._enumeration = None  # an interrupted generator cannot continue; a new one repeats its models
            raise
        self._enumeration = enumeration
        if model is None:
            self.end = "exhausted"
            return
        self._passed.append(self._noted(model, enumeration.nodes))

    def _caught_up(self) -> Enumeration:
        enumeration = self._open()
        for _ in self._passed:
            next(enumeration)
        return enumeration

    def _noted(self, model: Model, nodes: int) -> PassedSupport:
        decided = self._decide(model)
        is_repeated = self._notion == "predictions" and decided in self._known
        self._known.add(decided)
        return PassedSupport(support_mark(model), decided, nodes, None if is_repeated else model)


class GuidedModels:
    """The models found by a guided search, for fixed left-out rows, pinned rows and tolerances."""

    def __init__(self, search: GuidedSearch) -> None:
        self._search = search
        self._found: list[ScoredModel] = []

    def advance(self, solves: int) -> None:
        """Continue the search until it has solved `solves` SVMs in all, or has ended."""
        self._found += self._search.advance(solves)

    def front(self, solves: int) -> tuple[list[ScoredModel], StepEnd | None]:
        """Return the Pareto-optimal models among the first `solves` SVMs solved, and whether more may follow.

        The second value is "exhausted" if the search ended within these SVMs, else None.
        """
        search = self._search
        known = [one for one in self._found if one.model.rank <= solves]
        return front(known), "exhausted" if search.stopped and search.solves <= solves else None


def support_mark(model: Model) -> bytes:
    """Return a digest of how many identical rows of each example a model uses as support vectors."""
    return blake2b(used_copies(model).tobytes(), digest_size=16).digest()


def used_copies(model: Model) -> IntArray:
    """Return for each example how many of its identical rows a model uses as support vectors."""
    return np.ceil(model.alpha / model.problem.cost - WHOLE_COPY).astype(np.intp)


class Searches:
    """The searches of an exploration, one for each choice of left-out and pinned rows, independent of earlier steps."""

    def __init__(self, prepared: Prepared, scorer: Scorer) -> None:
        self._prepared, self._scorer, training = prepared, scorer, prepared.training
        self._best = training.best.certificate.objective
        self._roots = {training.problem.copies.tobytes(): training.best}
        self._best_first: dict[bytes, BoxModels] = {}
        self._guided: dict[tuple[bytes, Tolerances], GuidedModels] = {}

    def best_first(self, box: Box) -> BoxModels:
        """Return the models for the left-out and pinned rows of a box, best objective first."""
        if box.key not in self._best_first:
            workspace, root = self._prepared.training.workspace, self._root(box)
            start = partial(Enumeration, workspace, NO_LIMIT, root=root, floor=box.floor, best=self._best)
            self._best_first[box.key] = BoxModels(start, self._scorer.decided, self._prepared.config.distinct)
        return self._best_first[box.key]

    def guided(self, box: Box, tolerances: Tolerances, first: Shown) -> GuidedModels:
        """Return the guided search for the left-out and pinned rows of a box; `first` is model 1 with its scores."""
        key = (box.key, tolerances)
        if key not in self._guided:
            self._refuse_guided_search()
            self._guided[key] = GuidedModels(self._search(box, tolerances, first))
        return self._guided[key]

    def nodes(self, places: Mapping[bytes, int]) -> int:
        """Return the number of SVMs solved for the first models of each box; `places` counts models by `Box.key`."""
        return sum(self._best_first[key].nodes(place) for key, place in places.items())

    def _root(self, box: Box) -> Solution:
        """Return the best solution within a box; always solved from model 1, so that earlier steps do not matter."""
        key = box.allowed.tobytes()
        if key not in self._roots:
            training = self._prepared.training
            self._roots[key] = training.workspace.solve(box.upper(training.problem), training.best)
        return self._roots[key]

    def _search(self, box: Box, tolerances: Tolerances, first: Shown) -> GuidedSearch:
        bounds = Bounds(
            tolerances.eps,
            tolerances.max_performance_drop,
            self._prepared.config.max_left_out,
            MOST_SOLVES,
        )
        workspace, watched = self._prepared.training.workspace, self._watched(tolerances, first)
        return GuidedSearch(workspace, watched, bounds, self._root(box), box.floor, self._best)

    def _watched(self, tolerances: Tolerances, first: Shown) -> Watched:
        """Return what a guided search measures models by: selection split, gap, guardrails and reference."""
        division, found = self._prepared.division, self._prepared.incumbent
        watched = Watched(
            division.selection, tolerances.metric, tolerances.measure, self._scorer.point, tolerances.guardrails
        )
        if found is None or self._prepared.config.against != "incumbent":
            return watched.compared_with((first.values >= 0.0).astype(np.uint8), first.values)
        rows = division.rows["selection"]
        return watched.compared_with(found.bits[rows], found.values[rows])

    def _refuse_guided_search(self) -> None:
        division = self._prepared.division
        if division.primary is None:
            raise ExplorationError(f"there is nothing to search for: {OBSTACLES['no_sensitive_column']}")
        if division.is_exploratory:
            raise ExplorationError(f"a guided search is not possible: {OBSTACLES['no_holdout']}")


@dataclass(frozen=True, slots=True, eq=False)
class ScoredIncumbent:
    """The model in use on the selection split: the quantities that guardrails refer to, and the scores to show."""

    measured: Measured
    document: IncumbentScores


class Engine:
    """Computes the state after each step of an exploration; a step that fails leaves the state unchanged."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared, self.division, self.training = prepared, prepared.division, prepared.training
        self.scorer = Scorer(prepared)
        self.rows = TrainingRows(self.division, self.training)
        self.table = prepared.table
        self.features = self.division.encoding.described()
        self.incumbent = self._incumbent()
        self._searches = Searches(prepared, self.scorer)
        self._few_valued = few_valued(self.division.dataset.features)
        self._clusters: dict[str, tuple[Cluster, ...]] = {}
        self._last: tuple[State, Standpoint] | None = None
        self._flip_prices: dict[tuple[bytes, float, float], PersonFlipPrice] = {}

    @property
    def boxes(self) -> int:
        """Default number of SVMs to solve before `next` returns without a new model."""
        return self.training.problem.affordable(WORK, *BOXES)

    @property
    def is_against_incumbent(self) -> bool:
        """Whether models are compared with the model in use, and not with model 1."""
        return self.incumbent is not None and self.prepared.config.against == "incumbent"

    def start(self, *, opened: int) -> State:
        """Return the first state, which shows model 1; `opened` is how often the holdout was opened before."""
        return self._entered(State(frozenset(), frozenset(), self.prepared.config.tolerances, opened=opened))

    def take(self, state: State, step: Step, progress: Progress) -> State:
        """Return the state after a step."""
        match step:
            case Next():
                after = self._next(state, step, progress)
            case Fairer():
                after = self._fairer(state, step, progress)
            case LeaveOut():
                after = self._left_out(state, step.rows)
            case Pin():
                after = self._pinned(state, step.rows)
            case Tolerate():
                after = state.stepped(tolerances=step.tolerances)
            case Undo():
                after = state.undone()
            case Commit():
                after = _committed(state, step)
        return after

    def reference(self, state: State) -> Measured:
        """Return the measurements of the reference, which is the model in use or model 1."""
        return (
            self.incumbent.measured if self.incumbent and self.is_against_incumbent else state.listed[0].shown.measured
        )

    def standpoint(self, state: State) -> Standpoint:
        """Return the candidates and the chosen model among the listed models, under the tolerances of a state."""
        last = self._last
        if last is None or last[0] is not state:
            column, reference = self.division.column, self.reference(state)
            found = standpoint(state.shown, reference, state.tolerances, column, is_in_use=self.is_against_incumbent)
            self._last = last = state, found
        return last[1]

    def outcome(self, before: State | None, after: State) -> StepOutcome:
        """Return what a step has changed, for the record: the new, the current and the chosen models."""
        known = set() if before is None else {one.number for one in before.listed}
        return StepOutcome(
            shown=tuple(one.shown.mark for one in after.listed if one.number not in known),
            current=after.current,
            chosen=self.standpoint(after).chosen,
            looked_at=len(after.looked),
            end=after.end,
        )

    def clusters(self, shown: Shown) -> tuple[Cluster, ...]:
        """Return clusters of similar training rows among those that a model leaves out; cached."""
        mark = shown.mark.alpha
        if mark not in self._clusters:
            self._clusters[mark] = tuple(clusters(shown.model, self.division, self.training, self._few_valued))
        return self._clusters[mark]

    def flip_price(self, row: FloatArray, eps: float, threshold: float) -> PersonFlipPrice:
        """Return the flip price of model 1's decision about an encoded row; cached."""
        key = (row.tobytes(), eps, threshold)
        if key not in self._flip_prices:
            self._flip_prices[key] = flip_price(self.division, self.training, row, eps, threshold)
        return self._flip_prices[key]

    def solved(self, state: State) -> int:
        """Return the number of SVMs that the best-first enumeration has solved on the way to a state."""
        return self._searches.nodes(state.cursors)

    def _next(self, state: State, step: Next, progress: Progress) -> State:
        """Return the state with the next best new model or, if none was found, with the reason as its `end`."""
        box = self._box(state)
        known, models = self._known(state.listed, box), self._searches.best_first(box)
        repeats: dict[int, set[bytes]] = {}
        place = start = state.cursors.get(box.key, 0)
        model: Model | None = None
        end: StepEnd | None = None
        while model is None and end is None:
            done = models.nodes(place) - models.nodes(start)
            progress("next", done, step.boxes)
            if done >= step.boxes:
                end = "alike"
            elif (passed := models.at(place)) is None:
                end = models.end
            else:
                place += 1
                if (repeated := known.find(passed.mark, passed.decided)) is None:
                    model = passed.model
                else:
                    repeats.setdefault(repeated, set()).add(passed.mark)
        listed = tuple(one.with_supports(repeats.get(number, set())) for number, one in enumerate(state.listed))
        after = state.stepped(cursors={**state.cursors, box.key: place}, listed=listed, end=end)
        return after if model is None else self._shown(after, box, [(model, _origin(state))])

    def _fairer(self, state: State, step: Fairer, progress: Progress) -> State:
        """Return the state after the guided search has solved `step.solves` more SVMs, with its new models listed."""
        box = self._box(state)
        key = (box.key, state.tolerances)
        search = self._searches.guided(box, state.tolerances, state.listed[0].shown)
        start = state.solves.get(key, 0)
        for done in range(step.solves):
            progress("fairer", done, step.solves)
            search.advance(start + done + 1)
        found, end = search.front(start + step.solves)
        moved = state.stepped(solves={**state.solves, key: start + step.solves})
        after = self._shown(moved, box, [(one.model, "guided") for one in found])
        fresh = {one.number for one in after.listed} - {one.number for one in state.listed}
        if not fresh:
            return replace(after, current=state.current, end=end or "alike")
        chosen = self.standpoint(after).chosen
        return replace(after, current=chosen if chosen in fresh else max(fresh))

    def _left_out(self, state: State, rows: tuple[int, ...]) -> State:
        if held := state.pinned.intersection(rows):
            raise ExplorationError(f"row {min(held)} is pinned, so that no model leaves it out; undo that first")
        return self._entered(state.stepped(left_out=state.left_out.union(rows)))

    def _pinned(self, state: State, rows: tuple[int, ...]) -> State:
        kept = state.left_out.difference(rows)
        return self._entered(state.stepped(left_out=kept, pinned=state.pinned.union(rows)))

    def _entered(self, state: State) -> State:
        """Return a state with one more listed model, the current one: the best for the left-out and pinned rows."""
        box = self._box(state)
        best = self._searches.best_first(box).at(0)
        if best is None or best.model is None:
            raise ExplorationError("the rows that would be left have no model; leave out fewer rows")
        cursors = {**state.cursors, box.key: max(1, state.cursors.get(box.key, 0))}
        after = self._shown(replace(state, cursors=cursors), box, [(best.model, _origin(state))])
        return after if len(after.listed) > len(state.listed) else replace(after, end="alike")

    def _shown(self, state: State, box: Box, found: Sequence[tuple[Model, Origin]]) -> State:
        """Return the state with all models of `found` listed, unless they are already, and the last one as current."""
        listed, looked, current = [*state.listed], dict(state.looked), state.current
        for model, origin in found:
            mark, decided = support_mark(model), self.scorer.decided(model)
            known = self._known(listed, box).find(mark, decided)
            if known is None:
                shown = self._scored(model, origin, looked)
                looked[shown.mark.alpha] = shown
                known, listed = len(listed), [*listed, Listed(shown, frozenset())]
            listed[known] = listed[known].with_supports({mark})
            current = listed[known].number
        return replace(state, listed=tuple(listed), looked=looked, current=current)

    def _scored(self, model: Model, origin: Origin, looked: dict[str, Shown]) -> Shown:
        """Return a model with scores and a number; a model that was looked at before keeps both."""
        first = next(iter(looked.values()), None)
        return looked.get(self.scorer.digest(model)) or self.scorer.shown(model, len(looked) + 1, origin, first)

    def _known(self, listed: Sequence[Listed], box: Box) -> KnownModels:
        return KnownModels(listed, box, self.prepared.config, len(self.division.selection))

    def _box(self, state: State) -> Box:
        return self.rows.box(state.left_out, state.pinned)

    def _incumbent(self) -> ScoredIncumbent | None:
        found = self.prepared.incumbent
        if found is None:
            return None
        rows = self.division.rows["selection"]
        decided, values = found.bits[rows] > 0, found.values[rows]
        measured = self.scorer.measured(decided, values)
        scores = self.scorer.scores(decided, values, None)
        return ScoredIncumbent(measured, IncumbentScores(found.answers.name, bool(measured.is_constant[0]), scores))


def _origin(state: State) -> Origin:
    """Return the origin of enumerated models: "steered" if rows are left out or pinned, else "exact"."""
    return "steered" if state.left_out or state.pinned else "exact"


def _committed(state: State, step: Commit) -> State:
    """Return the state after a commit, which opens the holdout once more; refuse an empty reason or author."""
    chosen = state.model(step.model)
    for name, text in (("reason", step.reason), ("author", step.author)):
        if not text.strip():
            raise ExplorationError(f"a decision needs its {name}: commit(model, reason, author)")
    seen = {one.number: one for one in (*state.judged, *state.shown)}
    judged = tuple(seen[number] for number in sorted(seen))
    return state.stepped(committed=chosen.number, current=chosen.number, opened=state.opened + 1, judged=judged)
