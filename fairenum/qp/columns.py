"""Q of a kernel machine that is too large to be held: rows are computed when they are needed, and kept for a while.

Paths need the rows of the examples on the margin and of the one that they move. A product with all of an answer needs
the row of every support vector; but answers that follow each other differ in few examples, so that it is made of a
product that is known, an anchor, and of the rows in which the two differ.

What is computed does not depend on what was computed before: an entry of Q has the same bits whichever rows are made
with it, and sums are made in doubled precision, so that they round alike from whichever anchor they start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from fairenum.budget import checkpoint
from fairenum.errors import SolverOverwhelmed
from fairenum.matrices import inner_products, squared_distances, squares
from fairenum.problem import FloatArray, IntArray, SvmProblem
from fairenum.qp.tables import NOTHING, Anchor

BLOCK = 4_000_000  # kernel values that are computed at once: 32 MB
PANEL = 16  # rows whose inner products are computed at once, always: of other shapes a library may round otherwise
ANCHORS = 8
# Of the rows kept, and of the support vectors: if more examples differ from the nearest anchor, there is a new one.
ROWS_SHARE, SUPPORT_SHARE = 0.25, 0.5


class KernelRows:
    """Rows of Q, centred in feature space, from the features."""

    def __init__(self, problem: SvmProblem) -> None:
        self._kernel, self._X, self._y, self._ridge = problem.kernel, problem.X, problem.y, problem.ridge
        n, self._squares = problem.size, squares(problem.X)
        self._needs_distances = self._kernel.needs_distances(self._squares)
        sums, self.diagonal = np.zeros(n), np.empty(n)
        for examples in self.pieces(np.arange(n)):
            values = self._values(examples)
            sums += values.sum(axis=0)
            self.diagonal[examples] = values[np.arange(len(examples)), examples]
        self.means = sums / n
        self._above = self.means - self.means.mean()
        self.diagonal += self._ridge - self.means - self._above

    def pieces(self, examples: IntArray) -> Iterator[IntArray]:
        """Divide examples into so many as have their rows computed at once; look at the clock for each."""
        size = max(1, BLOCK // len(self._y))
        for start in range(0, len(examples), size):
            checkpoint()
            yield examples[start : start + size]

    def _values(self, examples: IntArray) -> FloatArray:
        """Return rows of the kernel matrix."""
        if self._needs_distances:
            return self._kernel.of_distances(squared_distances(self._X[examples], self._X))
        inner = np.empty((len(examples), len(self._y)))
        for start in range(0, len(examples), PANEL):
            some = examples[start : start + PANEL]
            inner[start : start + PANEL] = inner_products(self._X[np.resize(some, PANEL)], self._X)[: len(some)]
        return self._kernel.of_products(inner, self._squares[examples], self._squares)

    def of(self, examples: IntArray) -> FloatArray:
        """Return rows."""
        values = self._values(examples)
        values -= self.means
        values -= self._above[examples, None]
        values *= self._y
        values *= self._y[examples, None]
        values[np.arange(len(examples)), examples] += self._ridge
        return values

    def block(self, examples: IntArray, columns: IntArray) -> FloatArray:
        """Return parts of rows."""
        result = np.empty((len(examples), len(columns)))
        for piece in self.pieces(np.arange(len(examples))):
            result[piece] = self.of(examples[piece])[:, columns]
        return result


class RowStore:
    """As many rows as there is room for; those that were not asked for the longest give way.

    Attributes
    ----------
    table
        The rows, in no order. Memory is taken as it fills.
    places
        The place of each example's row in it; -1 if it is not there.
    """

    def __init__(self, rows: KernelRows, most_bytes: float) -> None:
        n = len(rows.diagonal)
        self.capacity = max(1, min(n, int(most_bytes / (8 * n))))
        self.table, self.places = np.empty((self.capacity, n)), np.full(n, -1, np.intp)
        self._rows, self._clock = rows, 0
        self._holder, self._asked = np.full(self.capacity, -1, np.intp), np.zeros(self.capacity, np.int64)

    def fetch(self, examples: IntArray) -> None:
        """Have the rows of some examples, each named once, in the table."""
        self._clock += 1
        places = self.places[examples]
        self._asked[places[places >= 0]] = self._clock
        missing = examples[places < 0]
        if len(missing) == 0:
            return
        free = np.argsort(self._asked, kind="stable")[: len(missing)]
        for rows, own in zip(self._rows.pieces(missing), self._rows.pieces(free), strict=True):
            before = self._holder[own]
            self.places[before[before >= 0]] = -1
            self._holder[own] = -1  # nobody's, should the time be over in the middle
            self.table[own] = self._rows.of(rows)
            self._holder[own], self._asked[own], self.places[rows] = rows, self._clock, own

    def rows(self, examples: IntArray) -> Iterator[FloatArray]:
        """Give rows one by one, computed if they are not in the table."""
        for piece in self._rows.pieces(examples):
            missing = piece[self.places[piece] < 0]
            computed = iter(self._rows.of(missing))
            for place in self.places[piece].tolist():
                yield next(computed) if place < 0 else self.table[place]


class Anchors:
    """The latest answers whose product with Q was made as a whole."""

    def __init__(self, store: RowStore) -> None:
        self._store = store
        self._known: deque[Anchor] = deque(maxlen=ANCHORS)

    def _nearest(self, alpha: FloatArray) -> tuple[Anchor, IntArray]:
        """Return the anchor that differs in the fewest examples from an answer, or a new one; and in which it does."""
        support = np.flatnonzero(alpha)
        best, differs = NOTHING, support
        for anchor in self._known:
            others = np.flatnonzero(alpha != anchor.alpha)
            best, differs = (anchor, others) if len(others) < len(differs) else (best, differs)
        if len(differs) > min(ROWS_SHARE * self._store.capacity, SUPPORT_SHARE * len(support)):
            return self._new(alpha), np.empty(0, np.intp)
        return best, differs

    def _new(self, alpha: FloatArray) -> Anchor:
        """Return an answer as its own anchor."""
        anchor = self._reached(alpha, NOTHING, np.flatnonzero(alpha))
        self._known.append(anchor)
        return anchor

    def _reached(self, alpha: FloatArray, anchor: Anchor, differs: IntArray) -> Anchor:
        """Return what an answer reaches, given that of another and in whom the two differ."""
        from fairenum.qp.kernel import added  # only here: whoever opens a Gram need not compile

        known, high, low = (part if len(part) else np.zeros(len(alpha)) for part in anchor)
        for example, row in zip(differs.tolist(), self._store.rows(differs), strict=True):
            high, low = added(high, low, float(alpha[example]), row)
            if known[example]:
                high, low = added(high, low, -float(known[example]), row)
        return Anchor(alpha.copy(), high, low)

    def product(self, alpha: FloatArray) -> FloatArray:
        """Return ``Q @ alpha``."""
        reached = self._reached(alpha, *self._nearest(alpha))
        return reached.high + reached.low

    def ready(self, alpha: FloatArray, examples: IntArray) -> Anchor:
        """Return the anchor of an answer; fetch the rows of whom it differs in, and of more examples."""
        anchor, differs = self._nearest(alpha)
        needed = np.union1d(examples, differs)
        if len(needed) > self._store.capacity and len(differs):
            anchor, needed = self._new(alpha), np.unique(examples)
        if len(needed) > self._store.capacity:
            raise SolverOverwhelmed(
                f"{len(needed)} examples are on the margin of a machine with this kernel; of {len(alpha)} examples "
                f"the rows of {self._store.capacity} are held: train on fewer rows (--split), or use a smaller gamma "
                "or a linear kernel"
            )
        self._store.fetch(needed)
        return anchor
