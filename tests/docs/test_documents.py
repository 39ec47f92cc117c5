"""Every command and code block of the documentation runs, and its generated pages are those of the program."""

import re
import runpy

import pytest
from support.documentation import DOCUMENTS, LANGUAGES, NAMES, ROOT, blocks, prepare, read_commands, run_block


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_every_block_runs(document, folder, capsys):
    prepare(folder)
    names = {}
    for block in blocks(document):
        assert block.language in LANGUAGES, f"{document.name}, line {block.line}: say what language this is"
        if block.is_slow:
            read_commands(block)
        else:
            run_block(block, names)


@pytest.mark.parametrize("name", ["docs/cli.md", "docs/schema.md", "README.md", "fairenum/document/keywords.py"])
def test_generated_pages_are_fresh(name):
    pages = runpy.run_path(str(ROOT / "docs" / "reference.py"))["PAGES"]
    assert (ROOT / name).read_text(encoding="utf-8") == pages[name](), "stale: run `make docs`"


def test_every_link_leads_somewhere():
    for document in DOCUMENTS:
        for target, anchor in re.findall(r"\]\((?!https?://)([^)#]*)#?([^)]*)\)", document.read_text(encoding="utf-8")):
            place = document.parent / target if target else document
            assert place.exists(), f"{document.name} links to {target}"
            assert not anchor or anchor in anchors(place), f"{document.name} links to {target}#{anchor}"


def test_contributing_names_files_that_exist():
    """Names as the guide gives them: a path below fairenum/ or the project, or a file of the room named before."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    known = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    for name in re.findall(r"(?<![\w*])([\w./-]+\.py)\b", text):
        assert any(path == name or path.endswith(f"/{name}") for path in known), f"CONTRIBUTING.md names {name}"


def anchors(document):
    """List the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}
