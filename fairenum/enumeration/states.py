"""How many answers are kept with all that their solver needs to go on from them: memory is bounded on any table.

Such a state holds some vectors of all examples and the inverse of a matrix of those strictly inside their box. The
others are parked: their active sets alone are kept, from which they are computed again when their turn comes.
"""

from __future__ import annotations

import numpy as np

from fairenum.problem import Solution

MEMORY_LIMIT = 512 * 2**20  # bytes of states
STRETCHED = 4  # times the limit, if a few states need it: parking them would cost more time than memory
FEW, FEWEST = 64, 16
VECTORS, NUMBER = 8, 8  # vectors of n numbers that one state may hold, and bytes of a number


def size_of(solution: Solution) -> int:
    """Return about how many bytes the state of an answer takes."""
    inside = int(np.count_nonzero((solution.alpha > 0.0) & (solution.alpha < solution.upper)))
    return state_bytes(len(solution.alpha), inside)


def state_bytes(examples: int, inside: int) -> int:
    """Return about how many bytes a state takes, given how many examples there are, and how many inside their box."""
    return NUMBER * (VECTORS * examples + (inside + 1) ** 2)


def ready_states(size: int, memory: int = MEMORY_LIMIT) -> int:
    """Return how many states to keep, given the bytes of one, and those to keep them in."""
    return max(memory // size, min(FEW, STRETCHED * memory // size), FEWEST)
