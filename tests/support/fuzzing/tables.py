"""Tables as files that were damaged or made to do harm, of every format that is read, and odd ones audited whole."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from support.fuzzing import hostile
from support.fuzzing.archives import timeless, unzipped, zipped
from support.fuzzing.running import Ended, run
from support.tables import write_loans

Case = Callable[[Random, Path], Ended]

TABLE = ["--label", "approved", "--favourable", "yes", "--sensitive", "sex"]
FEW = ["-k", "2", "--replications", "10", "--search", "exact", "--no-range", "--no-explanation", "--no-prices"]
MEASURED = ["--decision", "approved", "--decision-favourable", "yes", "--sensitive", "sex", "--replications", "10"]
ROWS = 24
SHARE = 0.12  # of files that are audited; measuring reads a file the same way, and trains nothing


def read(rng: Random, place: Path, name: str, *options: str) -> Ended:
    """Measure what a file holds, and now and then audit it, over an earlier result or not."""
    if rng.random() < 0.5:
        (place / "out.json").write_text("{old}")
    command = ["audit", name, *TABLE, *FEW] if rng.random() < SHARE else ["measure", name, *MEASURED]
    quiet = ["-q"] if rng.random() < 0.7 else []
    return run([*command, *options, *quiet, "--json", "out.json"], place, ["out.json"])


def lines(folder: Path) -> pd.DataFrame:
    return pd.read_csv(write_loans(folder / "loans.csv", ROWS))


# --- CSV -----------------------------------------------------------------------------------------------------------

ENCODINGS = (*("utf-8",) * 7, "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1", "utf-32")
SEPARATORS = (*(",",) * 12, ";", "\t", "|", " ", "::", '"', "\0", "é")


def cells(rng: Random, frame: pd.DataFrame) -> pd.DataFrame:
    """Put hostile texts and numbers into some cells, names or whole columns; repeat or drop some."""
    made = frame.astype(object)
    for _ in range(rng.choice((1, 1, 2, 5))):
        # the last two are what the command line names
        row, column = rng.randrange(len(made)), rng.randrange(3 if rng.random() < 0.7 else made.shape[1])
        odd = rng.choice((hostile.text, hostile.number))
        match rng.randrange(8):
            case 0 | 1 | 2:
                made.iloc[row, column] = odd(rng)
            case 3:
                made.iloc[:, column] = [odd(rng) for _ in range(len(made))]
            case 4:
                made.iloc[:, column] = odd(rng)
            case 5:
                made.columns = [odd(rng) if place == column else name for place, name in enumerate(made.columns)]
            case 6:
                made = pd.concat([made, made.iloc[:, [column]]], axis=1)
            case 7:
                made = made.iloc[: rng.choice((1, 2, 3, len(made)))]
    return made


def written(rng: Random, frame: pd.DataFrame) -> bytes:
    """Write a table as text, in some manner that is found in the world."""
    sign, quoting = rng.choice(SEPARATORS), rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    out = io.StringIO()
    if len(sign) == 1 and sign not in '"\0':
        frame.to_csv(out, index=rng.random() < 0.1, sep=sign, quoting=quoting)
    else:
        out.write("\n".join(sign.join(map(str, row)) for row in (frame.columns, *frame.to_numpy())))
    text = out.getvalue().replace("\n", rng.choice(("\n", "\n", "\n", "\r\n", "\r", "\n\n")))
    return text.encode(rng.choice(ENCODINGS), errors="replace")


def csv_files(folder: Path) -> Case:
    frame = lines(folder)

    def case(rng: Random, place: Path) -> Ended:
        content = written(rng, cells(rng, frame) if rng.random() < 0.6 else frame)
        content = hostile.mutated_bytes(rng, content) if rng.random() < 0.3 else content
        name = rng.choice(("a.csv", "a.csv", "a.csv", "a.tsv", "a.txt", "a.csv.gz"))
        if name.endswith(".gz"):
            content = gzip.compress(content, 1, mtime=0)
            content = hostile.mutated_bytes(rng, content) if rng.random() < 0.5 else content
        (place / name).write_bytes(content)
        extra = rng.choice(([], [], [], [], [], ["--delimiter", rng.choice(SEPARATORS[:-2])], ["--decimal", "comma"]))
        return read(rng, place, name, *(one.replace("\0", "") for one in extra))

    return case


# --- Parquet -------------------------------------------------------------------------------------------------------

KINDS: tuple[tuple[Any, Any], ...] = (
    (pa.null(), None),
    (pa.int8(), -5),
    (pa.uint64(), 2**64 - 1),
    (pa.int64(), -(2**63)),
    (pa.float16(), None),
    (pa.float32(), 1e38),
    (pa.float64(), float("nan")),
    (pa.float64(), float("-inf")),
    (pa.bool_(), True),
    (pa.string(), "\x1b[31m"),
    (pa.large_string(), "x" * 5000),
    (pa.binary(), b"\xff\x00"),
    (pa.binary(3), b"abc"),
    (pa.date32(), date(1, 1, 1)),
    (pa.date64(), date(9999, 12, 31)),
    (pa.time64("us"), time(23, 59)),
    (pa.timestamp("s"), datetime(1, 1, 1)),
    (pa.timestamp("s"), datetime(9999, 1, 1)),
    (pa.timestamp("us", "Europe/Vienna"), datetime(2024, 1, 1)),
    (pa.timestamp("ms"), datetime(2024, 1, 1)),
    (pa.duration("s"), timedelta(days=40_000)),
    (pa.decimal128(38, 10), Decimal("1.5")),
    (pa.decimal256(70, 0), Decimal(10) ** 60),
    (pa.list_(pa.int64()), [1, None]),
    (pa.list_(pa.list_(pa.string())), [["a"], []]),
    (pa.struct([("a", pa.int64()), ("b", pa.string())]), {"a": 1, "b": "x"}),
    (pa.struct([("sex", pa.string())]), {"sex": "man"}),
    (pa.map_(pa.string(), pa.int64()), [("a", 1)]),
    (pa.dictionary(pa.int8(), pa.string()), "man"),
    (pa.dictionary(pa.int32(), pa.float64()), 1.5),
)


def column(rng: Random, rows: int) -> pa.Array:
    """Make a column of some type that Arrow knows, with or without empty cells."""
    kind, value = rng.choice(KINDS)
    share = rng.choice((0.0, 0.0, 0.3, 1.0))
    return pa.array([None if rng.random() < share else value for _ in range(rows)], kind)


def arrow_table(rng: Random, frame: pd.DataFrame) -> pa.Table:
    """Make a table in which columns are of odd types, or are named oddly, and its notes for pandas are damaged."""
    table = pa.Table.from_pandas(frame, preserve_index=rng.choice((None, True)))
    for _ in range(rng.choice((0, 1, 1, 2))):
        place = rng.randrange(table.num_columns + 1)
        name = rng.choice((*table.column_names, "odd", hostile.text(rng)))
        made = column(rng, len(table))
        table = table.set_column(place, name, made) if place < table.num_columns else table.append_column(name, made)
    if rng.random() < 0.5:
        said = json.loads(table.schema.metadata[b"pandas"])
        damaged = hostile.mutated_json(rng, said, list(hostile.ways(said)))
        table = table.replace_schema_metadata({b"pandas": damaged, b"other": hostile.text(rng).encode()})
    return table


def parquet_files(folder: Path) -> Case:
    frame = lines(folder)
    frame.to_parquet(folder / "whole.parquet")
    whole = (folder / "whole.parquet").read_bytes()

    def case(rng: Random, place: Path) -> Ended:
        name = rng.choice(("a.parquet", "a.pq"))
        if rng.random() < 0.5:
            (place / name).write_bytes(hostile.mutated_bytes(rng, whole))
        else:
            pa.parquet.write_table(arrow_table(rng, frame), place / name)
        return read(rng, place, name)

    return case


# --- ARFF ----------------------------------------------------------------------------------------------------------

ARFF = """% loans
@relation loans
@attribute income numeric
@attribute 'debt' real
@attribute town {Ayr, Bath, 'Cork'}
@attribute sex {woman,man}
@attribute approved {yes,no}
@data
"""
ARFF_PARTS = (
    *("@data", "@attribute", "@attribute x date", "@attribute 'a\\'b' string", "@attribute x {", "@attribute x {}"),
    *("@ATTRIBUTE income numeric", "@attribute x {?}", "{0 1, 2 'x'}", "?,?,?,?,?", "'", '"', "\\", "%", "{a,a}"),
    *("@relation", "@end", ",,,,", "1,2,Ayr,woman", "1,2,Ayr,woman,yes,{3}", "'?',1,Ayr,man,no", "@attribute x real"),
)


def arff_files(folder: Path) -> Case:
    frame = lines(folder)
    whole = ARFF + frame.to_csv(index=False, header=False)

    def case(rng: Random, place: Path) -> Ended:
        rows = whole.split("\n")
        for _ in range(rng.choice((0, 1, 1, 3))):
            at = rng.randrange(len(rows))
            part = rng.choice((rng.choice(ARFF_PARTS), hostile.text(rng), hostile.number(rng)))
            rows[at : at + rng.choice((0, 1))] = [rng.choice((part, rows[at].replace(",", part, 1)))]
        content = "\n".join(rows).encode()
        content = hostile.mutated_bytes(rng, content) if rng.random() < 0.4 else content
        name = rng.choice(("a.arff", "a.arff", "a.arff.gz"))
        (place / name).write_bytes(gzip.compress(content, 1, mtime=0) if name.endswith(".gz") else content)
        return read(rng, place, name)

    return case


# --- Excel ---------------------------------------------------------------------------------------------------------

ODD_CELLS = (
    *("=1+1", "=SUM(A:A)", "#N/A", "#DIV/0!", "=HYPERLINK(1)", True, None, -1, 2**70, 1e308, float("nan"), "x" * 3000),
    *(datetime(2024, 1, 1), datetime(1900, 1, 1), date(9999, 12, 31), time(1, 2), timedelta(days=3), "_x0041_", "é"),
)


def workbook(rng: Random, frame: pd.DataFrame) -> bytes:
    """Write a spreadsheet with cells that are no texts or numbers, merged, hidden or empty ones, and odd sheets."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (frame.columns, *frame.to_numpy()):
        sheet.append([*row])
    for _ in range(rng.choice((1, 2, 6))):
        at = rng.randint(1, len(frame) + 2), rng.randint(1, frame.shape[1] + 1)
        sheet.cell(*at).value = rng.choice(ODD_CELLS)
    if rng.random() < 0.2:
        sheet.merge_cells(rng.choice(("A1:B2", "A1:E1", "D2:D9")))
    if rng.random() < 0.2:
        sheet.insert_rows(1, rng.choice((1, 3)))
    if rng.random() < 0.2:
        book.create_sheet(rng.choice(("", "x", "ü")), 0)
    out = io.BytesIO()
    book.save(out)
    return timeless(out.getvalue())


def packed_again(rng: Random, content: bytes, least: int = 1) -> bytes:
    """Damage one of the files in a zip file, and pack it again."""
    files = unzipped(content)
    hurt = rng.choice([*files])
    if rng.random() < 0.1:
        del files[hurt]
    elif len(files[hurt]) >= least:
        files[hurt] = hostile.mutated_bytes(rng, files[hurt])
    return zipped(files)


def excel_files(folder: Path) -> Case:
    frame = lines(folder)
    frame.to_excel(folder / "whole.xlsx", index=False)
    whole = timeless((folder / "whole.xlsx").read_bytes())

    def case(rng: Random, place: Path) -> Ended:
        name = rng.choice(("a.xlsx", "a.xlsm"))
        content = rng.choice((hostile.mutated_bytes, packed_again, packed_again))(rng, whole)
        if rng.random() < 0.35:
            content = workbook(rng, frame)
        (place / name).write_bytes(content)
        extra = rng.choice(([], [], [], ["--sheet", hostile.text(rng).replace("\0", "")]))
        return read(rng, place, name, *extra)

    return case


# --- odd tables ----------------------------------------------------------------------------------------------------


def odd_audits(folder: Path) -> Case:
    def case(rng: Random, place: Path) -> Ended:
        odd_table(rng).to_csv(place / "odd.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
        options = [*odd_options(rng), *rng.choice((["-q"], ["-q", "--no-prices"], []))]
        return run(["audit", "odd.csv", *options, "--json", "out.json"], place, ["out.json"])

    return case


# --- small tables that are odd in every way that a generator of chance thinks of ---

SCALES = (1e-300, 1e-30, 1e-8, 1.0, 1.0, 1.0, 1e8, 1e30, 1e90, 1e150)


def odd_table(rng: Random) -> pd.DataFrame:
    """Make a table with a label "y", a sensitive column "g", and features that are odd."""
    rows = rng.choice((2, 3, 8, 20, 40, 60, 60, 120))
    source = np.random.default_rng(rng.randrange(2**32))
    frame = pd.DataFrame({"y": _label(rng, source, rows), "g": _groups(rng, source, rows)})
    for place in range(rng.randint(1, 4)):
        frame[_name(rng, place)] = _feature(rng, source, rows)
    return frame


def odd_options(rng: Random) -> list[str]:
    """Choose how such a table is audited."""
    found = ["--label", "y", "--favourable", "yes", "--sensitive", "g", "-k", "3", "--replications", "10"]
    found += ["--C", rng.choice(("1", "1", "1", "1e-9", "1e-6", "1e6", "1e9", "auto", "1e-300"))]
    found += ["--kernel", rng.choice(("linear", "linear", "rbf", "poly"))]
    found += rng.choice(([], [], ["--raw"], ["--gamma", rng.choice(("1e-30", "1e-12", "1e12", "1e30", "1e300"))]))
    found += rng.choice(([], [], ["--search", "exact"], ["--degree", "9"], ["--use-sensitive"]))
    return found


def _label(rng: Random, source: np.random.Generator, rows: int) -> np.ndarray:
    is_yes = source.random(rows) < rng.choice((0.5, 0.5, 0.9, 0.05))
    if rng.random() < 0.9:
        is_yes[:2] = (True, False)
    return np.where(is_yes, "yes", "no")


def _groups(rng: Random, source: np.random.Generator, rows: int) -> np.ndarray:
    names = [_text(rng) or "x" for _ in range(rng.choice((1, 2, 2, 3, 30)))]
    return source.choice(np.array(names, dtype=object), rows)


def _text(rng: Random) -> str:
    return hostile.text(rng).replace("\0", "")  # which no file of text holds


def _name(rng: Random, place: int) -> str:
    return f"x{place}" if rng.random() < 0.6 else f"{_text(rng)[:200]}{place}"


def _feature(rng: Random, source: np.random.Generator, rows: int) -> np.ndarray:
    kind, scale = rng.randrange(7), rng.choice(SCALES)
    if kind == 0:
        return np.full(rows, rng.choice((0.0, scale)))
    if kind == 1:
        return source.choice(np.array([_text(rng) for _ in range(rng.choice((1, 2, 5)))], dtype=object), rows)
    if kind == 2:
        return source.integers(0, 2, rows)
    numbers = source.normal(size=rows) * scale
    if kind == 3:
        numbers[source.random(rows) < 0.3] = np.nan
    if kind == 4:
        numbers += 1e6 * scale
    if kind == 5:
        numbers[0] = rng.choice((1e308, np.inf, 1e99, -1e99, 1e50, -1e20))
    return numbers
