"""Hostile names, labels and cells are shown as text, and nothing in them runs."""

import pytest
from support.documents import HELD, audit, scored, with_model
from support.fuzzing.hostile import FORMULAS, MARKUP

from fairenum.document.audit_document import AuditDocument
from fairenum.document.choice import Caution
from fairenum.document.header import SolverVersion
from fairenum.document.models import Example, GroupDisagreement, LeftOut
from fairenum.render.html import to_html
from fairenum.report import page as report_page
from fairenum.runtime.formatting import plain

HOSTILE = (*MARKUP, "\u202egnp.exe\u202c", FORMULAS[0], "x" * 10_000, "👩🏽‍🚀 \U0001f1fa\U0001f1f8")


def hostile_document(text: str) -> AuditDocument:
    document = with_model(audit(small=True), 3, left_out=(LeftOut(1, 1, 7, text, {text: {text: 1}}),))
    for rank in range(1, len(document.models) + 1):
        found = document.models[rank - 1].scores.holdout.by_column["age"]
        document = scored(document, rank, by_column={text: found})
    data, names = document.dataset, (text, f"{text}2")
    column = data.sensitive[0]
    sizes = tuple(group.but(name=name) for group, name in zip(column.groups, names, strict=True))
    renamed = column.but(column=text, reference=text, groups=sizes)
    return document.but(
        dataset=data.but(
            name=text,
            label=text,
            favourable=text,
            dropped=(text,),
            features=(data.features[0].but(name=text), *data.features[1:]),
            sensitive=(renamed,),
        ),
        config=document.config.but(primary=text, solver=text, drop=(text,), bands={text: [1.0]}),
        environment=document.environment.but(solver=SolverVersion(text, text, text, {})),
        selection=document.selection.but(
            column=text,
            strip=tuple(cell.but(column=text) for cell in document.selection.strip),
            guards=(HELD.but(guard=text, subject=text),),
        ),
        group_tables=tuple(
            table.but(
                column=text,
                reference=text,
                most_selected=text,
                groups=tuple(group.but(group=name) for group, name in zip(table.groups, names, strict=True)),
            )
            for table in document.group_tables
        ),
        examples=(Example(7, (7,), text, {text: {text: 1}}, {text: text, "plain": 1.0}),),
        multiplicity=document.multiplicity.but(by_column={text: (GroupDisagreement(text, 3, 1, *[0.1] * 5),)}),
        warnings=(Caution("dropped"), Caution("small_group", text), Caution("solver_failed")),
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(show, text):
    html = to_html(report_page(hostile_document(text)))
    page = show(html)
    assert page.evaluate("window.hacked") is None
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, svg:not(.plot, .arrow), [onerror], [onload]").count() == 0
    assert page.locator("#setting").count() == 1
    words = page.evaluate("document.body.textContent")
    assert "\u202e" not in words.replace(page.locator("#data").text_content(), "")
    assert page.locator("h1 + .subject").inner_text().startswith(plain(text)[:8].strip())
    assert page.evaluate("JSON.parse(document.getElementById('data').textContent).dataset.name")[:90] == text[:90]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert len(html) < 250_000
