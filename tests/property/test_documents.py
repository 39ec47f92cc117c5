"""Whatever is done to a saved document, it is read as a document or refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.saved_runs import KINDS, path

from fairenum.document.files import AnyDocument, parse, to_json
from fairenum.errors import ResultError

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=5), parts, max_size=3),
    max_leaves=5,
)
HUGE = st.just(10**400)


def places(value: object, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to every part of a document; of lists, the first two entries stand for all."""
    parts = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*way, name)
        yield from places(part, (*way, name))


SAMPLES = {kind: path(kind).read_text() for kind in KINDS}
PLACES = {sample: list(places(json.loads(text))) for sample, text in SAMPLES.items()}


def document_or_reason(content: bytes) -> AnyDocument | str:
    try:
        return parse(content, "run.json")
    except ResultError as error:
        return str(error)


@settings(max_examples=150)
@given(st.data(), st.sampled_from(sorted(SAMPLES)), st.booleans())
def test_a_damaged_document_is_refused_with_a_reason(data, sample, is_removed):
    document = json.loads(SAMPLES[sample])
    *way, last = data.draw(st.sampled_from(PLACES[sample]))
    part = document
    for step in way:
        part = part[step]
    if is_removed:
        del part[last]
    else:
        part[last] = data.draw(ANYTHING | HUGE)
    found = document_or_reason(json.dumps(document).encode())
    if isinstance(found, str):
        assert found.startswith("'run.json' ")
    else:
        assert parse(to_json(found).encode(), "again.json") == found


JSON = ANYTHING.map(lambda value: json.dumps(value).encode())


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode) | JSON)
def test_what_is_no_document_is_refused(content):
    with pytest.raises(ResultError, match=r"^'run.json' "):
        parse(content, "run.json")
