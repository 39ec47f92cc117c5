"""What axe-core finds in the page: nothing serious, light or dark, wide or narrow."""

import pytest
from support.documents import audit, saved

from fairenum.render.html import to_html
from fairenum.report import page as report_page

GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_serious(show, axe, html, scheme, width):
    page = show(html, color_scheme=scheme, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.locator("#model-9 td").first.click()
    assert grave(axe.run(page)) == []


def test_axe_finds_nothing_serious_where_nothing_was_selected(show, axe):
    assert grave(axe.run(show(to_html(report_page(audit(selected=None, small=True)))))) == []


@pytest.mark.parametrize("name", ["defences", "bench", "mitigation", "paper"])
def test_axe_finds_nothing_serious_on_pages_of_other_runs(show, axe, name):
    assert grave(axe.run(show(to_html(report_page(saved(name)))))) == []


def test_axe_would_find_something(show, axe):
    page = show(to_html(report_page(audit())))
    page.evaluate("document.querySelector('#theme').textContent = ''")
    assert [violation["id"] for violation in axe.run(page).response["violations"]] == ["button-name"]


def grave(results) -> list[tuple[str, list[str]]]:
    return [
        (violation["id"], [node["html"] for node in violation["nodes"]])
        for violation in results.response["violations"]
        if violation["impact"] in GRAVE
    ]
