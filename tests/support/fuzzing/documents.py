"""Documents that were damaged or made to do harm: runs, evidence, and decision records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from fairenum import Exploration, audit, measure
from fairenum.document.files import load, to_json
from fairenum.evidence.archive import MANIFEST, RUN, packed, to_manifest, unpacked
from fairenum.evidence.bundle import evidence
from fairenum.explore import server
from fairenum.runtime.budget import silent
from support.fuzzing import hostile
from support.fuzzing.running import Ended, run
from support.fuzzing.tables import Case
from support.saved_runs import REPORTS, TESTS
from support.tables import write_loans

PLAN = {"label": "approved", "favourable": "yes", "sensitive": "sex"}
SMALL = ("attack", "bench", "loans", "mitigation", "reproduction")
WRITTEN = ["--json", "out.json", "--html", "out.html"]
NAMES = ["out.json", "out.html"]
Way = hostile.Way


class Parts:
    """A document as JSON, and the ways to its parts."""

    def __init__(self, document: Any) -> None:
        self.document, self.ways = document, list(hostile.ways(document))

    def mutated(self, rng: Random) -> bytes:
        content = hostile.mutated_json(rng, self.document, self.ways)
        return hostile.mutated_bytes(rng, content) if rng.random() < 0.05 else content


def untimed(document: Any) -> Any:
    """Let every stage have taken as long, so that what is made of a document is the same each time."""
    return document.but(timings=dict.fromkeys(document.timings, 0.5))


def small_audit(folder: Path) -> Any:
    """Audit a small table with every stage on, and return the document."""
    table = write_loans(folder / "loans.csv", 40)
    return untimed(audit(str(table), **PLAN, k=3, replications=10, seed=1).document)


def runs(folder: Path) -> dict[str, Parts]:
    """Make small runs of every kind: new ones, those of the tests, and small ones of the gallery."""
    new = small_audit(folder)
    decided = measure(str(folder / "loans.csv"), decision="approved", sensitive="sex", replications=10).document
    small = [load(TESTS / "data" / f"{name}.json") for name in SMALL]
    gallery = [load(REPORTS / f"{name}.json") for name in ("bench", "measured", "defences", "compas")]
    documents = [new, untimed(decided), *small, *gallery]
    return {f"{number} {one.title}": Parts(json.loads(to_json(one))) for number, one in enumerate(documents)}


def shown_runs(folder: Path) -> Case:
    parts = [*runs(folder).values()]

    def case(rng: Random, place: Path) -> Ended:
        (place / "run.json").write_bytes(rng.choice(parts).mutated(rng))
        if rng.random() < 0.2:
            (place / "out.json").write_text("{old}")
        options = rng.choice(
            (["-q", *WRITTEN], [], ["--json", "out.json"], ["--markdown", "-"], ["-q", "--all-models"])
        )
        rules = rng.choice(([], [], ["--fail-on", "demographic_parity_difference<=0.2"], ["--redact"]))
        others = ["run.json"] if rng.random() < 0.05 else []
        return run(["report", "run.json", *others, *options, *rules], place, NAMES)

    return case


def chosen_again(folder: Path) -> Case:
    saved = {name: part for name, part in runs(folder).items() if "audit" in name}

    def case(rng: Random, place: Path) -> Ended:
        (place / "run.json").write_bytes(saved[rng.choice(sorted(saved))].mutated(rng))
        options = rng.choice((["--eps", "0.01"], ["--max-accuracy-drop", "0.5"], ["--guard", "none"], ["--eps", "1"]))
        shown = rng.choice((["-q", *WRITTEN], [], ["-q"]))
        return run(["select", "run.json", *options, *shown], place, NAMES)

    return case


def explained(folder: Path) -> Case:
    saved = Parts(json.loads(to_json(small_audit(folder))))
    table = (folder / "loans.csv").read_bytes()
    values = ("income=1,town=Bath", "income=x", "town=", "income=1e999", "debt=-1e308,income=1e308", "nothing=1", "=")

    def case(rng: Random, place: Path) -> Ended:
        content = saved.mutated(rng) if rng.random() < 0.8 else json.dumps(saved.document).encode()
        (place / "run.json").write_bytes(content)
        (place / "loans.csv").write_bytes(table)
        given = rng.choice((*values, f"income={hostile.number(rng)}", f"town={hostile.text(rng)}", hostile.text(rng)))
        whom = ["--values", given.replace("\0", "")]
        if rng.random() < 0.15:
            whom = ["--row", rng.choice(("0", "39", "40", "99999999")), "--data", "loans.csv"]
        return run(["explain", "run.json", *whom, *rng.choice((["-q", *WRITTEN], []))], place, NAMES)

    return case


# --- evidence ------------------------------------------------------------------------------------------------------


def damaged_evidence(rng: Random, whole: dict[str, bytes], run_parts: Parts, others: dict[str, Parts]) -> bytes:
    """Change a file of an evidence file, with its digest or without."""
    files = dict(whole)
    del files[MANIFEST]
    name = rng.choice(sorted(files))
    if rng.random() < 0.4:
        files[RUN] = run_parts.mutated(rng)
    elif name in others:
        files[name] = others[name].mutated(rng)
    else:
        files[name] = hostile.mutated_bytes(rng, files[name])
    listed = to_manifest(files if rng.random() < 0.7 else {**whole, **files})
    if rng.random() < 0.2:
        listed = hostile.mutated_bytes(rng, listed)
    if rng.random() < 0.1:
        files[rng.choice(("x.html", "../x", "a/b/c", "é", hostile.text(rng) or "x"))[:200]] = b"<script>"
    return packed({**files, MANIFEST: listed})


def evidence_files(folder: Path) -> Case:
    content = evidence(small_audit(folder))
    whole = unpacked(content, "evidence")
    inside = {name: Parts(json.loads(held)) for name, held in whole.items() if name.endswith(".json")}

    def case(rng: Random, place: Path) -> Ended:
        made = hostile.mutated_bytes(rng, content)
        if rng.random() < 0.6:
            made = damaged_evidence(rng, whole, inside[RUN], inside)
        (place / "run.zip").write_bytes(made)
        return run(["verify", "run.zip"], place)

    return case


# --- decision records ----------------------------------------------------------------------------------------------


def recorded(folder: Path) -> list[bytes]:
    """Explore a small table, take a step of every kind, and decide."""
    record = folder / "record.jsonl"
    options = {"replications": 10, "range": False, "prices": False, "now": lambda: "2000-01-01T00:00:00+00:00"}
    with Exploration(str(write_loans(folder / "loans.csv", 40)), **PLAN, record=record, **options) as exploration:
        exploration.next()
        exploration.fairer(3)
        rows = exploration._engine.prepared.division.split.train[:3].tolist()
        exploration.leave_out(rows[:1])
        exploration.pin(rows[1:])
        exploration.undo()
        exploration.tolerate(eps=0.2)
        exploration.commit(1, "it is good", "somebody")
    return record.read_bytes().splitlines()


def chained(lines: list[bytes]) -> list[bytes]:
    """Bind each line to the one before it, as if nobody had changed any."""
    found = lines[:1]
    for line in lines[1:]:
        try:
            held = json.loads(line)
            held["previous"] = sha256(found[-1]).hexdigest()
            found.append(json.dumps(held).encode(errors="surrogatepass"))
        except (ValueError, TypeError, RecursionError):
            found.append(line)
    return found


def damaged_record(rng: Random, lines: list[bytes], parts: list[Parts]) -> bytes:
    """Change lines of a record, bind them together again or not, and tear the last one or not."""
    made = [*lines[: rng.choice((1, 2, 3, len(lines), len(lines)))]]
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(made))
        match rng.randrange(8):
            case 0:
                del made[at]
            case 1:
                made.insert(at, rng.choice(lines))
            case _:
                made[at] = parts[at % len(parts)].mutated(rng).replace(b"\n", b" ")
        if not made:
            break
    content = b"\n".join(chained(made) if rng.random() < 0.7 else made) + rng.choice((b"\n", b"\n", b"", b"\n{"))
    return hostile.mutated_bytes(rng, content) if rng.random() < 0.15 else content


@contextmanager
def without_a_server() -> Iterator[None]:
    """Open explorations as the command does, and serve none."""

    def opened(opening: Any, announce: Any, **_: object) -> server.Ended:
        announce("http://127.0.0.1/")
        try:
            opening(silent).close()
        except Exception as error:  # noqa: BLE001  # as the worker does, which reports it
            return server.Ended(error, is_saved=False, is_idle=False)
        return server.Ended(None, is_saved=True, is_idle=False)

    with patch.object(server, "serve", opened):
        yield


def decision_records(folder: Path) -> Case:
    lines = recorded(folder)
    parts = [Parts(json.loads(line)) for line in lines]
    table = (folder / "loans.csv").read_bytes()

    def case(rng: Random, place: Path) -> Ended:
        content = damaged_record(rng, lines, parts)
        (place / "r.jsonl").write_bytes(content)
        (place / "loans.csv").write_bytes(table)
        # what was torn is cut off, and a commit that was cut short is completed
        allowed = ["r.jsonl", "r.run.json", "r.html", "r-2.run.json", "r-2.html"]
        with without_a_server():
            return run(["explore", "loans.csv", "--record", "r.jsonl", "--no-browser"], place, allowed)

    return case
