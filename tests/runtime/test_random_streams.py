"""Random numbers by name: no two uses share theirs."""

import ast
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import fairenum
from fairenum.runtime.random_streams import stream

NAMES = [(), (0,), (0, 0), ("a",), ("a", 0), ("a", "b"), ("ab",), ("b", "a"), ("a", "0")]


def test_a_name_has_the_same_numbers_every_time():
    assert stream(7, "a", 1).random(5).tolist() == stream(7, "a", 1).random(5).tolist()


def test_names_that_differ_have_other_numbers():
    drawn = [stream(7, *name).random(4).tobytes() for name in NAMES]
    assert len({*drawn}) == len(NAMES)
    assert stream(8, "a").random() != stream(7, "a").random()


def test_streams_of_one_seed_are_uncorrelated():
    first, second = (stream(3, name).standard_normal(20_000) for name in ("scores", "choice"))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03  # four standard errors


def test_the_seed_alone_draws_splits_as_it_always_did():
    assert stream(7).permutation(9).tolist() == np.random.default_rng(7).permutation(9).tolist()


@pytest.fixture(scope="module")
def uses():
    """The literal beginnings of the names of all streams that the package opens."""
    found = []
    for path in Path(fairenum.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "stream":
                names = [one.value for one in node.args[1:] if isinstance(one, ast.Constant)]
                found.append((path.name, ast.unparse(node), tuple(names)))
    return found


def test_no_two_uses_share_a_name(uses):
    named = Counter(names for _, _, names in uses if names)
    assert len(uses) >= 12
    assert {names: count for names, count in named.items() if count > 1} == {}


def test_all_other_random_numbers_are_fixed_by_design():
    """Benchmarks, studies and conformance draw tables of their own; published draws and ties keep their seeds."""
    folder = Path(fairenum.__file__).parent
    others = {path.name for path in folder.rglob("*.py") if "default_rng(" in path.read_text(encoding="utf-8")}
    made_tables = {"conformance.py", "growth.py", "growth_point.py", "mitigation_study.py"}
    published = {"scene.py", "defences.py", "paper_splits.py"}
    assert others == {"random_streams.py", "problem.py", *made_tables, *published}
