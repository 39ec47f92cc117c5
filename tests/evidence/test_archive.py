"""Files that somebody made to do harm, or that are none: each is refused by what is wrong with it."""

import io
import os
import stat
import struct
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairenum.errors import EvidenceRefused
from fairenum.evidence import archive
from fairenum.evidence.archive import packed, received, unpacked

GOOD = {"SHA256SUMS": b"", "tables/index.csv": b"a\n", "run.json": b"{}"}
NAMES = st.from_regex(r"\A(?:[a-z]{1,5}/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,10}\Z").filter(str.isascii)


def made(*entries, compression=zipfile.ZIP_STORED, **changes) -> bytes:
    """Write entries by Python's library, with what a file of ours never has."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as book:
        for name, data in entries or [("run.json", b"{}")]:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr, entry.compress_type = 3, 0o100644 << 16, compression
            for field, value in changes.items():
                setattr(entry, field, value)
            book.writestr(entry, data)
    return content.getvalue()


def with_name(name: bytes) -> bytes:
    """Write a name of the same length over that of an entry, which the library would not write itself."""
    return made(("x" * len(name), b"")).replace(b"x" * len(name), name)


def claiming(size: int) -> bytes:
    """Claim, in both records of an entry, a size that it has not."""
    content = bytearray(made(("run.json", b"{}")))
    entry = content.index(b"PK\x01\x02")
    for place in (18, 22, entry + 20, entry + 24):
        content[place : place + 4] = struct.pack("<I", size)
    return bytes(content)


def counting(entries: int) -> bytes:
    content = bytearray(made())
    content[-14:-10] = struct.pack("<HH", entries, entries)
    return bytes(content)


def overlapping() -> bytes:
    """Let two entries name the same bytes."""
    content = made(("a", b"12"), ("b", b"34"))
    start = content.index(b"PK\x01\x02")
    second = content.index(b"PK\x01\x02", start + 1)
    return content[: second + 42] + struct.pack("<I", 0) + content[second + 46 :]


def encrypted() -> bytes:
    content = bytearray(made())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


def long_zip64() -> bytes:
    """Hide a claim of very many files where older readers do not look."""
    content = made()
    return content[:-22] + b"PK\x06\x07" + bytes(16) + content[-22:]


BOMB = made(("run.json", bytes(10**7)), compression=zipfile.ZIP_DEFLATED)
HOSTILE = {
    "a path upwards": (made(("../run.json", b"")), "is no plain name"),
    "a path upwards within": (made(("tables/../../run.json", b"")), "is no plain name"),
    "an absolute path": (made(("/etc/passwd", b"")), "is no plain name"),
    "a drive": (made(("C:run.json", b"")), "is no plain name"),
    "a path of Windows": (with_name(b"..\\run.json"), "is no plain name"),
    "a hidden file": (made((".run.json", b"")), "is no plain name"),
    "a name that is cut at a zero": (with_name(b"run.json\0.exe"), "is no plain name"),
    "a name in other letters": (made(("rün.json", b"")), "is no plain name"),
    "a very long name": (made(("a" * 5000, b"")), "is no plain name"),
    "deep folders": (made(("a/b/c", b"")), "is no plain name"),
    "a folder": (made(("tables/", b"")), "is no plain name"),
    "a link": (made(("run.json", b"/etc/passwd"), external_attr=(stat.S_IFLNK | 0o777) << 16), "a link"),
    "a device": (made(external_attr=(stat.S_IFCHR | 0o644) << 16), "no ordinary file"),
    "a bomb": (BOMB, "is compressed"),
    "a huge claim": (claiming(2**31), "no evidence file"),
    "the largest claim": (claiming(2**32 - 1), "no evidence file"),
    "too many files": (counting(60_000), "more than 100 files"),
    "more files than it has": (counting(7), "no evidence file"),
    "a larger format": (long_zip64(), "more than 100 files"),
    "files in one place": (overlapping(), "there is something before 'b'|overlap"),
    "an encrypted file": (encrypted(), "is encrypted"),
    "a remark": (made(("run.json", b""), comment=b"hello"), "something beside its content"),
    "a field beside": (made(("run.json", b""), extra=b"\xfe\xca\x00\x00"), "something beside its content"),
    "something before it": (b"#!/bin/sh\n" + made(), "before, between or behind"),
    "something behind it": (made() + b"more", "goes on behind its end"),
    "cut short": (packed(GOOD)[:-30], "cut short"),
    "the end alone": (packed(GOOD)[-22:], "before, between or behind"),
    "no zip file": (b'{"kind": "audit"}' * 9, "no zip file"),
    "nothing": (b"", "no zip file"),
    "another content": (packed(GOOD).replace(b"{}", b"[]"), "CRC"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("second", ["run.json", "RUN.json"])
def test_two_files_of_one_name_are_refused(second):
    with pytest.raises(EvidenceRefused, match="two files of the name"):
        unpacked(made(("run.json", b"1"), (second, b"2")), "x.zip")


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_made_to_do_harm_is_refused(kind, tmp_path, monkeypatch):
    content, reason = HOSTILE[kind]
    monkeypatch.chdir(tmp_path)
    tracemalloc.start()
    with pytest.raises(EvidenceRefused, match=reason) as error:
        unpacked(content, "x.zip")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
    assert str(error.value).startswith("'x.zip' is no evidence file: ")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300
    assert list(tmp_path.iterdir()) == []


@given(st.dictionaries(NAMES, st.binary(max_size=50), max_size=5))
def test_what_was_packed_is_unpacked(files):
    names = {name.casefold() for name in files}
    if len(names) == len(files):
        assert unpacked(packed(files), "x") == files
    assert packed(files) == packed(dict(reversed(files.items())))


@given(st.data())
def test_no_byte_can_change_unseen_but_in_what_names_the_format(data):
    """One changed byte is refused or gives other content; else it is a version, a date or the like in a record."""
    good = packed(GOOD)
    place = data.draw(st.integers(0, len(good) - 1))
    changed = bytearray(good)
    changed[place] ^= data.draw(st.integers(1, 255))
    try:
        found = unpacked(bytes(changed), "x")
    except EvidenceRefused:
        return
    assert found == GOOD or set(found) != set(GOOD)


@given(st.binary(max_size=200), st.integers(0, 100))
def test_noise_is_refused_and_never_breaks_anything(noise, cut):
    good = packed(GOOD)
    for content in (noise, good[:cut] + noise, noise + good[cut:]):
        try:
            found = unpacked(content, "x")
        except EvidenceRefused:
            continue
        assert set(found) <= set(GOOD)


def test_what_is_no_file_or_too_large_is_not_read(tmp_path, monkeypatch):
    with pytest.raises(EvidenceRefused, match="is no file"):
        received(tmp_path)
    with pytest.raises(EvidenceRefused, match="is no file"):
        received(tmp_path / "nowhere.zip")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(EvidenceRefused, match="is no file"):
        received(tmp_path / "pipe")
    large = tmp_path / "large.zip"
    large.write_bytes(bytes(100))
    monkeypatch.setattr(archive, "LARGEST", 99)
    with pytest.raises(EvidenceRefused, match="larger than 99 bytes"):
        received(large)
