"""The JSON Schema: what it describes is what is read, and it says what each field is."""

import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator
from support.decisions import decided_frame
from support.saved_runs import KINDS, read

from fairenum import measure
from fairenum.document.files import to_json
from fairenum.document.schema import schema

VALIDATOR = Draft202012Validator(schema())


def test_it_is_a_schema_and_the_one_that_is_printed():
    Draft202012Validator.check_schema(schema())
    command = [sys.executable, "-m", "fairenum.document.schema"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == json.dumps(schema(), indent=1) + "\n"


@pytest.mark.parametrize("kind", KINDS)
def test_documents_are_what_it_describes(kind):
    VALIDATOR.validate(json.loads(to_json(read(kind))))


def test_measurements_are_what_it_describes():
    options = {"score": "points", "cutoff": 50, "label": "good", "favourable": "yes", "replications": 20}
    found = measure(decided_frame(200), ("hired", "rival"), ["sex", "race"], **options)
    VALIDATOR.validate(json.loads(found.to_json()))


@pytest.mark.parametrize(
    ("name", "value"),
    [("kind", "essay"), ("version", "9.0"), ("status", "done"), ("surprise", 1), ("models", None), ("timings", [])],
)
def test_other_documents_are_not(name, value):
    assert not VALIDATOR.is_valid({**json.loads(to_json(read("audit"))), name: value})


def test_fields_are_described_by_the_docstrings_of_their_types():
    parts = schema()["$defs"]
    assert parts["AuditedModel"]["description"].startswith("A listed model of an audit: its proofs")
    fields = parts["AuditedModel"]["properties"]
    assert fields["origin"]["description"].startswith("Exact: one of the best models")  # as ListedModel says
    assert fields["objective_bound"]["description"] == "The optimum lies between the objective and this bound."
    assert parts["GapEstimate"]["properties"]["value"]["description"] == "The estimate; null where it is undefined."
    assert parts["SvmSettings"]["properties"]["kernel"]["description"].startswith(
        "The kernel, as in scikit-learn's SVC"
    )
    assert parts["AuditDocument"]["properties"]["timings"]["description"].startswith("Seconds by stage")
