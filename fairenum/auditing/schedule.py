"""The schedule of an audit: the time of its optional stages, and estimates of its total time and memory.

The constants are seconds of one processor, fitted to whole audits with linear and other kernels, of tables with 1,000
to 1,000,000 rows and up to 3,000 columns of numbers and categories; slow tests check that estimates are right within a
factor of 2. What is not known before, such as the number of subproblems of the enumeration and of examples on the
margin, is set to a usual value.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Self, TypeVar

from fairenum.document.audit_config import AuditConfig
from fairenum.document.header import SHARES, CutBy, CutStage, OptionalStage, Spending
from fairenum.enumeration import guided, search, tilted
from fairenum.enumeration.division import PARTS, Division
from fairenum.flips.engines import LARGEST
from fairenum.flips.parity_bounds import is_tightened
from fairenum.runtime.budget import (
    Budget,
    Deadline,
    Forecast,
    OutOfTime,
    Progress,
    checkpoint,
    how_ended,
    until,
    waited,
)
from fairenum.svm.gram import held_bytes
from fairenum.svm.problem import affordable
from fairenum.svm.sparse_or_dense import filled
from fairenum.svm.working_set import MATRIX_AT_ONCE

# Fewest and most rows to find flip prices of, and the numbers to process in a few seconds: by following the exact
# solution path, or by a search where there are many examples.
ROWS, WALKING, SEARCHING = (20, 4000), 8e7, 2e8
RANGE_WORK = 4e7  # numbers to process to tighten the bounds on the gap that follow from single rows


def rows_to_examine(asked: int | Literal["auto"], examples: int, numbers: int, holdout: int) -> int:
    """Return the number of holdout rows to find flip prices of; with "auto", as many as take a few seconds."""
    work = SEARCHING if examples > LARGEST else WALKING
    return min(holdout, affordable(numbers, work, *ROWS) if asked == "auto" else asked)


T = TypeVar("T")
ENDS: dict[str, CutBy] = {"time": "time", "interrupted": "interrupt"}


def wanted_stages(config: AuditConfig) -> dict[str, float]:
    """Return the optional stages that are asked for, each with its share of the time limit."""
    left_out: set[OptionalStage] = set()
    if config.search == "exact":
        left_out |= {"guide", "tilt", "cross"}
    if not config.baselines:
        left_out.add("baselines")
    if not config.prices:
        left_out.add("prices")
    if not (config.range and config.prices):
        left_out.add("range")
    if not config.explanation:
        left_out.add("explain")
    return {stage: share for stage, share in SHARES.items() if stage not in left_out}


@dataclass(slots=True, eq=False)
class Schedule:
    """The schedule of an audit: its time limit, the seconds of its stages, and the stages that were cut short.

    `budget` also knows whether the user has interrupted; `progress` is called for every stage.
    """

    budget: Budget
    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    cut: list[CutStage] = field(default_factory=list)

    @classmethod
    def of(cls, config: AuditConfig, budget: Budget, progress: Progress) -> Self:
        """Return a schedule that begins now; time of the budget that has passed before counts as the stage "start"."""
        budget.shares = {**wanted_stages(config), **budget.afterwards}
        return cls(budget, progress, {"start": budget.elapsed})

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Announce a stage to `progress`, and measure its seconds; those of several stages of one name are added."""
        self.progress(name, 0, None)
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - started
        self.budget.heed()

    def begun(self, name: str, work: Callable[[], T]) -> T:
        """Run a stage that precedes any result, and return what it returns; Ctrl-C ends it at once."""
        with self.stage(name):
            return waited(work)

    @contextmanager
    def limited(self, name: OptionalStage) -> Iterator[Deadline]:
        """Give a stage its deadline; the stage itself has to end by then, with the results that it has."""
        with self.stage(name), until(self.budget.deadline(name)) as deadline:
            yield deadline

    def optional(self, name: OptionalStage, work: Callable[[], T]) -> T | None:
        """Run a stage, and return what it returns; None if there is no time for it, or it is interrupted."""
        with self.limited(name) as deadline:
            try:
                checkpoint()
                found = work()
            except (OutOfTime, KeyboardInterrupt) as reason:
                self.ended(name, how_ended(reason), is_skipped=True)
                return None
        if deadline.has_passed:
            self.ended(name, "time")
        return found

    def ended(self, name: OptionalStage, how: str, *, is_skipped: bool = False) -> None:
        """Note a stage that ended early (`how` is "time" or "interrupted"); after an interrupt, shorten the run."""
        if how == "interrupted":
            self.budget.interrupt()
        if by := ENDS.get(how):
            self.cut.append(CutStage(name, "interrupt" if self.budget.is_interrupted else by, is_skipped))

    def reserve(self, seconds: float) -> None:
        """Reserve time for the stages that must follow; estimated seconds are scaled by the speed of this computer."""
        self.budget.reserved = seconds * self.budget.pace

    def timings(self) -> dict[str, float]:
        """Return the seconds of each stage, and their sum as "total"."""
        return {**self.seconds, "total": math.fsum(self.seconds.values())}

    def spending(self) -> Spending | None:
        """Return the time limit, any excess over it, and the stages cut short; None if no limit and no such stage."""
        limit, total = self.budget.seconds, self.budget.elapsed
        if limit is None and not self.cut:
            return None
        if limit is None or total <= limit:
            return Spending(limit, cut=tuple(self.cut))
        optional = math.fsum(self.seconds.get(name, 0.0) for name in SHARES)
        return Spending(limit, total, total - optional, tuple(self.cut))


# Scores, choice and report: for any run, by row, by model, and by model, row and column; and models that searches add.
FINISH, FINISH_ROW, FINISH_MODEL, FINISH_CELL, ADDED = 0.8, 1e-5, 4e-3, 5e-7, 35
START, READ, ROOT = 2.2, 1.6e-6, 1e-5  # imports; reading and encoding, by cell of the table; model 1, by row

# A solve that starts from a similar solution: any, by row, by row and column; of a kernel matrix by its size squared.
SOLVE, SOLVE_ROW, SOLVE_CELL, SOLVE_MATRIX = 4e-3, 8e-7, 1.2e-8, 3.9e-8

# A subproblem of the enumeration: any, by row, by examples on the margin squared; and subproblems beside one for each
# model.
NODE, NODE_ROW, NODE_PAIR, NODES = 1e-3, 6e-7, 1e-7, 20
SOLVES: Mapping[str, float] = {"explain": 15.0}  # solves' worth of time
RANGE = 1.5  # seconds to tighten the bounds on the gap

# The flip price of a row, by row and column: by the exact solution path, by a search, and with a kernel matrix.
PRICE_WALK, PRICE_SEARCH, PRICE_MATRIX = 7e-8, 2e-8, 1e-8
TILT = 1.4  # a solve of the tilted search, in solves that start from a similar solution

# Bytes of imports, of a cell of the table as it is read, and of a number; copies of each number; and how many times its
# size a number takes that is kept with its place.
BASE, CELL, NUMBER, COPIES, PLACED = 350e6, 60.0, 8.0, 6.0, 1.5


def expected(division: Division, config: AuditConfig) -> Forecast:
    """Return the estimated seconds and bytes of memory of an audit, given its encoded table."""
    cells = len(division.dataset) * len(division.dataset.features)
    seconds = START + READ * cells + ROOT * len(division.train) + _searching(division, config)
    models = config.k + ADDED * ("guide" in wanted_stages(config))
    return Forecast(seconds + finishing_seconds(division, models), _memory(division, config))


def _searching(division: Division, config: AuditConfig) -> float:
    """Return the estimated seconds of enumeration, searches, flip prices and parity range."""
    rows, columns = map(int, division.train.X.shape)
    wanted, is_linear = wanted_stages(config), config.svm.kernel == "linear"
    solve = SOLVE + (rows * (SOLVE_ROW + SOLVE_CELL * columns) if is_linear else SOLVE_MATRIX * rows * rows)
    node = NODE + NODE_ROW * rows + NODE_PAIR * columns**2 if is_linear else NODE + 0.1 * solve
    solves = sum(worth for stage, worth in SOLVES.items() if stage in wanted)
    width = columns if is_linear else rows
    priced = rows_to_examine(config.price_rows, rows, rows * width, len(division.holdout)) if "prices" in wanted else 0
    if "guide" in wanted:
        solves += guided.usual_solves(rows * width)
        solves += TILT * affordable(rows * width, tilted.WORK, *tilted.SOLVES)
    cell = (PRICE_SEARCH if rows > LARGEST else PRICE_WALK) if is_linear else PRICE_MATRIX
    price = priced * rows * width * cell
    price += RANGE if "range" in wanted and is_tightened(rows * width, RANGE_WORK / 3) else 0.0
    return solves * solve + (NODES + config.k) * node + price


def _memory(division: Division, config: AuditConfig) -> float:
    """Return the estimated bytes of the table, the kernel matrix, and the solver states that are kept."""
    rows, columns = map(int, division.train.X.shape)
    everyone, is_linear = len(division.dataset), config.svm.kernel == "linear"
    numbers = COPIES * NUMBER * everyone * min(columns, PLACED * filled(division.train.X) / rows)
    matrix = 0.0 if is_linear else held_bytes(rows) + NUMBER * 2 * min(rows, MATRIX_AT_ONCE) ** 2
    state = search.state_bytes(rows, min(rows, columns))
    searched = guided.usual_solves(rows * (columns if is_linear else rows))
    kept = min(search.ready_states(state), max(2 * (NODES + config.k), searched))
    return BASE + CELL * everyone * len(division.dataset.features) + numbers + matrix + kept * state


def scoring_seconds(division: Division) -> float:
    """Return the estimated seconds of scoring one more model."""
    return FINISH_MODEL + FINISH_CELL * _rows(division) * max(1, len(division.columns))


def finishing_seconds(division: Division, models: int) -> float:
    """Return the estimated seconds of scoring a number of models, choosing one and reporting."""
    return FINISH + FINISH_ROW * _rows(division) + models * scoring_seconds(division)


def _rows(division: Division) -> int:
    return sum(len(division.rows[part]) for part in PARTS)
