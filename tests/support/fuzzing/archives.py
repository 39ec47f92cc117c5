"""Zip files whose bytes depend on what they hold alone: not on the time, nor on where it lay in memory."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SOME_TIME = b"2000-01-01T00:00:00Z"
# How skops names a part: by its address.
ADDRESS = re.compile(rb'(?<="__id__": )\d+|(?<=")\d+(?=\.np[yz]")')
SCHEMA = "schema.json"


def unzipped(content: bytes) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Pack files, all of them dated alike."""
    out = io.BytesIO()
    with ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return out.getvalue()


def timeless(workbook: bytes) -> bytes:
    """Say of a workbook that it was made at some other time, always the same."""
    return zipped({name: TIME.sub(SOME_TIME, content) for name, content in unzipped(workbook).items()})


def numbered(model: bytes) -> bytes:
    """Number the parts of a skops file, in the order in which they are named."""
    files = unzipped(model)
    addresses = dict.fromkeys(found[0] for found in ADDRESS.finditer(files[SCHEMA]))
    numbers = {address.decode(): str(number) for number, address in enumerate(addresses, 1)}
    files[SCHEMA] = ADDRESS.sub(lambda found: numbers[found[0].decode()].encode(), files[SCHEMA])
    parts = {name: name.partition(".") for name in files}
    return zipped({numbers.get(own, own) + dot + end: files[name] for name, (own, dot, end) in parts.items()})
