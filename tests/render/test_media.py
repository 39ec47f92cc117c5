"""Every kind of block in every medium, hostile names as text, and widths that hold."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from support.pages import PLOT, printed, whole_page

from fairenum.render.html import to_html, to_notebook
from fairenum.render.markdown import escaped, to_markdown
from fairenum.render.page import Check, Copy, Facts, Figure, Items, Page, Paragraph, Section, Table
from fairenum.render.svg_plot import Axis

HOSTILE = "[red]bold[/red] \x1b[31m\u202e\r\n| <script>alert(1)</script> @all https://example.org"
MEDIA = (printed, to_html, to_markdown, to_notebook)
WORDS = (
    *("A notice", "A subject", "A headline", "a finding", "a warning", "All blocks", "a paragraph", "another item"),
    *("a fact", "its value", "A table", "2.000", "a note", "A folded table", "Models", "it does not", "Part 2"),
    *("nothing plain", "a plot", "0.2"),
)


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("words", WORDS)
def test_every_medium_shows_every_block(medium, words):
    assert words in medium(whole_page())


def test_figures_are_drawn_shown_in_plain_characters_or_told():
    page = whole_page()
    assert to_html(page).count("<svg") == to_notebook(page).count("<svg") == 3
    for text in (printed(page), to_markdown(page)):
        assert text.count("o--o plain o--o") == 1
        assert text.count("a plot. it rises") == 2
    drawn = to_markdown(page, {"drawn": "figures/drawn.svg"})
    assert "![a plot](figures/drawn.svg)\n\nnothing plain" in drawn
    assert drawn.count("a plot. it rises") == 1


@pytest.mark.parametrize(("plain", "fence"), [("o--o", "```"), ("a ```\n```` b", "`````")])
def test_plain_characters_are_fenced_off_in_markdown(plain, fence):
    figure = Figure((PLOT,), "a caption", plain)
    text = to_markdown(whole_page(sections=(Section("a", "a", (Items(("an item",)), figure)),)))
    assert f"- an item\n\n{fence}text\n{plain}\n{fence}\n\na caption\n" in text


def test_headings_over_headings_are_in_all_media():
    page = whole_page()
    assert '<th colspan="2" scope="colgroup">both: there</th>' in to_html(page)
    assert "rank gap, both gap, both" in printed(page)
    assert "| rank | gap, both | gap, both |" in to_markdown(page)


def test_a_page_has_links_and_a_notebook_has_none():
    assert 'href="#model-1"' in to_html(whole_page())
    html = to_notebook(whole_page())
    assert "href=" not in html
    assert " id=" not in html
    assert "<script" not in html
    assert "<details open>\n<summary>All blocks" in html
    assert "<details>\n<summary>Part 2" in html


def test_the_styles_of_a_notebook_are_for_the_page_alone():
    (style,) = re.findall(r"<style>(.*?)</style>", to_notebook(whole_page()), re.S)
    selectors = [part for rule in style.split("}") if "{" in rule for part in rule.split("{")[0].split(",")]
    assert all(selector.strip().startswith(".fairenum-page") for selector in selectors)


def test_the_terminal_shows_checks_and_warnings_last_and_files_below():
    lines = printed(whole_page(), files=[("run", "a/run.json")]).splitlines()
    assert lines[-5:] == [
        "holds    accuracy>=0.5: it does",
        "violated accuracy>=0.9: it does not",
        "warning  a warning",
        "",
        "run: a/run.json",
    ]


def test_a_path_is_never_broken_into_lines():
    path = "folder/" * 30 + "run.json"
    assert f"run: {path}\n" in printed(whole_page(), files=[("run", path)])
    assert "run: a\\x1b[31m[red].json\n" in printed(whole_page(), files=[("run", "a\x1b[31m[red].json")])


def test_colour_is_only_added():
    coloured = printed(whole_page(is_good_news=True), force_terminal=True, color_system="truecolor")
    assert "\x1b[1;32mA headline" in coloured
    assert "\x1b[1;32m" not in printed(whole_page(), force_terminal=True, color_system="truecolor")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == printed(whole_page())


@pytest.mark.parametrize("width", [40, 80, 81, 200])
def test_a_wide_table_is_divided_and_loses_nothing(width):
    headings = ("name", *(f"heading {place}" for place in range(12)))
    rows = tuple((f"row {number}", *(f"{number}.{place:03}" for place in range(12))) for number in range(3))
    text = printed(whole_page(sections=(Section("a", "a", (Table("", headings, rows),)),)), width)
    assert max(map(cell_len, text.splitlines())) <= width
    assert all(line == line.rstrip() for line in text.splitlines())
    for row in rows:
        assert all(text.count(cell) == 1 for cell in row[1:])
    assert text.count("row 2") == text.count("─\n") == text.count("name")
    assert (text.count("name") > 1) == (width < 200)


def test_words_stay_whole_while_there_is_room():
    rows = (("demographic parity", "African_American & Female", "-0.136 [-0.193, -0.078]", "0.270", "0.134", "open"),)
    table = Table("t", ("gap", "by", "change", "model 1", "model 27", "verdict"), rows, names=2)
    text = printed(whole_page(sections=(Section("a", "a", (table,)),)))
    assert all(word in text for word in ("demographic ", "parity", "African_American", "Female", *rows[0][2:]))
    assert max(map(cell_len, text.splitlines())) <= 80


def test_long_names_are_folded_and_numbers_are_whole():
    rows = (("a very long name of a group " * 3, "0.123456 [0.012345, 0.654321]", "1.000", "23"),)
    table = Table("t", ("group", "an interval", "rate", "n"), rows)
    text = printed(whole_page(sections=(Section("a", "a", (table,)),)))
    assert all(cell in text for cell in rows[0][1:])
    assert max(map(cell_len, text.splitlines())) <= 80


def hostile_page() -> Page:
    table = Table(HOSTILE, (HOSTILE, HOSTILE), ((HOSTILE, HOSTILE),), notes=(HOSTILE,))
    blocks = (Paragraph(HOSTILE), Items((HOSTILE,)), Facts(((HOSTILE, HOSTILE),)), table)
    plot = replace(PLOT, name=HOSTILE, title=HOSTILE, x=Axis(HOSTILE))
    return whole_page(
        subject=HOSTILE,
        headline=HOSTILE,
        findings=(HOSTILE,),
        warnings=(HOSTILE,),
        sections=(Section("a", HOSTILE, (*blocks, Figure((plot,), HOSTILE))),),
        checks=(Check(HOSTILE, "open", HOSTILE),),
    )


def test_markup_is_text_in_a_terminal():
    text = printed(hostile_page(), width=1000)
    assert text.count("[red]bold[/red]") >= 14


def test_markup_is_text_in_markdown():
    text = to_markdown(hostile_page())
    for markup in ("<script", "https://", "@all", "[red]"):
        assert markup not in text
    assert escaped("a|b_c`<d>&") == "a\\|b\\_c\\`&lt;d&gt;&amp;"


@pytest.mark.parametrize("medium", [to_html, to_notebook])
def test_markup_is_text_in_html(medium):
    html = medium(hostile_page())
    assert "<script>alert" not in html
    assert html.count("&lt;script&gt;alert(1)") >= 14
    assert html.count("</style>") == 1


def test_the_copy_is_given_the_room_that_is_left():
    rooms = []

    def copy(room: int) -> Copy:
        rooms.append(room)
        return Copy('{"a":1}', "a <b>copy</b>")

    html = to_html(whole_page(copy=copy))
    assert '<script type="application/json" id="data">{"a":1}</script>' in html
    assert "a &lt;b&gt;copy&lt;/b&gt;" in html
    assert rooms[0] == pytest.approx(245_000 - len(html.encode()), abs=100)
    to_html(whole_page(copy=copy, findings=("x" * 300_000,)))
    assert rooms[1] == 10_000
