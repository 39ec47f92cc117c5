"""Small scenes for attackers: continuous rows, or the tied ones that real tables are full of."""

import numpy as np
from strategies import labels, table

from fairenum.attack.scene import Scene
from fairenum.dataset import Groups
from fairenum.document.machine import Machine
from fairenum.experiment import EncodedRows


def scene(seed, n=24, kind="continuous", C=1.0, kernel="linear", direction=0, sees="train", class_weight="none"):
    """Draw rows of two groups whose first feature leans with the group; group 1, "b", is the target."""
    rng = np.random.default_rng(seed)
    train, audited = (encoded_rows(rng, n, kind) for _ in range(2))
    return Scene(
        train=train,
        watched=train if sees == "train" else audited,
        target=1,
        direction=direction,
        metric="demographic_parity_difference",
        machine=Machine(C=C, kernel=kernel, gamma=0.5, class_weight=class_weight),
        seed=seed,
    )


def encoded_rows(rng, n, kind="continuous"):
    """Draw rows of the groups "a" and "b"."""
    codes = rng.integers(0, 2, size=n)
    codes[:2] = 0, 1
    X = table(kind, rng, n, 3)
    X[:, 0] += codes
    y = labels(rng, n)
    return EncodedRows(X, y, Groups(codes, ("a", "b")))
