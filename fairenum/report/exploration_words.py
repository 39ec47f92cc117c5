"""Sentences about an exploration: for its page, for its server, and for the report of the run it leads to."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.decision_record import Commit, Fairer, LeaveOut, Next, Pin, Step, StepEnd, Tolerate
from fairenum.document.exploration_view import ExplorationView, Explored, ModelComparison, TimelineEntry
from fairenum.document.words import GAP_NAMES, IN_USE, LONGEST, PERFORMANCES, TABLE_WIDTH, apart
from fairenum.runtime.formatting import counted, sentence_list, share, shortened

COPY = "What this exploration shows; numbers have six digits."
SELECTION = "all numbers are of the selection split, which models are chosen by: optimistic, and without a verdict"
LIMITS = "limits hold one by one, as if the model had not been chosen by these rows"
REGION = "Dashed: what a fairer model may lose of performance, and the gap that it has to undercut."
OPENED_SHORT = "the holdout had been opened before this model was decided for, so that it does not confirm the choice"
ENDS: dict[StepEnd, str] = {
    "alike": "no model that decides differently so far",
    "exhausted": "no further model exists",
    "solver": "the solver failed",
}
TORN = "the last line of the record was cut short: that step was not taken"
# What the server says while a step, or a stage of opening the exploration, is running.
ACTIONS = {
    "load": "reading the table",
    "divide": "splitting and encoding",
    "tune": "choosing C",
    "replay": "taking the steps of the record again",
    "next": "looking for the next best model",
    "fairer": "looking for fairer models",
    "leave_out": "leaving rows out",
    "pin": "pinning rows",
    "undo": "taking back a step",
    "tolerate": "choosing under other tolerances",
    "commit": "judging the model on the holdout",
}
# Why the server refuses a request.
REFUSALS = {
    "starting": "the exploration is still being opened; wait for its first model",
    "occupied": "another step is under way; wait for it, or stop it",
    "outdated": "somebody else has taken a step meanwhile; look at it, then try again",
    "stopped": "stopped; nothing was changed",
    "closed": "the server has ended; run the same command again to go on from the record",
}


def found(models: int) -> str:
    """Return a phrase with the number of models that a search found."""
    return f"{counted(models, 'model')} found"


def said_end(end: StepEnd | None, models: int) -> str:
    """Return a message with the number of models that a search found, if any, and the reason why it ended, if known."""
    said = [found(models)] if models else []
    said += [ENDS[end]] if end else []
    return "; ".join([*said, "Next goes on from there"] if end == "alike" else said)


def broken(error: Exception) -> str:
    """Return the message for an unexpected error."""
    return f"internal error: {type(error).__name__}: {error}; nothing was changed"


def subject(view: ExplorationView) -> str:
    """Return a phrase that names the table, counts the models looked at, and says whether the holdout was opened."""
    seal = view.seal
    times = counted(seal.opened, "time")
    holdout = f"its holdout was opened {times}" if seal.is_broken else f"its {seal.holdout} rows of holdout are sealed"
    looked = f"{counted(seal.looked_at, 'model')} looked at on {seal.rows} rows of the selection split"
    return f"{shortened(view.data, TABLE_WIDTH)}: {looked}; {holdout}"


def headline(view: ExplorationView) -> str:
    """Return a sentence that names the model a person decided for or, until then, the one that looks fairest."""
    if view.committed is not None:
        return f"Model {view.committed} was decided for"
    chosen, reference = view.standpoint.chosen, IN_USE if view.is_against_incumbent else "model 1"
    if view.is_against_incumbent and view.standpoint.incomparable:
        return f"No model so far can be compared with {reference}"
    if chosen is None or (chosen == 1 and not view.is_against_incumbent):
        return f"No model looks fairer than {reference} within the tolerances so far"
    return f"Model {chosen} looks fairest within the tolerances so far"


def findings(view: ExplorationView) -> Iterator[str]:
    """Yield sentences on the present state of an exploration.

    They give gap and performance of the model that the rule of selection would choose, count the rows that are left out
    or pinned (never left out), and say why the last search ended.
    """
    tolerances, chosen = view.standpoint.tolerances, view.standpoint.chosen
    if chosen is not None:
        scores, first = view.model(chosen).scores, view.models[0].scores
        metric, name = tolerances.metric, PERFORMANCES[tolerances.measure.name]
        yield (
            f"On the selection split model {chosen} has a {GAP_NAMES[metric]} gap of "
            f"{share(scores.gap(metric).value)}, model 1 one of {share(first.gap(metric).value)}; {name} is "
            f"{share(scores.performance.value)}, that of model 1 {share(first.performance.value)}."
        )
    if view.is_against_incumbent and (found := view.standpoint.incomparable):
        yield f"Nothing is known yet about {IN_USE}: {apart(found, 'it', tolerances.measure.name)}."
    if view.left_out or view.pinned:
        rows = [f"{counted(len(view.left_out), 'row')} left out", f"{counted(len(view.pinned), 'row')} pinned"]
        yield f"Models are searched with {sentence_list(rows)}."
    if view.end is not None:
        yield f"The last step: {ENDS[view.end]}."


def warnings(view: ExplorationView) -> Iterator[str]:
    """Yield a warning that further decisions are exploratory, if the holdout was already opened."""
    if view.seal.is_broken:
        yield "the holdout was opened: what is decided from now on is exploratory"


def before_commit(view: ExplorationView) -> str:
    """Return a warning, shown before a person decides for a model, of what opening the holdout entails."""
    if view.seal.is_broken:
        return "The holdout was opened before: what you decide now is exploratory, and nothing confirms it."
    return (
        f"This opens the holdout, once: its {counted(view.seal.holdout, 'row')} judge the model, and what is decided "
        "after that is exploratory, whatever is undone."
    )


def step(entry: TimelineEntry) -> str:
    """Return a description of one step of the decision record, marked if the step was taken back."""
    words = _step(entry.taken) + (f": {ENDS[entry.end]}" if entry.end else "")
    return f"{words} (taken back)" if entry.is_undone else words


def _step(taken: Step) -> str:
    match taken:
        case Next():
            words = "next best"
        case Fairer(solves=solves):
            words = f"search for fairer ones in {solves} {'box' if solves == 1 else 'boxes'}"
        case LeaveOut(rows=rows):
            words = f"leave out {counted(len(rows), 'row')}"
        case Pin(rows=rows):
            words = f"pin {counted(len(rows), 'row')}"
        case Tolerate():
            words = "other tolerances"
        case Commit(model=model, author=author):
            words = f"{shortened(author, TABLE_WIDTH)} decided for model {model}"
        case _:
            words = "undo"
    return words


def compared(pair: ModelComparison) -> str:
    """Return a sentence with the number of rows that two models decide differently."""
    gained = sum(one.becomes == "favourable" for one in pair.flipped)
    flipped = len(pair.flipped)
    if not flipped:
        return f"Models {pair.first} and {pair.second} decide all rows of the selection split alike"
    return (
        f"Model {pair.second} decides {counted(flipped, 'row')} of the selection split differently from model "
        f"{pair.first}: {gained} for the better, {flipped - gained} for the worse"
    )


def renumbered(explored: Explored, rank: int | None) -> str:
    """Return a sentence on a model's number in the exploration and its rank in the report; empty if they are equal."""
    if rank in (None, explored.number):
        return ""
    return f"Model {explored.number} of the exploration is model {rank} of the report, which has the least loss first."


def committed(explored: Explored) -> Iterator[tuple[str, str]]:
    """Yield (name, value) on the exploration that led to a run: decision, reason, steps, state of the holdout."""
    yield "in the exploration", f"model {explored.number}"
    yield "decided by", shortened(explored.author, TABLE_WIDTH)
    yield "reason", shortened(explored.reason, LONGEST)
    yield "models looked at", f"{explored.looked_at}, on the selection split, in {counted(explored.steps, 'step')}"
    if explored.left_out or explored.pinned:
        yield "by hand", f"{counted(explored.left_out, 'row')} left out, {counted(explored.pinned, 'row')} pinned"
    yield "holdout", "sealed until this was decided" if explored.look == 1 else f"look {explored.look}: {OPENED_SHORT}"
    yield "decision record", f"line with sha256 {explored.record}"
