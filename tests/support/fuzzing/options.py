"""Options and configuration files that were made to do harm, given to every command that takes them."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

from support.fuzzing import hostile
from support.fuzzing.running import Ended, run
from support.fuzzing.tables import FEW, MEASURED, TABLE, Case
from support.tables import write_loans

WRITTEN = ["--json", "out.json", "--html", "out.html"]
COMMANDS = ("audit", "audit", "audit", "measure", "attack", "bench", "select", "explain", "report", "verify", "explore")
COMMANDS += ("datasets", "solvers", "reproduce")
PLAIN = ("--help", "-q", "--rows", "--raw", "--scores", "--redact", "--counts", "--debug", "--version", "--", "-", "")
OTHERS = ("--config", "--json", "--html", "--data", "--row", "--values", "--record", "--port", "--idle", "--run", "--x")
MILD = 0.85  # share of options that are those of an audit of a table that is there


def arguments(rng: Random) -> list[str]:
    """Make a command line that is none: commands, options and values in any order."""
    made = [rng.choice((*COMMANDS, hostile.text(rng)))]
    for _ in range(rng.randint(0, 4)):
        option = rng.choice((*PLAIN, *OTHERS, *hostile.AUDIT_NUMBERS, *hostile.AUDIT_TEXTS))
        made += rng.choice(([option], [option, hostile.number(rng)], [option, hostile.text(rng)], ["loans.csv"]))
    return [one.replace("\0", "") for one in made]


def is_long(made: list[str]) -> bool:
    """Tell whether a command line asks for much work in earnest, or for a page until somebody ends it."""
    return made[0] in ("bench", "reproduce") or (made[0] == "explore" and "loans.csv" in made)


def option_strings(folder: Path) -> Case:
    table = write_loans(folder / "loans.csv", 24)

    def case(rng: Random, place: Path) -> Ended:
        shutil.copy(table, place)
        if rng.random() < MILD:
            options = [one for one in hostile.options(rng) if one != "--attack"]
            return run(["audit", table.name, *TABLE, *FEW, "-q", *WRITTEN, *options], place, ["out.json", "out.html"])
        made = arguments(rng)
        while is_long(made):
            made = arguments(rng)
        names = {one for one in made if "/" not in one}  # whatever was named may be written
        return run(made, place, [*names, "out.json", "out.html"])

    return case


def configuration_files(folder: Path) -> Case:
    table = write_loans(folder / "loans.csv", 24)

    def case(rng: Random, place: Path) -> Ended:
        shutil.copy(table, place)
        name = rng.choice(("fairenum.toml", "pyproject.toml", "mine.toml"))
        (place / name).write_bytes(hostile.toml(rng))
        named = ["--config", name] if name == "mine.toml" or rng.random() < 0.1 else []
        command = ["audit", table.name, *TABLE, *FEW, "-q"]
        if rng.random() < 0.2:
            command = ["measure", table.name, *MEASURED, "-q"]
            named = []
        # a file that is named may say where results go
        return run([*command, *named, "--json", "out.json"], place, ["out.json", *(["x.json", "x"] if named else [])])

    return case
