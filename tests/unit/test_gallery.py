"""The gallery in reports/ is what the program writes today, from runs that it would make today."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import jsonschema
import pytest

from fairenum import __version__, audit, load_dataset
from fairenum.audit.result import SCHEMA_VERSION, schema
from fairenum.bench.mitigation import CASES, markdown
from fairenum.bench.split_trial import run_trial
from fairenum.report.html import to_html
from fairenum.reproduction import rendered
from fairenum.reproduction.claims import claims
from fairenum.reproduction.injection import run_draw
from fairenum.reproduction.splits import run_split
from fairenum.reproduction.summary import injection_block, splits_block

REPORTS = Path(__file__).parents[2] / "reports"
STALE = "stale: run `make gallery`"
AUDITS = ("compas", "german", "adult")
LARGEST_PICTURE = 300_000


@pytest.fixture(scope="module")
def paper():
    return json.loads((REPORTS / "paper.json").read_text())


def test_everything_in_it_is_accounted_for(paper):
    expected = {f"{name}.{kind}" for name in AUDITS for kind in ("html", "json")}
    expected |= {f"{name}.{kind}" for name in ("injection", "defences", "mitigation") for kind in ("json", "md")}
    expected |= {"paper.json", "bench.json", "report.png", *rendered(paper)}
    found = {str(path.relative_to(REPORTS)) for path in REPORTS.rglob("*") if path.is_file()}
    assert found == expected, STALE


@pytest.mark.parametrize("name", AUDITS)
def test_pages_of_audits_are_those_of_their_runs(name):
    document = json.loads((REPORTS / f"{name}.json").read_text())
    assert document["schema_version"] == SCHEMA_VERSION, STALE
    assert document["environment"]["fairenum"] == __version__, STALE
    jsonschema.validate(document, schema())
    bundled = load_dataset(name, use_sensitive=document["config"]["use_sensitive"])
    assert document["environment"]["fingerprint"] == bundled.fingerprint, STALE
    assert to_html(document) == (REPORTS / f"{name}.html").read_text(), STALE


@pytest.mark.parametrize("name", AUDITS)
def test_audits_come_out_as_they_did(name):
    document = json.loads((REPORTS / f"{name}.json").read_text())
    again = audit(name, sizes=document["config"]["sizes"]).document
    assert again["config"] == document["config"], STALE
    assert again["selection"]["rank"] == document["selection"]["rank"], STALE
    for mine, theirs in zip(again["models"], document["models"], strict=True):
        assert (mine["origin"], mine["left_out"]) == (theirs["origin"], theirs["left_out"]), STALE
        assert mine["objective_ratio"] == pytest.approx(theirs["objective_ratio"], rel=1e-9), STALE
        for measure in ("accuracy", document["config"]["metric"]):
            gone, now = (model["scores"]["holdout"][measure]["value"] for model in (theirs, mine))
            assert now == pytest.approx(gone, rel=1e-9), STALE


def test_the_reproduction_is_shown_as_it_would_be_today(paper):
    assert paper["environment"]["fairenum"] == __version__, STALE
    assert paper["status"] == "complete"
    assert not paper["plan"]["is_quick"]
    assert json.loads(json.dumps(claims(paper["experiments"]))) == paper["claims"], STALE
    for name, text in rendered(paper).items():
        assert (REPORTS / name).read_text() == text, STALE


def test_its_first_draw_and_split_come_out_as_they_did(paper):
    seed = paper["plan"]["seed"]
    blocks = {"compas": injection_block([run_draw(seed, False)]), "sonar": splits_block([run_split("sonar", seed)])}
    for name, kind in (("compas", "draws"), ("sonar", "splits")):
        for variant, fresh in blocks[name]["variants"].items():
            (again,), first = fresh[kind], paper["experiments"][name]["variants"][variant][kind][0]
            assert again.keys() == first.keys(), STALE
            for key in again.keys() - {"growth"}:  # the clock decides that one
                assert again[key] == pytest.approx(first[key], rel=1e-5, abs=1e-12), STALE


def test_the_benchmark_is_that_of_the_readme():
    record = json.loads((REPORTS / "bench.json").read_text())
    assert (record["data"]["name"], record["data"]["rows"], record["k"]) == ("german", 700, 50)
    assert record["environment"]["packages"]["fairenum"] == __version__, STALE


def test_mitigations_are_compared_as_they_would_be_today():
    record = json.loads((REPORTS / "mitigation.json").read_text())
    assert markdown(record["cases"]) == (REPORTS / "mitigation.md").read_text(), STALE
    assert [case["title"] for case in record["cases"]] == [case.title for case in CASES], STALE
    methods = [method for case in record["cases"] for method in case["methods"]]
    assert max(method["dominates_guided"] for method in methods) <= 0.1, "the README says so"
    first, again = record["trials"][0], json.loads(json.dumps(asdict(run_trial(CASES[0], 0))))
    assert again.keys() == first.keys(), STALE
    for mine, theirs in zip(again["scores"], first["scores"], strict=True):
        assert mine == pytest.approx(theirs, abs=1e-9), STALE
    assert (again["left_out"], again["errors"]) == (first["left_out"], first["errors"]), STALE


def test_the_picture_is_modest():
    picture = (REPORTS / "report.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < LARGEST_PICTURE


def test_nothing_in_it_names_a_place_on_a_machine():
    for path in REPORTS.rglob("*"):
        if path.is_file() and path.suffix != ".png":
            assert not re.search(r"/(?:home|root|tmp|work)/", path.read_text()), path.name
