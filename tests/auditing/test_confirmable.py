"""The sizes of a run's split, and what its holdout can confirm, from options to report."""

import numpy as np
import pytest
from scipy import stats
from support.audits import applicants, checked, codes

from fairenum import Dataset, audit
from fairenum.auditing.choosing import CLAIM
from fairenum.auditing.preparing import retrained
from fairenum.errors import ConfigError
from fairenum.render.markdown import to_markdown
from fairenum.report import page

QUICK = {"k": 3, "search": "exact", "replications": 50, "range": False, "prices": False, "guards": "none"}
NARROWS = "can be confirmed (power 80 %; models that decide alike about 95 % of the rows)"


def run(**options):
    return audit(applicants(), "hired", "y", "sex", **QUICK | options)


class Told:
    """A display that keeps what it is to say."""

    def __init__(self):
        self.notes = []

    def __call__(self, stage, done, total):
        pass

    def note(self, text):
        self.notes.append(text)


def literal(document, metric_rows, confidence=0.95, disputed=0.05):
    """The normal approximation of the power of a paired test, written down anew."""
    z = stats.norm.isf(CLAIM * (1 - confidence) / 2) + stats.norm.ppf(0.8)
    spread = sum(1 / metric_rows(group) for group in document.dataset.primary.groups)
    return max(z * np.sqrt(disputed * spread), z**2 * spread / 2)


def test_the_default_split_is_recorded_as_numbers_and_gives_the_same_rows_again():
    document = checked(run())
    assert document.requested.sizes == "auto"
    assert document.config.sizes == (0.3, 0.2, 0.5)  # 1000 rows, half of them hired, and 4 columns
    assert document.dataset.splits.holdout == 500
    assert document.but(timings={}) == run(sizes="auto").document.but(timings={})
    table = Dataset.from_frame(applicants(), "hired", "y", "sex")
    division, _ = retrained(document, table)
    assert document.dataset.split_rows.of_split("holdout") == division.split.holdout.tolist()


@pytest.mark.parametrize(
    ("metric", "rows"),
    [
        ("demographic_parity_difference", lambda group: group.holdout),
        ("equal_opportunity_difference", lambda group: group.holdout_positives),
        ("equalized_odds_difference", lambda group: min(group.by_label("holdout"))),
    ],
)
def test_what_can_be_confirmed_depends_on_the_rows_behind_a_rate(metric, rows):
    document = run(metric=metric).document
    primary = document.dataset.primary
    changes = {group.name: group.confirmable for group in primary.groups}
    assert changes.pop(primary.reference) is None
    assert [*changes.values()] == [pytest.approx(literal(document, rows), rel=1e-12)]


def test_nothing_is_said_of_precision_whose_rows_depend_on_the_model():
    document = run(metric="predictive_parity_difference").document
    assert {group.confirmable for group in document.dataset.primary.groups} == {None}
    assert "can be confirmed" not in to_markdown(page(document))


def test_whole_weights_count_as_their_effective_number():
    frame = applicants().assign(w=np.where(np.arange(1000) % 2 == 0, 1.0, 3.0))
    document = audit(frame, "hired", "y", "sex", weight="w", **QUICK).document

    def effective(group):
        weights = group.holdout_weights
        total, squares = weights.favourable + weights.unfavourable, weights.squared_favourable
        return total**2 / (squares + weights.squared_unfavourable)

    (change,) = (group.confirmable for group in document.dataset.primary.groups if group.confirmable is not None)
    assert change == pytest.approx(literal(document, effective), rel=1e-12)


def test_a_model_in_use_is_expected_to_differ_more():
    frame = applicants()
    frame["used"] = (frame["skill"] > 0).astype(int)
    told = Told()
    document = audit(frame, "hired", "y", "sex", incumbent="used", progress=told, **QUICK).document
    (change,) = (group.confirmable for group in document.dataset.primary.groups if group.confirmable is not None)
    assert change == pytest.approx(literal(document, lambda group: group.holdout, disputed=0.2), rel=1e-12)
    assert "models that decide alike about 80 % of the rows" in told.notes[0]


def test_it_is_said_before_the_run_and_in_the_report():
    told = Told()
    document = run(progress=told).document
    change = max(group.confirmable or 0.0 for group in document.dataset.primary.groups)
    sentence = f"a gap in sex that narrows by {change:.2f} or more {NARROWS}"
    assert told.notes == [f"300 / 200 / 500 rows train / select / confirm; {sentence}"]
    text = " ".join(to_markdown(page(document)).split())
    assert f"On this holdout {sentence}." in text
    assert "with shares chosen for power" in text


def test_an_exploratory_run_confirms_nothing_and_says_nothing_of_it():
    told = Told()
    document = run(sizes=(0.6, 0.4, 0.0), progress=told).document
    assert told.notes == ["600 / 400 / 400 rows train / select / confirm"]
    text = to_markdown(page(document))
    assert "can be confirmed" not in text
    assert "chosen for power" not in text


def test_without_a_sensitive_column_only_the_rows_are_told():
    told = Told()
    audit(applicants().drop(columns="sex"), "hired", "y", progress=told, **QUICK)
    assert told.notes == ["300 / 200 / 500 rows train / select / confirm"]


def test_a_weak_split_is_named_with_the_command_that_mends_it():
    document = run(sizes=(0.85, 0.1, 0.05), k=12, search="both", min_group_size=10).document
    assert document.selection.answer == "candidate"
    assert "weak_split" in codes(document)
    text = " ".join(to_markdown(page(document)).split())
    assert "leaves 50 rows to confirm the choice; one chosen for power leaves 500" in text
    assert "sizes=(0.3, 0.2, 0.5) (--split 0.3,0.2,0.5) asks for it" in text
    second = "It is a second claim about the same table, with an error of its own: report both"
    assert text.count(second) == 2
    assert f"Next: a new audit with \\`--split 0.3,0.2,0.5\\` has 500 rows to confirm a choice. {second}." in text


@pytest.mark.parametrize("sizes", ["automatic", "auto,0.2,0.2", (0.5, 0.5), None, ("auto", 0.2, 0.2)])
def test_other_sizes_are_refused(sizes):
    with pytest.raises(ConfigError, match="three numbers: train, selection and holdout"):
        run(sizes=sizes)
