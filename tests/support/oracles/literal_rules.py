"""The rules that verdicts have to be as sharp as, written out by numpy alone: nothing here is taken from the package.

With the signed differences x of model 1 and y of model m, d = y - x and s = y + x, in every pair of groups:

- *added*: a verdict needs a clear d, and \\|s\\| > z (2 se(x) + se(d)), errors being added; z for x and all d together;
- *together*: limits of x, y, d and s for all models and pairs by one max-t critical value z, drawn by a normal
  bootstrap, and what follows from them for the change of the gap;
- *alone*: the same for one model, with the critical value of its own family.

Limits of a rate are Wilson's, those of a change Bonett and Price's with z^2 / 4 imaginary rows of each kind; those of a
difference of groups combine the two distances by their root sum of squares (Newcombe).
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """What there is to know: rows of each group, and how many of them both of two models select.

    Attributes
    ----------
    sizes
        Shape (groups,).
    both
        Shape (groups, models, models).
    """

    sizes: Floats
    both: Floats

    @classmethod
    def of(cls, decided: NDArray[np.uint8], codes: NDArray[np.intp]) -> "Sample":
        parts = [decided[:, codes == group].astype(np.float32) for group in range(codes.max() + 1)]
        return cls(
            np.array([part.shape[1] for part in parts], dtype=float),
            np.array([part @ part.T for part in parts], dtype=float),
        )

    def of_two(self, model: int) -> "Sample":
        return Sample(self.sizes, self.both[:, [0, model]][:, :, [0, model]])

    @property
    def rates(self) -> Floats:
        return np.diagonal(self.both, axis1=1, axis2=2) / self.sizes[:, None]

    def noise(self, rng: np.random.Generator, draws: int) -> Floats:
        """Draw normal deviations of all rates from the truth, shape (groups, draws, models)."""
        rates = self.rates
        covariance = (self.both / self.sizes[:, None, None] - rates[:, :, None] * rates[:, None]) / self.sizes[
            :, None, None
        ]
        scales, axes = np.linalg.eigh(covariance)
        roots = axes * np.sqrt(np.maximum(scales, 0.0))[:, None]
        return np.einsum("gdk,gmk->gdm", rng.standard_normal((len(rates), draws, rates.shape[1])), roots, optimize=True)


Bounds = tuple[Floats, Floats]


def change_of_gap(sample: Sample, rng: np.random.Generator, draws: int = 500) -> tuple[Bounds, Bounds]:
    """Bound the change of the gap of every model from the first, *together* and by *added* errors, shape (models,)."""
    critical, fewer = _criticals(sample.noise(rng, draws))
    return together_limits(sample, critical), _added(sample, fewer)


def change_of_one(sample: Sample, model: int, rng: np.random.Generator, draws: int = 500) -> tuple[float, float]:
    """Bound the change of the gap of one model, *alone*."""
    own = sample.of_two(model)
    low, high = together_limits(own, _criticals(own.noise(rng, draws))[0])
    return float(low[1]), float(high[1])


def _criticals(noise: Floats) -> tuple[float, float]:
    """Cover x, y, d and s of all models and pairs together; and only x and d."""
    whole = part = np.zeros(noise.shape[1])
    for a in range(len(noise)):
        for b in range(a):
            level = noise[a] - noise[b]
            first, other = level[:, :1], level[:, 1:]
            change = _peaks(other - first)
            part = np.maximum.reduce([part, _peaks(first), change])
            whole = np.maximum.reduce([whole, _peaks(level), change, _peaks(other + first)])
    return float(np.quantile(whole, 0.95)), float(np.quantile(part, 0.95))


def _peaks(noise: Floats) -> Floats:
    spread = noise.std(0)
    return np.max(np.abs(noise) / np.where(spread > 1e-12, spread, np.inf), axis=1)


def together_limits(sample: Sample, z: float) -> Bounds:
    """Bound the change of the gap of every model from the first, given the critical value of all limits."""
    level, change, total = _level(sample, z), _change(sample, z), _total(sample, z)
    pairs = list(permutations(range(len(sample.sizes)), 2))
    levels, changes, totals = ([_difference(part, a, b) for a, b in pairs] for part in (level, change, total))
    least = np.maximum(np.max([low for low, _ in levels], axis=0), 0.0)
    highs = [
        np.minimum.reduce([of_change[1], of_total[1], of_level[1] - least[0]])
        for of_level, of_change, of_total in zip(levels, changes, totals, strict=True)
    ]
    lows = [
        np.maximum.reduce([of_change[0], -of_total[1], least - of_level[1][0]])
        for of_level, of_change, of_total in zip(levels, changes, totals, strict=True)
    ]
    return np.maximum(np.min(lows, axis=0), -1.0), np.minimum(np.max(highs, axis=0), 1.0)


def _added(sample: Sample, z: float) -> Bounds:
    """Bound s = 2 x + d by the limits of x and d."""
    level, change = _level(sample, z), _change(sample, z)
    highs, lows = [], []
    for a, b in permutations(range(len(sample.sizes)), 2):
        high, moved = _difference(level, a, b)[1][0], _difference(change, a, b)
        highs.append(np.minimum(moved[1], 2 * high + moved[1]))
        lows.append(np.maximum(moved[0], -(2 * high + moved[1])))
    return np.min(lows, axis=0), np.max(highs, axis=0)


Limits = tuple[Floats, Floats, Floats]  # estimates, lower and upper limits, each of shape (groups, models)


def _difference(part: Limits, a: int, b: int) -> Bounds:
    middle, low, high = part
    estimate = middle[a] - middle[b]
    return (
        estimate - np.hypot(middle[a] - low[a], high[b] - middle[b]),
        estimate + np.hypot(high[a] - middle[a], middle[b] - low[b]),
    )


def _level(sample: Sample, z: float) -> Limits:
    rates, sizes = sample.rates, sample.sizes[:, None]
    centre = (rates + z**2 / (2 * sizes)) / (1 + z**2 / sizes)
    radius = z * np.sqrt(rates * (1 - rates) / sizes + z**2 / (4 * sizes**2)) / (1 + z**2 / sizes)
    return rates, centre - radius, centre + radius


def _change(sample: Sample, z: float) -> Limits:
    own, first, both = (np.diagonal(sample.both, axis1=1, axis2=2), sample.both[:, :1, 0], sample.both[:, 0])
    return _moved(own - both, first - both, sample.sizes[:, None], z)


def _total(sample: Sample, z: float) -> Limits:
    """The change from the mirrored model 1, which selects what model 1 does not; the sum of two rates is 1 more."""
    own, first, both = (np.diagonal(sample.both, axis1=1, axis2=2), sample.both[:, :1, 0], sample.both[:, 0])
    sizes = sample.sizes[:, None]
    return _moved(both, sizes - own - first + both, sizes, z)


def _moved(gained: Floats, lost: Floats, sizes: Floats, z: float) -> Limits:
    up, down = (gained + z**2 / 4) / (sizes + z**2 / 2), (lost + z**2 / 4) / (sizes + z**2 / 2)
    radius = z * np.sqrt((up + down - (up - down) ** 2) / (sizes + z**2 / 2))
    return (gained - lost) / sizes, up - down - radius, up - down + radius
