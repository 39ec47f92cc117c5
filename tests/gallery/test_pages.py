"""Everything in reports/ is what the program writes today of the runs saved there."""

import re
from pathlib import Path

import pytest

from fairenum import __version__, load_dataset
from fairenum.document.audit_document import AuditDocument
from fairenum.document.files import load, load_as, to_json
from fairenum.document.research_documents import MitigationDocument
from fairenum.render.html import to_html
from fairenum.render.markdown import to_markdown
from fairenum.report import page
from fairenum.report.paper_page import rendered

REPORTS = Path(__file__).parents[2] / "reports"
STALE = "stale: run `make gallery-pages`"
AUDITS = ("compas", "german", "adult")
SHOWN = (*AUDITS, "measured", "injection", "defences", "mitigation", "bench")  # paper.json is shown by its own files
WRITTEN = ("injection", "defences", "mitigation")
LARGEST_PICTURE = 300_000


@pytest.fixture(scope="module")
def paper():
    return load(REPORTS / "paper.json")


def test_everything_in_it_is_accounted_for(paper):
    expected = {f"{name}.{kind}" for name in SHOWN for kind in ("html", "json")}
    expected |= {f"{name}.md" for name in WRITTEN} | {"paper.json", "report.png", *rendered(paper)}
    found = {str(path.relative_to(REPORTS)) for path in REPORTS.rglob("*") if path.is_file()}
    assert found == expected, STALE


@pytest.mark.parametrize("name", [*SHOWN, "paper"])
def test_runs_are_kept_as_they_would_be_today(name):
    document = load(REPORTS / f"{name}.json")
    assert document.environment.packages["fairenum"] == __version__, STALE
    assert document.status == "complete"
    assert to_json(document) == (REPORTS / f"{name}.json").read_text(), STALE


@pytest.mark.parametrize("name", SHOWN)
def test_pages_are_those_of_their_runs(name):
    assert to_html(page(load(REPORTS / f"{name}.json"))) == (REPORTS / f"{name}.html").read_text(), STALE


@pytest.mark.parametrize("name", WRITTEN)
def test_texts_are_those_of_their_runs(name):
    written = to_markdown(page(load(REPORTS / f"{name}.json"), brief=True))
    assert written == (REPORTS / f"{name}.md").read_text(), STALE


def test_the_reproduction_is_shown_as_it_would_be_today(paper):
    assert not paper.plan.is_quick
    for name, text in rendered(paper).items():
        assert (REPORTS / name).read_text() == text, STALE


@pytest.mark.parametrize("name", AUDITS)
def test_audits_are_of_the_bundled_tables(name):
    document = load_as(AuditDocument, REPORTS / f"{name}.json")
    bundled = load_dataset(name, use_sensitive=document.config.reading.use_sensitive)
    assert document.dataset.fingerprint == bundled.fingerprint


def test_the_benchmark_is_that_of_the_readme():
    record = load(REPORTS / "bench.json")
    assert (record.data.name, record.data.rows, record.k) == ("german", 700, 50)


def test_the_guide_says_how_often_other_mitigations_dominate():
    record = load_as(MitigationDocument, REPORTS / "mitigation.json")
    share, name, data = max(
        (method.dominates_guided, method.method, summary.case.data)
        for summary in record.cases
        for method in summary.methods
    )
    said = " ".join((REPORTS.parent / "docs/guided.md").read_text("utf-8").split())
    assert (name, data) == ("exponentiated_gradient", "compas")
    assert f"a method is so in at most {round(20 * share)} of 20: ExponentiatedGradient on compas" in said


def test_the_picture_is_modest():
    picture = (REPORTS / "report.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < LARGEST_PICTURE


def test_nothing_in_it_names_a_place_on_a_svm():
    for path in REPORTS.rglob("*"):
        if path.is_file() and path.suffix != ".png":
            assert not re.search(r"/(?:home|root|tmp|work)/", path.read_text()), path.name
