"""An exploration at work: where it stands, its record, and how both go on together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from fairenum.api import AuditResult
from fairenum.auditing.preparing import Prepared
from fairenum.document.audit import AuditDocument
from fairenum.document.decision_record import Commit, Entry, Judged, RecordHeader, Step, StepOutcome
from fairenum.document.environment import environment
from fairenum.document.exploration import ExplorationView, Explored, ExploredModel
from fairenum.document.files import to_json, write_atomically
from fairenum.errors import ExplorationError, RecordRefused, ResultError
from fairenum.exploration.bench import Bench
from fairenum.exploration.committing import judged_run
from fairenum.exploration.record import Record
from fairenum.exploration.state import State
from fairenum.exploration.view import explored, view_of
from fairenum.progress import Progress, silent
from fairenum.solvers.registry import solver_version
from fairenum.threads import Loaded, one_thread


class Session:
    """Takes steps one at a time; each counts once it is on the record.

    Parameters
    ----------
    prepared
        What is explored.
    record
        Where steps are noted.
    is_opened
        Whether the holdout has been looked at before.

    Attributes
    ----------
    turn
        Held by whoever takes a step; looking needs no turn.
    listeners
        Called after every step, in the thread that took it.
    """

    def __init__(self, prepared: Prepared, record: Record, *, is_opened: bool) -> None:
        self.turn, self.record = threading.RLock(), record
        self._result: AuditResult | None = None
        self.listeners: list[Callable[[], None]] = []
        with one_thread():
            self.bench = Bench(prepared)
            self._adopt(self.bench.start(opened=int(is_opened)))
        self._loaded = Loaded()

    def begin(self, *, is_opened: bool) -> None:
        """Write the first line of a new record."""
        outcome = self.bench.outcome(None, self.state)
        self.record.head(lambda at: self._header(at, outcome, is_opened=is_opened))

    @property
    def state(self) -> State:
        """Where the exploration stands."""
        return self._at[0]

    def _adopt(self, state: State) -> None:
        """Stand here from now on, with all that is on the record by now; both at once, for whoever looks meanwhile."""
        self._at = state, len(self.record.entries)
        for told in self.listeners:
            told()

    def view(self, focus: int | None = None) -> ExplorationView:
        """Show all that there is to see, also while a step is under way."""
        state, lines = self._at
        return view_of(self.bench, state, self.record.entries[:lines], focus)

    @property
    def lines(self) -> int:
        """How many lines of the record led here."""
        return self._at[1]

    def report(self) -> str | None:
        """Return the page of the last decision."""
        return self._judged.to_html() if self._judged else None

    @property
    def decision(self) -> AuditDocument | None:
        """The run of the last decision."""
        return self._judged.document if self._judged else None

    @property
    def _judged(self) -> AuditResult | None:
        """What the last decision came to: in this process, or as its run lies beside the record."""
        run = self.outputs[0]
        if self._result is None and run is not None and any(isinstance(one, Judged) for one in self.record.entries):
            with suppress(ResultError):  # which somebody has changed
                self._result = AuditResult.load(run)
        return self._result

    @property
    def outputs(self) -> tuple[Path | None, Path | None]:
        """Where the run and the page of the last decision lie, if they do."""
        path = self.record.path
        if path is None or not self._commits:
            return None, None
        run, page = (self._place(path, ending) for ending in ("run.json", "html"))
        return run if run.is_file() else None, page if page.is_file() else None

    @property
    def current(self) -> ExploredModel:
        """The model in focus."""
        state = self.state
        return explored(next(one for one in state.listed if one.number == state.current))

    def take(self, step: Step, progress: Progress) -> State:
        """Take a step."""
        with self.turn, self._loaded.one_thread():
            before = self.state
            after = self.bench.take(before, step, progress)
            outcome = self.bench.outcome(before, after)
            self.record.add(lambda number, at, previous: Entry(number, at, previous, step, outcome))
            self._adopt(after)
            return after

    def replay(self, header: RecordHeader, progress: Progress) -> None:
        """Take the steps of the record again, refuse what comes out otherwise, and complete a commit that was cut."""
        with self.turn, self._loaded.one_thread():
            _refuse_other("the first line", header.outcome, self.bench.outcome(None, self.state), header)
            is_judged = True
            for done, entry in enumerate([*self.record.entries]):
                progress("replay", done, len(self.record.entries))
                if isinstance(entry, Judged):
                    is_judged = True
                else:
                    self._take_again(entry, header)
                    is_judged = is_judged and not isinstance(entry.taken, Commit)
            self.record.drop_torn()
            if not is_judged:
                self.judge(progress)

    def _take_again(self, entry: Entry, header: RecordHeader) -> None:
        before = self.state
        self._adopt(self.bench.take(before, entry.taken, silent))
        what = f"step {entry.number} ({type(entry.taken).__name__})"
        _refuse_other(what, entry.outcome, self.bench.outcome(before, self.state), header)

    def commit(self, step: Commit, progress: Progress) -> AuditResult:
        """Decide for a model, and judge it; one that was decided for, but not judged yet, is judged."""
        with self.turn:
            last = self.record.entries[-1] if self.record.entries else None
            if not (isinstance(last, Entry) and last.taken == step):
                self.take(step, progress)
            return self.judge(progress)

    def judge(self, progress: Progress) -> AuditResult:
        """Open the holdout for the last commit, and write what it says beside the record."""
        with self.turn, self._loaded.one_thread():
            document, live = judged_run(self.bench, self.state, self._explored(), progress)
            self._result = result = AuditResult(document, live)
            self._write(result)
            digest = sha256(to_json(document.but(timings={})).encode()).hexdigest()
            rank = document.selection.rank or 1
            self.record.add(lambda number, at, previous: Judged(number, at, previous, rank, digest))
            self._adopt(self.state)
            return result

    def _write(self, result: AuditResult) -> None:
        if (path := self.record.path) is None:
            return
        result.save(self._place(path, "run.json"))
        write_atomically(self._place(path, "html"), result.to_html().encode())

    @property
    def _commits(self) -> int:
        return sum(isinstance(one, Entry) and isinstance(one.taken, Commit) for one in self.record.entries)

    def _place(self, record: Path, ending: str) -> Path:
        """Say where what is known of the last commit lies: beside the record."""
        name = record.stem if self._commits == 1 else f"{record.stem}-{self._commits}"
        return record.with_name(f"{name}.{ending}")

    def _header(self, at: str, outcome: StepOutcome, *, is_opened: bool) -> RecordHeader:
        table, prepared = self.bench.table, self.bench.prepared
        return RecordHeader(
            at=at,
            environment=environment(solver=solver_version(prepared.training.machine.solver)),
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
        """Say how the last commit came about."""
        steps, state = [entry for entry in self.record.entries if isinstance(entry, Entry)], self.state
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
            record=self.record.tip,
        )


def _refuse_other(what: str, recorded: StepOutcome, found: StepOutcome, header: RecordHeader) -> None:
    """Refuse to go on from a record whose steps lead elsewhere."""
    if found == recorded:
        return
    names = [name for name in StepOutcome.__struct_fields__ if getattr(found, name) != getattr(recorded, name)]
    versions = ", ".join(f"{name} {version}" for name, version in header.environment.packages.items())
    raise RecordRefused(
        f"{what} of the record comes out otherwise ({', '.join(names)}); it was made with {versions}: go on where "
        "these are installed"
    )
