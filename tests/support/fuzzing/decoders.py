"""Fuzz the decoders, guided by which of their lines are reached: `make fuzz`, or one of them with libFuzzer's options.

    python tests/support/fuzzing/decoders.py run -max_total_time=300

It needs atheris, which is not among what the tests need, as it is not to be had for every svm: pip install atheris.
What is refused is well; any other error ends this, and libFuzzer keeps its input in a file.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import atheris
import msgspec
import rich_click as click

TESTS = Path(__file__).resolve().parents[2]
sys.path[0] = str(TESTS)  # instead of this folder, whose modules have common names

with atheris.instrument_imports(include=["fairenum.document", "fairenum.evidence", "fairenum.explore", "fairenum.cli"]):
    from fairenum.cli.audit import audit
    from fairenum.document import files
    from fairenum.errors import FairenumError
    from fairenum.evidence.archive import MANIFEST, RUN, packed, to_manifest, unpacked
    from fairenum.evidence.bundle import evidence as bundled
    from fairenum.evidence.verification import verify
    from fairenum.explore.record_file import Record
    from fairenum.report import page
    from support.fuzzing import documents, hostile

FOLDER = Path(tempfile.mkdtemp(prefix="fairenum-fuzz-"))


def run(content: bytes) -> None:
    """Read a run; whatever is one can be shown, and is the same once it is written and read again."""
    document = files.parse(content, "run.json")
    page(document)
    written = files.to_json(document)
    if files.to_json(files.parse(written.encode(), "again")) != written:
        raise AssertionError("another document once it is read again")


def decisions(content: bytes) -> None:
    """Read a decision record."""
    (path := FOLDER / "record.jsonl").write_bytes(content)
    Record.reopen(path).close()


def evidence(content: bytes) -> None:
    """Check an evidence file."""
    (path := FOLDER / "run.zip").write_bytes(content)
    verify(path)


def configuration(content: bytes) -> None:
    """Read a configuration file, and every option in it."""
    path = FOLDER / ("pyproject.toml" if b"[tool" in content else "fairenum.toml")
    path.write_bytes(content)
    audit.make_context("audit", ["table.csv", "--config", str(path)])


TARGETS: dict[str, Callable[[bytes], None]] = {
    "run": run,
    "decisions": decisions,
    "evidence": evidence,
    "configuration": configuration,
}


def seeds(name: str) -> list[bytes]:
    """Make what mutations begin with."""
    if name == "configuration":
        return [hostile.toml(Random(number)) for number in range(200)]
    if name == "decisions":
        return [b"\n".join(documents.recorded(FOLDER)) + b"\n"]
    new = documents.small_audit(FOLDER)
    if name == "evidence":
        return [bundled(new)]
    small = [(TESTS / "data" / f"{one}.json").read_bytes() for one in documents.SMALL]
    return [files.to_json(new).encode(), *small]


def mutated(name: str, content: bytes, largest: int, seed: int) -> bytes:
    """Change a part of a document as such, half of the time; let libFuzzer change bytes otherwise."""
    rng = Random(seed)
    if rng.random() < 0.5:
        return atheris.Mutate(content, largest)
    try:
        made = STRUCTURED[name](rng, content)
    except (ValueError, LookupError, TypeError, RecursionError, FairenumError):
        return atheris.Mutate(content, largest)
    return made if len(made) <= largest else content


def _json(rng: Random, content: bytes) -> bytes:
    document = msgspec.json.decode(content)
    return hostile.mutated_json(rng, document, list(hostile.ways(document)))


def _lines(rng: Random, content: bytes) -> bytes:
    """Change a line of a record, and bind the lines together again."""
    lines = content.splitlines()
    at = rng.randrange(len(lines))
    lines[at] = _json(rng, lines[at]).replace(b"\n", b" ")
    return b"\n".join(documents.chained(lines)) + b"\n"


def _packed(rng: Random, content: bytes) -> bytes:
    """Change the run in an evidence file, or any other file of it, and list it anew."""
    held = unpacked(content, "evidence")
    del held[MANIFEST]
    name = rng.choice((RUN, *sorted(held)))
    held[name] = _json(rng, held[name]) if name.endswith(".json") else hostile.mutated_bytes(rng, held[name])
    return packed({**held, MANIFEST: to_manifest(held)})


STRUCTURED: dict[str, Callable[[Random, bytes], bytes]] = {
    "run": _json,
    "decisions": _lines,
    "evidence": _packed,
    "configuration": lambda rng, content: content + b"\n" + hostile.toml(rng),
}


def main(name: str, options: list[str]) -> None:
    """Fuzz one decoder until libFuzzer is told to end, or something is found."""
    target, corpus = TARGETS[name], FOLDER / "corpus"
    corpus.mkdir()
    for number, content in enumerate(seeds(name)):
        (corpus / str(number)).write_bytes(content)

    def tried(content: bytes) -> None:
        with contextlib.suppress(FairenumError, click.ClickException):
            target(content)

    arguments = [sys.argv[0], str(corpus), "-max_len=2000000", "-rss_limit_mb=4096", "-timeout=20", *options]
    atheris.Setup(arguments, tried, custom_mutator=lambda data, most, seed: mutated(name, data, most, seed))
    atheris.Fuzz()


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main(sys.argv[1], sys.argv[2:])
