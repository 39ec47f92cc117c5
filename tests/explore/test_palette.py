"""The live page and the report use the same colours for the same things."""

import re
from importlib.resources import files

PACKAGE = files("fairenum")
COLOUR = re.compile(r"--([a-z0-9-]+):(light-dark\([^)]*\))")


def colours(*path: str) -> dict[str, str]:
    return dict(COLOUR.findall(PACKAGE.joinpath(*path).read_text(encoding="utf-8")))


def test_names_that_page_and_report_share_have_one_colour():
    live, report = colours("explore", "static", "explore.css"), colours("render", "templates", "page.css")
    shared = live.keys() & report.keys()
    assert {"paper", "ink", "accent", "t1"} <= shared
    assert {name: live[name] for name in shared} == {name: report[name] for name in shared}
