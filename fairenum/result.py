"""What the result of an audit and that of a measurement have in common: how they show and save themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairenum.document.files import save, to_json, write_atomically
from fairenum.document.kinds import JudgedDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date
    from pathlib import Path

    from fairenum.report.rules import Rule


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A document that can show and save itself."""

    document: JudgedDocument

    @property
    def warnings(self) -> dict[str, list[str]]:
        """What to beware of, in words, by the code to look for."""
        from fairenum.report import warnings

        found: dict[str, list[str]] = {}
        for code, words in warnings(self.document):
            found.setdefault(code, []).append(words)
        return found

    def _repr_html_(self) -> str:
        from fairenum.rendering.notebook import to_notebook
        from fairenum.report import page

        return to_notebook(page(self.document))

    def to_html(self, *, rules: Iterable[Rule] = (), profile: str | None = None, day: date | None = None) -> str:
        """Write the report as one page that needs nothing else.

        Parameters
        ----------
        rules
            To judge it by.
        profile
            Whom it is arranged for: "ll144" or, of an audit, "lda"; everybody if not given.
        day
            The date that a profile bears; today's if not given.
        """
        from fairenum.rendering.html import to_html
        from fairenum.report import page

        return to_html(page(self.document, rules=rules, profile=profile, day=day))

    def to_markdown(self, *, rules: Iterable[Rule] = ()) -> str:
        """Write the report in brief, in Markdown."""
        from fairenum.rendering.markdown import to_markdown
        from fairenum.report import page

        return to_markdown(page(self.document, rules=rules, brief=True))

    def save_tables(self, folder: str | Path) -> None:
        """Write every table to a folder as CSV, in which no text is a formula to a spreadsheet."""
        from fairenum.evidence.tables import write_tables

        write_tables(self.document, folder)

    def save_xlsx(self, path: str | Path) -> None:
        """Write every table as a sheet of one workbook; needs the extra ``fairenum[excel]``."""
        from fairenum.evidence.tables import workbook

        write_atomically(path, workbook(self.document))

    def save_evidence(
        self, path: str | Path, *, rules: Iterable[Rule] = (), profile: str | None = None, day: date | None = None
    ) -> None:
        """Write run, pages and tables as one file, which `fairenum.verify` checks.

        That of an audit has a model card, and the model if the result holds one that may be exported; see `to_html` for
        the parameters.
        """
        from fairenum.evidence.bundle import evidence

        content = evidence(self.document, rules=rules, profile=profile, day=day, export=self._exporter)
        write_atomically(path, content)

    @property
    def _exporter(self) -> Callable[[str], None] | None:
        """What writes the selected model to a file; None where there is none."""
        return None

    def to_json(self) -> str:
        """Write the document as text: the same for the same input and seed, but for its timings."""
        return to_json(self.document)

    def save(self, path: str | Path) -> None:
        """Write the document to a file, whole or not at all."""
        save(self.document, path)
