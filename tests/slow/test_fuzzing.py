"""Twenty thousand hostile cases, each made from its number: no internal error, none too long, nothing left behind."""

import pytest
from support.fuzzing.fuzzers import FUZZERS, fuzzed

pytestmark = pytest.mark.usefixtures("own_loop")


def test_there_are_twenty_thousand_cases():
    assert sum(fuzzer.cases for fuzzer in FUZZERS.values()) == 20_000


@pytest.mark.parametrize("name", FUZZERS)
def test_whatever_comes_is_used_or_refused(name, tmp_path, capsys, record_property):
    tally = fuzzed(name, tmp_path, range(FUZZERS[name].cases))
    record_property("counts", str(tally))
    with capsys.disabled():
        print(f"\n{name}: {tally}")
    assert tally.cases == FUZZERS[name].cases
    assert tally.done > 0  # what is all refused at the door tries nothing
    assert tally.found == {}
