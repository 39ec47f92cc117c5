"""Rows whose price is beyond the ceiling for a reason already known: the proof for one row holds for others like it.

A dual answer that proves a loss for a row x proves one for every other row z, with the same weight on z in its place::

    P >= D - s mu w'(z - x) - 1/2 mu^2 |z - x|^2

which costs a product of short vectors where a walk costs hundreds of breakpoints.
"""

from __future__ import annotations

import numpy as np

from fairenum.enumeration.witness import ROUNDING, Pulls, Witnesses
from fairenum.problem import FloatArray
from fairenum.qp.foreign import LinearRows

MOST_PROOFS = 256


class Screen:
    """Proofs that the loss is large enough, each for one row and a side of one threshold."""

    def __init__(self, rows: LinearRows, enough: float) -> None:
        self._rows, self._enough = rows, enough
        width = rows.features.shape[1]
        self._planes, self._places = np.empty((0, width)), np.empty(0, np.intp)
        self._pushes, self._losses = np.empty(0), np.empty(0)  # side times weight, and what is proven

    def keep(self, pulls: Pulls, found: Witnesses) -> None:
        """Keep those answers that prove enough."""
        some = np.flatnonzero((found.proven >= self._enough) & (found.weights > 0.0))[: MOST_PROOFS - len(self._losses)]
        places, pushes = pulls.places[some], (pulls.sides * found.weights)[some]
        self._planes = np.vstack([self._planes, self._rows.planes(places, found.alphas[some], pushes)])
        self._places = np.append(self._places, places)
        self._pushes = np.append(self._pushes, pushes)
        self._losses = np.append(self._losses, found.proven[some])

    def proven(self, pulls: Pulls) -> FloatArray:
        """Return what the proofs say about other rows of the same threshold; minus infinity if nothing."""
        if not len(self._losses):
            return np.full(len(pulls.places), -np.inf)
        rows, features = self._rows.features[pulls.places], self._rows.features[self._places]
        squares, own = self._rows.squares[pulls.places], self._rows.squares[self._places]
        apart = np.maximum(squares + own[:, None] - 2.0 * features @ rows.T, 0.0)
        pushes, planes = self._pushes[:, None], self._planes
        along = planes @ rows.T - np.einsum("ij,ij->i", planes, features)[:, None]
        losses = self._losses[:, None] - pushes * along - 0.5 * pushes**2 * apart
        lengths = np.einsum("ij,ij->i", planes, planes)[:, None] + pushes**2 * (squares + own[:, None])
        losses -= ROUNDING * (np.abs(self._losses)[:, None] + 2.0 * lengths)
        return np.asarray(np.where(np.sign(pushes) == pulls.sides, losses, -np.inf).max(axis=0))
