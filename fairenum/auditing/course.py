"""The stages of an audit in time: how long each takes, what is left for the next, and what was cut."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self, TypeVar

from fairenum.budget import Budget, Deadline, OutOfTime, checkpoint, how_ended, until, waited
from fairenum.document.audit_config import AuditConfig
from fairenum.document.spending import SHARES, CutBy, CutStage, OptionalStage, Spending
from fairenum.progress import Progress

T = TypeVar("T")

ENDS: dict[str, CutBy] = {"time": "time", "interrupted": "interrupt"}


def wanted_stages(config: AuditConfig) -> dict[str, float]:
    """Return the optional stages that are asked for, with their shares."""
    left_out: set[OptionalStage] = set()
    if config.search == "exact":
        left_out |= {"guide", "tilt"}
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
class Course:
    """How an audit goes on.

    Parameters
    ----------
    budget
        The limit, and whether the user has asked to come to an end.
    progress
        Told of every stage.

    Attributes
    ----------
    seconds
        By stage.
    cut
        The stages that were cut.
    """

    budget: Budget
    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    cut: list[CutStage] = field(default_factory=list)

    @classmethod
    def of(cls, config: AuditConfig, budget: Budget, progress: Progress) -> Self:
        """Begin: what came before this has taken its time already."""
        budget.shares = {**wanted_stages(config), **budget.afterwards}
        return cls(budget, progress, {"start": budget.elapsed})

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Announce a stage, and take its time; stages of one name add up."""
        self.progress(name, 0, None)
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - started
        self.budget.heed()

    def begun(self, name: str, work: Callable[[], T]) -> T:
        """Do what comes before there is anything to keep, so that Ctrl-C need not wait for it."""
        with self.stage(name):
            return waited(work)

    @contextmanager
    def limited(self, name: OptionalStage) -> Iterator[Deadline]:
        """Do what keeps by itself what it has found when its time is over."""
        with self.stage(name), until(self.budget.deadline(name)) as deadline:
            yield deadline

    def optional(self, name: OptionalStage, work: Callable[[], T]) -> T | None:
        """Do what is left out where there is no time for it, or where it is cut."""
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
        """Note how a stage has ended, and what is left of the run where the user has ended it."""
        if how == "interrupted":
            self.budget.interrupt()
        if by := ENDS.get(how):
            self.cut.append(CutStage(name, "interrupt" if self.budget.is_interrupted else by, is_skipped))

    def reserve(self, seconds: float) -> None:
        """Keep time for what must be done after all, at the pace of the machine."""
        self.budget.reserved = seconds * self.budget.pace

    def timings(self) -> dict[str, float]:
        """Return the seconds of each stage, and of all."""
        return {**self.seconds, "total": math.fsum(self.seconds.values())}

    def spending(self) -> Spending | None:
        """Say how the audit kept to its time; None where nobody asked."""
        limit, total = self.budget.seconds, self.budget.elapsed
        if limit is None and not self.cut:
            return None
        if limit is None or total <= limit:
            return Spending(limit, cut=tuple(self.cut))
        optional = math.fsum(self.seconds.get(name, 0.0) for name in SHARES)
        return Spending(limit, total, total - optional, tuple(self.cut))
