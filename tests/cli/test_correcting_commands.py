"""fairenum audit --around incumbent: corrections of a score, explained and exported from the saved run."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from support.tables_in_use import LENT, rated

from fairenum import audit
from fairenum.document.files import load


@pytest.fixture(scope="module")
def frame():
    return rated(900)


def test_commands_correct_and_explain(fairenum, folder, frame):
    frame.to_csv(folder / "lent.csv", index=False)
    roles = ("--label", "repaid", "--favourable", "yes", "--sensitive", "race")
    used = ("--incumbent-score", "vendor", "--cutoff", "0", "--around", "incumbent")
    quick = ("-k", "3", "--search", "exact", "--C", "1", "--replications", "50", "--quiet")
    refused = fairenum("audit", "lent.csv", *roles, *used, *quick)
    assert refused.code == 2
    assert "--incumbent-trained-on none" in " ".join(refused.err.split())
    run = ("audit", "lent.csv", *roles, *used, "--incumbent-trained-on", "none", *quick, "--output", "run.json")
    assert fairenum(*run).code == 0
    given = fairenum("explain", "run.json", "--values", "income=1,vendor=0.5", "--data", "lent.csv", "--json", "-")
    assert given.code == 0, given.err
    row = fairenum("explain", "run.json", "--row", "5", "--data", "lent.csv")
    assert row.code == 0, row.err
    assert "vendor) +" in row.out
    exported = ("--export", "m.skops", "--rank", "2", "--unconfirmed", "--data", "lent.csv", "--quiet")
    selected = fairenum("select", "run.json", *exported)
    assert selected.code == 0, selected.err
    assert load(folder / "run.json").correction.column == "vendor"
    attack = fairenum(*run[:-2], "--attack")
    assert attack.code == 2
    assert "leave out --around" in " ".join(attack.err.split())


def test_a_saved_run_of_a_python_object_is_explained_by_values_alone(fairenum, folder, frame):
    frame.to_csv(folder / "lent.csv", index=False)
    model = LogisticRegression().fit(frame[["income", "debt"]], frame["repaid"])
    audit(frame, incumbent=model, **LENT, k=3, search="exact", C=1.0, replications=50, around="incumbent").save(
        folder / "run.json"
    )
    assert fairenum("explain", "run.json", "--values", "income=1").code == 0
    refused = fairenum("explain", "run.json", "--row", "5", "--data", "lent.csv")
    assert refused.code == 2
    assert "given to this run in Python" in " ".join(refused.err.split())
