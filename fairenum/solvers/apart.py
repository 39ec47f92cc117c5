"""A plugin in a process of its own, where it may hang, crash or print: it can be ended, and has copies of everything.

Questions and answers are pickles on the standard input and output of the process; what the plugin prints goes to
standard error. The process ends with the one that started it and, should the plugin never come back, by itself.
"""

from __future__ import annotations

import faulthandler
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from queue import SimpleQueue
from typing import BinaryIO, TypeVar

import numpy as np

from fairenum.errors import FairenumError, SolverBroken
from fairenum.problem import Claim, FloatArray, Solution, SvmProblem, read_only
from fairenum.solvers.guarding import Guard
from fairenum.solvers.protocol import SolverPlugin, SolverWorkspace, Tolerance

T = TypeVar("T")

GRACE = 5.0  # seconds that a process has beyond the time of its plugin, should nobody be there to end it
PROGRAM = "import sys; sys.path[:] = {path!r}; from fairenum.solvers.apart import serve; serve()"
ENDED = (EOFError, OSError, ValueError, pickle.UnpicklingError)  # what reading from a process that ends may come to


@dataclass(frozen=True, slots=True)
class Opening:
    """A problem to open, by a number of its own."""

    number: int
    problem: SvmProblem
    tolerance: Tolerance


@dataclass(frozen=True, slots=True)
class Question:
    """A box to solve a problem in, and the numbers of problems that nobody will ask about any more."""

    number: int
    upper: FloatArray
    start: Solution | None
    closed: tuple[int, ...]


class ApartSolver:
    """A plugin whose problems are opened in a process of its own, one for all of them."""

    def __init__(self, plugin: SolverPlugin) -> None:
        self.name, self.requires, self.install = plugin.name, plugin.requires, plugin.install
        self.closed: list[int] = []
        self._plugin = plugin
        self._process = self._started()

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> ApartWorkspace:
        """Open a problem there."""
        return ApartWorkspace(self, problem, tolerance)

    @property
    def process(self) -> _Process:
        """The process; one that has ended, or owes an answer that nobody waits for, is replaced."""
        if self._process.is_owed:
            self._process.end()
            self._process = self._started()
        return self._process

    def _started(self) -> _Process:
        process = _Process(self._plugin)
        weakref.finalize(self, process.end)
        return process


class ApartWorkspace:
    """A problem that can be solved, and nothing else.

    Handles stay where they are: an answer is begun from the numbers of another alone.
    """

    _numbers = itertools.count()

    def __init__(self, solver: ApartSolver, problem: SvmProblem, tolerance: Tolerance) -> None:
        self._solver, self._opening = solver, Opening(next(self._numbers), problem, tolerance)
        weakref.finalize(self, solver.closed.append, self._opening.number).atexit = False
        self._home: _Process | None = None
        self._reached()

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Have the plugin solve within a box."""
        process, start = self._reached(), start and replace(start, handle=None)
        closed = tuple(self._solver.closed)
        self._solver.closed.clear()
        return process.asked(Question(self._opening.number, upper, start, closed))

    def _reached(self) -> _Process:
        """Return the process, in which the problem is open."""
        process = self._solver.process
        if process is not self._home:
            process.asked(self._opening)
            self._home = process
        return process


class _Process:
    """The other process, as the one that waits for it sees it."""

    def __init__(self, plugin: SolverPlugin) -> None:
        self._name, self.is_owed = plugin.name, False
        command, pipe = [sys.executable, "-c", PROGRAM.format(path=sys.path)], subprocess.PIPE
        # of a session of its own: Ctrl-C is for whoever waits
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)
        self.asked(plugin)

    def asked(self, question: object) -> Claim:
        """Ask a question and wait for the answer; it is owed should nobody wait to the end."""
        self.is_owed = True
        questions, answers = self._process.stdin, self._process.stdout
        try:
            if questions is None or answers is None:
                raise EOFError
            questions.write(pickle.dumps(question))
            questions.flush()
            answer = pickle.load(answers)
        except ENDED:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
            self.end()
            raise SolverBroken(
                f"solver {self._name!r} failed: its process ended with code {self._process.returncode}"
            ) from None
        self.is_owed = False
        if isinstance(answer, FairenumError):
            raise answer
        return answer  # type: ignore[no-any-return]  # whoever proves it looks at what it is

    def end(self) -> None:
        """End the process and all that it has started; whoever reads from it reads no more."""
        with suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if stream:
                    stream.close()


class _Desk:
    """Where the plugin's code is run in the other process, and what has come of it is sent from."""

    def __init__(self, plugin: SolverPlugin, answers: BinaryIO) -> None:
        self._plugin, self._answers = plugin, answers
        self._workspaces: dict[int, tuple[SolverWorkspace, Opening, int]] = {}
        self._nowhere = os.open(os.devnull, os.O_WRONLY)

    def answer(self, question: Opening | Question) -> None:
        """Do what is asked for, and send what has come of it."""
        found: object = None
        try:
            if isinstance(question, Opening):
                self._open(question)
            else:
                found = self._solved(question)
        except FairenumError as error:
            error.__cause__ = None  # which may be anything
            found = error
        self.send(found)

    def send(self, answer: object) -> None:
        """Send an answer."""
        self._answers.write(pickle.dumps(answer))
        self._answers.flush()

    def _open(self, opening: Opening) -> None:
        """Open a problem, which is as read-only here as where it came from."""
        problem, tolerance = opening.problem, opening.tolerance
        for part in fields(problem):
            if isinstance(array := getattr(problem, part.name), np.ndarray):
                array.flags.writeable = False
        checksum = problem.checksum()
        workspace = self._run(lambda: self._plugin.open(problem, tolerance), opening)
        self._workspaces[opening.number] = workspace, opening, checksum

    def _solved(self, question: Question) -> object:
        """Solve, and return the answer without what it keeps for itself; of what is none, how it looks."""
        for number in question.closed:
            self._workspaces.pop(number, None)
        workspace, opening, checksum = self._workspaces[question.number]
        found = self._run(lambda: workspace.solve(read_only(question.upper), question.start), opening)
        self._guard(opening).check_unchanged(opening.problem, checksum)
        return replace(found, handle=None) if isinstance(found, Claim) else f"{found!r:.80}"

    def _guard(self, opening: Opening) -> Guard:
        return Guard(self._plugin.name, opening.tolerance.seconds)

    def _run(self, work: Callable[[], T], opening: Opening) -> T:
        """Run the plugin's code; the process ends if that takes far longer than it may."""
        guard = self._guard(opening)
        # a timer that works although no code of Python can run
        faulthandler.dump_traceback_later(guard.seconds + GRACE, exit=True, file=self._nowhere)
        try:
            return guard.alone(work)
        finally:
            faulthandler.cancel_dump_traceback_later()


def serve() -> None:
    """Open problems and solve them within one box after the other, as asked on standard input."""
    questions, answers = _streams()
    desk = _Desk(pickle.load(questions), answers)
    desk.send(None)
    waiting: SimpleQueue[Opening | Question] = SimpleQueue()
    threading.Thread(target=_receive, args=(questions, waiting), daemon=True).start()
    while True:
        desk.answer(waiting.get())


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the streams of questions and answers from what the plugin reads and prints."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return questions, answers


def _receive(questions: BinaryIO, waiting: SimpleQueue[Opening | Question]) -> None:
    """Take questions as they come; once nobody can ask any more, end, whatever the plugin is doing."""
    try:
        while True:
            waiting.put(pickle.load(questions))
    except ENDED:
        os._exit(0)
