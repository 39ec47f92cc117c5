"""What audit, select and report have in common: where a result goes, what it is judged by, how the program ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import rich_click as click

from fairenum.cli.exit import Exit
from fairenum.report.text import file_name

if TYPE_CHECKING:
    from fairenum.audit import AuditResult
    from fairenum.report.rules import Rule
    from fairenum.report.view import View

Command = TypeVar("Command", bound=Callable[..., Any])

STDOUT = "-"
PROFILES = ("lda", "ll144")
FAIL_ON = (
    "Limit for the selected model on the holdout, such as 'demographic_parity_difference<=0.1'; repeatable. "
    "Exit code 1 if the whole interval is beyond it, 3 if the data leave it open."
)


def check_target(context: click.Context, parameter: click.Parameter, target: str | None) -> str | None:
    """Refuse a place that cannot be written to before anything is computed."""
    if target in (None, STDOUT):
        return target
    path = Path(str(target))
    folder = path if str(target).endswith(("/", os.sep)) else path.parent
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {str(folder)!r}; make it first", context, parameter)
    if path.is_dir() and parameter.name != "output":
        raise click.BadParameter(f"{target!r} is a folder; name a file", context, parameter)
    return target


def read_rules(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[Rule, ...]:
    """Read the rules before anything is computed."""
    if not texts:
        return ()
    from fairenum.report.rules import parse_rules

    return parse_rules(texts)


def output_options(command: Command) -> Command:
    """Add the options that say where a result goes and what it is judged by."""
    option = partial(click.option, panel="Output")
    for add in (
        option("--quiet", "-q", is_flag=True, help="Print neither report nor progress."),
        option("--all", "all_models", is_flag=True, help="Show all models, not only the most telling ones."),
        option("--fail-on", "rules", multiple=True, metavar="RULE", callback=read_rules, help=FAIL_ON),
        option("--html", metavar="PATH|-", callback=check_target, help="Write a page for people; - prints it alone."),
        option("--redact", is_flag=True, help="Leave rows and values of training examples out of all but --export."),
        option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="Date of a profile's page.  [default: today]"),
        option(
            "--profile", type=click.Choice(PROFILES), help="Arrange the page as a memo on alternatives or a bias audit."
        ),
        option("--junit", metavar="PATH", callback=check_target, help="Write the rules as JUnit test cases."),
        option("--markdown", metavar="PATH|-", callback=check_target, help="Write Markdown; - prints it alone."),
        option("--json", metavar="PATH|-", callback=check_target, help="Write the run; - prints it alone."),
    ):
        command = add(command)
    return command


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a result goes, and what it is judged by.

    Attributes
    ----------
    rules
        Limits to judge it by.
    json, markdown, html, junit
        Paths; ``-`` is stdout.
    profile, day
        Whom the page is arranged for, and the date it bears.
    redact
        Leave out what concerns single training rows.
    output
        File or folder for the run.
    export
        File for the selected model.
    all_models
        Show every model.
    quiet
        Show nothing.
    inputs
        Files that are read, and must not be written over.
    """

    rules: tuple[Rule, ...] = ()
    json: str | None = None
    markdown: str | None = None
    html: str | None = None
    junit: str | None = None
    profile: str | None = None
    day: datetime | None = None
    redact: bool = False
    output: str | None = None
    export: str | None = None
    all_models: bool = False
    quiet: bool = False
    inputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        paths = [path for path in (self.json, self.output, self.export, *self._renderings.values()) if path]
        if (self.profile or self.day) and not self.html:
            raise click.UsageError("--profile and --date shape the page; say where it goes with --html")
        for path in paths:
            if paths.count(path) > 1:
                raise click.UsageError(f"two outputs go to {path!r}; give each a place of its own")
            if any(Path(path).exists() and Path(one).exists() and Path(path).samefile(one) for one in self.inputs):
                raise click.UsageError(f"{path!r} is the input; give the output another name")

    @property
    def _renderings(self) -> dict[str, str | None]:
        return {"html": self.html, "markdown": self.markdown, "junit": self.junit}

    @classmethod
    def taken_from(cls, options: dict[str, Any], inputs: tuple[str, ...]) -> Self:
        """Take what concerns outputs out of a command's options."""
        names = [field.name for field in fields(cls) if field.name in options]
        return cls(**{name: options.pop(name) for name in names}, inputs=inputs)

    def deliver(self, result: AuditResult, *, saves: bool) -> Exit:
        """Write and print a result, and say how the program ends."""
        from fairenum.report.view import view

        result = result.redacted() if self.redact else result
        written = tuple(self._write(result, saves=saves))
        shown = view(result.document, rules=self.rules, files=written, all_models=self.all_models)
        self._write_renderings(result, shown)
        self._print(result, shown)
        return _exit_code(shown)

    def _write(self, result: AuditResult, *, saves: bool) -> Iterator[tuple[str, str]]:
        """Save the run and the model, and say where all files are."""
        for place in self._run_paths(result, saves=saves):
            result.save(place)
            yield "run", place
        if self.export:
            result.export(self.export)
            yield "model", self.export
        yield from ((kind, path) for kind, path in self._renderings.items() if path and path != STDOUT)

    def _run_paths(self, result: AuditResult, *, saves: bool) -> Iterator[str]:
        if self.json and self.json != STDOUT:
            yield self.json
        if self.output or (saves and not self.json):
            place = Path(self.output or ".")
            yield str(place / file_name(result.document["dataset"]["name"], "json") if place.is_dir() else place)

    def _write_renderings(self, result: AuditResult, shown: View) -> None:
        from fairenum.audit.result import write_atomically

        for kind, path in self._renderings.items():
            if path and path != STDOUT:
                write_atomically(path, self._rendered(kind, result, shown).encode())

    def _rendered(self, kind: str, result: AuditResult, shown: View) -> str:
        """Write the result in one of its forms."""
        if kind == "html":
            from fairenum.report.html import to_html

            day = self.day.date() if self.day else None
            return to_html(result.document, rules=self.rules, profile=self.profile, day=day)
        if kind == "markdown":
            from fairenum.report.markdown import to_markdown

            return to_markdown(shown)
        from fairenum.report.junit import to_junit

        return to_junit(shown)

    def _print(self, result: AuditResult, shown: View) -> None:
        """Print one thing on stdout; what it does not say about the rules goes to stderr."""
        printed = [kind for kind, path in self._renderings.items() if path == STDOUT]
        if self.json == STDOUT:
            click.echo(result.to_json(), nl=False)
        elif printed:
            click.echo(self._rendered(printed[0], result, shown), nl=False)
        elif not self.quiet:
            from rich.console import Console

            from fairenum.report.terminal import print_report

            return print_report(shown, Console())
        return _print_failures(shown)


def _print_failures(shown: View) -> None:
    from fairenum.report.rules import Outcome

    for judgement in shown.judgements:
        if judgement.outcome is not Outcome.HOLDS:
            click.echo(f"{judgement.outcome.value}: {judgement.rule}: {judgement.reason}", err=True)


def _exit_code(shown: View) -> Exit:
    from fairenum.report.rules import Outcome

    outcomes = {judgement.outcome for judgement in shown.judgements}
    if shown.is_partial:
        return Exit.PARTIAL
    if Outcome.VIOLATED in outcomes:
        return Exit.VIOLATED
    return Exit.INCONCLUSIVE if Outcome.OPEN in outcomes else Exit.DONE
