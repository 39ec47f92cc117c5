"""The words about an evidence file: what it holds, what is not in it and why, and what a check of it found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fairenum.document.evidence import Fault, FaultKind, Verification
from fairenum.rendering.markdown import escaped
from fairenum.rendering.numbers import counted
from fairenum.rendering.text import sentence_list

ABOUT: Mapping[str, str] = {
    "README.md": "this list",
    "run.json": "the run: everything that was found, as `fairenum report` and `fairenum select` read it; timings aside",
    "report.html": "the report",
    "summary.md": "the report in brief",
    "model-card.md": "what the model is, what it was made of, and what is left for its users to say",
    "model.skops": "the model, with its preprocessing",
    "environment.json": "versions of what computed the run, and of what wrote this file",
    "SHA256SUMS": "the SHA-256 of every other file",
}
PROFILE = "the report, arranged for a certain reader"
INDEX = "what each table shows"
CHECK = (
    "Check it with `fairenum verify FILE`, or unpacked with `sha256sum --check SHA256SUMS`. A list can be rewritten "
    "together with what it lists: whoever needs more than a safeguard against accidents compares the SHA-256 of the "
    "whole file, which `fairenum verify` prints, with one that came another way."
)
SAVED = "a saved run holds no models; make a new one, or name the data: fairenum select RUN --data DATA"
ROWS_WITHIN = "a model of this kernel holds training rows, which a redacted file leaves out"
FAULTS: Mapping[FaultKind, str] = {
    "missing": "{name} is missing",
    "extra": "{name} is not listed",
    "changed": "{name} is not the file that is listed",
    "no_document": "{name} is no valid run: {detail}",
    "no_copy": "{name} carries no copy of a run",
    "other_copy": "{name} is not a page of the run beside it",
}


def read_me(title: str, names: Iterable[str], tables: Mapping[str, str], no_model: str | None) -> str:
    """Write what stands in the file, what each of its tables shows, and why there is no model where one could be."""
    lines = [f"# {escaped(title)}", "", CHECK, "", *(f"- `{name}`: {_about(name, tables)}" for name in sorted(names))]
    if no_model:
        lines += ["", f"There is no model in it: {escaped(no_model)}."]
    return "\n".join(lines) + "\n"


def _about(name: str, tables: Mapping[str, str]) -> str:
    folder, _, table = name.removesuffix(".csv").rpartition("/")
    return tables.get(table, INDEX) if folder else ABOUT.get(name, PROFILE)


def outcome(found: Verification, name: str) -> Iterator[str]:
    """Say what a check found, line by line."""
    if found.is_verified:
        yield f"verified: {name} holds {counted(found.files, 'file')}, all as listed, and its pages show its run"
    else:
        yield f"not verified: {name}"
        yield from (f"  {fault_words(fault)}" for fault in found.faults)
    if found.unchecked:
        yield f"not compared with the run, as another version of fairenum wrote it: {sentence_list(found.unchecked)}"
    yield f"sha256: {found.sha256}"


def fault_words(fault: Fault) -> str:
    """Say what is wrong with one file."""
    return FAULTS[fault.kind].format(name=fault.name, detail=fault.detail)
