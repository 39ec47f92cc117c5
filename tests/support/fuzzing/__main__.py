"""Run cases of a fuzzer by their numbers, and name those that fail: `python tests/support/fuzzing csv 309 310`."""

import sys
import tempfile
from pathlib import Path


def main(name: str, first: int = 0, last: int | None = None) -> int:
    """Run some cases, and print what went wrong."""
    from support.fuzzing.fuzzers import FUZZERS, fuzzed

    with tempfile.TemporaryDirectory() as folder:
        tally = fuzzed(name, Path(folder), range(first, FUZZERS[name].cases if last is None else last))
    for number, faults in tally.found.items():
        for fault in faults:
            print(f"{name} {number}: {fault}")
    print(f"{name}: {tally}")
    return bool(tally.found)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # instead of this folder, whose modules have common names
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
