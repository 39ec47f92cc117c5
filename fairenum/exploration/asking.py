"""What the models of an exploration decide about one person."""

from __future__ import annotations

from collections.abc import Mapping

from fairenum.auditing.tolerance import encoded
from fairenum.document.anatomy import ModelWeights
from fairenum.document.person import Panel, Person, PersonDecision, decide
from fairenum.errors import ExplorationError
from fairenum.exploration.bench import Bench
from fairenum.exploration.state import Shown, State
from fairenum.problem import FloatArray


def asked(bench: Bench, state: State, who: int | Mapping[str, object]) -> Person:
    """Decide about a person with every model of the list, given by a row of the table or by values."""
    row = None if isinstance(who, Mapping) else int(who)
    values = who if isinstance(who, Mapping) else _cells(bench, state, int(who))
    is_linear = bench.training.problem.kernel.name == "linear"
    models = (
        tuple(ModelWeights(one.number, tuple(one.model.plane.tolist())) for one in state.shown) if is_linear else ()
    )
    offsets = {one.number: one.model.intercept - one.cut.value for one in state.shown}
    panel = Panel(bench.table, bench.features, models, offsets, bench.standpoint(state).chosen)
    person = decide(panel, values, row)
    person = person if is_linear else _by_kernel(bench, state, person)
    eps, threshold = state.tolerances.eps, state.listed[0].shown.cut.value
    return person.but(tolerance=bench.tolerance(encoded(bench.features, person), eps, threshold))


def _cells(bench: Bench, state: State, row: int) -> dict[str, object]:
    """Look a row of the table up; those of the holdout are not looked at before it is opened."""
    dataset = bench.division.dataset
    place = dataset.placed(row)
    if place is None:
        raise ExplorationError(f"the table has no row {row}, or it was left out; {len(dataset)} rows take part")
    if not state.opened and place in bench.division.split.holdout:
        raise ExplorationError(f"row {row} is in the holdout, which is sealed until you commit; name another row")
    return {column.name: column.values[place] for column in dataset.features}


def _by_kernel(bench: Bench, state: State, person: Person) -> Person:
    """Decide by models whose decision is no sum over features: there is a value, and no contributions."""
    row = encoded(bench.features, person)
    return person.but(decisions=tuple(_decided(one, row) for one in state.shown))


def _decided(one: Shown, row: FloatArray) -> PersonDecision:
    value = float(one.cut.centred(one.model.decision_function(row))[0])
    return PersonDecision(one.number, value >= 0.0, value, one.model.intercept - one.cut.value, ())
