"""A hostile case comes from its fuzzer and its number alone: made again, elsewhere and later, it is the same bytes."""

import time
from functools import partial
from random import Random

import pytest
from support.fuzzing import documents, models, options, requests, tables
from support.fuzzing.fuzzers import FUZZERS, fuzzed
from support.fuzzing.running import Ended, contents
from support.tables import write_loans

CASES = 10
A_DAY = 86_400.0
OVER_HTTP = ("requests", "line")
PORT, COOKIE, REVISION = 54321, "fairenum-54321=x", 3  # which a server chooses, and what was asked of it before


@pytest.fixture(scope="module")
def audits(tmp_path_factory):
    """The run that several fuzzers start from, made twice for all of them."""
    return [documents.small_audit(tmp_path_factory.mktemp("audit")) for _ in range(2)]


@pytest.fixture
def made(monkeypatch):
    """Keep what cases give to the program, which is not run."""
    kept = []

    def keep(arguments, folder, *_):
        kept.append((arguments, contents(folder)))
        return Ended(0, "", "", 0.0, ())

    for module in (documents, models, tables, options):
        monkeypatch.setattr(module, "run", keep)
    return kept


def audited(document, folder):
    """Leave the table of a run in a folder, as if it had been audited there."""
    write_loans(folder / "loans.csv", 40)
    return document


@pytest.mark.parametrize("name", [name for name in FUZZERS if name not in OVER_HTTP])
def test_cases_are_made_of_nothing_but_their_numbers(name, tmp_path, monkeypatch, audits, made):
    clock = time.time
    for build, document in enumerate(audits):
        monkeypatch.setattr(time, "time", lambda later=build * A_DAY: clock() + later)
        monkeypatch.setattr(documents, "small_audit", partial(audited, document))
        (place := tmp_path / str(build)).mkdir()
        fuzzed(name, place, range(CASES))
    assert len(made) == 2 * CASES
    assert made[:CASES] == made[CASES:]


def test_requests_are_made_of_nothing_but_their_numbers():
    def sent(number):
        rng = Random(f"line {number}")
        return requests.as_sent(rng, requests.request(rng, PORT, COOKIE, REVISION))

    assert [sent(number) for number in range(50)] == [sent(number) for number in range(50)]
