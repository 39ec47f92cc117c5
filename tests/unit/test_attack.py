"""An audit with a block on what label flips would do to it."""

import json

import pytest
from fairenum.audit import AuditResult, attacked, audit, schema, select
from jsonschema import Draft202012Validator

from fairenum.errors import ResultError


def described(block):
    """Check a block against the schema, as JSON tells it."""
    document = json.loads(json.dumps(block, allow_nan=False))
    Draft202012Validator({"$defs": schema()["$defs"], **schema()["properties"]["attack"]}).validate(document)
    return document


def test_an_audit_takes_the_block_up(tmp_path):
    result = audit("german", k=3, replications=50)
    both = attacked(result, strategies="random", flips=5, trials=2, sizes=(60, 0, 60))
    described(both.document["attack"])
    assert both.document["attack"]["config"]["primary"] == result.document["config"]["primary"]
    assert both.document["timings"]["attack"] > 0.0
    both.save(tmp_path / "run.json")
    loaded = AuditResult.load(tmp_path / "run.json")
    assert select(loaded, max_accuracy_drop=0.5).document["attack"] == loaded.document["attack"]
    with pytest.raises(ResultError, match="no rows to flip"):
        attacked(loaded)
