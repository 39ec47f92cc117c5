"""Imbalance: when an audit weights classes, and what it says about that."""

from functools import partial
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from sklearn.svm import SVC
from support.audits import MOSTLY_TRAINED, checked, codes
from support.tables import imbalanced, undecidable

from fairenum import AuditConfig, Dataset, audit, load_dataset
from fairenum.auditing.preparing import neglects_a_label, train_svm
from fairenum.enumeration.division import divide
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.render.terminal import print_page
from fairenum.report import page
from fairenum.report.audit_report import findings
from fairenum.runtime.budget import silent

PLAN = {"label": "outcome", "favourable": "ok", "sensitive": "sex"}
audit_imbalanced = partial(audit, **PLAN, k=4, replications=50, sizes=MOSTLY_TRAINED)


def advice(document) -> list[str]:
    return [text for text in findings(document) if text.startswith("Model 1 decides all rows")]


def labels(favourable: float) -> np.ndarray:
    return np.where(np.arange(1000) < 1000 * favourable, 1.0, -1.0)


@pytest.mark.parametrize(
    ("rate", "favourable", "neglects"),
    [
        (1.0, 0.9, True),
        (0.0, 0.1, True),
        (0.95, 0.8, True),
        (0.949, 0.8, False),  # more than 5 % are turned down
        (0.99, 0.99, False),  # as many as have the label
        (0.995, 0.99, False),  # half of them
        (0.996, 0.99, True),
        (0.03, 0.5, False),  # nothing to balance
        (0.03, 0.51, True),
        (0.5, 0.9, False),
    ],
)
def test_the_rule(rate, favourable, neglects):
    assert neglects_a_label(rate, labels(favourable)) is neglects


def test_the_rule_counts_rows_by_their_weights():
    y, weights = np.where(np.arange(10) < 9, 1.0, -1.0), np.where(np.arange(10) < 9, 1.0, 91.0)
    assert neglects_a_label(0.99, y)
    assert neglects_a_label(0.01, y, weights) is (0.01 < 0.5 * 0.09)
    assert not neglects_a_label(0.05, y, weights)


@pytest.mark.parametrize("name", ["compas", "german", "ionosphere", "sonar"])
def test_the_papers_tables_keep_the_plain_svm(name):
    division = divide(load_dataset(name))
    training, _ = train_svm(division, AuditConfig(), silent)
    assert training.svm.class_weight == "none"
    assert (training.class_weights.favourable, training.class_weights.unfavourable) == (1.0, 1.0)
    assert 0.4 < training.class_weights.plain_selection_rate < 0.9


SHARES = [0.9, 0.1, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.8, 0.95, 0.99))]


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
@pytest.mark.parametrize("signal", [1.0, 0.0])
@pytest.mark.parametrize("share", SHARES)
def test_a_rare_label_leaves_a_model_that_decides_or_advice(share, signal, kind):
    document = checked(audit_imbalanced(imbalanced(share, kind=kind, signal=signal)))
    assert document.first.is_constant == bool(advice(document))
    if document.config.svm.class_weight == "balanced":
        assert "class_weighted" in codes(document)
        assert document.requested.class_weight == "auto"
    else:
        assert document.first.scores.selection.selection_rate.value == document.class_weights.plain_selection_rate


@pytest.mark.parametrize("kind", ["numeric", "categorical"])
def test_five_rows_of_a_label_will_do(kind):
    table = imbalanced(595 / 600, kind=kind)
    assert (table["outcome"] == "no").sum() == 5
    document = checked(audit_imbalanced(table))
    assert not document.first.is_constant
    weights = document.class_weights
    assert weights.plain_selection_rate == 1.0
    assert weights.favourable * 357 == pytest.approx(weights.unfavourable * 3) == pytest.approx(180)


def test_the_balanced_machine_is_the_one_that_is_audited():
    result = audit_imbalanced(imbalanced(0.9))
    document, train = checked(result), result.live.division.train
    svc = SVC(kernel="linear", class_weight="balanced", tol=1e-10).fit(train.X, train.y)
    plane = svc.coef_[0]
    expected = np.abs(svc.dual_coef_).sum() - 0.5 * plane @ plane
    assert document.first.objective == pytest.approx(expected, rel=1e-9)
    plain = SVC(kernel="linear", tol=1e-8).fit(train.X, train.y).predict(result.live.division.selection.X)
    assert document.class_weights.plain_selection_rate == pytest.approx(np.mean(plain > 0))
    again = audit(imbalanced(0.9), **PLAN, config=document.config).document
    assert again.models == document.models
    assert again.requested.class_weight == "balanced"
    assert "class_weighted" not in codes(again)


def test_a_rare_label_that_is_found_needs_no_weights():
    document = checked(audit_imbalanced(imbalanced(0.96, noise=0.1)))
    assert document.class_weights.plain_selection_rate > 0.95
    assert document.config.svm.class_weight == "none"
    assert not document.first.is_constant


def test_the_weights_can_be_told():
    table = imbalanced(0.9)
    plain = checked(audit_imbalanced(table, class_weight="none", decide="sign"))
    assert plain.class_weights.plain_selection_rate is None
    assert plain.first.scores.selection.selection_rate.value > 0.95
    told = checked(audit_imbalanced(table, class_weight=(1.0, 9.0)))
    assert (told.config.svm.class_weight, told.class_weights.unfavourable) == ((1.0, 9.0), 9.0)
    assert told.first.scores.selection.selection_rate.value < 0.9
    assert "class_weighted" not in codes(told)


def test_c_is_chosen_for_the_machine_that_is_audited():
    """Once for the plain one, by accuracy; where that neglects a label, once more by balanced accuracy."""
    seen = []
    division = divide(Dataset.from_frame(imbalanced(0.9), **PLAN))
    config = AuditConfig().but(C="auto")
    training, tuning = train_svm(division, config, lambda stage, done, total: seen.append((stage, done)))
    assert seen.count(("tune", 6)) == 2
    assert training.svm.class_weight == "balanced"
    balanced, alone = train_svm(division, config.but(class_weight="balanced"), silent)
    assert (tuning, training.svm) == (alone, balanced.svm)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_where_nothing_can_be_decided_one_sentence_says_what_to_do(kernel):
    document = checked(audit_imbalanced(undecidable(), kernel=kernel, C=1e-3))
    assert document.first.is_constant
    (sentence,) = advice(document)
    assert "C='auto' (--C auto)" in sentence
    assert "decide='base-rate' (--decide base-rate)" in sentence
    assert ("kernel='rbf' (--kernel rbf)" in sentence) == (kernel == "linear")
    assert "class_weight" not in sentence
    (plain,) = advice(audit_imbalanced(undecidable(), kernel=kernel, C=1e-3, class_weight="none").document)
    assert "class_weight='balanced' (--class-weight balanced)" in plain


SELECTS = "without class weights the model selects 100.0 % of the selection split"
ALIKE = "Model 1 decides all rows of the selection split alike: try"


@pytest.mark.parametrize(
    ("table", "cost", "phrases"),
    [(imbalanced(0.95), 1.0, (SELECTS, "--class-weight none")), (undecidable(), 1e-3, (ALIKE, "--C auto"))],
    ids=["weighted", "undecidable"],
)
def test_every_medium_says_it(table, cost, phrases):
    document = audit_imbalanced(table, C=cost).document
    shown, terminal = page(document), StringIO()
    print_page(shown, Console(file=terminal, width=100))
    for text in (to_html(shown), to_markdown(shown), terminal.getvalue()):
        words = " ".join(text.split())
        for phrase in phrases:
            assert phrase in words
