"""The JSON Schema: what it describes is what is read, and it says what each field is."""

import json

import pytest
from decided import decided_frame
from jsonschema import Draft202012Validator
from versions import KINDS, read

from fairenum import measure
from fairenum.document.files import to_json
from fairenum.document.schema import schema, shipped, to_text

VALIDATOR = Draft202012Validator(schema())


def test_it_is_a_schema_and_the_one_that_is_shipped():
    Draft202012Validator.check_schema(schema())
    assert shipped() == to_text()


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
    assert parts["AuditedModel"]["description"].startswith("A listed model: what is proven about it")
    fields = parts["AuditedModel"]["properties"]
    assert fields["objective_bound"]["description"] == "The optimum lies between objective and this."
    assert parts["GapEstimate"]["properties"]["value"]["description"] == "Null where it is undefined."
    assert parts["Machine"]["properties"]["kernel"]["description"].startswith("The kernel, as in scikit-learn's `SVC`")
    assert parts["AuditDocument"]["properties"]["timings"]["description"].startswith("Seconds by stage")
