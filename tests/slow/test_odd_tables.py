"""Whole audits of large tables as strangers bring them, every stage on: an answer, in a minute of processor time."""

import time

import pytest
from support.tables import PLAN, TABLES, tied, wide

from fairenum import audit
from fairenum.svm.polish import warm_up

MOST_SECONDS = 60.0  # of 50,000 rows
MOST_OF_A_COMMON_SIZE = 30.0


def audited(data, **options):
    """Audit, and measure the processor's time without that of compiling."""
    warm_up()
    started = time.process_time()
    document = audit(data, **options).document
    return document, time.process_time() - started


@pytest.mark.parametrize("rows", [5_000, 50_000])
@pytest.mark.parametrize("name", TABLES)
def test_a_strangers_table_takes_a_minute(name, rows):
    options = {"weight": "weight"} if name == "weights" else {}
    document, seconds = audited(TABLES[name](rows), **PLAN, **options)
    assert not document.first.is_constant
    assert document.selection.rank is not None
    assert seconds <= MOST_SECONDS


@pytest.mark.parametrize("frame", [tied(22_000), wide(30_000, 23)], ids=["bar exam", "credit"])
def test_a_table_of_a_common_size_takes_half_a_minute(frame):
    document, seconds = audited(frame, **PLAN)
    assert not document.first.is_constant
    assert seconds <= MOST_OF_A_COMMON_SIZE


@pytest.mark.parametrize("name", ["adult", "compas", "german", "ionosphere", "sonar"])
def test_a_bundled_table_takes_half_a_minute(name):
    document, seconds = audited(name)
    assert not document.first.is_constant
    assert seconds <= MOST_OF_A_COMMON_SIZE
