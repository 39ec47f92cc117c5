"""Every fuzzer by its name, how many cases it has and how long one may take; each case is made again from its number.

    python tests/fuzzers.py csv 0 200

runs the first 200 cases of a fuzzer, and names those that fail.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import fuzz_documents
import fuzz_models
import fuzz_requests
import fuzz_tables
import fuzz_words
from fuzz_tables import Case
from fuzzed import FAILED, KINDS, Ended, kind_of

Maker = Callable[[Path], AbstractContextManager[Case]]


@dataclass(frozen=True)
class Fuzzer:
    """Cases of one input.

    Attributes
    ----------
    cases
        How many there are.
    opened
        Makes what they share in a folder, and gives what runs one of them in a folder of its own.
    seconds
        Of the processor, which none may take.
    """

    cases: int
    opened: Maker
    seconds: float = 10.0


@dataclass
class Tally:
    """What came of cases.

    Attributes
    ----------
    done
        How many were accepted, and not refused.
    found
        Faults by the number of their case.
    """

    cases: int = 0
    done: int = 0
    longest: float = 0.0
    found: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def add(self, number: int, ended: Ended, faults: tuple[str, ...]) -> None:
        self.cases += 1
        self.done += ended.code not in FAILED
        self.longest = max(self.longest, ended.seconds)
        if faults:
            self.found[number] = faults

    @property
    def counts(self) -> dict[str, int]:
        """Cases of each kind of fault."""
        kinds = Counter(kind for faults in self.found.values() for kind in {kind_of(fault) for fault in faults})
        return {kind: kinds[kind] for kind in KINDS}

    def __str__(self) -> str:
        told = ", ".join(f"{count} {kind}" for kind, count in self.counts.items())
        return f"{self.cases} cases, {self.done} accepted: {told}; longest {self.longest:.2f} s"


def simply(made: Callable[[Path], Case]) -> Maker:
    """Wrap what needs no end."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Case]:
        yield made(folder)

    return opened


FUZZERS = {
    "csv": Fuzzer(3000, simply(fuzz_tables.csv_files)),
    "parquet": Fuzzer(1500, simply(fuzz_tables.parquet_files)),
    "arff": Fuzzer(1500, simply(fuzz_tables.arff_files)),
    "excel": Fuzzer(1000, simply(fuzz_tables.excel_files)),
    "odd tables": Fuzzer(900, simply(fuzz_tables.odd_audits), 20.0),
    "options": Fuzzer(2000, simply(fuzz_words.option_strings), 20.0),
    "configuration": Fuzzer(1500, simply(fuzz_words.configuration_files)),
    "report": Fuzzer(2500, simply(fuzz_documents.shown_runs)),
    "select": Fuzzer(1000, simply(fuzz_documents.chosen_again)),
    "explain": Fuzzer(1000, simply(fuzz_documents.explained)),
    "evidence": Fuzzer(1000, simply(fuzz_documents.evidence_files)),
    "records": Fuzzer(600, simply(fuzz_documents.decision_records)),
    "skops": Fuzzer(250, simply(fuzz_models.skops_files)),
    "onnx": Fuzzer(250, simply(fuzz_models.onnx_model_files)),
    "requests": Fuzzer(1500, fuzz_requests.to_the_application),
    "line": Fuzzer(500, fuzz_requests.over_the_line),
}


def fuzzed(name: str, folder: Path, numbers: range) -> Tally:
    """Run cases of a fuzzer, each by its number alone."""
    tally, fuzzer = Tally(), FUZZERS[name]
    (shared := folder / "shared").mkdir()
    with fuzzer.opened(shared) as case:
        for number in numbers:
            place = folder / str(number)
            place.mkdir()
            ended = case(Random(f"{name} {number}"), place)
            late = ("out of time",) if ended.seconds > fuzzer.seconds and "out of time" not in ended.faults else ()
            tally.add(number, ended, (*ended.faults, *late))
            shutil.rmtree(place)
    return tally


def main(name: str, first: int = 0, last: int | None = None) -> int:
    """Run some cases, and print what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        tally = fuzzed(name, Path(folder), range(first, FUZZERS[name].cases if last is None else last))
    for number, faults in tally.found.items():
        for fault in faults:
            print(f"{name} {number}: {fault}")
    print(f"{name}: {tally}")
    return bool(tally.found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
