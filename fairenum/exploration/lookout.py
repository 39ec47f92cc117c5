"""What an exploration lets you see; looking takes no step, and may be done while one is under way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fairenum.document.anatomy import EncodedFeature
from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import with_present_names
from fairenum.document.exploration import ExplorationView, ModelComparison, Standpoint
from fairenum.document.guards import refuse_unknown_columns, resolved_guards
from fairenum.document.machine import Tolerances
from fairenum.document.terms import Gap
from fairenum.exploration.asking import asked
from fairenum.exploration.comparing import compared
from fairenum.exploration.session import Session
from fairenum.exploration.state import State

if TYPE_CHECKING:
    from fairenum.document.person import Person

DISPLAYS = "fairenum.displays"  # what shows an exploration live, which is none of its own business


class Lookout:
    """Sees where an exploration stands."""

    _session: Session

    @property
    def state(self) -> State:
        """Where the exploration stands: a frozen value."""
        return self._session.state

    @property
    def was_torn(self) -> bool:
        """Whether the last line of the record that was resumed had been cut short."""
        return self._session.record.was_torn

    @property
    def view(self) -> ExplorationView:
        """All that there is to see, as a typed value."""
        return self._session.view()

    @property
    def lines(self) -> int:
        """How many lines of the record come after the first: grows with every step."""
        return self._session.lines

    @property
    def features(self) -> tuple[EncodedFeature, ...]:
        """What models learn from, and which values they know: what a person is described by."""
        return self._session.bench.features

    @property
    def record(self) -> Path | None:
        """The file of the record; None if there is none."""
        return self._session.record.path

    def focused(self, model: int) -> ExplorationView:
        """Show all that there is to see with another model in focus; that is no step."""
        return self._session.view(model)

    @property
    def outputs(self) -> tuple[Path | None, Path | None]:
        """The run and the page of the last decision; None for those that there are not."""
        return self._session.outputs

    def listen(self, told: Callable[[], None]) -> None:
        """Have something called after every step, in the thread that took it."""
        self._session.listeners.append(told)

    @property
    def decision(self) -> AuditDocument | None:
        """The run of the last decision; None if there is none."""
        return self._session.decision

    def report(self) -> str | None:
        """Return the page of the last decision; None if there is none."""
        return self._session.report()

    def compare(self, first: int, second: int) -> ModelComparison:
        """Lay two models of the list side by side, on the selection split."""
        state = self.state
        return compared(self._session.bench, state, state.model(first), state.model(second))

    def person(self, who: int | Mapping[str, object]) -> Person:
        """Say what each model of the list decides about one person.

        Parameters
        ----------
        who
            A row of the table, counted from 0, or values by feature; what is not named counts as missing.
        """
        return asked(self._session.bench, self.state, who)

    def preview(
        self,
        *,
        metric: Gap | None = None,
        eps: float | None = None,
        max_performance_drop: float | None = None,
        max_loss: float | Literal["any"] | None = None,
        guards: Sequence[str] | str = (),
    ) -> Standpoint:
        """Say who would be chosen under other tolerances, without a step; see `Exploration.tolerate`."""
        named = {"metric": metric, "eps": eps, "max_loss": max_loss, "max_performance_drop": max_performance_drop}
        return self._session.bench.standpoint(replace(self.state, tolerances=self._tolerances(guards, **named)))

    def __repr__(self) -> str:
        name, models, looked_at = self._session.bench.table.name, len(self.state.listed), len(self.state.looked)
        return f"Exploration({name!r}, models={models}, looked_at={looked_at})"

    def _repr_mimebundle_(self, **_wanted: object) -> dict[str, object]:
        """Show it live, where what is needed for that is installed; nothing, where it is not."""
        shown = [entry for entry in entry_points(group=DISPLAYS) if entry.name == "notebook"]
        if not shown or find_spec("anywidget") is None:
            return {}
        return {**shown[0].load()(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        from fairenum.rendering.notebook import to_notebook
        from fairenum.report.exploration import exploration_page

        return to_notebook(exploration_page(self.view))

    def _tolerances(self, guards: Sequence[str] | str, **options: object) -> Tolerances:
        """Change what is given of the tolerances; refuse a guardrail of a column that there is not."""
        last = self.state.tolerances
        given = with_present_names({name: value for name, value in options.items() if value is not None})
        if given.get("max_loss") == "any":
            given["max_loss"] = None
        held = resolved_guards((guards,) if isinstance(guards, str) else guards, last.guards)
        refuse_unknown_columns(held, [column.column for column in self._session.bench.table.sensitive])
        return replace(last, guards=held, **given)  # type: ignore[arg-type]  # checked when it is built
