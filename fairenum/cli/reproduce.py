"""fairenum reproduce: the paper's experiments, figures and a verdict on each claim."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import rich_click as click

from fairenum.cli.exit import Exit
from fairenum.cli.outputs import STDOUT, check_target
from fairenum.cli.progress import shown_progress

NAMES = ("german", "ionosphere", "sonar", "compas")
HELP = """Run the experiments of the EnumSV paper many times over, and judge what it claims.

\b
fairenum reproduce                    # all of them
fairenum reproduce german --quick     # a first look at one

The paper's random draws are unknown; so each experiment is a distribution, and each verdict says how often. Figures, a
page, Markdown and the run itself go into one folder.
"""


@click.command(help=HELP)
@click.argument("experiments", nargs=-1, metavar="[german|ionosphere|sonar|compas]...", type=click.Choice(NAMES))
@click.option("--quick", is_flag=True, help="A first look: few splits and draws.")
@click.option("--splits", type=click.IntRange(min=1), help="Random splits of each table.  [default: 40]")
@click.option("--draws", type=click.IntRange(min=1), help="Random draws of COMPAS.  [default: 250]")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the first split and draw.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Processes; -1 for all processors.")
@click.option(
    "--output",
    metavar="FOLDER",
    default="fairenum-paper",
    show_default=True,
    help="Folder for page, Markdown, figures and run; made if it is not there.",
)
@click.option("--json", "target", metavar="PATH|-", callback=check_target, help="Save the run alone; - prints it.")
@click.option("--saved", type=click.Path(exists=True, dir_okay=False), help="Show a saved run again; run nothing.")
@click.option("--quiet", "-q", is_flag=True, help="Print neither verdicts nor progress.")
def reproduce(
    experiments: tuple[str, ...], output: str, target: str | None, saved: str | None, quiet: bool, **options: Any
) -> Exit:
    """Run the experiments and deliver what they show."""
    if options["jobs"] == 0:
        raise click.UsageError("--jobs is the number of processes: 1 or more, or -1 for all processors")
    if saved is not None and experiments:
        raise click.UsageError("--saved shows a run as it is; leave the experiments out")
    folder = None if target else _folder(output)
    document = _run(experiments or NAMES, quiet, **options) if saved is None else _read(saved)
    _deliver(document, folder, target, quiet)
    return Exit.PARTIAL if document["status"] == "interrupted" else Exit.DONE


def _run(
    experiments: tuple[str, ...], quiet: bool, quick: bool, seed: int, jobs: int, **sizes: int | None
) -> Mapping[str, Any]:
    from fairenum.reproduction import Plan
    from fairenum.reproduction import reproduce as run

    plan = Plan.quick(seed) if quick else Plan(seed=seed)
    plan = plan.but(**{name: size for name, size in sizes.items() if size is not None})
    with shown_progress(quiet) as progress:
        return run(experiments, plan, jobs=jobs, progress=progress)


def _read(path: str) -> Mapping[str, Any]:
    """Read a saved run, and refuse what is none."""
    from fairenum.errors import ResultError
    from fairenum.reproduction import FORMAT

    try:
        document: Mapping[str, Any] = json.loads(Path(path).read_bytes())
        found = document["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise ResultError(
            f"{path!r} is no saved reproduction; make one with: fairenum reproduce --json PATH"
        ) from error
    if found != FORMAT:
        raise ResultError(f"{path!r} has the format {found!r}, not {FORMAT!r}; run it again with this version")
    return document


def _folder(name: str) -> Path:
    """Refuse a folder that cannot be made before anything is computed."""
    folder = Path(name)
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"{name!r} is a file; name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _deliver(document: Mapping[str, Any], folder: Path | None, target: str | None, quiet: bool) -> None:
    saved = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if target == STDOUT:
        click.echo(saved, nl=False)
        return
    places = list(_written(document, saved, folder, target))
    if not quiet:
        from rich.console import Console

        from fairenum.report.terminal import print_table
        from fairenum.reproduction.page import headline, verdicts, warnings

        print_table(headline(document), warnings(document), verdicts(document), places, Console())


def _written(
    document: Mapping[str, Any], saved: str, folder: Path | None, target: str | None
) -> Iterator[tuple[str, str]]:
    """Write every file, and say where it is."""
    from fairenum.audit.result import write_atomically
    from fairenum.reproduction import rendered

    if folder is None:
        write_atomically(str(target), saved.encode())
        yield "run", str(target)
        return
    for name, text in {"paper.json": saved, **rendered(document)}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        write_atomically(str(folder / name), text.encode())
    yield "page", str(folder / "paper.html")
    yield "markdown", str(folder / "paper.md")
    yield "run", str(folder / "paper.json")
    yield "figures", str(folder / "figures")
