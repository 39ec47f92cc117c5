"""What fuzzers, and people, once found: every input that made the program fail is tried again, and none may now."""

import json
from datetime import datetime

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from support import model_files
from support.fuzzing import documents, requests
from support.fuzzing.archives import SCHEMA, unzipped
from support.fuzzing.models import with_schema
from support.fuzzing.running import run
from support.fuzzing.tables import FEW, MEASURED, TABLE
from support.saved_runs import REPORTS, SMALL, TESTS
from support.tables import write_loans

from fairenum.document.files import load, to_json

pytestmark = pytest.mark.usefixtures("own_loop")

CORPUS = TESTS / "data" / "corpus"
LONG = "9" * 30
ODD = ["--label", "y", "--favourable", "yes", "--sensitive", "g", "-k", "3", "--replications", "10", "-q"]


@pytest.fixture
def loans(tmp_path):
    return pd.read_csv(write_loans(tmp_path / "loans.csv", 40))


@pytest.fixture(scope="module")
def saved():
    """A small run as JSON."""
    return json.loads(to_json(load(SMALL)))


def ended(arguments, folder, code, message=""):
    is_written = arguments[0] in ("audit", "measure") and "--json" not in arguments
    found = run([*arguments, *(["--json", "out.json"] if is_written else [])], folder, ["out.json"])
    assert (found.code, found.faults) == (code, ())
    assert message in found.err


# --- tables --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("notes", ["{}", '{"columns": [{}]}', "[" * 5000 + "]" * 5000, '{"columns": [1]}', "\0"])
def test_parquet_with_damaged_notes_for_pandas_is_read_without_them(tmp_path, loans, notes):
    table = pa.Table.from_pandas(loans)
    said = json.loads(table.schema.metadata[b"pandas"])
    del said["columns"][0]["numpy_type"]
    for number, damaged in enumerate((notes, json.dumps(said))):
        name = f"{number}.parquet"
        pa.parquet.write_table(table.replace_schema_metadata({b"pandas": damaged.encode()}), tmp_path / name)
        ended(["measure", name, *MEASURED, "-q"], tmp_path, 0)


def test_a_cell_of_a_workbook_that_is_no_date_is_no_warning(tmp_path, loans):
    loans.to_excel(tmp_path / "a.xlsx", index=False)
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    cell = book.active.cell(5, 1)
    cell.value = datetime(2024, 1, 1)  # which leaves its format behind
    cell.value, cell.number_format = 2**70, "yyyy-mm-dd"
    book.save(tmp_path / "a.xlsx")
    ended(["measure", "a.xlsx", *MEASURED, "-q"], tmp_path, 0)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("flat-plane", ["--C", "1e6"]),  # rounding made a square negative: math domain error
        ("narrow-kernel", ["--C", "1e-9", "--kernel", "rbf", "--gamma", "1e30", "--search", "exact"]),  # so it did here
        ("hardly-moves", ["--raw"]),  # Matrix is not positive definite
    ],
)
def test_an_odd_table_is_audited(tmp_path, name, options):
    (tmp_path / "odd.csv").write_bytes((CORPUS / f"{name}.csv").read_bytes())
    ended(["audit", "odd.csv", *ODD, *options, "--json", "out.json"], tmp_path, 0)


def test_a_table_with_a_row_beyond_all_others_is_refused(tmp_path):
    (tmp_path / "odd.csv").write_bytes((CORPUS / "on-its-bounds.csv").read_bytes())  # it was a division by zero
    options = ["--C", "auto", "--split", "0.6,0.2,0.2"]
    ended(["audit", "odd.csv", *ODD, *options], tmp_path, 2, "a row of the holdout split is so far from")


@pytest.mark.parametrize("degree", ["3", "20"])
def test_a_row_that_no_kernel_reaches_is_refused(tmp_path, loans, degree):
    loans["split"] = ["train"] * 24 + ["selection"] * 8 + ["holdout"] * 8
    loans.loc[39, "income"] = 1e99
    loans.to_csv(tmp_path / "far.csv", index=False)
    options = ["--kernel", "poly", "--degree", degree, "--split-column", "split"]
    ended(["audit", "far.csv", *TABLE, *FEW, *options], tmp_path, 2, "a row of the holdout split is so far from")


def test_a_cost_that_is_none_is_refused(tmp_path, loans):
    ended(["audit", "loans.csv", *TABLE, *FEW, "--C", "1e-300"], tmp_path, 2, "'C' must be a positive number")


# --- options -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--replications", "-k"])
def test_a_number_of_thirty_digits_is_refused(tmp_path, loans, option):
    ended(["audit", "loans.csv", *TABLE, *FEW, option, LONG], tmp_path, 2, f"not {LONG}")


@pytest.mark.parametrize("content", ["[[tool]]\nfairenum = 1\n", "[[tool.fairenum]]\nk = 1\n", "tool = 3\n"])
def test_a_list_of_tools_is_no_configuration(tmp_path, loans, content):
    (tmp_path / "pyproject.toml").write_text(content)
    ended(["audit", "loans.csv", *TABLE, *FEW], tmp_path, 2, "tool.fairenum in pyproject.toml must be a table")


@pytest.mark.parametrize("option", ["--drop", "--only", "--exclude"])
@pytest.mark.parametrize("text", ["a\nb", "a\rb", "x" * 200_000])
def test_a_name_that_breaks_a_line_is_refused(tmp_path, loans, option, text):
    ended(["audit", "loans.csv", *TABLE, *FEW, option, text], tmp_path, 2)


# --- documents -----------------------------------------------------------------------------------------------------


def changed(document, value, *way):
    """Write a document with another value at the end of a way."""
    copied = json.loads(json.dumps(document))
    part = copied
    for step in way[:-1]:
        part = part[step]
    part[way[-1]] = "@"
    return json.dumps(copied).replace('"@"', value, 1)


@pytest.mark.parametrize("command", [["report", "run.json"], ["select", "run.json", "--eps", "0.01"]])
@pytest.mark.parametrize(
    ("value", "way"),
    [
        ("1e999", ("models", 0, "objective")),
        (r'"\ud800"', ("dataset", "name")),
        ("[" * 5000 + "]" * 5000, ("models", 0, "objective")),
        ('{"a":' * 5000 + "1" + "}" * 5000, ("dataset", "name")),
        ("99", ("selection", "rank")),
    ],
)
def test_what_a_run_cannot_hold_is_refused(tmp_path, saved, command, value, way):
    (tmp_path / "run.json").write_text(changed(saved, value, *way))
    ended([*command, "--json", "out.json", "-q"], tmp_path, 2, "'run.json' is no")


def test_a_race_for_no_model_is_refused(tmp_path):
    bench = json.loads(to_json(load(TESTS / "data" / "bench.json")))
    (tmp_path / "run.json").write_text(json.dumps({**bench, "k": 0}))
    ended(["report", "run.json"], tmp_path, 2, "a race is for at least one model - at `$.k`")


@pytest.mark.parametrize("code", ["regrouped", "alike_groups", "set_aside", "small_group", "low_power"])
def test_a_caution_about_no_column_is_refused(tmp_path, code):
    measured = json.loads(to_json(load(REPORTS / "measured.json")))
    measured["warnings"] = [{"code": code, "column": None, "decision": None}]
    (tmp_path / "run.json").write_text(json.dumps(measured))
    ended(["report", "run.json"], tmp_path, 2, f"{code!r} is about one of the columns")


def test_an_attack_that_counts_no_predictors_is_shown(tmp_path):
    attacked = json.loads(to_json(load(REPORTS / "defences.json")))
    for curve in attacked["attack"]["curves"]:
        for point in curve["points"]:
            point["predictors"]["value"] = None
    (tmp_path / "run.json").write_text(json.dumps(attacked))
    ended(["report", "run.json"], tmp_path, 0)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A run of which persons can be explained."""
    return json.loads(to_json(documents.small_audit(tmp_path_factory.mktemp("small"))))


@pytest.mark.parametrize("value", ["1e308", "-1e308", "1e101", "1e999"])
def test_nobody_earns_more_than_a_table_holds(tmp_path, small, value):
    (tmp_path / "run.json").write_text(json.dumps(small))
    asked = ["explain", "run.json", "--values", f"income={value},debt=-1e100"]
    ended(asked, tmp_path, 2, "feature 'income' takes a number, at most 1e+100 from 0, not ")
    ended(["explain", "run.json", "--values", "town=a\rb"], tmp_path, 2, "is no list of names")


def test_weights_beyond_any_that_were_trained_decide_nothing(tmp_path, small):
    weights = small["anatomy"]["weights"][0]["weights"]
    small["anatomy"]["weights"][0]["weights"] = [1e150] * len(weights)
    small["anatomy"]["features"][0]["scale"] = 1e-150
    (tmp_path / "run.json").write_text(json.dumps(small))
    found = run(["explain", "run.json", "--values", "income=1e100"], tmp_path)
    assert (found.code, found.faults) == (2, ())


@pytest.mark.parametrize("torn", [b"{", b"\xff"])
def test_a_record_that_is_refused_stays_as_it_is(tmp_path, torn):
    lines = documents.recorded(tmp_path)
    (tmp_path / "other").mkdir()
    write_loans(tmp_path / "other" / "loans.csv", 41)
    (tmp_path / "other" / "r.jsonl").write_bytes(b"\n".join(lines) + b"\n" + torn)
    with documents.without_a_server():
        command = ["explore", "loans.csv", "--record", "r.jsonl", "--no-browser"]
        ended(command, tmp_path / "other", 2, "these are not the data of the record")


# --- models in use -------------------------------------------------------------------------------------------------


def test_a_model_of_another_version_is_asked_without_a_warning(tmp_path):
    from skops.io import dumps

    whole = dumps(model_files.MODEL)
    schema = json.loads(unzipped(whole)[SCHEMA])
    del schema["content"]["content"]["_sklearn_version"]
    (tmp_path / "m.skops").write_bytes(with_schema(whole, json.dumps(schema).encode()))
    model_files.table(40).to_csv(tmp_path / "table.csv", index=False)
    plan = ["--label", "repaid", "--favourable", "yes", "--sensitive", "sex", *FEW, "-q"]
    ended(["audit", "table.csv", *plan, "--incumbent-model", "m.skops"], tmp_path, 0)


# --- requests ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = requests.World(tmp_path_factory.mktemp("world"))
    yield made
    made.loop.close()


STEP = b'{"step": "tolerate", "eps": 0.1}'


@pytest.mark.parametrize(
    ("path", "query", "body", "more", "status"),
    [
        ("/", b"&".join([b"token=x"] * 9), None, {"cookie": "x=1"}, 403),  # more words than an address has
        ("/", b"&".join([b"a=1"] * 300), None, {"cookie": "x=1"}, 403),
        ("/stop", b"", b"{}", {"content-length": "\xb2"}, 204),  # a digit to Unicode, and no number
        ("/stop", b"", b"{}", {"content-length": "7" * 5000}, 204),  # of more digits than Python reads
        ("/steps", b"", STEP, {"if-match": "7" * 5000}, 400),
        ("/steps", b"", b'{"values":' * 5000, {}, 400),
        ("/person", b"", b'{"row":' + b"9" * 30 + b"}", {}, 422),
    ],
)
def test_a_request_that_no_browser_sends_is_refused(world, path, query, body, more, status):
    own = {"host": f"127.0.0.1:{requests.PORT}", "sec-fetch-site": "same-origin", "cookie": world.cookie}
    if body is not None:
        own |= {"origin": f"http://{own['host']}", "content-type": "application/json"}
    method = "GET" if body is None else "POST"
    made = requests.Request(method, path, query, [*{**own, **more}.items()], body or b"", world.cookie)
    assert world.ask(made, 1)[0]["status"] == status
