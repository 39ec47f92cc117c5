"""Command-line options for output files, and checks that these files can be written."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from fairenum.cli.shared_options import added

if TYPE_CHECKING:
    from fairenum.report.rules import Rule

STDOUT = "-"
FORMS = ("json", "html", "markdown", "junit")
PROFILES = ("lda", "ll144")
FAIL_ON = (
    "Limit such as 'demographic_parity_difference<=0.1': for the model in use, on all its rows, if there is one, else "
    "for the selected model, on the holdout; incumbent:, selected: or best: before it says for whom. Repeatable. Exit "
    "code 1 if the whole interval is beyond it, 3 if the data leave it open."
)
FAIL_MEASURED = (
    "Limit for decisions, such as 'demographic_parity_ratio>=0.8'; repeatable. Exit code 1 if the whole interval is "
    "beyond it, 3 if the data leave it open."
)


def check_target(context: click.Context, parameter: click.Parameter, target: str | None) -> str | None:
    """Return the path of an output file; refuse a path that cannot be written, before anything is computed."""
    if target is None:
        return None
    if target == STDOUT:
        obstacle = None if parameter.name in FORMS else "this cannot be printed; name a file"
    else:
        obstacle = _obstacle(target, may_be_folder=parameter.name == "output")
    if obstacle:
        raise click.BadParameter(obstacle, context, parameter)
    return target


def check_workbook(context: click.Context, parameter: click.Parameter, target: str | None) -> str | None:
    """Return the path of a workbook; refuse a path that cannot be written, or any if openpyxl is not installed."""
    if target is not None:
        from fairenum.evidence.spreadsheet import require_xlsx

        require_xlsx()
    return check_target(context, parameter, target)


def check_folder(context: click.Context, parameter: click.Parameter, target: str | None) -> str | None:
    """Return the path of an output folder; refuse a folder that can be neither written to nor created."""
    if target is None:
        return None
    path = Path(target)
    folder = path if path.is_dir() else path.parent
    if target == STDOUT or (path.exists() and not path.is_dir()):
        raise click.BadParameter(f"{target!r} is no folder; name one", context, parameter)
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {str(folder)!r}; make it first", context, parameter)
    if not os.access(folder, os.W_OK):
        raise click.BadParameter(f"nothing may be written to the folder {str(folder)!r}", context, parameter)
    return target


def _obstacle(target: str, *, may_be_folder: bool) -> str | None:
    path = Path(target)
    folder = path if path.is_dir() or target.endswith(("/", os.sep)) else path.parent
    if not folder.is_dir():
        return f"there is no folder {str(folder)!r}; make it first"
    if path.is_dir() and not may_be_folder:
        return f"{target!r} is a folder; name a file"
    # files are replaced as a whole, which must not happen to a device
    if path.exists() and not path.is_dir() and not path.is_file():
        return f"{target!r} is no ordinary file; name another"
    return None if os.access(folder, os.W_OK) else f"nothing may be written to the folder {str(folder)!r}"


def read_rules(_context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[Rule, ...]:
    """Return the rules of --fail-on, parsed from their texts; refuse invalid ones."""
    if not texts:
        return ()
    from fairenum.report.rules import parse_rules

    return parse_rules(texts)


def read_limits(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[Rule, ...]:
    """Return the rules of --fail-on for a measurement; refuse rules that name a model, as a measurement has none."""
    rules = read_rules(context, parameter, texts)
    if rules:
        from fairenum.report.rules import refuse_subjects

        refuse_subjects(rules)
    return rules


option = partial(click.option, panel="Output")
FILES = (
    option("--json", metavar="PATH|-", callback=check_target, help="Write the run; - prints it alone."),
    option("--markdown", metavar="PATH|-", callback=check_target, help="Write Markdown; - prints it alone."),
    option("--html", metavar="PATH|-", callback=check_target, help="Write a page for people; - prints it alone."),
)
JUNIT = option(
    "--junit", metavar="PATH|-", callback=check_target, help="Write the rules as JUnit tests; - prints them alone."
)
DAY = option("--date", "day", type=click.DateTime(["%Y-%m-%d"]), help="Date of a profile's page.  [default: today]")
AUDITS = (
    JUNIT,
    option(
        "--profile", type=click.Choice(PROFILES), help="Arrange the page as a memo on alternatives or a bias audit."
    ),
    DAY,
    option("--redact", is_flag=True, help="Leave rows and values of training examples out of all but --export."),
    option("--fail-on", "rules", multiple=True, metavar="RULE", callback=read_rules, help=FAIL_ON),
    option("--all", "all_models", is_flag=True, help="Show all models, not only the most informative ones."),
)
MEASUREMENTS = (
    JUNIT,
    option("--profile", type=click.Choice(PROFILES[1:]), help="Arrange the page as a bias audit."),
    DAY,
    option("--fail-on", "rules", multiple=True, metavar="RULE", callback=read_limits, help=FAIL_MEASURED),
)
HANDED_ON = (
    option("--tables", metavar="DIR", callback=check_folder, help="Write every table of the run to a folder, as CSV."),
    option(
        "--xlsx",
        metavar="PATH",
        callback=check_workbook,
        help="Write the same tables as sheets of a workbook; needs fairenum[excel].",
    ),
    option(
        "--evidence",
        metavar="PATH",
        callback=check_target,
        help="Write run, pages, tables and, of an audit, model and card as one zip file; see fairenum verify.",
    ),
)
QUIET = option("--quiet", "-q", is_flag=True, help="Print neither report nor progress.")


# Output options for a document of any kind; of an audit and of a measurement, with their rules.
output_options = added((*FILES, QUIET))
audit_output_options = added((*FILES, *HANDED_ON, *AUDITS, QUIET))
measure_output_options = added((*FILES, *HANDED_ON, *MEASUREMENTS, QUIET))
