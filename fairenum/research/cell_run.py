"""One cell of the scoreboard: all methods on one split of one table, with one kind of model in use."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from fairenum.auditing.pipeline import run_audit
from fairenum.auditing.run_state import RunState
from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument
from fairenum.document.scoreboard_cells import AuditFacts, Cell, MethodResult
from fairenum.document.terms import Origin
from fairenum.enumeration.division import PARTS
from fairenum.errors import FairenumError
from fairenum.research.contest import TOLERANCE, Contest, Decided, contest
from fairenum.research.rivals import RIVALS, run_rival
from fairenum.research.study_tables import StudyTable
from fairenum.runtime.budget import silent
from fairenum.runtime.parallel import one_thread

DEFAULT, UNGUARDED, PLAIN = "fairenum", "fairenum_no_guardrails", "fairenum_plain_rule"
GUIDED, TILTED = "fairenum_guided", "fairenum_tilted"
# the default audit's models, of any origin or of one, chosen from by the rule that all rivals choose by
ORIGINS: Mapping[str, Origin | None] = {PLAIN: None, GUIDED: "guided", TILTED: "tilted"}
OWN = (DEFAULT, UNGUARDED, *ORIGINS)
METHODS = (*OWN, *RIVALS)


@one_thread()
def run_cell(table: StudyTable, kind: str, seed: int, methods: Sequence[str], known: Cell | None = None) -> Cell:
    """Return a cell with the results of the given methods, added to those of `known`, the same cell run before."""
    one = contest(table, kind, seed)
    audited = _Audited(one) if known is None or set(methods) & {DEFAULT, *ORIGINS} else None
    measure = audited.measure if audited else known.measure if known else one.measure
    one = one.measured_by(measure)
    results = [_result(name, one, audited) for name in methods]
    facts = audited.facts if audited else known.audit if known else None
    earlier = [] if known is None else [result for result in known.methods if result.method not in methods]
    division = one.division
    return Cell(
        table=table.name,
        source=table.source,
        licence=table.licence,
        kind=kind,
        seed=seed,
        rows=(one.own_rows, len(division.train), len(division.selection), len(division.holdout)),
        groups=int(np.count_nonzero(division.holdout.groups.compared)),
        measure=measure,
        tolerance=TOLERANCE,
        in_use=one.judged(one.in_use),
        methods=tuple(sorted((*earlier, *results), key=lambda result: METHODS.index(result.method))),
        audit=facts,
    )


def _result(name: str, one: Contest, audited: _Audited | None) -> MethodResult:
    if name in RIVALS:
        return run_rival(name, one)
    if name == UNGUARDED:
        return _Audited(one, guards=("none",)).result(name, one)
    assert audited is not None  # noqa: S101 - run_cell made it for these methods
    return audited.result(name, one)


class _Audited:
    """An audit of a contest's rows, with the listed models as candidates; `error` says why there is none."""

    def __init__(self, one: Contest, **options: object) -> None:
        self.document: AuditDocument | None = None
        self.state: RunState | None = None
        self.error: str | None = None
        started = time.process_time()
        try:
            config = AuditConfig().but(seed=one.seed, **options)
            self.document, self.state = run_audit(one.dataset, None, None, None, config, silent)
        except FairenumError as error:
            self.error = f"{type(error).__name__}: {error}"[:200]
        self.seconds = round(time.process_time() - started, 3)

    @property
    def measure(self) -> str:
        """The measure of performance that the audit chose."""
        return "accuracy" if self.document is None else str(self.document.selection.tolerances.performance)

    @property
    def facts(self) -> AuditFacts | None:
        """What the audit answers; None if it failed."""
        if self.document is None or self.state is None:
            return None
        selection, origins = self.document.selection, self.state.listing.origins
        rank = selection.rank if selection.outcome == "selected" else None
        return AuditFacts(
            answer=selection.answer,
            reasons=selection.reasons,
            rank=rank,
            origin=None if rank is None else origins[rank - 1],
            listed=dict(Counter(origins)),
            chance=selection.chance,
        )

    def result(self, name: str, one: Contest) -> MethodResult:
        """Return what the audit reaches: by its own choice or, for `ORIGINS`, by the rule that all rivals choose by."""
        facts = self.facts
        if facts is None or self.state is None:
            return MethodResult(name, error=self.error, seconds=self.seconds)
        listed, origins = self._listed(self.state), self.state.listing.origins
        if name in ORIGINS:
            wanted = ORIGINS[name]
            some = [model for model, origin in zip(listed, origins, strict=True) if wanted in (None, origin)]
            return one.result(name, some).but(seconds=self.seconds)
        place = None if facts.rank is None else facts.rank - 1
        judged = [one.judged(decided) for decided in listed]
        found = one.result_of(name, listed, judged, place)
        return found.but(seconds=self.seconds, is_kept=place is None)

    @staticmethod
    def _listed(state: RunState) -> list[Decided]:
        """Return the decisions of every listed model."""
        decided = {part: (state.listing.values[part] >= 0.0).astype(np.float64) for part in PARTS}
        return [
            Decided(f"model {rank}", {part: decided[part][rank - 1] for part in PARTS})
            for rank in range(1, len(state.listing.models) + 1)
        ]
