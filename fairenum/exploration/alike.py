"""Which models are nothing new: those that decide as one of the list does, by the notion of the audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fairenum.document.audit_config import AuditConfig
from fairenum.enumeration.distinct import first_alike
from fairenum.exploration.box import Box
from fairenum.exploration.state import Listed
from fairenum.scoring.counts import BitArray


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Finds the place in a list that a model repeats."""

    by_support: dict[bytes, int] = field(default_factory=dict)
    by_decisions: dict[bytes, int] = field(default_factory=dict)
    decided: BitArray | None = None
    among: Sequence[int] = ()
    least: float = 1.0

    def find(self, mark: bytes, decided: bytes) -> int | None:
        """Return the place of a model, given what tells its support and its decisions from others; None if new."""
        known = self.by_support.get(mark, self.by_decisions.get(decided))
        if known is not None or self.decided is None:
            return known
        near = first_alike(self.decided, np.frombuffer(decided, dtype=np.uint8), self.least)
        return None if near is None else self.among[near]


class Alike:
    """The notion of an audit: ``support``, ``predictions`` or ``diverse``, on the rows of the selection split."""

    def __init__(self, config: AuditConfig, rows: int) -> None:
        self._notion, self._least = config.distinct, config.min_difference * rows

    def places(self, listed: Sequence[Listed], box: Box) -> Places:
        """Look up those of a list that are models of a box: another one may be there, but nobody can have it here."""
        places = [place for place, one in enumerate(listed) if box.holds(one.shown.model)]
        if self._notion == "support":
            return Places({mark: place for place in places for mark in listed[place].supports})
        by_decisions: dict[bytes, int] = {}
        for place in places:
            by_decisions.setdefault(listed[place].shown.decided, place)
        if self._notion == "predictions" or not places:
            return Places(by_decisions=by_decisions)
        rows = np.array([np.frombuffer(listed[place].shown.decided, dtype=np.uint8) for place in places])
        return Places(by_decisions=by_decisions, decided=rows, among=places, least=self._least)
