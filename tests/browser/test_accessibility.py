"""What axe-core finds in the page: nothing serious, light or dark, wide or narrow."""

import pytest
from documents import audit_document, full_document

from fairenum.report.html import to_html

GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_serious(show, axe, scheme, width):
    page = show(to_html(full_document(models=40)), color_scheme=scheme, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.locator("#model-9 td").first.click()
    assert grave(axe.run(page)) == []


def test_axe_finds_nothing_serious_where_nothing_was_selected(show, axe):
    assert grave(axe.run(show(to_html(audit_document(selected=None, small=True))))) == []


def test_axe_would_find_something(show, axe):
    page = show(to_html(audit_document()))
    page.evaluate("document.querySelector('#theme').textContent = ''")
    assert [violation["id"] for violation in axe.run(page).response["violations"]] == ["button-name"]


def grave(results) -> list[tuple[str, list[str]]]:
    return [
        (violation["id"], [node["html"] for node in violation["nodes"]])
        for violation in results.response["violations"]
        if violation["impact"] in GRAVE
    ]
