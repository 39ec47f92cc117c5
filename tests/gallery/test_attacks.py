"""The gallery's simulations are those that the program gives today."""

import json
from pathlib import Path

import pytest
from fairenum.report.markdown import attack_to_markdown

from fairenum import load_dataset
from fairenum.attack import simulate
from fairenum.document.attack import AttackDocument
from fairenum.document.files import load_as
from fairenum.report.attack import attack_view, subject, title

REPORTS = Path(__file__).parents[2] / "reports"
FRESH = 3  # trials that are run again


@pytest.mark.parametrize("name", ["injection", "defences"])
def test_the_first_trials_are_what_they_were(name):
    saved = load_as(AttackDocument, REPORTS / f"{name}.json")
    assert FRESH < len(saved.trials) == saved.attack.config.trials
    fresh = simulate(load_dataset("compas", use_sensitive=True), saved.attack.config, trials=FRESH)
    assert fresh.records == saved.trials[:FRESH], "stale: run `make gallery-attack`"


@pytest.mark.parametrize("name", ["injection", "defences"])
def test_the_text_says_what_the_numbers_say(name):
    saved = json.loads((REPORTS / f"{name}.json").read_text())
    written = attack_to_markdown(attack_view(saved["attack"]), title(saved), subject(saved))
    assert written == (REPORTS / f"{name}.md").read_text(), "stale: run `make gallery-attack`"
