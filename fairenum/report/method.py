"""How a result came about and what it cannot say, in words; and the whole configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fairenum.report.numbers import counted
from fairenum.report.page import Facts, Grid
from fairenum.report.tables import NAME_WIDTH, Document, Table
from fairenum.report.text import plain, shortened

VALUE_WIDTH = 200
STOPPED = {
    "models": "as many models as asked for",
    "objective": "no further model within the tolerance of the objective",
    "nodes": "the limit on solved problems",
    "time": "the time limit",
    "exhausted": "no further model exists",
    "caller": "enough was seen",
    "alike": "only models that decide alike, one after another",
    "interrupted": "an interruption",
    "solver": "a problem that the solver could not solve",
}


def steps(document: Document, metric: str) -> Iterator[str]:
    """Say how the numbers came about."""
    config, data, found = document["config"], document["dataset"], document["enumeration"]
    splits = data["splits"]
    yield (
        f"The table was split into {splits['train']} training, {splits['selection']} selection and "
        f"{splits['holdout']} holdout rows (seed {config['seed']}). Features were encoded by what the "
        "training rows show."
    )
    yield (
        f"Support vector machines with a {config['kernel']} kernel and C = {config['C']:g} were enumerated best first "
        f"by EnumSV (Kanamori et al. 2019) with solver {shortened(config['solver'], NAME_WIDTH)}: each differs from "
        f"the best one in the training examples it is not shown. The search saw {counted(found['supports'], 'model')} "
        f"with distinct supports, lists {found['models']}, and ended at {STOPPED[found['stopped']]}. Every objective "
        f"is proven by weak duality."
    )
    if document["guided"]:
        yield (
            f"A guided search over the same machines, led by the {metric} gap on the selection split, added "
            f"{counted(document['guided']['models'], 'model')} that decide otherwise. Being made to look fair there, "
            "only their holdout numbers count."
        )
    tolerances = document["selection"]["tolerances"]
    yield (
        f"The selected model is the one of least {metric} gap on the selection split among those that lose at most "
        f"{tolerances['eps']:g} of the objective and {tolerances['max_accuracy_drop']:g} of accuracy there; ties go to "
        "model 1, else to the more accurate one."
    )
    yield (
        f"Intervals have a level of {100 * config['confidence']:g} %. Changes against model 1 are paired, and their "
        f"limits hold for all models together, so looking at many of them makes no gain appear."
    )
    check = document["reference_check"]
    yield (
        f"The gaps of the shortlist were computed again by {shortened(check['library'], NAME_WIDTH)}; the largest "
        f"difference over {counted(check['compared'], 'number')} was {check['largest_difference']:.1g}."
    )


def limits(document: Document) -> Iterator[str]:
    """Say what the numbers cannot say."""
    yield (
        "This is a statement about near-optimal support vector machines of one kernel on one table. It says nothing "
        "about other kinds of models, about rows that were never collected, or about the law."
    )
    yield "Not distinguishable is not the same as fair: small groups hide large differences."
    yield (
        "Labels are taken as they are. Where they carry the bias of those who gave them, a model that fits them well "
        "carries it on."
    )
    if document["is_exploratory"]:
        yield "Selection and holdout are not separate here, so the selected model looks fairer than it is."


def setting(document: Document) -> Iterator[Grid | Facts]:
    """Give the whole configuration, the environment and the table."""
    environment = document["environment"]
    solver = environment["solver"]
    versions = {key: value for key, value in environment.items() if key not in ("solver", "fingerprint")}
    yield Facts(
        (
            ("data", shortened(document["dataset"]["name"], VALUE_WIDTH)),
            ("fingerprint (sha256)", environment["fingerprint"]),
            ("solver", shortened(f"{solver['name']} {solver['version']}, {solver['provider']}", VALUE_WIDTH)),
            ("versions", shortened(", ".join(f"{key} {value}" for key, value in versions.items()), VALUE_WIDTH)),
        )
    )
    rows = tuple((plain(key), _value(value)) for key, value in document["config"].items())
    yield Grid(Table("Options as they were resolved", ("option", "value"), rows, names=2), is_folded=True)
    yield Grid(_features(document["dataset"]), is_folded=True)


def _value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shortened(text, VALUE_WIDTH)


def _features(data: Mapping[str, Any]) -> Table:
    rows = tuple(
        (shortened(feature["name"], 60), feature["kind"], str(feature["missing"])) for feature in data["features"]
    )
    return Table("Features", ("name", "kind", "missing cells"), rows, names=2)
