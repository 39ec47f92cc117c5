"""The simulation: its block, its records, what fails in it, and who runs it."""

import json

import pytest
from jsonschema import Draft202012Validator

from fairenum import load_dataset
from fairenum.attack import simulate
from fairenum.audit import AuditResult, attacked, audit, schema, select
from fairenum.errors import ResultError

PAPER = {"sizes": (100, 0, 50), "standardise": False, "rows": True}


@pytest.fixture(scope="module")
def compas():
    return load_dataset("compas", use_sensitive=True)


def described(block):
    """Check a block against the schema, as JSON tells it."""
    document = json.loads(json.dumps(block, allow_nan=False))
    Draft202012Validator({"$defs": schema()["$defs"], **schema()["properties"]["attack"]}).validate(document)
    return document


def test_the_block_is_what_the_schema_says(compas):
    simulation = simulate(compas, strategies=("paper", "random"), flips=(0, 5, 0.1), trials=3, k=5, **PAPER)
    block = described(simulation.block)
    assert block["status"] == "complete"
    assert [curve["strategy"] for curve in block["curves"]] == ["paper", "random"]
    assert [point["flips"] for point in block["curves"][0]["points"]] == [0, 5, 10]
    assert all(point["trials"] == 3 for curve in block["curves"] for point in curve["points"])
    nothing = block["curves"][0]["points"][0]
    assert nothing["gap_change"]["value"] == nothing["error_change"]["value"] == 0.0
    assert nothing["gap"]["value"] == block["clean"]["gap"]["value"]
    assert block["config"]["group"] == "yes"  # African American defendants have the fewest favourable labels


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
