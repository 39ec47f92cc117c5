"""Multiplicity against its definitions, written out as loops."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairenum.metrics.counts import Decisions
from fairenum.metrics.disagreement import decision_multiplicity, pairwise_disagreement, score_multiplicity
from fairenum.tables.groups import Groups


@st.composite
def decided(draw):
    k, n, g = draw(st.integers(1, 6)), draw(st.integers(1, 30)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return Decisions(
        rng.integers(0, 2, (k, n)), rng.integers(0, 2, n), Groups(rng.integers(0, g, n), tuple("abcd"[:g]))
    )


def by_definition(models):
    """Ambiguity, discrepancy and mean disagreement of lists of decisions."""
    rows = range(len(models[0]))
    ambiguity = np.mean([any(model[row] != models[0][row] for model in models) for row in rows])
    discrepancy = max(np.mean([model[row] != models[0][row] for row in rows]) for model in models)
    pairs = [np.mean([one[row] != two[row] for row in rows]) for one, two in combinations(models, 2)]
    return ambiguity, discrepancy, np.mean(pairs) if pairs else 0.0


@settings(deadline=None, max_examples=100)
@given(decided())
def test_multiplicity_is_what_its_definition_says(decisions):
    found = decision_multiplicity(decisions)
    expected = by_definition(decisions.predictions.tolist())
    np.testing.assert_allclose((found.ambiguity, found.discrepancy, found.disagreement), expected)
    for group in range(len(decisions.groups.names)):
        rows = decisions.groups.codes == group
        ours = (found.group_ambiguity[group], found.group_discrepancy[group], found.group_disagreement[group])
        if rows.any():
            np.testing.assert_allclose(ours, by_definition(decisions.predictions[:, rows].tolist()))
        else:
            assert np.isnan(ours).all()


@settings(deadline=None, max_examples=50)
@given(decided())
def test_the_mean_disagreement_is_that_of_the_pairs(decisions):
    pairs = pairwise_disagreement(decisions)
    off_diagonal = pairs[~np.eye(len(pairs), dtype=bool)]
    expected = off_diagonal.mean() if off_diagonal.size else 0
    np.testing.assert_allclose(decision_multiplicity(decisions).disagreement, expected, atol=1e-6)


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 5), st.integers(1, 20), st.integers(0, 2**32))
def test_capacity_lies_between_nothing_and_one_bit_and_grows_with_the_models(models, rows, seed):
    rng = np.random.default_rng(seed)
    chances = np.round(rng.random((models + 1, rows)), rng.integers(0, 4))
    groups = Groups(np.zeros(rows, dtype=int), ("a",))
    fewer, all_models = score_multiplicity(chances[:-1], groups), score_multiplicity(chances, groups)
    assert np.all((all_models.capacity >= 0) & (all_models.capacity <= 1))
    assert np.all(all_models.capacity >= fewer.capacity - 1e-12)
    assert np.all((all_models.capacity > 0) == (all_models.viable_range > 0))
