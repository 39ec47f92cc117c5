"""Random numbers by name: every use of chance has a stream of its own."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np


def stream(seed: int, *name: str | int) -> np.random.Generator:
    """Open the random numbers of one named use: the same for one seed and name, independent of all others.

    The name is hashed. Places counted by hand would collide, as numpy's SeedSequence ignores trailing zeros: [7] and
    [7, 0] are one seed. The seed alone, without a name, draws the rows of splits and trials. Attacks and the paper's
    experiments keep [seed, 1] and [seed, 2], so that their published draws stay as they are.
    """
    if not name:
        return np.random.default_rng(seed)
    digest = blake2b(repr(name).encode(), digest_size=16).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype="<u4").tolist()])
