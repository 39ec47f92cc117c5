"""What an audit says beforehand that it will take, beside what it takes, in a process of its own."""

from __future__ import annotations

import pytest
from support.large_tables import audited, table
from support.tables import TABLES

from fairenum import AuditConfig
from fairenum.auditing.preparing import divided
from fairenum.auditing.schedule import expected
from fairenum.tables import load_dataset

OPTIONS = ("label", "yes", ("group",))


def renamed(frame):
    """Call the columns of a table as the command expects them."""
    return frame.rename(columns={"approved": "label", "sex": "group"})


CASES = {
    "2,000 x 20 numbers": (renamed(TABLES["many numbers"](2000)), {}),
    "50,000 x 20 numbers": (renamed(TABLES["many numbers"](50_000)), {}),
    "10,000 x 50 one-hot": (table(10_000), {}),
    "100,000 x 50 one-hot": (table(100_000), {}),
    "20,000 x 1,000 values": (table(20_000, wide=1000), {"max_levels": 1000}),
    "2,000, rbf": (renamed(TABLES["many numbers"](2000)), {"kernel": "rbf"}),
    "8,000, rbf": (renamed(TABLES["many numbers"](8000)), {"kernel": "rbf"}),
}


@pytest.mark.parametrize("case", CASES)
def test_an_estimate_is_right_within_a_factor_of_two(tmp_path, case):
    frame, options = CASES[case]
    asked = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    _, seconds, gigabytes = audited(tmp_path, frame, *asked)
    config = AuditConfig(k=20).but(**options)
    dataset = load_dataset(tmp_path / "table.csv", *OPTIONS, reading=config.reading)
    told = expected(divided(dataset, config), config)
    assert 0.5 * seconds <= told.seconds <= 2.0 * seconds
    assert 0.5 * gigabytes <= told.memory / 1e9 <= 2.0 * gigabytes
