"""Hostile names in every medium: shown as text, and nothing in them links, runs, computes or steers."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.documents import audit
from support.fuzzing.hostile import FORMULAS, LONE, MARKUP, TEXTS, steers
from support.pages import PLOT, printed, whole_page

from fairenum.document.files import write_atomically
from fairenum.evidence.spreadsheet import to_csv, to_xlsx
from fairenum.render.html import to_html, to_notebook
from fairenum.render.markdown import escaped, to_markdown
from fairenum.render.page import Check, Facts, Figure, Items, Page, Paragraph, Section, Table, Tile
from fairenum.render.svg import draw
from fairenum.render.svg_plot import Axis
from fairenum.report.rules import judge, parse_rules, to_junit
from fairenum.runtime.formatting import file_name, plain, shortened

ANY = st.sampled_from((*TEXTS, *LONE)) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
GFM = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HARMLESS = "harmless"
# What GitHub turns into links and pictures in the text of a page, once its Markdown is read.
LINKED = re.compile(
    r"@\w|#\d|\bGH-\d|https?://|ftp://|\bwww\.\w|mailto:\w|:[\w+-]+:|\b(?=\d*[a-f])[0-9a-f]{7,40}\b", re.IGNORECASE
)


def page_of(text: str) -> Page:
    """Put a text wherever a page has words."""
    table = Table(text, (text, text), ((text, text), (text, "1")), notes=(text,), marked=1)
    plot = replace(PLOT, name=text, title=text, description=text, x=Axis(text))
    blocks = (Paragraph(text), Items((text,)), Facts(((text, text),)), table, Figure((plot,), text))
    return whole_page(
        title=text,
        name=text,
        kicker=text,
        subject=text,
        headline=text,
        notice=text or "a notice",
        findings=(text,),
        warnings=(text,),
        copy_name=text,
        tiles=(Tile.of(text, text or "1"),),
        sections=(Section("a", text, blocks),),
        checks=(Check(text, "open", text),),
    )


class Read(HTMLParser):
    """The elements of a page with the names of their attributes, where links lead, and its text, part by part."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.links: set[str | None] = set()
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attributes)))
        self.links |= {value for name, value in attributes if name in ("href", "src", "action", "style")}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def seen(text: str) -> str:
    """Return what a reader sees of a text, whatever blanks become."""
    return " ".join(plain(text).split())


@given(ANY)
def test_nothing_steers_a_terminal(text):
    assert not any(steers(sign) for sign in printed(page_of(text), width=200) if sign != "\n")
    assert not any(steers(sign) for sign in printed(page_of("x"), files=[("run", text)]) if sign != "\n")


@pytest.mark.parametrize("medium", [to_html, to_notebook])
@given(text=ANY.filter(lambda text: len(text) < 1000))
def test_a_page_has_the_same_elements_whatever_the_names_are(medium, text):
    found, usual = Read(medium(page_of(text))), Read(medium(page_of(HARMLESS)))
    # a long headline, wrapped labels and the limits of an estimate have elements of their own
    assert set(found.tags) <= {*usual.tags, ("h1", ("class",)), ("tspan", ("x", "dy")), ("span", ())}
    assert found.links == usual.links
    assert not any(steers(sign) for text in found.texts for sign in text if sign != "\n")
    assert seen(text) in " ".join(" ".join(found.texts).split())


@given(ANY)
def test_a_drawing_is_well_formed_whatever_the_names_are(text):
    plot = replace(PLOT, name=text, title=text, description=text, x=Axis(text))
    drawn = ElementTree.fromstring(str(draw(plot)))
    assert {element.tag.rpartition("}")[2] for element in drawn.iter()} <= {
        *("svg", "g", "title", "desc", "text", "tspan", "path", "line", "rect", "circle")
    }
    assert not any(steers(sign) for sign in "".join(drawn.itertext()) if sign != "\n")


@given(ANY)
def test_github_shows_a_name_and_links_nothing(text):
    found, usual = Read(GFM.render(to_markdown(page_of(text)))), Read(GFM.render(to_markdown(page_of(HARMLESS))))
    if text.strip():
        assert found.tags == usual.tags
    assert found.links == usual.links
    assert not [part for part in found.texts if LINKED.search(part)]
    assert seen(text) in " ".join("".join(found.texts).split())


@given(ANY)
def test_a_name_is_one_line_of_markdown(text):
    shown = Read(GFM.render(f"before {escaped(text)}"))
    assert shown.tags == [("p", ())]
    assert " ".join("".join(shown.texts).split()) == f"before {seen(text)}".rstrip()
    assert not any(steers(sign) for sign in escaped(text))


@pytest.mark.parametrize("text", ["0.123 [0.1, 0.2]", "-0.025", "a: 3 of 4", "1234567 rows", "sex = woman & man"])
def test_ordinary_words_and_numbers_stay_legible_in_markdown(text):
    assert "<!--" not in escaped(text)


RULES = parse_rules(["accuracy>=0.5", "demographic_parity_difference<=0.1"])


@given(ANY)
def test_junit_is_well_formed_whatever_the_names_are(text):
    judgements = [replace(judge(audit(), rule), reason=text) for rule in RULES]
    suite = ElementTree.fromstring(to_junit(page_of(text), judgements, is_partial=True))
    assert [element.tag for element in suite.iter()] == [
        *("testsuite", "testcase", "error", "system-out", "testcase", "testcase", "failure")
    ]
    told = [*suite.itertext(), *(value for element in suite.iter() for value in element.attrib.values())]
    assert not any(steers(sign) for part in told for sign in part if sign != "\n")


COMPUTED = tuple("=+-@\t\r\n＝＋－＠")


@given(ANY.filter(lambda text: not {*text} & {*"".join(LONE)}))  # which pandas does not take for a name
def test_no_cell_of_a_csv_file_is_a_formula(text):
    written = to_csv(pd.DataFrame({text: [text, 1.0], "b": [2.0, text]}))
    for parting in (",", ";", "\t", "|"):
        for line in written.splitlines():
            cells = [cell.strip().removeprefix('"') for cell in line.split(parting)]
            computed = [cell for cell in cells if cell.startswith(COMPUTED)]
            # inside of quotes commas part nothing, and ours is a file of commas
            assert parting == "," or not computed


@pytest.mark.parametrize("text", [*FORMULAS, *MARKUP[:3]])
def test_no_cell_of_a_workbook_is_a_formula(tmp_path, text):
    (tmp_path / "a.xlsx").write_bytes(to_xlsx({text: pd.DataFrame({text: [text]})}))
    cells = [cell for row in openpyxl.load_workbook(tmp_path / "a.xlsx").active for cell in row]
    assert [cell.data_type for cell in cells] == ["s", "s"]


@given(ANY)
def test_a_file_can_be_named_after_anything(text):
    name = file_name(text, "json")
    assert re.fullmatch(r"fairenum-[\w.-]*\.json", name)
    assert Path(name).name == name
    assert len(name.encode()) <= 200
    assert not any(steers(sign) for sign in name)


def test_a_file_of_a_long_name_is_written(tmp_path):
    path = tmp_path / ("x" * 250)
    write_atomically(path, b"whole")
    assert path.read_bytes() == b"whole"


@given(ANY, st.integers(4, 80))
def test_a_shortened_text_keeps_to_its_room_and_steers_nothing(text, width):
    assert not any(steers(sign) for sign in shortened(text, width))
    assert len(shortened(text, width)) <= 4 * width + 1
