"""The report in a notebook: the verdict, the scatter and the comparison, with styles of its own and no script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairenum.report import scatter, sections
from fairenum.report.html import environment
from fairenum.report.view import view


def to_notebook(document: Mapping[str, Any]) -> str:
    """Write what a notebook shows of a result."""
    shown = view(document)
    template = environment().get_template("notebook.html")
    return template.render(
        view=shown,
        tiles=tuple(sections.tiles(document)),
        plots=scatter.unlinked(scatter.scatters(document)),
        table=shown.comparison,
    )
