"""Files of models in use that were damaged or made to do harm."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import onnx
from sklearn.tree import DecisionTreeClassifier
from skops.io import dumps

from support import model_files
from support.fuzzing import hostile
from support.fuzzing.archives import SCHEMA, numbered, unzipped, zipped
from support.fuzzing.documents import Parts
from support.fuzzing.running import Ended, run
from support.fuzzing.tables import FEW, Case, packed_again

TABLE = ["--label", "repaid", "--favourable", "yes", "--sensitive", "sex"]


def asked(rng: Random, place: Path, table: bytes, name: str, content: bytes) -> Ended:
    """Audit a table beside the model in a file."""
    (place / "table.csv").write_bytes(table)
    (place / name).write_bytes(content)
    cut = rng.choice(([], [], ["--cutoff", "0.5"], ["--incumbent-favourable", "yes"]))
    command = ["audit", "table.csv", *TABLE, *FEW, "-q", "--incumbent-model", name, *cut]
    return run([*command, "--json", "out.json"], place, ["out.json"])


def as_csv() -> bytes:
    return model_files.table(30).to_csv(index=False).encode()


def skops_files(folder: Path) -> Case:
    models = [model_files.MODEL, model_files.fitted(DecisionTreeClassifier(max_depth=2)), model_files.on_numbers()]
    whole = [numbered(dumps(model)) for model in models]
    said = [Parts(json.loads(unzipped(content)[SCHEMA])) for content in whole]
    table = as_csv()

    def case(rng: Random, place: Path) -> Ended:
        which = rng.randrange(len(whole))
        content = rng.choice((hostile.mutated_bytes, packed_again))(rng, whole[which])
        if rng.random() < 0.6:
            content = with_schema(whole[which], said[which].mutated(rng))
        return asked(rng, place, table, "m.skops", content)

    return case


def with_schema(whole: bytes, schema: bytes) -> bytes:
    """Exchange what a skops file says of its parts."""
    return zipped({**unzipped(whole), SCHEMA: schema})


def onnx_model_files(folder: Path) -> Case:
    numbers = model_files.on_numbers()
    coded = model_files.on_numbers((model_files.table()["repaid"] == "yes").astype(int))
    paths = [
        model_files.save_by_name(folder / "a.onnx", numbers, model_files.NUMBERS),
        model_files.save_by_name(folder / "b.onnx", coded, model_files.NUMBERS, zipped=True),
        model_files.save_matrix(folder / "c.onnx", numbers, feature_names="age,debt"),
    ]
    whole, table = [path.read_bytes() for path in paths], as_csv()

    def case(rng: Random, place: Path) -> Ended:
        content = rng.choice(whole)
        made = hostile.mutated_bytes(rng, content) if rng.random() < 0.6 else other_graph(rng, content)
        return asked(rng, place, table, "m.onnx", made)

    return case


def other_graph(rng: Random, content: bytes) -> bytes:
    """Change what a sound file computes, takes or gives."""
    model = onnx.load_from_string(content)
    node = rng.choice(model.graph.node)
    match rng.randrange(7):
        case 0:
            node.op_type = rng.choice(("Scan", "Loop", "If", "Identity", "Cast", "NonZero", "Range", "Expand", "Tile"))
        case 1:
            attribute = rng.choice(node.attribute) if node.attribute else node.attribute.add()
            del attribute.floats[: rng.randint(0, 3)]
            attribute.floats.extend([float(rng.choice((np.nan, np.inf, 1e38, 0)))])
        case 2:
            chosen = rng.choice((model.graph.input, model.graph.output))
            chosen[0].name = rng.choice((hostile.text(rng), "sex", "age", "probabilities"))
        case 3:
            model.graph.input[0].type.tensor_type.elem_type = rng.randrange(20)
        case 4:
            size = model.graph.input[0].type.tensor_type.shape.dim.add()
            size.dim_value = rng.choice((0, -1, 1, 2**40))
        case 5:
            onnx.helper.set_model_props(model, {"feature_names": rng.choice((hostile.text(rng), "[1,[2]]", "age"))})
        case 6:
            model.ir_version = rng.choice((0, 1, 3, 8, 99))
    return model.SerializeToString()
