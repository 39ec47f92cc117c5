"""The workbench of an exploration: takes a state and a step to the next state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fairenum.auditing.explanation import clusters, few_valued
from fairenum.auditing.preparing import Prepared
from fairenum.auditing.tolerance import tolerance
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
from fairenum.document.exploration import InUseScores, Standpoint
from fairenum.document.terms import Origin
from fairenum.document.tolerance import FlipTolerance
from fairenum.enumeration.model import Model
from fairenum.errors import ExplorationError
from fairenum.exploration.alike import Alike
from fairenum.exploration.box import Box, TrainingRows
from fairenum.exploration.lane import support_mark
from fairenum.exploration.scorer import Scorer
from fairenum.exploration.standing import standpoint
from fairenum.exploration.state import Listed, Shown, State
from fairenum.exploration.streams import Streams
from fairenum.problem import FloatArray
from fairenum.progress import Progress
from fairenum.scoring.guarded import Measured

# Boxes after which `next` comes back without a new model: about a tenth of a second.
BOXES, WORK = (20, 150), 4.5e6


@dataclass(frozen=True, slots=True, eq=False)
class InUse:
    """The model in use on the selection split."""

    measured: Measured
    document: InUseScores


class Bench:
    """Takes steps; a step that fails leaves the state that there was."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared, self.division, self.training = prepared, prepared.division, prepared.training
        self.scorer = Scorer(prepared)
        self.rows = TrainingRows(self.division, self.training)
        self.table = prepared.table
        self.features = self.division.encoding.described()
        self.in_use = self._in_use()
        self._streams = Streams(prepared, self.scorer)
        self._alike = Alike(prepared.config, len(self.division.selection))
        self._telling = few_valued(self.division.dataset.features)
        self._clusters: dict[str, tuple[Cluster, ...]] = {}
        self._last: tuple[State, Standpoint] | None = None
        self._asked: dict[tuple[bytes, float, float], FlipTolerance] = {}

    @property
    def boxes(self) -> int:
        """After how many solved boxes `next` comes back if nobody says otherwise."""
        return self.training.problem.affordable(WORK, *BOXES)

    @property
    def is_against_in_use(self) -> bool:
        """Whether models are compared with the model in use."""
        return self.in_use is not None and self.prepared.config.against == "incumbent"

    def start(self, *, opened: int) -> State:
        """Show model 1."""
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
        """Return what models are compared with: model 1, or the model in use."""
        return self.in_use.measured if self.in_use and self.is_against_in_use else state.listed[0].shown.measured

    def standpoint(self, state: State) -> Standpoint:
        """Say who may be chosen, and who is."""
        last = self._last
        if last is None or last[0] is not state:
            column, reference = self.division.column, self.reference(state)
            found = standpoint(state.shown, reference, state.tolerances, column, is_in_use=self.is_against_in_use)
            self._last = last = state, found
        return last[1]

    def outcome(self, before: State | None, after: State) -> StepOutcome:
        """Say what came of a step, for the record."""
        known = set() if before is None else {one.number for one in before.listed}
        return StepOutcome(
            shown=tuple(one.shown.mark for one in after.listed if one.number not in known),
            current=after.current,
            chosen=self.standpoint(after).chosen,
            looked_at=len(after.looked),
            end=after.end,
        )

    def clusters(self, shown: Shown) -> tuple[Cluster, ...]:
        """Return what a model leaves out, in clusters."""
        mark = shown.mark.alpha
        if mark not in self._clusters:
            self._clusters[mark] = tuple(clusters(shown.model, self.division, self.training, self._telling))
        return self._clusters[mark]

    def tolerance(self, row: FloatArray, eps: float, threshold: float) -> FlipTolerance:
        """Find how far the decision about a person is settled, given the encoded row; found once."""
        key = (row.tobytes(), eps, threshold)
        if key not in self._asked:
            self._asked[key] = tolerance(self.division, self.training, row, eps, threshold)
        return self._asked[key]

    def solved(self, state: State) -> int:
        """Return how many boxes were solved on the way to a state, best first."""
        return self._streams.nodes(state.cursors)

    def _next(self, state: State, step: Next, progress: Progress) -> State:
        """Pass supports until one is new, the lane ends, or enough boxes were solved."""
        box = self._box(state)
        places, lane = self._alike.places(state.listed, box), self._streams.lane(box)
        passed_by: dict[int, set[bytes]] = {}
        place = start = state.cursors.get(box.key, 0)
        model: Model | None = None
        end: StepEnd | None = None
        while model is None and end is None:
            done = lane.nodes(place) - lane.nodes(start)
            progress("next", done, step.boxes)
            if done >= step.boxes:
                end = "alike"
            elif (passed := lane.at(place)) is None:
                end = lane.end
            else:
                place += 1
                if (known := places.find(passed.mark, passed.decided)) is None:
                    model = passed.model
                else:
                    passed_by.setdefault(known, set()).add(passed.mark)
        listed = tuple(one.with_supports(passed_by.get(number, set())) for number, one in enumerate(state.listed))
        after = state.stepped(cursors={**state.cursors, box.key: place}, listed=listed, end=end)
        return after if model is None else self._shown(after, box, [(model, _origin(state))])

    def _fairer(self, state: State, step: Fairer, progress: Progress) -> State:
        """Go on with the guided search, box by box, and show those of its models that none beats and that are new."""
        box = self._box(state)
        key = (box.key, state.tolerances)
        lane = self._streams.guided(box, state.tolerances, state.listed[0].shown)
        start = state.solves.get(key, 0)
        for done in range(step.solves):
            progress("fairer", done, step.solves)
            lane.advance(start + done + 1)
        found, end = lane.front(start + step.solves)
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
        """Enter the box of a state: its best model is seen at once."""
        box = self._box(state)
        best = self._streams.lane(box).at(0)
        if best is None or best.model is None:
            raise ExplorationError("the rows that would be left have no model; leave out fewer rows")
        cursors = {**state.cursors, box.key: max(1, state.cursors.get(box.key, 0))}
        after = self._shown(replace(state, cursors=cursors), box, [(best.model, _origin(state))])
        return after if len(after.listed) > len(state.listed) else replace(after, end="alike")

    def _shown(self, state: State, box: Box, found: Sequence[tuple[Model, Origin]]) -> State:
        """Add models of a box to the list, but for those that decide as one of it does; put the last into focus."""
        listed, looked, current = [*state.listed], dict(state.looked), state.current
        for model, origin in found:
            mark, decided = support_mark(model), self.scorer.decided(model)
            known = self._alike.places(listed, box).find(mark, decided)
            if known is None:
                shown = self._scored(model, origin, looked)
                looked[shown.mark.alpha] = shown
                known, listed = len(listed), [*listed, Listed(shown, frozenset())]
            listed[known] = listed[known].with_supports({mark})
            current = listed[known].number
        return replace(state, listed=tuple(listed), looked=looked, current=current)

    def _scored(self, model: Model, origin: Origin, looked: dict[str, Shown]) -> Shown:
        """Score a model, unless it was looked at before: it keeps its number."""
        first = next(iter(looked.values()), None)
        return looked.get(self.scorer.digest(model)) or self.scorer.shown(model, len(looked) + 1, origin, first)

    def _box(self, state: State) -> Box:
        return self.rows.box(state.left_out, state.pinned)

    def _in_use(self) -> InUse | None:
        found = self.prepared.incumbent
        if found is None:
            return None
        rows = self.division.rows["selection"]
        decided, values = found.bits[rows] > 0, found.values[rows]
        measured = self.scorer.measured(decided, values)
        scores = self.scorer.scores(decided, values, None)
        return InUse(measured, InUseScores(found.told.name, bool(measured.is_constant[0]), scores))


def _origin(state: State) -> Origin:
    """Say how the models of a state's box are found: best first of all, or of what somebody has left to choose from."""
    return "steered" if state.left_out or state.pinned else "exact"


def _committed(state: State, step: Commit) -> State:
    """Decide for a model. From here on the holdout is open, whatever becomes of what follows."""
    chosen = state.model(step.model)
    for name, text in (("reason", step.reason), ("author", step.author)):
        if not text.strip():
            raise ExplorationError(f"a decision needs its {name}: commit(model, reason, author)")
    seen = {one.number: one for one in (*state.judged, *state.shown)}
    judged = tuple(seen[number] for number in sorted(seen))
    return state.stepped(committed=chosen.number, current=chosen.number, opened=state.opened + 1, judged=judged)
