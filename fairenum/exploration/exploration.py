"""Explore the near-optimal models of a table by hand, for scripts and notebooks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, Unpack

from fairenum.api import AuditResult
from fairenum.document.audit_config import AuditConfig, AuditOptions
from fairenum.document.choice import Cluster
from fairenum.document.decision_record import Commit, Fairer, LeaveOut, Next, Pin, RecordHeader, Step, Tolerate, Undo
from fairenum.document.exploration import ExploredModel
from fairenum.document.terms import Gap
from fairenum.errors import ExplorationError, RecordRefused
from fairenum.exploration.lookout import Lookout
from fairenum.exploration.opening import of_result, of_run, of_table, reopened
from fairenum.exploration.record import Record
from fairenum.exploration.session import Session
from fairenum.exploration.state import State
from fairenum.exploration.view import explored
from fairenum.progress import Progress, silent
from fairenum.report.wording.exploration import TORN

if TYPE_CHECKING:
    from fairenum.dataset.naming import Names
    from fairenum.exploration.opening import Table

SOLVES = 25  # of a guided search, where nobody says how many


class Exploration(Lookout):
    """One model after the other, on the selection split alone; every step is recorded, and a decision ends it.

    The holdout is sealed: nothing of it is shown until `commit` opens it, once, to judge the model that was decided
    for. A step that fails leaves the exploration as it was.

    Parameters
    ----------
    data, label, favourable, sensitive, config, **options
        As in `fairenum.audit`. A result of an audit that was run here will do for data.
    run
        A saved run, or its result, whose table the data are: its options are taken over. It has looked at the holdout,
        so what is committed is exploratory.
    record
        Path of the decision record, a new file; what is not named is not kept on the disk.
    progress
        Called with the name of a step, how much of it is done, and of how much. What it raises ends the step, and
        leaves the exploration as it was.
    now
        Says what time it is, as the record holds it.
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
            prepared = of_result(data, config, run, options)
        elif run is not None:
            prepared = of_run(data, run, config, options, progress)
        else:
            prepared = of_table(data, label, favourable, sensitive, config, options, progress)
        kept = Record.begin(None if record is None else Path(record), now)
        try:
            self.progress, self._session = progress, Session(prepared, kept, is_opened=is_opened)
            self._session.begin(is_opened=is_opened)
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
        """Go on with a recorded exploration: its steps are taken again, and give the same models bit for bit.

        A last line that was cut short, when its process was killed, is dropped with a warning. A commit that was cut
        short is completed.

        Parameters
        ----------
        record
            Its decision record.
        data
            Its table.
        incumbent
            The model in use, if it was given in Python.
        progress, now
            As for a new exploration.
        agrees
            Called with the first line of the record; what it raises ends this before anything is loaded.
        """
        kept = Record.reopen(Path(record), now)
        try:
            agrees(kept.told)
            return cls._resumed(kept, data, incumbent, progress)
        except BaseException:
            kept.close()
            raise

    @classmethod
    def _resumed(cls, kept: Record, data: Table, incumbent: object, progress: Progress) -> Self:
        header = kept.told
        prepared = reopened(
            data, header.label, header.favourable, header.sensitive, header.config, progress, in_use=incumbent
        )
        if prepared.division.dataset.fingerprint != header.fingerprint:
            raise RecordRefused(f"these are not the data of the record ({header.data}): the content differs")
        self = cls.__new__(cls)
        self.progress, self._session = progress, Session(prepared, kept, is_opened=header.is_opened)
        self._session.replay(header, progress)
        if kept.was_torn:
            warnings.warn(TORN, stacklevel=3)
        return self

    def next(self, boxes: int | None = None) -> ExploredModel | None:
        """Show the next best model within the box that decides otherwise than those of the list; exact.

        Parameters
        ----------
        boxes
            Solved boxes after which to come back without one; as many as take about a tenth of a second if not given.

        Returns
        -------
        ExploredModel or None
            None if all that was passed decides as a listed model does: `view.end` is then "alike", and calling again
            goes on from there; or "exhausted", if no further model exists.
        """
        before = self.state
        after = self._take(Next(_positive(self._session.bench.boxes if boxes is None else boxes, "boxes")))
        return self._session.current if len(after.listed) > len(before.listed) else None

    def fairer(self, steps: int = SOLVES) -> tuple[ExploredModel, ...]:
        """Search on for fairer models, guided by the selection split and steered by the guardrails.

        Parameters
        ----------
        steps
            Boxes to solve; calling again goes on from there.

        Returns
        -------
        tuple
            The models that were found, that decide otherwise than those of the list, and that no other one beats in
            objective, gap and performance together.
        """
        known = {one.number for one in self.state.listed}
        self._take(Fairer(_positive(steps, "steps")))
        return tuple(explored(one) for one in self.state.listed if one.number not in known)

    def leave_out(self, examples: Iterable[int] | Cluster) -> ExploredModel:
        """Leave training rows out of all models from now on, and show the best one without them.

        Parameters
        ----------
        examples
            Row numbers, counted from 0 in the input table, or a cluster of the view.
        """
        self._take(LeaveOut(self._rows(examples)))
        return self._session.current

    def pin(self, examples: Iterable[int] | Cluster) -> ExploredModel:
        """Keep training rows in all models from now on, and show the best one with them.

        No model leaves them out; whether they support one is not forced. Rows that were left out are put back.

        Parameters
        ----------
        examples
            Row numbers, counted from 0 in the input table, or a cluster of the view.
        """
        self._take(Pin(self._rows(examples)))
        return self._session.current

    def undo(self) -> None:
        """Take back the last step, whatever it was. What was seen stays seen: models looked at, and the holdout."""
        self._take(Undo())

    def tolerate(
        self,
        *,
        metric: Gap | None = None,
        eps: float | None = None,
        max_performance_drop: float | None = None,
        max_accuracy_drop: float | None = None,
        max_loss: float | Literal["any"] | None = None,
        guards: Sequence[str] | str = (),
    ) -> int | None:
        """Choose under other tolerances and guardrails; see `fairenum.select` for the parameters.

        What is not given stays as it is; "any" takes the bound on the loss away.

        Returns
        -------
        int or None
            The number of the model that the rule chooses now.
        """
        drops = {"max_performance_drop": max_performance_drop, "max_accuracy_drop": max_accuracy_drop}
        self._take(Tolerate(self._tolerances(guards, metric=metric, eps=eps, max_loss=max_loss, **drops)))
        return self._session.bench.standpoint(self.state).chosen

    def commit(self, model: int, reason: str, author: str) -> AuditResult:
        """Decide for a model: open the holdout, judge the model by it, and write run and page beside the record.

        The decision is on the record before the holdout is opened. Whatever is committed after that, in this
        exploration, is exploratory: its verdicts hold for all models together, and propose nothing. A commit that was
        interrupted is completed by giving it again.

        Parameters
        ----------
        model
            Its number.
        reason, author
            Why, and by whom.
        """
        return self._session.commit(Commit(model, reason, author), self.progress)

    def close(self) -> None:
        """Let others write to the record."""
        self._session.record.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _take(self, step: Step) -> State:
        return self._session.take(step, self.progress)

    def _rows(self, examples: Iterable[int] | Cluster) -> tuple[int, ...]:
        return self._session.bench.rows.checked(examples.rows if isinstance(examples, Cluster) else examples)


def _positive(number: int, name: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ExplorationError(f"{name} is a whole number of at least 1, not {number!r}")
    return number
