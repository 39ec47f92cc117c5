"""The scoreboard: default audits against other methods, on many tables, models in use and splits, losses included.

``python -m fairenum.research.scoreboard --tables german compas --kinds logistic --splits 3`` runs the cells that the
file of results lacks. The file, and the summary beside it, is written after every cell.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from fairenum.auditing.pipeline import run_audit
from fairenum.document.audit_config import AuditConfig
from fairenum.document.files import to_json, write_atomically
from fairenum.document.received import shortened
from fairenum.document.scoreboard_cells import Cell, Scoreboard
from fairenum.errors import FairenumError, ResultError
from fairenum.research.cell_run import METHODS, run_cell
from fairenum.research.contest import KINDS
from fairenum.research.model_forms import run_forms
from fairenum.research.scoreboard_words import markdown
from fairenum.research.study_tables import StudyTable, study_tables
from fairenum.runtime.budget import silent
from fairenum.tables import load_dataset

SPLITS = 5
RESULTS = Path("build/scoreboard/scoreboard.json")
MANIFEST = Path("build/tables/manifest.json")


def read(path: Path) -> Scoreboard:
    """Return the results in a file; none if there is no such file."""
    if not path.exists():
        return Scoreboard()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Scoreboard)
    except (OSError, ValueError) as error:
        raise ResultError(
            f"{str(path)!r} holds no results of the scoreboard: {shortened(error)}; name another file"
        ) from error


def write(board: Scoreboard, path: Path) -> None:
    """Write the results to a file, whole or not at all, and their summary beside it as Markdown."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, to_json(board).encode())
    write_atomically(path.with_suffix(".md"), markdown(board).encode())


def run(
    tables: Sequence[StudyTable],
    path: Path,
    *,
    kinds: Sequence[str] = tuple(KINDS),
    splits: int = SPLITS,
    methods: Sequence[str] = METHODS,
    forms: bool = True,
    tell: Callable[[str], None] = print,
) -> Scoreboard:
    """Run what is not yet in a file of results, and write it there after every cell."""
    board = read(path)
    for table in tables:
        for seed in range(splits):
            for kind in kinds:
                board = _with_cell(board, table, kind, seed, methods, path, tell)
            if forms and (table.name, seed) not in {cell.key for cell in board.forms}:
                board = board.but(forms=(*board.forms, run_forms(table, seed)))
                write(board, path)
    write(board, path)
    return board


def _with_cell(
    board: Scoreboard,
    table: StudyTable,
    kind: str,
    seed: int,
    methods: Sequence[str],
    path: Path,
    tell: Callable[[str], None],
) -> Scoreboard:
    """Return the results with those of one cell added; a result that is there is not computed again."""
    known = next((cell for cell in board.cells if cell.key == (table.name, kind, seed)), None)
    missing = [name for name in methods if known is None or known.result(name) is None]
    if not missing:
        return board
    try:
        cell = run_cell(table, kind, seed, missing, known)
    except FairenumError as error:
        tell(f"{table.name} {kind} {seed}: left out, {error}")
        return board
    tell(f"{table.name} {kind} {seed}: {_told(cell)}")
    board = board.but(cells=(*(one for one in board.cells if one.key != cell.key), cell))
    write(board, path)
    return board


def _told(cell: Cell) -> str:
    seconds = sum(one.seconds for one in cell.methods)
    failed = [f"{one.method} {one.error}" for one in cell.methods if one.error]
    return "; ".join([f"gap {cell.in_use.gap:.3f}, {len(cell.methods)} methods in {seconds:.1f} CPU seconds", *failed])


def warm_up() -> None:
    """Compile the inner loops, so that no cell is charged for it."""
    run_audit(load_dataset("german"), None, None, None, AuditConfig(k=5), silent)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the scoreboard with options of a command line, and print its summary."""
    parser = _parser()
    given = parser.parse_args(arguments)
    manifest = given.manifest if given.manifest.exists() else None
    if manifest is None:
        print(f"There is no {str(given.manifest)!r}: bundled tables only. CONTRIBUTING.md says how to collect others.")
    try:
        tables = study_tables(given.tables, manifest)
        read(given.results)
        warm_up()
        board = run(
            tables,
            given.results,
            kinds=given.kinds,
            splits=given.splits,
            methods=given.methods,
            forms=given.forms,
        )
    except FairenumError as error:
        parser.error(str(error))
    print(markdown(board))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fairenum.research.scoreboard", description=__doc__)
    parser.add_argument("--tables", nargs="*", default=[], help="names of tables; by default all")
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS], default=[*KINDS], help="kinds of model in use")
    parser.add_argument("--splits", type=_count, default=SPLITS, help="number of splits, from seed 0")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS], help="methods to run")
    parser.add_argument("--no-forms", dest="forms", action="store_false", help="do not compare forms of model")
    parser.add_argument("--manifest", type=Path, default=MANIFEST, help="manifest of collected tables")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="JSON file of results; the summary has suffix .md"
    )
    return parser


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of splits from 1 to 1000")
    return int(text)


if __name__ == "__main__":
    main()
