"""Solver plugins run in a separate process, where they may hang, crash or print without harm.

Requests and answers are pickles on the standard input and output of the process; what the plugin itself prints goes to
standard error. The process works on copies of the data and can be killed at any time. It ends when its parent ends or,
if the plugin never returns, by its own timer.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from queue import SimpleQueue
from typing import BinaryIO, NoReturn, TypeVar

import numpy as np

from fairenum.document.training import SolverLapse, SvmSettings
from fairenum.errors import FairenumError, SolverBroken
from fairenum.runtime.budget import NotFinished, OutOfTime, waited
from fairenum.runtime.plugins import enter_plugin, leave_plugin
from fairenum.solvers.protocol import SolverPlugin, SolverWorkspace, Tolerance
from fairenum.svm.problem import Claim, FloatArray, Solution, SvmProblem, read_only

T = TypeVar("T")

NATIVE = "path"
GRACE = 5.0  # seconds beyond the plugin's time limit after which the process ends itself
PROGRAM = "import sys; sys.path[:] = {path!r}; from fairenum.solvers.isolation import serve; serve()"
ENDED = (EOFError, OSError, ValueError, pickle.UnpicklingError)  # errors of reading from a process that ends


@dataclass(slots=True, eq=False)
class SolverRun:
    """The limits that a run of the program sets to its solvers, and the solvers that failed in this run.

    `seconds` limits one call of any solver but the native one (None: the default of `Tolerance`); `fallback` names the
    solver that takes over on a failure. `lapses` maps names of failed solvers to their errors, `isolated` maps names of
    solvers to their wrappers that run them in separate processes.
    """

    seconds: float | None = None
    fallback: str | None = None
    lapses: dict[str, str] = field(default_factory=dict)
    isolated: dict[str, SolverPlugin] = field(default_factory=dict)

    def tolerance(self, solver: str) -> Tolerance:
        """Return the tolerances for a solver, with the time limit of the run unless it is the native solver.

        The native solver keeps the default limit because it may have to be compiled at first use.
        """
        return Tolerance(seconds=self.seconds) if self.seconds is not None and solver != NATIVE else Tolerance()

    def isolates(self, solver: str) -> bool:
        """Tell whether a solver runs in a separate process: if not native, and the run has a time limit or fallback."""
        return solver != NATIVE and not (self.seconds is None and self.fallback is None)

    @property
    def lapse(self) -> SolverLapse | None:
        """The first failure for which the fallback took over; None if there was none."""
        return next((SolverLapse(name, str(self.fallback), why) for name, why in self.lapses.items()), None)


_CURRENT: ContextVar[SolverRun | None] = ContextVar("solver_run", default=None)


def current_run() -> SolverRun:
    """Return the solver run of the current context, or a new one without limits if there is none."""
    return _CURRENT.get() or SolverRun()


@contextmanager
def solver_run(svm: SvmSettings) -> Iterator[SolverRun]:
    """Apply the solver limits of some settings to the enclosed work; if it is within another run, keep that run's."""
    if (outer := _CURRENT.get()) is not None:
        yield outer
        return
    token = _CURRENT.set(SolverRun(svm.solver_timeout, svm.fallback))
    try:
        yield current_run()
    finally:
        _CURRENT.reset(token)


@dataclass(frozen=True, slots=True)
class PluginRunner:
    """Calls the code of one plugin with a limit of `seconds` per call; errors refer to the plugin as `name`."""

    name: str
    seconds: float

    def call(self, work: Callable[[], T]) -> T:
        """Return the result of plugin code, run in a thread with a time limit; see `call_here` for exceptions."""
        try:
            return waited(lambda: self.call_uninterrupted(work), self.seconds, f"fairenum-{self.name}")
        except NotFinished:
            raise SolverBroken(
                f"solver {self.name!r} gave no answer within {self.seconds:g} s; "
                "use another solver, fewer rows, or a longer time limit (--solver-timeout)"
            ) from None

    def call_here(self, work: Callable[[], T]) -> T:
        """Return the result of plugin code, run in this thread; its exceptions become a `SolverBroken`."""
        token = enter_plugin()
        try:
            return work()
        except KeyboardInterrupt:  # pressed by the user
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises
            self._reraise(error)
        finally:
            leave_plugin(token)

    def call_uninterrupted(self, work: Callable[[], T]) -> T:
        """Return the result of plugin code, run where Ctrl-C cannot reach it.

        So a `KeyboardInterrupt` can only come from the plugin itself, and counts as its error.
        """
        try:
            return self.call_here(work)
        except KeyboardInterrupt as error:
            self._reraise(error)

    def check_unchanged(self, problem: SvmProblem, checksum: int) -> None:
        """Raise an error if the plugin has changed the problem, whose data are then wrong for any other solver, too."""
        if problem.checksum() != checksum:
            raise SolverBroken(
                f"solver {self.name!r} changed the problem that it was given; use another solver, or let one go on "
                "with a problem of its own: --fallback path"
            )

    def _reraise(self, error: BaseException) -> NoReturn:
        if isinstance(error, FairenumError | OutOfTime):
            raise error
        raise SolverBroken(f"solver {self.name!r} failed: {type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Request to the separate process to open a problem, to which later requests refer by its unique ``number``."""

    number: int
    problem: SvmProblem
    tolerance: Tolerance


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """Request to the separate process to solve an opened problem for some upper bounds.

    ``number`` is that of the problem; ``closed`` are the numbers of problems that the process can drop.
    """

    number: int
    upper: FloatArray
    start: Solution | None
    closed: tuple[int, ...]


class IsolatedSolver:
    """A plugin wrapped so that all its problems are opened in one separate process."""

    def __init__(self, plugin: SolverPlugin) -> None:
        self.name, self.requires, self.install = plugin.name, plugin.requires, plugin.install
        self.closed: list[int] = []
        self._plugin = plugin
        self._process = self._started()

    def open(self, problem: SvmProblem, tolerance: Tolerance) -> IsolatedWorkspace:
        """Return a workspace for a problem opened in the separate process."""
        return IsolatedWorkspace(self, problem, tolerance)

    @property
    def process(self) -> _PluginProcess:
        """The separate process, started anew if the last one has ended or still owes an answer to a past request."""
        if self._process.owes_answer:
            self._process.end()
            self._process = self._started()
        return self._process

    def _started(self) -> _PluginProcess:
        process = _PluginProcess(self._plugin)
        weakref.finalize(self, process.end)
        return process


class IsolatedWorkspace:
    """A problem opened in the separate process; of a workspace's methods it offers `solve` only.

    Handles (a solver's own data on a solution) stay in the process that made them; they are never sent with a solution.
    """

    _numbers = itertools.count()

    def __init__(self, solver: IsolatedSolver, problem: SvmProblem, tolerance: Tolerance) -> None:
        self._solver, self._opening = solver, OpenRequest(next(self._numbers), problem, tolerance)
        weakref.finalize(self, solver.closed.append, self._opening.number).atexit = False
        self._opened_in: _PluginProcess | None = None
        self._opened_process()

    def solve(self, upper: FloatArray, start: Solution | None = None) -> Claim:
        """Return the plugin's claim (unproven solution) for some upper bounds."""
        process, start = self._opened_process(), start and replace(start, handle=None)
        closed = tuple(self._solver.closed)
        self._solver.closed.clear()
        return process.ask(SolveRequest(self._opening.number, upper, start, closed))

    def _opened_process(self) -> _PluginProcess:
        """Return the separate process, after opening the problem there if the process is new."""
        process = self._solver.process
        if process is not self._opened_in:
            process.ask(self._opening)
            self._opened_in = process
        return process


class _PluginProcess:
    """The parent's side of the separate process: starts the process, sends it requests and ends it."""

    def __init__(self, plugin: SolverPlugin) -> None:
        self._name, self.owes_answer = plugin.name, False
        command, pipe = [sys.executable, "-c", PROGRAM.format(path=sys.path)], subprocess.PIPE
        # in its own session: Ctrl-C must reach the parent only
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)
        self.ask(plugin)

    def ask(self, request: object) -> Claim:
        """Send a request and return the answer; if the wait is interrupted, `owes_answer` stays True."""
        self.owes_answer = True
        requests, answers = self._process.stdin, self._process.stdout
        try:
            if requests is None or answers is None:
                raise EOFError
            requests.write(pickle.dumps(request))
            requests.flush()
            answer = pickle.load(answers)
        except ENDED:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
            self.end()
            raise SolverBroken(
                f"solver {self._name!r} failed: its process ended with code {self._process.returncode}"
            ) from None
        self.owes_answer = False
        if isinstance(answer, FairenumError):
            raise answer
        return answer  # type: ignore[no-any-return]  # its type is checked when it is certified

    def end(self) -> None:
        """Kill the process with its children and close its pipes."""
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


class _PluginServer:
    """The part inside the separate process that runs the plugin and sends its answers."""

    def __init__(self, plugin: SolverPlugin, answers: BinaryIO) -> None:
        self._plugin, self._answers = plugin, answers
        self._workspaces: dict[int, tuple[SolverWorkspace, OpenRequest, int]] = {}
        self._nowhere = os.open(os.devnull, os.O_WRONLY)

    def answer(self, request: OpenRequest | SolveRequest) -> None:
        """Carry out one request and send its result, or the error if it fails."""
        found: object = None
        try:
            if isinstance(request, OpenRequest):
                self._open(request)
            else:
                found = self._solve(request)
        except FairenumError as error:
            error.__cause__ = None  # the cause need not be picklable
            found = error
        self.send(found)

    def send(self, answer: object) -> None:
        """Send an answer to the parent process."""
        self._answers.write(pickle.dumps(answer))
        self._answers.flush()

    def _open(self, opening: OpenRequest) -> None:
        """Open a problem in the plugin; its arrays, which unpickling made writable, are made read-only first."""
        problem, tolerance = opening.problem, opening.tolerance
        for part in fields(problem):
            if isinstance(array := getattr(problem, part.name), np.ndarray):
                array.flags.writeable = False
        checksum = problem.checksum()
        workspace = self._run(lambda: self._plugin.open(problem, tolerance), opening)
        self._workspaces[opening.number] = workspace, opening, checksum

    def _solve(self, request: SolveRequest) -> object:
        """Return the plugin's claim (unproven solution) without its handle; anything else becomes a short text."""
        for number in request.closed:
            self._workspaces.pop(number, None)
        workspace, opening, checksum = self._workspaces[request.number]
        found = self._run(lambda: workspace.solve(read_only(request.upper), request.start), opening)
        self._runner(opening).check_unchanged(opening.problem, checksum)
        return replace(found, handle=None) if isinstance(found, Claim) else f"{found!r:.80}"

    def _runner(self, opening: OpenRequest) -> PluginRunner:
        return PluginRunner(self._plugin.name, opening.tolerance.seconds)

    def _run(self, work: Callable[[], T], opening: OpenRequest) -> T:
        """Return the result of plugin code; the process exits if that takes far longer than the time limit."""
        runner = self._runner(opening)
        # a timer in C, which fires even while the plugin holds the GIL
        faulthandler.dump_traceback_later(runner.seconds + GRACE, exit=True, file=self._nowhere)
        try:
            return runner.call_uninterrupted(work)
        finally:
            faulthandler.cancel_dump_traceback_later()


def serve() -> None:
    """Carry out requests from standard input, one after the other: the entry point of the separate process."""
    requests, answers = _streams()
    server = _PluginServer(pickle.load(requests), answers)
    server.send(None)
    waiting: SimpleQueue[OpenRequest | SolveRequest] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting), daemon=True).start()
    while True:
        server.answer(waiting.get())


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes for requests and answers, which the plugin can then no longer use.

    The plugin reads nothing from standard input, and what it prints goes to standard error.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, answers


def _receive(requests: BinaryIO, waiting: SimpleQueue[OpenRequest | SolveRequest]) -> None:
    """Put requests into a queue as they arrive; when the pipe closes, exit at once whatever the plugin is doing."""
    try:
        while True:
            waiting.put(pickle.load(requests))
    except ENDED:
        os._exit(0)
