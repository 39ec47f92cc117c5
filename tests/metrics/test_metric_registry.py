"""A metric is one entry of the registry: here one more is added, and found everywhere.

The entry is added in a process of its own, before anything else is imported. What it does not bring with it: the pages
and the schema that are files (`docs/`, `fairenum/document/schema.json`) have to be written anew by `make docs`, and say
what the new rate of a group is only if the docstring of `GroupRow` does. Where fairlearn has no constraint for the gap,
its mitigations say that they cannot make it small. And a model is tilted only by rates whose trials are the same for
all models, so the search does not tilt by this one.
"""

import json
import subprocess
import sys

import pandas as pd
import pytest
from support.audits import people

from fairenum import measure
from fairenum.document.metric_registry import METRICS, compared_rates, metric_of
from fairenum.document.scores import BaselineScores, ColumnScores, GroupRow, SplitScores

KEY, NAME = "false_discovery_rate_difference", "false discovery rate"

RUN = """
import io, json, sys
from fairenum.document import metric_registry as registry

rate = registry.ComparedRate(
    "false_discovery_rate", "false discovery rate", "FDR", trials=registry.SELECTED, outcome=registry.UNFAVOURABLE
)
registry.METRICS += (
    registry.GapMetric(
        "false_discovery_rate_difference",
        "false discovery rate",
        (rate,),
        legend="FDR: unfavourable labels among the selected",
        is_later=True,
    ),
)

import pandas as pd
from rich.console import Console

from fairenum import Exploration, audit, measure
from fairenum.cli.attack import attack as attack_command
from fairenum.cli.audit import audit as audit_command
from fairenum.cli.measure import measure as measure_command
from fairenum.cli.select import select as select_command
from fairenum.document.files import parse, to_json
from fairenum.document.guards import Guard
from fairenum.document.schema import schema
from fairenum.explore.screen_parts import Screen
from fairenum.metrics import fairlearn_metrics, score
from fairenum.metrics.counts import Decisions
from fairenum.render.terminal import print_page
from fairenum.report.audit_report import brief_page
from fairenum.report.measure_report import brief_measure_page
from fairenum.report.rules import group_rates, judge_all, parse_rule
from fairenum.report.screen_words import model_row
from fairenum.tables.groups import Groups

KEY = "false_discovery_rate_difference"


def printed(page):
    console = Console(width=100, file=io.StringIO())
    print_page(page, console)
    return console.file.getvalue()


table = pd.read_csv(sys.argv[1])
plan = {"label": "hired", "favourable": "yes", "sensitive": ["sex", "race"]}
small = {"k": 4, "replications": 60, "sizes": (150, 300, 450), "search": "exact", "range": False, "prices": False}
loose = {"search": "both", "eps": 0.2, "max_performance_drop": 0.2, "guards": ["none", f"{KEY}@race<=+0.9"]}
loose["always_search"] = True
audited = audit(table, metric=KEY, baselines=True, **plan, **{**small, **loose})
by_town = {**plan, "decision": "town", "decision_favourable": "north"}
measured = measure(table, metric=KEY, replications=60, **by_town)
unlabelled = measure(
    table, metric=KEY, replications=60, decision="town", decision_favourable="north", sensitive=["sex"]
)
first = audited.document.first.scores.holdout
column = next(one for one in audited.document.dataset.sensitive if one.is_primary)
rule = parse_rule(f"{KEY}<=0.9")
judged = [*judge_all(audited.document, [rule]), *judge_all(measured.document, [rule])]
exploration = Exploration(table, metric=KEY, **plan, **small)
view = exploration.view
codes, names = pd.factorize(table["sex"])
decided = Decisions(
    (table[["town"]].to_numpy() == "north").T.astype("uint8"), (table["hired"] == "yes").to_numpy().astype("uint8"),
    Groups(codes, tuple(names)),
)
options = {
    command.name: next(one for one in command.params if one.name == "metric").type.choices
    for command in (audit_command, measure_command, select_command, attack_command)
}
with open(sys.argv[2], "rb") as file:
    older = parse(file.read(), "older")
print(json.dumps({
    "older": json.loads(to_json(older)),
    "older_text": printed(brief_measure_page(older)),
    "audit": json.loads(audited.to_json()),
    "measure": json.loads(measured.to_json()),
    "unlabelled": json.loads(unlabelled.to_json()),
    "is_read_again": parse(to_json(audited.document).encode(), "again") == audited.document,
    "counts": [
        [group.name, first.by_column["sex"].selected[code], first.by_column["sex"].true_positives[code]]
        for code, group in enumerate(column.groups)
    ],
    "texts": {
        "terminal": printed(brief_page(audited.document)),
        "html": audited.to_html(),
        "markdown": audited.to_markdown(),
        "measured_terminal": printed(brief_measure_page(measured.document)),
        "measured_html": measured.to_html(),
        "measured_markdown": measured.to_markdown(),
    },
    "options": {name: list(choices) for name, choices in options.items()},
    "guard": str(Guard.of(f"{KEY}@race<=+0.02")),
    "rules": [(str(one.rule), one.outcome.value, one.reason) for one in judged],
    "listed": list(group_rates(judged[1].table, KEY)),
    "trials": measured.document.decisions[0].of_column("sex").trials(KEY),
    "frames": {name: [*map(str, frame.columns)] for name, frame in audited.tables().items()},
    "measured_frames": {name: [*map(str, frame.columns)] for name, frame in measured.tables().items()},
    "measures": sorted({*audited.tables()["scores"]["measure"]}),
    "screen": [(one.name, one.text) for one in Screen(revision=0, busy=None, trouble=None).metrics],
    "row": model_row(view, view.models[0]).gap_cells,
    "strip": [(one.column, one.metric) for one in view.strip],
    "ours": getattr(score(decided).gaps, KEY).tolist(),
    "reference": getattr(fairlearn_metrics(decided), KEY).tolist(),
    "schema": json.dumps(schema()),
}, default=str))
"""


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return people(900)


@pytest.fixture(scope="module")
def found(table, tmp_path_factory) -> dict:
    path = tmp_path_factory.mktemp("registry") / "people.csv"
    table.to_csv(path, index=False)
    older = tmp_path_factory.mktemp("older") / "measured.json"
    measure(table, "town", ["sex"], label="hired", favourable="yes", decision_favourable="north").save(older)
    run = subprocess.run([sys.executable, "-c", RUN, path, older], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


def by_pandas(table: pd.DataFrame, column: str) -> pd.Series:
    """The share of unfavourable labels among the selected, by group."""
    return table[table["town"] == "north"].groupby(column)["hired"].apply(lambda hired: (hired == "no").mean())


@pytest.mark.parametrize("column", ["sex", "race"])
def test_a_measurement_has_it_with_the_value_of_pandas(table, found, column):
    measured = next(one for one in found["measure"]["decisions"][0]["columns"] if one["impact"]["column"] == column)
    compared = [group for group in measured["impact"]["groups"] if group["is_compared"]]
    expected = by_pandas(table, column)[[group["group"] for group in compared]]
    assert measured["scores"][KEY]["value"] == pytest.approx(expected.max() - expected.min())
    for group in compared:
        assert group["false_discovery_rate"]["value"] == pytest.approx(expected[group["group"]])
        assert group["false_discovery_rate"]["low"] < expected[group["group"]] < group["false_discovery_rate"]["high"]
    assert measured["scores"][KEY]["low"] <= measured["scores"][KEY]["value"] <= measured["scores"][KEY]["high"]


def test_an_audit_has_it_for_every_model_and_split(found):
    document = found["audit"]
    assert document["config"]["metric"] == KEY
    for model in document["models"]:
        for part in ("selection", "holdout"):
            assert KEY in model["scores"][part]
            assert all(KEY in column for column in model["scores"][part]["by_column"].values())
    shares = [(selected - right) / selected for _, selected, right in found["counts"]]
    expected = max(shares) - min(shares)
    assert document["models"][0]["scores"]["holdout"][KEY]["value"] == pytest.approx(expected)
    assert document["reference_check"]["largest_difference"] < 1e-9
    assert {KEY} <= set(document["baselines"][0]["scores"])
    assert found["is_read_again"]
    assert found["schema"].count(KEY) > 3


def test_documents_without_it_are_read_as_if_it_was_not_measured(found):
    (column,) = found["older"]["decisions"][0]["columns"]
    assert column["scores"][KEY]["value"] is None
    assert column["scores"]["predictive_parity_difference"]["value"] is not None
    assert NAME in found["older_text"]


def test_the_reference_computes_it_too(table, found):
    expected = by_pandas(table, "sex")
    assert found["ours"] == pytest.approx([expected.max() - expected.min()])
    assert found["reference"] == pytest.approx(found["ours"])


def test_without_a_label_it_is_not_measured(found):
    (column,) = found["unlabelled"]["decisions"][0]["columns"]
    assert column["scores"][KEY]["value"] is None
    assert column["scores"]["demographic_parity_difference"]["value"] is not None


@pytest.mark.parametrize("text", ["terminal", "html", "markdown", "measured_terminal", "measured_html"])
def test_every_page_shows_it(found, text):
    assert NAME in found["texts"][text]


def test_tables_have_a_column_for_its_rate(found):
    texts = found["texts"]
    assert "FDR: unfavourable labels among the selected" in " ".join(texts["terminal"].split())
    assert "FDR" in texts["terminal"]
    assert "false discovery" in texts["measured_markdown"]


def test_options_guards_and_rules_know_it(table, found):
    assert set(found["options"]) == {"audit", "measure", "select", "attack"}
    assert all(choices[-1] == KEY for choices in found["options"].values())
    assert found["guard"] == f"{KEY}@race<=+0.02"
    checks = found["audit"]["selection"]["guards"]
    assert f"{KEY}@race<=+0.9" in [check["guard"] for check in checks]
    assert [rule for rule, _, _ in found["rules"]] == [f"{KEY}<=0.9"] * 2
    assert found["rules"][1][1] == "holds"


def test_rules_count_the_rows_behind_it(table, found):
    selected = table[table["town"] == "north"].groupby("sex").size()
    assert found["trials"] == selected.to_dict()
    assert all("false discovery rate 0." in line for line in found["listed"])


def test_frames_have_it(found):
    assert {f"{part}_{KEY}" for part in ("selection", "holdout")} <= set(found["frames"]["models"])
    assert {"false_discovery_rate", "false_discovery_rate_low"} <= set(found["frames"]["groups"])
    assert {KEY, f"{KEY}_low", f"{KEY}_verdict"} <= set(found["measured_frames"]["decisions"])
    assert "false_discovery_rate_high" in found["measured_frames"]["groups"]
    assert KEY in found["measures"]


def test_the_live_page_offers_and_shows_it(found):
    assert found["screen"][-1] == [KEY, NAME]
    assert found["row"][KEY] != "–"
    assert KEY in {metric for _, metric in found["strip"]}


def test_documents_have_a_field_for_every_entry_in_their_order():
    gaps, ratios = [one.key for one in METRICS], [one.ratio for one in METRICS if one.ratio]
    for kind in (SplitScores, ColumnScores):
        assert [*kind.__struct_fields__][: len(gaps) + len(ratios)] == gaps + ratios
    assert [*BaselineScores.__struct_fields__][: len(gaps)] == gaps
    assert {rate.column for rate in compared_rates()} <= set(GroupRow.__struct_fields__)


def test_names_are_given_once():
    measures = [measure for metric in METRICS for measure in metric.measures]
    rates = [rate.key for rate in compared_rates()]
    assert len({*measures}) == len(measures)
    assert len({*rates}) == len(rates)
    assert all(measure in metric_of(measure).measures for measure in measures)
    assert metric_of("accuracy") is None
