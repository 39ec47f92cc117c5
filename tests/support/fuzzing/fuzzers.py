"""Every fuzzer by its name, how many cases it has and how long one may take; each case is made again from its number.

    python tests/support/fuzzing csv 0 200

runs the first 200 cases of a fuzzer, and names those that fail.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from support.fuzzing import documents, models, options, requests, tables
from support.fuzzing.running import FAILED, KINDS, Ended, kind_of
from support.fuzzing.tables import Case

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
    "csv": Fuzzer(3000, simply(tables.csv_files)),
    "parquet": Fuzzer(1500, simply(tables.parquet_files)),
    "arff": Fuzzer(1500, simply(tables.arff_files)),
    "excel": Fuzzer(1000, simply(tables.excel_files)),
    "odd tables": Fuzzer(900, simply(tables.odd_audits), 20.0),
    "options": Fuzzer(2000, simply(options.option_strings), 20.0),
    "configuration": Fuzzer(1500, simply(options.configuration_files)),
    "report": Fuzzer(2500, simply(documents.shown_runs)),
    "select": Fuzzer(1000, simply(documents.chosen_again)),
    "explain": Fuzzer(1000, simply(documents.explained)),
    "evidence": Fuzzer(1000, simply(documents.evidence_files)),
    "records": Fuzzer(600, simply(documents.decision_records)),
    "skops": Fuzzer(250, simply(models.skops_files)),
    "onnx": Fuzzer(250, simply(models.onnx_model_files)),
    "requests": Fuzzer(1500, requests.to_the_application),
    "line": Fuzzer(500, requests.over_the_line),
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
