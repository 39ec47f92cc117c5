"""Small documents of version 0.1, as they were kept, and as they are read today."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from fairenum.document.files import parse
from fairenum.document.kinds import AnyDocument

KINDS = ("audit", "attack", "bench", "mitigation", "reproduction")


def path(kind: str) -> Path:
    return Path(__file__).with_name("data") / f"{kind}-0.1.json"


def kept(kind: str) -> Any:
    """What the file holds."""
    return json.loads(path(kind).read_text())


@cache
def read(kind: str) -> AnyDocument:
    """The same as a document of today."""
    return parse(path(kind).read_bytes(), f"{kind}-0.1.json")
