"""Write `docs/numbers.md`: which numbers are right and which are refused: ``make numbers``.

Every problem of `tests/support/problems.py` goes to every bundled solver, its answer to oracles that share no code
with them, and its table through a whole audit on the command line. Takes about two minutes; a slow test does the same
and compares what stands on the page.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill

import cvxpy as cp
import numpy as np
from support.fuzzing.running import run
from support.oracles.brute_force import BruteForce
from support.oracles.convex import ConvexOracle
from support.oracles.digits import proven_interval
from support.problems import Hard, hard_numbers

from fairenum.document.audit_document import AuditDocument
from fairenum.document.files import load_as
from fairenum.errors import FairenumError
from fairenum.solvers.protocol import Tolerance
from fairenum.solvers.registry import open_workspace
from fairenum.svm.problem import Solution, SvmProblem

HERE = Path(__file__).parent
PAGE = HERE / "numbers.md"
WIDTH = 120  # of a line of text
SOLVERS = ("path", "libsvm", "osqp", "piqp")
BOUNDS = (1e-12, Tolerance().gap)  # what is said of a gap; the smaller one of a tenth of it, which other machines keep
AGREES, ROUGHLY = 1e-9, 1e-6  # how near the digits, and how near CLARABEL, which stops at about eight of them
FEW = 8  # examples whose every basic answer is tried
PLAN = ["--label", "y", "--favourable", "yes", "--sensitive", "g", "-k", "3", "--replications", "10", "-q"]
BEGIN, MESSAGES, END = "<!-- numbers -->", "<!-- messages -->", "<!-- end -->"
HEAD = f"| numbers | {' | '.join(f'`{name}`' for name in SOLVERS)} | agrees with | audit, `--raw` |"


class Wrong(Exception):
    """Something that is neither right nor refused."""


@dataclass(frozen=True)
class Outcome:
    """A proven answer by its largest relative gap, or what it was refused with."""

    gap: float = 0.0
    refusal: str = ""

    @property
    def bound(self) -> float:
        """What is said of the gap."""
        return BOUNDS[0] if self.gap <= 0.1 * BOUNDS[0] else BOUNDS[1]


@dataclass(frozen=True)
class Row:
    """How one case went: solver by solver, who agrees, and the audit, standardised too where it is refused raw."""

    name: str
    solved: tuple[Outcome, ...]
    agree: tuple[str, ...]
    audited: tuple[Outcome, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """All outcomes in the order of the page."""
        return *self.solved, *self.audited


def measured(case: Hard) -> Row:
    """Try one case; `Wrong` if an answer is, or if a warning escapes."""
    answers = [_answer(case.problem(), name) for name in SOLVERS]
    solved = tuple(
        Outcome(refusal=_plain(answer)) if isinstance(answer, str) else Outcome(answer.certificate.relative_gap)
        for answer in answers
    )
    proven = [answer for answer in answers if isinstance(answer, Solution)]
    agree = tuple(_agreeing(case.problem(), proven)) if proven else ()
    raw = _audit(case, "--raw")
    return Row(case.name, solved, agree, (raw, _audit(case)) if raw.refusal else (raw,))


def _answer(problem: SvmProblem, solver: str) -> Solution | str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return open_workspace(solver, problem).solve()
        except FairenumError as error:
            return str(error)


def _agreeing(problem: SvmProblem, answers: list[Solution]) -> Iterator[str]:
    """Name the oracles that agree with all answers; the digits have to."""
    for answer in answers:
        low, high = (float(end) for end in proven_interval(problem, answer.alpha))
        apart = max(abs(high - low), abs(answer.certificate.objective - low))
        if not apart <= AGREES * low:
            raise Wrong(f"the objective is {answer.certificate.objective!r}, in a hundred digits {low!r} to {high!r}")
    yield "digits"
    best = answers[0].certificate.objective
    if problem.size <= FEW:
        brute = BruteForce(problem)
        if abs(brute.objective(brute.canonical((1 << problem.size) - 1)) - best) <= AGREES * best:
            yield "brute force"
    elif abs(_convex(problem) - best) <= ROUGHLY * best:
        yield "CLARABEL"


def _convex(problem: SvmProblem) -> float:
    """Return what CLARABEL finds; infinity if it gives up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ConvexOracle(problem, np.empty((0, problem.X.shape[1]))).least
        except cp.SolverError:
            return np.inf


def _audit(case: Hard, *options: str) -> Outcome:
    with TemporaryDirectory() as name:
        folder = Path(name)
        case.frame().to_csv(folder / "table.csv", index=False)
        arguments = ["audit", "table.csv", *PLAN, *case.options(), *options, "--json", "run.json"]
        ended = run(arguments, folder, ["run.json"], seconds=120.0)
        if ended.faults or ended.code not in (0, 2):
            raise Wrong(f"audit of {case.name}: exit code {ended.code}, {ended.faults}")
        if ended.code == 2:
            return Outcome(refusal=_plain(ended.err.strip().removeprefix("error: ")))
        models = load_as(AuditDocument, folder / "run.json").models
        return Outcome(max(model.relative_gap for model in models if model.relative_gap is not None))


def _plain(message: str) -> str:
    """Return a message without what differs from solver to solver, or from machine to machine."""
    message = re.sub(r"solver '\w+'", "solver NAME", " ".join(message.split()))
    return re.sub(r"(relative gap|by) [-+.\de]+(inf)?", r"\1 X", message.replace("gap inf", "gap X"))


def page(text: str, rows: list[Row]) -> str:
    """Put the tables into the page as it stands."""
    messages = list(dict.fromkeys(outcome.refusal for row in rows for outcome in row.outcomes if outcome.refusal))
    lines = [HEAD, f"|---|{'---|' * (len(SOLVERS) + 2)}", *(_line(row, messages) for row in rows)]
    said = [_item(number, message) for number, message in enumerate(messages, 1)]
    return _filled(_filled(text, BEGIN, lines), MESSAGES, said)


def _item(number: int, message: str) -> str:
    head = f"{number}. "
    return fill(
        head + message, WIDTH, subsequent_indent=" " * len(head), break_long_words=False, break_on_hyphens=False
    )


def _line(row: Row, messages: list[str]) -> str:
    solved = (_cell(outcome, messages) for outcome in row.solved)
    audited = "; standardised ".join(_cell(outcome, messages) for outcome in row.audited)
    return f"| {' | '.join([row.name, *solved, ', '.join(row.agree) or 'nobody asked', audited])} |"


def _cell(outcome: Outcome, messages: list[str]) -> str:
    if outcome.refusal:
        return f"refused ({messages.index(outcome.refusal) + 1})"
    return f"&lt; {outcome.bound:g}"


def _filled(text: str, mark: str, lines: list[str]) -> str:
    before, rest = text.split(mark, 1)
    return "\n".join([f"{before}{mark}", *lines, f"{END}{rest.split(END, 1)[1]}"])


if __name__ == "__main__":
    found = [measured(case) for case in hard_numbers()]
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")
