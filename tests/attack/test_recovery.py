"""Recovery and detection: what the models listed under an attack say about it."""

from types import SimpleNamespace

import numpy as np

from fairenum.attack.trial import detection, recovery
from fairenum.document.attack_document import RecoveryRanks, TrialDetection
from fairenum.enumeration.division import EncodedRows
from fairenum.tables import Groups


def test_recovery_is_found_by_looking_through_the_list():
    gaps, errors = np.array([0.5, 0.1, 0.3, 0.2, 0.1]), np.array([0.3, 0.2, 0.4, 0.3, 0.2])
    constant = np.array([False, True, False, False, False])
    assert recovery(gaps, errors, constant, 0.2) == RecoveryRanks(rank=4, paper_rank=5)
    assert recovery(gaps, errors, constant, 0.5) == RecoveryRanks(rank=1, paper_rank=5)
    assert recovery(gaps, errors, constant, 0.05) == RecoveryRanks()
    assert recovery(gaps, errors, constant, None) == RecoveryRanks()
    undefined = np.array([np.nan, 0.1, 0.1])
    assert recovery(undefined, errors[:3], np.zeros(3, bool), 0.2) == RecoveryRanks(rank=2, paper_rank=2)


def test_detection_counts_identical_rows_as_shares():
    X = np.array([[0.0], [0.0], [1.0], [2.0], [3.0]])
    train = EncodedRows(X, np.array([1.0, 1.0, -1.0, 1.0, -1.0]), Groups(np.array([0, 1, 0, 1, 0]), ("a", "b")))
    models = tuple(
        SimpleNamespace(left_out=dict.fromkeys(rows, 1), support=np.array([0, 2, 3])) for rows in ([], [0], [4], [2])
    )
    gaps, nobody = np.array([0.4, 0.3, 0.5, 0.2]), np.zeros(4, bool)
    found = detection(models, gaps, nobody, train, np.array([1, 3]))
    # models 2 and 4 are fairer; they leave out row 0, whose twin was flipped, and row 2, which was not
    assert found == TrialDetection(left_out=2, precision=0.25, recall=0.25, chance=0.4, support_chance=0.5)
    assert detection(models, gaps[:1].repeat(4), nobody, train, np.array([1])) is None
    assert detection(models, gaps, ~nobody, train, np.array([1])) is None
