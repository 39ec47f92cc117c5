"""Every exploration can be served: every route answers, whatever the table and the kernel."""

import numpy as np
import pandas as pd
import pytest
from support.decisions import PLAN
from support.decisions import table as decided_table
from support.explorations import entered

from fairenum import Exploration


def table(rows: int = 160, groups: int = 2) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    x, group = rng.normal(size=rows), rng.integers(0, groups, rows)
    y = np.where(x + 0.8 * (group == 0) + rng.normal(scale=0.7, size=rows) > 0.3, "yes", "no")
    town = rng.choice(["Ayr", "Bath", None], rows)
    return pd.DataFrame({"x": x, "town": town, "group": [f"g{one}" for one in group], "weight": 1.0 + group, "y": y})


LABEL = {"label": "y", "favourable": "yes", "replications": 20}
CASES = {
    "no sensitive column": (table(), {**LABEL, "drop": ["weight", "group"]}),
    "five groups, some tiny": (table(240, 5), {**LABEL, "sensitive": "group", "drop": ["weight"]}),
    "one group of one": (
        table().assign(group=["lone", *["many"] * 159]),
        {**LABEL, "sensitive": "group", "drop": ["weight"], "small_groups": "keep"},
    ),
    "rbf kernel": (table(), {**LABEL, "sensitive": "group", "drop": ["weight"], "kernel": "rbf"}),
    "weighted rows": (table(), {**LABEL, "sensitive": "group", "weight": "weight"}),
    "two splits": (table(), {**LABEL, "sensitive": "group", "drop": ["weight"], "sizes": (100, 0, 60)}),
    "a rate to select": (table(), {**LABEL, "sensitive": "group", "drop": ["weight"], "decide": "rate=0.4"}),
    "nothing to learn": (
        table().assign(x=0.5, town="Ayr", noise=np.random.default_rng(0).normal(size=160)),
        {**LABEL, "sensitive": "group", "drop": ["weight"], "class_weight": "none"},
    ),
    "a model in use": (decided_table(), {**PLAN, "replications": 20}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_way_answers(case):
    frame, options = CASES[case]
    with entered(lambda progress: Exploration(frame, progress=progress, **options)) as visitor:
        assert visitor.step("next", count=2).status == 200
        screen = visitor.get("/state").value
        numbers = screen["numbers"]
        for number in numbers:
            assert visitor.get(f"/focus?model={number}").status == 200
        assert [row["number"] for row in visitor.get("/models").value["models"]] == numbers
        assert visitor.get(f"/compare?first={numbers[0]}&second={numbers[-1]}").status == 200
        clusters = screen["focus"]["clusters"]
        row = clusters[0]["first_rows"][0] if clusters else None
        asked = {"values": {}} if row is None else {"row": row}
        person = visitor.post("/person", {**asked, "model": numbers[-1]})
        assert [one["model"] for one in person.value["decisions"]] == numbers
        assert visitor.post("/preview", {"eps": 0.2, "max_performance_drop": 0.1}).status == 200
        if row is not None:
            assert visitor.step("leave_out", rows=[row]).status == 200
            assert visitor.step("undo").status == 200
        guided = visitor.step("fairer", solves=3)
        assert (
            guided.status == 200
            or "nothing to search for" in guided.value["error"]
            or "guided" in guided.value["error"]
        )
        assert visitor.step("commit", model=numbers[-1], reason="r", author="a").status == 200
        assert visitor.get("/report").status == 200
        assert visitor.get("/state").value["words"]["decided"]["headline"]
