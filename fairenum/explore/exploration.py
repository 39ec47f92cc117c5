"""The public class for exploring near-optimal models, for scripts and notebooks."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack

from fairenum.api import AuditResult, changed_tolerances, with_options
from fairenum.auditing.listing import Listing, cut_values, loss_order
from fairenum.auditing.pipeline import conclude
from fairenum.auditing.preparing import Prepared, config_of, prepare
from fairenum.auditing.run_state import RunState
from fairenum.auditing.schedule import Schedule
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import Cluster
from fairenum.document.decision_record import (
    Commit,
    Entry,
    Fairer,
    Judged,
    LeaveOut,
    Next,
    Pin,
    RecordHeader,
    Step,
    StepOutcome,
    Tolerate,
    Undo,
)
from fairenum.document.exploration_view import ExplorationView, Explored, ExploredModel, ModelComparison, Standpoint
from fairenum.document.feature_facts import EncodedFeature
from fairenum.document.files import to_json, write_atomically
from fairenum.document.guards import kept_guards
from fairenum.document.header import environment
from fairenum.document.keywords import AuditOptions, GapName
from fairenum.document.models import GuidedRun
from fairenum.document.person import Person
from fairenum.document.training import Tolerances
from fairenum.errors import ConfigError, ExplorationError, RecordRefused, ResultError
from fairenum.explore.engine import Engine
from fairenum.explore.looks import asked, compared, explored, view_of
from fairenum.explore.record_file import Record
from fairenum.explore.state import Shown, State
from fairenum.report.exploration_words import TORN
from fairenum.runtime.budget import Budget, Progress, silent
from fairenum.runtime.parallel import BlasLibraries, one_thread
from fairenum.solvers.registry import solver_version
from fairenum.tables import Dataset

if TYPE_CHECKING:
    import pandas as pd

    from fairenum.tables.naming import Names

    Table = str | Path | pd.DataFrame | Dataset

DISPLAYS = "fairenum.displays"  # entry points for live displays
SOLVES = 25  # default number of solved subproblems of a guided step


class Exploration:
    """An exploration of near-optimal models, step by step on the selection split, up to a commit to one of them.

    Every step is recorded. The holdout is not used until `commit` judges the chosen model on it. A step that fails
    leaves the exploration as it was.

    Parameters
    ----------
    data, label, favourable, sensitive, config, **options
        As in `fairenum.audit`. `data` may also be the result of an audit that ran in this process.
    run
        A saved run of the same table, or its result, whose options are used. As the holdout was used in that run, a
        commit is exploratory: it can propose no model.
    record
        Path of a new file for the decision record; by default nothing is written to disk.
    progress
        Called with the name of a step, the amount done and the total. If it raises an exception, the step is stopped.
    now
        Function that returns the current time as text, for the record; by default in UTC.
    """

    def __init__(
        self,
        data: Table | AuditResult,
        label: str | None = None,
        favourable: object = None,
        sensitive: Names | None = None,
        *,
        config: AuditConfig | None = None,
        run: AuditResult | str | Path | None = None,
        record: str | Path | None = None,
        progress: Progress = silent,
        now: Callable[[], str] | None = None,
        **options: Unpack[AuditOptions],
    ) -> None:
        is_opened = run is not None or isinstance(data, AuditResult)
        if isinstance(data, AuditResult):
            prepared = _prepare_result(data, config, run, options)
        elif run is not None:
            prepared = _prepare_run(data, run, config, options, progress)
        else:
            prepared = _prepare_table(data, label, favourable, sensitive, config, options, progress)
        kept = Record.begin(None if record is None else Path(record), now)
        try:
            self._open(prepared, kept, progress, is_opened=is_opened)
            outcome = self._engine.outcome(None, self.state)
            kept.begin_with(lambda at: self._header(at, outcome, is_opened=is_opened))
        except BaseException:
            kept.close()
            raise

    @classmethod
    def resume(
        cls,
        record: str | Path,
        data: Table,
        *,
        incumbent: object = None,
        progress: Progress = silent,
        now: Callable[[], str] | None = None,
        agrees: Callable[[RecordHeader], None] = lambda _: None,
    ) -> Self:
        """Return a recorded exploration, resumed by replaying its steps, which gives exactly the same models.

        If a killed process left the last line of the record incomplete, that line is dropped with a warning. A recorded
        commit that was not judged yet is judged now. `incumbent` is the model in use, needed only if it was given as a
        Python object. `agrees` is called with the first line of the record; if it raises an exception, nothing is
        loaded.
        """
        kept = Record.reopen(Path(record), now)
        try:
            agrees(kept.known_header)
            return cls._resumed(kept, data, incumbent, progress)
        except BaseException:
            kept.close()
            raise

    @classmethod
    def _resumed(cls, kept: Record, data: Table, incumbent: object, progress: Progress) -> Self:
        header = kept.known_header
        prepared = _prepare_again(
            data, header.label, header.favourable, header.sensitive, header.config, progress, incumbent_object=incumbent
        )
        if prepared.division.dataset.fingerprint != header.fingerprint:
            raise RecordRefused(f"these are not the data of the record ({header.data}): the content differs")
        self = cls.__new__(cls)
        self._open(prepared, kept, progress, is_opened=header.is_opened)
        self._replay(header)
        if kept.was_torn:
            warnings.warn(TORN, stacklevel=3)
        return self

    def _open(self, prepared: Prepared, record: Record, progress: Progress, *, is_opened: bool) -> None:
        """Initialise this exploration at the best model; `is_opened` says whether the holdout was used before."""
        self.progress, self._record, self._lock = progress, record, threading.RLock()
        self._result: AuditResult | None = None
        self._listeners: list[Callable[[], None]] = []
        with one_thread():
            self._engine = Engine(prepared)
            self._adopt(self._engine.start(opened=int(is_opened)))
        self._loaded = BlasLibraries()

    def _adopt(self, state: State) -> None:
        """Make a state the current one, and call the listeners.

        State and number of record lines are set in one assignment, so that other threads always see a matching pair.
        """
        self._state_and_lines = state, len(self._record.entries)
        for callback in self._listeners:
            callback()

    def next(self, boxes: int | None = None) -> ExploredModel | None:
        """Return the next best model that is distinct from all listed ones, given the left-out and pinned rows.

        Returns None if the enumeration ended, or if solving `boxes` SVMs (by default as many as take about a tenth of a
        second) gave no new model. `view.end` is then "alike" if another call may find one, "exhausted" if no further
        model exists, and "solver" if the solver failed in an earlier call.
        """
        before = self.state
        after = self._take(Next(_positive(self._engine.boxes if boxes is None else boxes, "boxes")))
        return self._current if len(after.listed) > len(before.listed) else None

    def fairer(self, steps: int = SOLVES) -> tuple[ExploredModel, ...]:
        """Continue the guided search for fairer models by solving `steps` more SVMs, and return the new models.

        They are Pareto-optimal: no other model found is as good in loss, gap and performance, and better in one.
        """
        known = {one.number for one in self.state.listed}
        self._take(Fairer(_positive(steps, "steps")))
        return tuple(explored(one) for one in self.state.listed if one.number not in known)

    def leave_out(self, examples: Iterable[int] | Cluster) -> ExploredModel:
        """Leave training rows out of all models from now on, and return the best model without these rows.

        `examples` are row numbers of the input table, counted from 0, or one of the clusters of rows in
        `view.clusters`.
        """
        self._take(LeaveOut(self._rows(examples)))
        return self._current

    def pin(self, examples: Iterable[int] | Cluster) -> ExploredModel:
        """Keep training rows in the training of all models from now on, and return the best such model.

        The rows need not become support vectors; rows that were left out are put back. `examples` are row numbers of
        the input table, counted from 0, or one of the clusters of rows in `view.clusters`.
        """
        self._take(Pin(self._rows(examples)))
        return self._current

    def undo(self) -> None:
        """Undo the last step; the record still counts the models looked at and the times the holdout was opened."""
        self._take(Undo())

    def tolerate(
        self,
        *,
        metric: GapName | None = None,
        eps: float | None = None,
        max_performance_drop: float | None = None,
        max_accuracy_drop: float | None = None,
        guards: Sequence[str] | str = (),
    ) -> int | None:
        """Set other tolerances and guardrails, and return the number of the model chosen under them, or None.

        See `fairenum.select` for the parameters. Omitted ones stay as they are.
        """
        drops = {"max_performance_drop": max_performance_drop, "max_accuracy_drop": max_accuracy_drop}
        self._take(Tolerate(self._tolerances(guards, metric=metric, eps=eps, **drops)))
        return self._engine.standpoint(self.state).chosen

    def commit(self, model: int, reason: str, author: str) -> AuditResult:
        """Commit to a model, and return its audit with verdicts on the holdout.

        The decision is recorded before the holdout is used. Result and HTML report are written beside the record. Every
        later commit of this exploration is exploratory: its verdicts are simultaneous over all models, and it proposes
        no model. An interrupted commit is completed by the same call.
        """
        step = Commit(model, reason, author)
        with self._lock:
            last = self._record.entries[-1] if self._record.entries else None
            if not (isinstance(last, Entry) and last.taken == step):
                self._take(step)
            return self._judge()

    def close(self) -> None:
        """Close the record file, so that others may open it."""
        self._record.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def state(self) -> State:
        """The current state, which is immutable."""
        return self._state_and_lines[0]

    @property
    def was_torn(self) -> bool:
        """Whether the last line of the resumed record was incomplete, and dropped."""
        return self._record.was_torn

    @property
    def view(self) -> ExplorationView:
        """All that a page about the current state shows; also available while a step is running."""
        return self.focused(None)

    def focused(self, model: int | None) -> ExplorationView:
        """Return the view with the details of a model, if None that of the last step, without taking a step."""
        state, lines = self._state_and_lines
        return view_of(self._engine, state, self._record.entries[:lines], model)

    @property
    def lines(self) -> int:
        """Number of record lines that led to the current state."""
        return self._state_and_lines[1]

    @property
    def features(self) -> tuple[EncodedFeature, ...]:
        """The features that models learn from, with their encoding."""
        return self._engine.features

    @property
    def record(self) -> Path | None:
        """Path of the decision record; None if it is not written to disk."""
        return self._record.path

    def listen(self, callback: Callable[[], None]) -> None:
        """Register a callback; it is called after every step, in the thread that took the step."""
        self._listeners.append(callback)

    def report(self) -> str | None:
        """Return the HTML report on the last commit; None before any commit."""
        return self._judged.to_html() if self._judged else None

    @property
    def decision(self) -> AuditDocument | None:
        """The audit document of the last commit; None before any commit."""
        return self._judged.document if self._judged else None

    @property
    def _judged(self) -> AuditResult | None:
        """The result of the last commit, kept in this process or loaded from the file beside the record, if any."""
        run = self.outputs[0]
        if self._result is None and run is not None and any(isinstance(one, Judged) for one in self._record.entries):
            with suppress(ResultError):  # the file was changed
                self._result = AuditResult.load(run)
        return self._result

    @property
    def outputs(self) -> tuple[Path | None, Path | None]:
        """Paths of the saved result and of the HTML report of the last commit; None for a file that does not exist."""
        path = self._record.path
        if path is None or not self._commits:
            return None, None
        run, page = (self._place(path, ending) for ending in ("run.json", "html"))
        return run if run.is_file() else None, page if page.is_file() else None

    def compare(self, first: int, second: int) -> ModelComparison:
        """Return the comparison of two listed models, given by number, on the selection split."""
        state = self.state
        return compared(self._engine, state, state.model(first), state.model(second))

    def person(self, who: int | Mapping[str, object]) -> Person:
        """Return the decision of each listed model about one person.

        `who` is a row number of the input table, counted from 0, or a mapping from features to values, where omitted
        features count as missing.
        """
        return asked(self._engine, self.state, who)

    def preview(
        self,
        *,
        metric: GapName | None = None,
        eps: float | None = None,
        max_performance_drop: float | None = None,
        guards: Sequence[str] | str = (),
    ) -> Standpoint:
        """Return the candidates and the chosen model under other tolerances, without a step; see `tolerate`."""
        named = {"metric": metric, "eps": eps, "max_performance_drop": max_performance_drop}
        return self._engine.standpoint(replace(self.state, tolerances=self._tolerances(guards, **named)))

    def __repr__(self) -> str:
        name, models, looked_at = self._engine.table.name, len(self.state.listed), len(self.state.looked)
        return f"Exploration({name!r}, models={models}, looked_at={looked_at})"

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, object]:
        """Return the live widget and a static page for notebooks; nothing without the package anywidget."""
        shown = [entry for entry in entry_points(group=DISPLAYS) if entry.name == "notebook"]
        if not shown or find_spec("anywidget") is None:
            return {}
        return {**shown[0].load()(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        from fairenum.render.html import to_notebook
        from fairenum.report.exploration_page import exploration_page

        return to_notebook(exploration_page(self.view))

    def _tolerances(self, guards: Sequence[str] | str, **options: object) -> Tolerances:
        """Return the current tolerances with changes; refuse a guardrail on an unknown column."""
        return changed_tolerances(self.state.tolerances, self._engine.table, guards, options)

    @property
    def _current(self) -> ExploredModel:
        state = self.state
        return explored(next(one for one in state.listed if one.number == state.current))

    def _take(self, step: Step) -> State:
        """Take a step, write it to the record, and return the state after it."""
        with self._lock, self._loaded.one_thread():
            before = self.state
            after = self._engine.take(before, step, self.progress)
            outcome = self._engine.outcome(before, after)
            self._record.add(lambda number, at, previous: Entry(number, at, previous, step, outcome))
            self._adopt(after)
            return after

    def _replay(self, header: RecordHeader) -> None:
        """Take the recorded steps again, refuse other results than recorded, and judge a commit not judged yet."""
        with self._lock, self._loaded.one_thread():
            _require_equal("the first line", header.outcome, self._engine.outcome(None, self.state), header)
            is_judged = True
            for done, entry in enumerate([*self._record.entries]):
                self.progress("replay", done, len(self._record.entries))
                if isinstance(entry, Judged):
                    is_judged = True
                else:
                    self._take_again(entry, header)
                    is_judged = is_judged and not isinstance(entry.taken, Commit)
            self._record.drop_torn()
            if not is_judged:
                self._judge()

    def _take_again(self, entry: Entry, header: RecordHeader) -> None:
        before = self.state
        self._adopt(self._engine.take(before, entry.taken, silent))
        what = f"step {entry.number} ({type(entry.taken).__name__})"
        _require_equal(what, entry.outcome, self._engine.outcome(before, self.state), header)

    def _judge(self) -> AuditResult:
        """Judge the last commit on the holdout, write and record the result, and return it."""
        with self._lock, self._loaded.one_thread():
            document, live = _judged_run(self._engine, self.state, self._explored(), self.progress)
            self._result = result = AuditResult(document, live)
            self._write(result)
            digest = sha256(to_json(document.but(timings={})).encode()).hexdigest()
            rank = document.selection.rank or 1
            self._record.add(lambda number, at, previous: Judged(number, at, previous, rank, digest))
            self._adopt(self.state)
            return result

    def _write(self, result: AuditResult) -> None:
        if (path := self._record.path) is None:
            return
        result.save(self._place(path, "run.json"))
        write_atomically(self._place(path, "html"), result.to_html().encode())

    @property
    def _commits(self) -> int:
        return sum(isinstance(one, Entry) and isinstance(one.taken, Commit) for one in self._record.entries)

    def _place(self, record: Path, ending: str) -> Path:
        name = record.stem if self._commits == 1 else f"{record.stem}-{self._commits}"
        return record.with_name(f"{name}.{ending}")

    def _header(self, at: str, outcome: StepOutcome, *, is_opened: bool) -> RecordHeader:
        table, prepared = self._engine.table, self._engine.prepared
        return RecordHeader(
            at=at,
            environment=environment(solver=solver_version(prepared.training.svm.solver)),
            data=table.name,
            fingerprint=table.fingerprint,
            label=table.label,
            favourable=table.favourable,
            sensitive=tuple(table.sensitive_columns),
            config=prepared.asked,
            is_opened=is_opened,
            outcome=outcome,
        )

    def _explored(self) -> Explored:
        """Return the facts about the last commit and the steps before it, for the document of its audit."""
        steps, state = [entry for entry in self._record.entries if isinstance(entry, Entry)], self.state
        commit = steps[-1].taken if steps else None
        if not isinstance(commit, Commit):
            raise ExplorationError("there is no decision to judge; commit(model, reason, author) makes one")
        return Explored(
            number=commit.model,
            author=commit.author,
            reason=commit.reason,
            looked_at=len(state.looked),
            steps=len(steps),
            left_out=len(state.left_out),
            pinned=len(state.pinned),
            look=state.opened,
            record=self._record.tip,
        )

    def _rows(self, examples: Iterable[int] | Cluster) -> tuple[int, ...]:
        return self._engine.rows.checked(examples.rows if isinstance(examples, Cluster) else examples)


def _positive(number: int, name: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ExplorationError(f"{name} is a whole number of at least 1, not {number!r}")
    return number


def _prepare_table(
    data: Table,
    label: str | None,
    favourable: object,
    sensitive: Names | None,
    config: AuditConfig | None,
    options: AuditOptions,
    progress: Progress,
) -> Prepared:
    config, incumbent_object = with_options(config, options)
    with one_thread():
        return prepare(data, label, favourable, sensitive, config, _schedule(config, progress), incumbent_object)


def _prepare_run(
    data: Table, run: AuditResult | str | Path, config: AuditConfig | None, options: AuditOptions, progress: Progress
) -> Prepared:
    """Return a table prepared with the options of a saved run; refuse data other than those of the run."""
    _refuse_options(config, options)
    document = (run if isinstance(run, AuditResult) else AuditResult.load(run)).document
    table, config = document.dataset, config_of(document)
    prepared = _prepare_again(data, table.label, table.favourable, table.sensitive_columns, config, progress)
    if prepared.division.dataset.fingerprint != table.fingerprint:
        raise ResultError("these are not the data of the run: the content differs")
    return prepared


def _prepare_again(
    data: Table,
    label: str,
    favourable: str,
    sensitive: Sequence[str],
    config: AuditConfig,
    progress: Progress,
    *,
    incumbent_object: object = None,
) -> Prepared:
    schedule = _schedule(config, progress)
    with one_thread():
        if isinstance(data, Dataset):
            return prepare(data, None, None, None, config, schedule, incumbent_object)
        return prepare(data, label, favourable, [*sensitive], config, schedule, incumbent_object)


def _prepare_result(
    result: AuditResult, config: AuditConfig | None, run: AuditResult | str | Path | None, options: AuditOptions
) -> Prepared:
    """Return the rows and the trained SVM of an audit that ran in this process; refuse a loaded result."""
    _refuse_options(config, options)
    live = result.live
    if live is None or run is not None:
        raise ExplorationError("a saved result holds no rows; name its data, too: Exploration(data, run=result)")
    document = result.document
    return replace(live, table=document.dataset)


def _refuse_options(config: AuditConfig | None, options: AuditOptions) -> None:
    if config is not None or options:
        raise ConfigError("a run has its options; leave out config and others, or explore the table anew")


def _schedule(config: AuditConfig, progress: Progress) -> Schedule:
    """Return a schedule without a time limit, so that results do not depend on the speed of the computer."""
    return Schedule.of(config, Budget(None), progress)


def _judged_run(engine: Engine, state: State, explored: Explored, progress: Progress) -> tuple[AuditDocument, RunState]:
    """Return the audit document and run state with the committed model judged on the holdout.

    At the first commit, verdicts are for this model alone; at later ones they are simultaneous over all models. Models
    scored on the holdout for an earlier commit are listed, too, even if the steps that found them were undone.
    """
    ordered = _ordered(state.judged)
    rank = 1 + [one.number for one in ordered].index(explored.number)
    prepared = _with_decision(engine.prepared, state.tolerances, ordered)
    if explored.look > 1:  # rows already looked at cannot confirm a choice
        prepared = replace(prepared, division=replace(prepared.division, is_exploratory=True))
    listing, schedule = _listing(engine, state, ordered), _schedule(prepared.config, progress)
    document, live = conclude(prepared, listing, schedule, guided=_guided(state, ordered), rank=rank)
    return document.but(exploration=explored), live


def _ordered(shown: tuple[Shown, ...]) -> list[Shown]:
    """Return models by loss, least first; those of equal loss in the order in which they were looked at."""
    return [shown[place] for place in loss_order([one.model for one in shown])]


def _with_decision(prepared: Prepared, tolerances: Tolerances, ordered: list[Shown]) -> Prepared:
    """Return the prepared audit, with options changed to the tolerances, models and kind of search at the commit."""
    config: AuditConfig = prepared.config.but(
        metric=tolerances.metric,
        eps=tolerances.eps,
        max_performance_drop=tolerances.max_performance_drop,
        guards=kept_guards(tolerances.guards or ("none",)),
        k=len(ordered),
        search="both" if any(one.origin == "guided" for one in ordered) else "exact",
    )
    asked = prepared.asked
    if tolerances.eps != prepared.config.tolerances.eps:
        asked = asked.but(eps=tolerances.eps)
    return replace(prepared, config=config, asked=asked)


def _listing(engine: Engine, state: State, ordered: list[Shown]) -> Listing:
    models = [replace(one.model, is_order_certified=True) for one in ordered]  # by loss, which is known exactly
    supports = {one.number: len(one.supports) for one in state.listed}
    cuts, values = cut_values(models, engine.division, engine.scorer.point)
    return Listing(
        models=tuple(models),
        origins=tuple(one.origin for one in ordered),
        sizes=tuple(max(1, supports.get(one.number, 1)) for one in ordered),
        point=engine.scorer.point,
        cuts=cuts,
        values=values,
        stopped="caller",
        nodes=engine.solved(state),
        ties=None,
        audited_rows=len(engine.division.selection),
    )


def _guided(state: State, ordered: list[Shown]) -> GuidedRun | None:
    solves, found = sum(state.solves.values()), sum(one.origin == "guided" for one in ordered)
    return GuidedRun("caller", solves, found + 1, found) if solves or found else None


def _require_equal(what: str, recorded: StepOutcome, found: StepOutcome, header: RecordHeader) -> None:
    """Refuse the record if a replayed step has another outcome than recorded; `what` names the step."""
    if found == recorded:
        return
    names = [name for name in StepOutcome.__struct_fields__ if getattr(found, name) != getattr(recorded, name)]
    versions = ", ".join(f"{name} {version}" for name, version in header.environment.packages.items())
    raise RecordRefused(
        f"{what} of the record has another outcome now ({', '.join(names)}); it was made with {versions}: go on where "
        "these are installed"
    )
