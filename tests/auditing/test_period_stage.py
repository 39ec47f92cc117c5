"""Decisions measured period by period: the same numbers as one by one, the alarm, every medium, and mistakes."""

import numpy as np
import pandas as pd
import pytest
from support.decisions import decided_frame
from support.pages import printed

from fairenum import measure
from fairenum.document.files import parse, to_json
from fairenum.errors import ColumnMissing, ConfigError
from fairenum.report import page


def applicants(rows=6000, months=12, change=6, seed=0):
    """Make up applicants of whom women are selected less often from one month on."""
    rng = np.random.default_rng(seed)
    month, sex = np.sort(rng.integers(0, months, rows)), rng.choice(["man", "woman"], rows)
    rate = np.where(sex == "woman", np.where(month >= change, 0.2, 0.42), 0.45)
    names = [f"2024-{number + 1:02d}" for number in range(months)]
    hired = (rng.random(rows) < rate).astype(int)
    good = np.where(rng.random(rows) < 0.3 + 0.3 * hired, "yes", "no")
    return pd.DataFrame({"sex": sex, "month": np.array(names)[month], "hired": hired, "good": good})


@pytest.fixture(scope="module")
def frame():
    return applicants()


@pytest.fixture(scope="module")
def result(frame):
    return measure(frame, "hired", "sex", by="month", baseline=2)


def periods(result):
    return result.decisions().of_column("sex").periods


def test_every_period_has_the_numbers_of_a_measurement_of_its_own(frame, result):
    for period in periods(result).periods:
        own = measure(frame[frame["month"] == period.period], "hired", "sex").decisions().of_column("sex")
        assert period.gap.alone == own.scores.demographic_parity_difference.alone
        assert period.n == tuple(group.n for group in own.impact.groups)
        assert period.selected == tuple(group.selected for group in own.impact.groups)
        assert period.rates == tuple(group.rate for group in own.impact.groups)


def test_a_change_raises_an_alarm_that_is_dated(result):
    (one,) = periods(result).alarms
    assert periods(result).control == "man"
    assert (one.group, one.rate, one.since) == ("woman", "selection_rate", "2024-07")
    assert one.alarm in ("2024-07", "2024-08", "2024-09")
    assert one.threshold == pytest.approx(1 / (0.05 * 0.8))
    assert result.warnings["alarm"] == [
        f"sex: the difference of woman to the control group exceeds its limit; first noticed after {one.alarm}"
    ]


def test_without_a_change_there_is_none():
    calm = measure(applicants(change=99), "hired", "sex", by="month", limit=0.1, control="man")
    assert periods(calm).alarms == ()
    assert periods(calm).looks == 12
    assert "alarm" not in calm.warnings
    assert any(
        "no alarm in 12 watched periods; no difference beyond 0.100" in one for one in page(calm.document).findings
    )


def test_looks_at_fewer_months_agree_with_later_ones(frame, result):
    early = measure(frame[frame["month"] < "2024-06"], "hired", "sex", by="month", baseline=2)
    assert periods(early).watched[0].evidence == pytest.approx(periods(result).watched[0].evidence[:3])


def test_counts_by_period_say_the_same(frame, result):
    counts = frame.groupby(["month", "sex"])["hired"].agg(n="size", selected="sum").reset_index()
    counted = measure(counts, counts=True, by="month", baseline=2)
    assert counted.document.dataset.sensitive_columns == ["sex"]
    assert periods(counted) == periods(result)


def test_all_columns_decisions_and_rates_share_the_error(frame):
    more = frame.assign(race=np.resize(["a", "b", "c"], len(frame)), rival=1 - frame["hired"])
    both = measure(
        more, ["hired", "rival"], ["sex", "race"], by="month", limit=0.1, small_groups="keep", replications=20
    )
    found = both.decisions().of_column("sex").periods
    groups = [len(column.impact.groups) for column in both.decisions().columns]
    assert found.watched[0].threshold == pytest.approx(2 * sum(number - 1 for number in groups) / 0.05)
    odds = measure(
        frame, "hired", "sex", label="good", favourable="yes", by="month", metric="equalized_odds_difference"
    )
    assert [one.rate for one in periods(odds).watched] == ["true_positive_rate", "false_positive_rate"]


def test_rows_of_one_person_leave_no_alarm(frame):
    found = measure(frame.assign(person=np.arange(len(frame)) // 2), "hired", "sex", by="month", group_column="person")
    assert periods(found).watched == ()
    assert any("no alarm is computed" in one for one in page(found.document).findings)


def test_rows_without_a_period_are_left_out_and_counted(frame):
    lost = frame.assign(month=frame["month"].where(np.arange(len(frame)) % 10 > 0))
    found = measure(lost, "hired", "sex", by="month")
    assert found.document.dataset.left_out == {"month": 600}


def test_every_medium_shows_periods(result):
    assert parse(to_json(result.document).encode(), "run") == result.document
    for text in (result.to_html(), result.to_markdown(), printed(page(result.document, brief=True))):
        assert "2024-07" in text
        assert "Alarm: hired by sex" in " ".join(text.split())
    assert len(result.tables()["periods"]) == 24
    assert result.tables()["alarms"]["since"].tolist() == ["2024-07"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"by": "mnth"}, ColumnMissing, "no column 'mnth', named as by; did you mean 'month'"),
        ({"limit": 0.1}, ConfigError, r"option 'limit' \(--limit\) is about periods"),
        ({"by": "month", "baseline": 12}, ConfigError, "takes 12 periods, and 'month' has 12"),
        ({"by": "month", "baseline": 0}, ConfigError, "needs a limit"),
        ({"by": "month", "limit": 2}, ConfigError, "must be a number of at least 0 and at most 1"),
    ],
)
def test_mistakes_are_explained(frame, options, error, words):
    with pytest.raises(error, match=words):
        measure(frame, "hired", "sex", **options)


def test_a_gap_that_needs_a_label_is_not_watched_without_one():
    frame = decided_frame(300).assign(month=np.resize(["2024-01", "2024-02", "2024-03"], 300))
    asked = {"by": "month", "metric": "equal_opportunity_difference"}
    with pytest.raises(ConfigError, match=r"'equal_opportunity_difference', which needs the true outcomes.*--label"):
        measure(frame, "hired", "sex", **asked)
    watched = measure(frame, "hired", "sex", label="good", favourable="yes", **asked).decisions().columns[0].periods
    assert watched is not None
