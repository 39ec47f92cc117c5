"""Random generators by seed and name, so that the random numbers of one use do not depend on other uses."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np


def stream(seed: int, *name: str | int) -> np.random.Generator:
    """Return a random generator for one named use, always the same for a seed and name, independent of other names.

    The name is hashed, as numbers could collide: numpy's SeedSequence ignores trailing zeros, so [7] and [7, 0] are one
    seed. A seed without a name draws the rows of splits and trials. Attacks and the paper's experiments seed numpy with
    [seed, 1] and [seed, 2] instead of calling this, so that their published draws stay as they are.
    """
    if not name:
        return np.random.default_rng(seed)
    digest = blake2b(repr(name).encode(), digest_size=16).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype="<u4").tolist()])
