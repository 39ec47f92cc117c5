"""Evidence as a whole: what is in it, that it is verified, and that every kind of tampering is named."""

import hashlib
import io
import json
import shutil
import subprocess
import zipfile
from datetime import date

import pytest
from support.decisions import audited, decided_frame, table
from support.documents import audit, full, saved

import fairenum
from fairenum.document.files import parse, to_json
from fairenum.document.header import Fault
from fairenum.errors import EvidenceRefused, ResultError
from fairenum.evidence import verification
from fairenum.evidence.archive import MANIFEST, packed, read_manifest, to_manifest
from fairenum.evidence.bundle import evidence
from fairenum.render.html import to_html
from fairenum.report import page
from fairenum.report.evidence_words import MEASURED


def relisted(files):
    """Pack files with a list that fits them, as somebody would who tampers with both."""
    rest = {name: content for name, content in files.items() if name != MANIFEST}
    return packed({**rest, MANIFEST: to_manifest(rest)})


def check(place, content):
    place.write_bytes(content)
    return fairenum.verify(place)


def test_it_holds_all_of_the_run_and_is_verified(packed_evidence, files, place):
    found = check(place, packed_evidence)
    assert found.is_verified
    assert (found.faults, found.unchecked) == ((), ())
    assert found.files == len(files) - 1
    assert found.sha256 == hashlib.sha256(packed_evidence).hexdigest()
    others = {name for name in files if not name.startswith("tables/")}
    assert others == {
        *("README.md", "SHA256SUMS", "environment.json", "model-card.md", "report-lda.html", "report.html"),
        *("run.json", "summary.md"),
    }
    assert parse(files["run.json"], "run.json") == audit().but(timings={})
    assert files["report.html"].decode() == to_html(page(audit()))
    assert b"2026-02-03" in files["report-lda.html"]
    assert "There is no model in it: a saved run holds no models" in files["README.md"].decode()
    for name in files:
        assert f"- `{name}`: " in files["README.md"].decode()


def test_the_list_is_one_that_sha256sum_checks(packed_evidence, files, tmp_path):
    listed = read_manifest(files.pop(MANIFEST))
    assert listed == {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    program = shutil.which("sha256sum")
    if program:
        zipfile.ZipFile(io.BytesIO(packed_evidence)).extractall(tmp_path)
        subprocess.run([program, "--check", "--strict", "--quiet", MANIFEST], cwd=tmp_path, check=True)


def test_the_same_audit_gives_the_same_bytes_whatever_its_timings(packed_evidence):
    assert evidence(audit()) == evidence(audit().but(timings={"enumeration": 9.9}))
    names = zipfile.ZipFile(io.BytesIO(packed_evidence)).infolist()
    assert [entry.filename for entry in names] == sorted(entry.filename for entry in names)
    assert {entry.date_time for entry in names} == {(1980, 1, 1, 0, 0, 0)}


def test_versions_say_nothing_about_the_machine(files):
    versions = json.loads(files["environment.json"])
    assert versions["run"] == json.loads(to_json(audit()))["environment"]
    assert versions["evidence"]["packages"]["fairenum"] == fairenum.__version__
    assert (versions["evidence"]["machine"], versions["evidence"]["processors"]) == (None, None)


@pytest.mark.parametrize("name", ["compas", "german", "adult"])
def test_evidence_of_every_saved_audit_is_verified_though_its_page_carries_a_reduced_copy(name, place):
    content = evidence(saved(name))
    assert b'"reduced":' in content
    assert check(place, content).is_verified


def test_a_redacted_run_gives_no_single_rows(place):
    document = full().redacted()
    content = evidence(document)
    assert check(place, content).is_verified
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for table in ("examples", "flips", "splits", "clusters"):
            assert archive.read(f"tables/{table}.csv").count(b"\n") == 1, "a header alone"
        assert parse(archive.read("run.json"), "run").is_redacted


def test_a_model_is_there_if_it_may_be_exported_and_else_why_not(place):
    def refuse(path):
        raise ResultError("the holdout does not show model 3 to be *fairer*")

    content = evidence(audit(), export=refuse)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert "model.skops" not in archive.namelist()
        told = archive.read("README.md").decode()
        assert "There is no model in it: the holdout does not show model 3 to be \\*fairer\\*." in told
        assert "The file model.skops beside this card" not in archive.read("model-card.md").decode()
    assert check(place, content).is_verified


def test_a_redacted_file_holds_no_model_that_is_made_of_training_rows():
    def never(path):
        raise AssertionError("it must not be exported")

    document = audit().redacted()
    svm = {"kernel": "rbf", "gamma": 0.5}
    content = evidence(document.but(config=document.config.but(**svm)), export=never)
    assert b"holds training rows, which a redacted file leaves out" in content


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("run.json", "changed"),
        ("report.html", "changed"),
        ("tables/groups.csv", "changed"),
        ("model-card.md", "changed"),
    ],
)
def test_a_changed_file_is_named(files, place, name, kind):
    files[name] = files[name].replace(b"1", b"2", 1)
    faults = check(place, packed(files)).faults
    assert Fault(kind, name) in faults
    assert {fault.name for fault in faults} <= {name, "report.html", "report-lda.html"}


def test_a_missing_file_is_named_whether_it_is_listed_or_not(files, place):
    del files["tables/groups.csv"]
    assert check(place, packed(files)).faults == (Fault("missing", "tables/groups.csv"),)
    del files["report.html"]
    assert check(place, relisted(files)).faults == (Fault("missing", "report.html"),)
    del files["run.json"]
    assert [fault.name for fault in check(place, relisted(files)).faults] == ["report.html", "run.json"]


def test_a_file_that_is_not_listed_is_named(files, place):
    files["tables/more.csv"] = b"x\n"
    files["inner.zip"] = packed({"run.json": b"{}"})
    faults = check(place, packed(files)).faults
    assert faults == (Fault("extra", "inner.zip"), Fault("extra", "tables/more.csv"))


def test_a_run_that_is_none_is_a_fault_even_if_it_is_listed(files, place):
    files["run.json"] = b'{"kind": "audit"}'
    (fault,) = check(place, relisted(files)).faults
    assert (fault.kind, fault.name) == ("no_document", "run.json")
    files["run.json"] = b"[" * 100_000
    (fault,) = check(place, relisted(files)).faults
    assert fault.kind == "no_document"


def test_pages_of_another_run_are_found_even_if_all_is_listed(files, place):
    files["run.json"] = to_json(audit(selected=4)).encode()
    faults = check(place, relisted(files)).faults
    assert set(faults) == {Fault("other_copy", "report.html"), Fault("other_copy", "report-lda.html")}


def test_a_number_changed_in_the_copy_of_a_page_is_found(files, place):
    copy = files["report.html"]
    files["report.html"] = copy.replace(b'"rank":3', b'"rank":2', 1)
    assert files["report.html"] != copy
    assert check(place, relisted(files)).faults == (Fault("other_copy", "report.html"),)


@pytest.mark.parametrize("html", [b"", b"<p>\xff</p>", b'<script type="application/json" id="data">{}</script>' * 2])
def test_a_page_without_one_copy_is_a_fault(files, place, html):
    files["report.html"] = html
    assert check(place, relisted(files)).faults == (Fault("no_copy", "report.html"),)


def test_pages_of_another_version_are_said_not_to_be_compared(files, place, monkeypatch):
    files["report.html"] = files["report.html"].replace(b'"rank":3', b'"rank":2', 1)
    monkeypatch.setattr(verification, "version", lambda name: "99.0")
    found = check(place, relisted(files))
    assert (found.faults, found.unchecked) == ((), ("report.html",))
    files["environment.json"] = b"{}"  # nobody gets away by not saying which version it was
    assert check(place, relisted(files)).faults == (Fault("other_copy", "report.html"),)


@pytest.mark.parametrize("listed", [b"x", b"0" * 64 + b" run.json\n", b"\xff\n", b"A" * 64 + b"  run.json\n"])
def test_a_list_that_is_none_is_refused(files, place, listed):
    files[MANIFEST] = listed
    with pytest.raises(EvidenceRefused, match="line 1 of SHA256SUMS is no digest"):
        check(place, packed(files))
    files[MANIFEST] = to_manifest({"a": b""}) * 2
    with pytest.raises(EvidenceRefused, match="line 2 of SHA256SUMS is no digest and name, or names a file again"):
        check(place, packed(files))


def test_a_file_without_a_list_is_no_evidence(place):
    with pytest.raises(EvidenceRefused, match="it holds no SHA256SUMS"):
        check(place, packed({"run.json": b"{}"}))


def test_a_measurement_needs_no_card_and_an_audit_does(files, place):
    result = fairenum.measure(decided_frame(200), "hired", "sex", label="good", favourable="yes", score="points")
    result.save_evidence(place, profile="ll144", day=date(2026, 2, 3))
    assert fairenum.verify(place).is_verified
    with zipfile.ZipFile(place) as archive:
        words = archive.read("README.md").decode()
        assert parse(archive.read("run.json"), "run.json") == result.document.but(timings={})
        assert "report-ll144.html" in archive.namelist()
    assert "There is no model in it" not in words
    assert f"- `tables/groups.csv`: {MEASURED['groups']}" in words
    del files["model-card.md"]
    assert check(place, relisted(files)).faults == (Fault("missing", "model-card.md"),)


def test_the_model_in_use_is_in_it(place):
    document = audited(table(), incumbent="hired", drop=["points", "rival"], guards="none").document
    content = evidence(document, profile="ll144", day=date(2026, 2, 3))
    assert check(place, content).is_verified
    with zipfile.ZipFile(place) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    assert found["tables/incumbent.csv"].splitlines()[1].startswith('"hired","decisions","1","0"')
    assert found["tables/models.csv"].splitlines()[1].startswith('0,"in use"')
    assert "compared with: the model in use (hired)" in found["model-card.md"]
    assert "The lowest impact ratio of the model in use (hired) is" in found["report-ll144.html"]
