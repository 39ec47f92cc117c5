"""Output of a result: write its files, print it, judge it by rules, and determine the exit code."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import rich_click as click

from fairenum.cli.outputs import FORMS, STDOUT
from fairenum.cli.streams import Exit
from fairenum.document.files import save, to_json, write_atomically
from fairenum.runtime.formatting import file_name, plain

if TYPE_CHECKING:
    from fairenum.document.files import AnyDocument
    from fairenum.errors import NotProposed
    from fairenum.render.page import Page
    from fairenum.report.rules import Judgement, Rule

Forms = Mapping[str, Callable[[], str]]
Files = Iterator[tuple[str, str]]  # the kind and place of each file, yielded once it is written
EARLIER = " (in the place of an earlier one)"

# Fields and flags for audits only, and for audits and measurements only.
OF_MODELS = {"redact": "redact", "all_models": "all"}
OF_AUDITS = {
    **{"rules": "fail-on", "junit": "junit", "profile": "profile", "day": "date"},
    **{"tables": "tables", "xlsx": "xlsx", "evidence": "evidence"},
    **OF_MODELS,
}


@dataclass(frozen=True, slots=True)
class Delivery:
    """The output options of a command: target files, rules to judge by, and the profile and date of the page.

    `json`, `markdown`, `html` and `junit` are paths, where ``-`` is stdout. `profile` names a special arrangement of
    the page, `day` is its date. `redact` leaves out details of single training rows. `out` is the file of a table of
    decided rows, or stdout. `flips_table` is a CSV file of the rows that the selected model decides differently from
    the model it is compared with. `inputs` are the files that were read, which are never overwritten.
    """

    json: str | None = None
    markdown: str | None = None
    html: str | None = None
    junit: str | None = None
    rules: tuple[Rule, ...] = ()
    profile: str | None = None
    day: datetime | None = None
    redact: bool = False
    output: str | None = None
    out: str | None = None
    export: str | None = None
    flips_table: str | None = None
    tables: str | None = None
    xlsx: str | None = None
    evidence: str | None = None
    all_models: bool = False
    quiet: bool = False
    inputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.profile or self.day) and not (self.html or self.evidence):
            raise click.UsageError("--profile and --date shape the page; say where it goes with --html or --evidence")
        taken = set()
        if self.flips_table and self.redact:
            raise click.UsageError("--flips-table lists single rows, which --redact leaves out; give one of them")
        files = (self.output, self.out, self.export, self.flips_table, self.xlsx, self.evidence)
        for path in (*self._places.values(), *files):
            if path is None:
                continue
            if (place := os.path.realpath(path)) in taken:
                raise click.UsageError(f"two outputs go to {path!r}; give each a place of its own")
            taken.add(place)
            self.refuse_input(path)

    @property
    def _date(self) -> date | None:
        return self.day.date() if self.day else None

    @property
    def _places(self) -> dict[str, str | None]:
        return {form: getattr(self, form) for form in FORMS}

    def refuse_input(self, path: str) -> None:
        """Refuse an output path that is an input file."""
        if any(Path(path).exists() and Path(one).exists() and Path(path).samefile(one) for one in self.inputs):
            raise click.UsageError(f"{path!r} is the input; give the output another name")

    @classmethod
    def taken_from(cls, options: dict[str, object], inputs: tuple[str, ...]) -> Self:
        """Remove the output options from the options of a command, and return them."""
        names = [field.name for field in fields(cls) if field.name in options]
        given = {name: options.pop(name) for name in names}
        return cls(**given, inputs=inputs)  # type: ignore[arg-type]  # click has converted them

    def deliver(
        self,
        document: AnyDocument,
        *,
        is_fresh: bool = False,
        export: Callable[[str], None] | None = None,
        beside: Iterable[tuple[str, str]] = (),
    ) -> Exit:
        """Write and print a document, and return the exit code.

        A fresh run (`is_fresh`), one that was just computed, is saved under a default name if no path is given.
        `export` writes the selected model to a path; a model that is not proposed is not written, and the exit code is
        then INCONCLUSIVE. `beside` writes further files as it is iterated, and yields the kind and path of each.
        """
        from fairenum.document.audit_document import AuditDocument
        from fairenum.document.measure_document import MeasureDocument
        from fairenum.report import page
        from fairenum.report.rules import judge_all

        if isinstance(document, AuditDocument):
            document = document.redacted() if self.redact or document.is_redacted else document
        else:
            refused = OF_MODELS if isinstance(document, MeasureDocument) else OF_AUDITS
            self.refuse(refused, f"is for audits, and this is a {document.title}")
        judgements = judge_all(document, self.rules)
        brief = page(document, rules=self.rules, brief=True, all_models=self.all_models)
        full = partial(page, document, rules=self.rules, profile=self.profile, day=self._date)
        forms = _forms(brief, full, judgements, is_partial=document.is_partial, kind=document.title)
        forms["json"] = partial(to_json, document)
        written = self._rendered(forms)  # before anything is written: a failure leaves no files behind
        files = [*self._saved(document, is_fresh=is_fresh)]
        exported, withheld = self._exported(export)
        files += [*exported, *self._written(written), *self._flips(document), *self._tables(document, export), *beside]
        self._print(written, brief, files, judgements)
        if withheld:
            click.echo(plain(self._withheld(withheld, dict(files).get("run"), is_fresh=is_fresh)), err=True)
        return _exit_code(judgements, is_partial=document.is_partial, is_withheld=withheld is not None)

    def deliver_page(
        self,
        brief: Page,
        full: Callable[[], Page],
        json: Callable[[], str] | None = None,
        table: Callable[[str], bytes] | None = None,
    ) -> Exit:
        """Write and print a page that has no document, and return the exit code.

        `brief` is printed and written as Markdown, `full` returns the page for HTML, `json` the same content as JSON.
        `table` returns the content of the file `out`, given its name; if that is stdout, the page is printed on stderr.
        """
        forms = _forms(brief, full, (), is_partial=False) | ({"json": json} if json else {})
        written = self._rendered(forms)
        files = [*self._table(table), *self._written(written)]
        self._print(written, brief, files, ())
        return Exit.DONE

    def _table(self, table: Callable[[str], bytes] | None) -> Files:
        if table is None or self.out is None:
            return
        content = table(self.out)
        if self.out == STDOUT:
            click.echo(content.decode(), nl=False)
        else:
            write_atomically(self.out, content)
            yield "decisions", self.out

    def refuse(self, options: Mapping[str, str], reason: str) -> None:
        """Refuse every option that the user set among `options` (flags by field name), and say why."""
        for name, spelling in options.items():
            if getattr(self, name):
                raise click.UsageError(f"--{spelling} {reason}")

    def _saved(self, document: AnyDocument, *, is_fresh: bool) -> Files:
        """Save the run to --output or, if it was just computed and --json is not given, under a default name."""
        if self.output or (is_fresh and not self.json):
            place = Path(self.output or ".")
            path = str(place / file_name(document.name, "json") if place.is_dir() else place)
            self.refuse_input(path)
            earlier = EARLIER if Path(path).exists() else ""
            save(document, path)
            yield "run", path + earlier

    def _exported(self, export: Callable[[str], None] | None) -> tuple[list[tuple[str, str]], NotProposed | None]:
        """Write the model if --export is set; return its kind and path, or the error if the model is not proposed."""
        from fairenum.errors import NotProposed

        if not (self.export and export):
            return [], None
        try:
            export(self.export)
        except NotProposed as error:
            return [], error
        return [("model", self.export)], None

    def _withheld(self, error: NotProposed, saved: str | None, *, is_fresh: bool) -> str:
        """Return the message that says why the selected model was not written, and which command writes it."""
        first, *others = self.inputs
        run, data = ((saved or self.json or "RUN"), first) if is_fresh else (first, others[0])
        options = ("--rank", str(error.rank), "--unconfirmed", "--data", data, "--export", str(self.export))
        command = shlex.join(("fairenum", "select", run.removesuffix(EARLIER), *options))
        return f"model not written: model {error.rank} is not proposed: {error.why}; {command} writes it"

    def _flips(self, document: AnyDocument) -> Files:
        """Write the CSV file --flips-table: rows that the selected model and its reference decide differently."""
        from fairenum.document.audit_document import AuditDocument

        if self.flips_table and isinstance(document, AuditDocument):
            from fairenum.evidence.frames import tables
            from fairenum.evidence.spreadsheet import to_csv

            write_atomically(self.flips_table, to_csv(tables(document)["flips"]).encode())
            yield "flips", self.flips_table

    def _tables(self, document: AnyDocument, export: Callable[[str], None] | None) -> Files:
        """Write the requested CSV tables, workbook and evidence file of an audit or a measurement."""
        from fairenum.document.audit_document import JudgedDocument

        if not isinstance(document, JudgedDocument):
            return
        if self.tables:
            from fairenum.evidence.frames import table_names, write_tables

            for name in table_names(document):
                self.refuse_input(str(Path(self.tables) / name))
            write_tables(document, self.tables)
            yield "tables", self.tables
        if self.xlsx:
            from fairenum.evidence.frames import workbook

            write_atomically(self.xlsx, workbook(document))
            yield "workbook", self.xlsx
        if self.evidence:
            from fairenum.evidence.bundle import evidence

            content = evidence(document, rules=self.rules, profile=self.profile, day=self._date, export=export)
            write_atomically(self.evidence, content)
            yield "evidence", self.evidence

    def _rendered(self, forms: Forms) -> dict[str, str]:
        return {kind: forms[kind]() for kind, path in self._places.items() if path and kind in forms}

    def _written(self, written: Mapping[str, str]) -> Files:
        for kind, path in self._places.items():
            if path and path != STDOUT and kind in written:
                write_atomically(path, written[kind].encode())
                yield "run" if kind == "json" else kind, path

    def _print(
        self, written: Mapping[str, str], page: Page, files: list[tuple[str, str]], judgements: tuple[Judgement, ...]
    ) -> None:
        """Print the report, unless --quiet is given or another form goes to stdout.

        In these two cases, print that form, if any, and on stderr the rules that are violated or undecided.
        """
        printed = [kind for kind, path in self._places.items() if path == STDOUT and kind in written]
        if not printed and not self.quiet:
            from rich.console import Console

            from fairenum.render.terminal import print_page

            return print_page(page, Console(stderr=self.out == STDOUT), files)
        if printed:
            click.echo(written[printed[0]], nl=False)
        return _print_failures(judgements)


def _forms(
    brief: Page, full: Callable[[], Page], judgements: tuple[Judgement, ...], *, is_partial: bool, kind: str = "audit"
) -> dict[str, Callable[[], str]]:
    from fairenum.render.html import to_html
    from fairenum.render.markdown import to_markdown
    from fairenum.report.rules import to_junit

    return {
        "html": lambda: to_html(full()),
        "markdown": partial(to_markdown, brief),
        "junit": partial(to_junit, brief, judgements, is_partial=is_partial, kind=kind),
    }


def _print_failures(judgements: tuple[Judgement, ...]) -> None:
    from fairenum.report.rules import RuleOutcome

    for judgement in judgements:
        if judgement.outcome is not RuleOutcome.HOLDS:
            click.echo(plain(f"{judgement.outcome.value}: {judgement.rule}: {judgement.reason}"), err=True)


def _exit_code(judgements: tuple[Judgement, ...], *, is_partial: bool, is_withheld: bool) -> Exit:
    from fairenum.report.rules import RuleOutcome

    outcomes = {judgement.outcome for judgement in judgements}
    if is_partial:
        return Exit.PARTIAL
    if RuleOutcome.VIOLATED in outcomes:
        return Exit.VIOLATED
    return Exit.INCONCLUSIVE if RuleOutcome.OPEN in outcomes or is_withheld else Exit.DONE
