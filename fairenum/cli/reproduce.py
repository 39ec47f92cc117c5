"""fairenum reproduce: repeat the experiments of the EnumSV paper, with figures and a verdict on each claim."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import check_target
from fairenum.cli.progress_bar import shown_progress
from fairenum.cli.shared_options import JOBS, Whole, check_jobs, checked
from fairenum.cli.streams import Exit
from fairenum.document.research_documents import Plan, ReproductionDocument

NAMES = ("german", "ionosphere", "sonar", "compas")
HELP = """Run the experiments of the EnumSV paper many times over, and judge what it claims.

\b
fairenum reproduce                    # all of them
fairenum reproduce german --quick     # a first look at one

The paper's random draws are unknown: each experiment is repeated on many draws, and each verdict says how often a claim
holds. Figures, a page, Markdown and the run itself go into one folder.
"""


@click.command(help=HELP)
@click.argument("experiments", nargs=-1, metavar="[german|ionosphere|sonar|compas]...", type=click.Choice(NAMES))
@click.option("--quick", is_flag=True, help="A first look: few splits and draws.")
@click.option("--splits", type=checked(Plan, "splits"), help="Random splits of each table.  [default: 40]")
@click.option("--draws", type=checked(Plan, "draws"), help="Random draws of COMPAS.  [default: 250]")
@click.option(
    "--seed", type=checked(Plan, "seed"), default=0, show_default=True, help="Seed of the first split and draw."
)
@click.option(
    "--jobs",
    type=Whole(*JOBS),
    default=-1,
    show_default=True,
    callback=check_jobs,
    help="Processes; -1 for all processors.",
)
@click.option(
    "--output",
    metavar="FOLDER",
    default="fairenum-paper",
    show_default=True,
    help="Folder for page, Markdown, figures and run; made if it is missing.",
)
@click.option("--json", metavar="PATH|-", callback=check_target, help="Save the run alone; - prints it.")
@click.option("--saved", type=click.Path(exists=True, dir_okay=False), help="Show a saved run again; run nothing.")
@click.option("--quiet", "-q", is_flag=True, help="Print neither verdicts nor progress.")
def reproduce(
    experiments: tuple[str, ...],
    output: str,
    saved: str | None,
    json: str | None,
    quiet: bool,
    seed: int,
    jobs: int,
    **planned: int | None,
) -> Exit:
    """Run the experiments, write and print the verdicts, and return the exit code."""
    if saved is not None and (experiments or seed or any(planned.values())):
        raise click.UsageError(
            "--saved shows a run as it is; leave out experiments, --quick, --splits, --draws and --seed"
        )
    delivery = Delivery(json=json, quiet=quiet, inputs=() if saved is None else (saved,))
    shown = None if saved is None else _read(saved)
    folder = None if json else _folder(output)
    document = shown or _run(experiments or NAMES, seed, jobs, planned, quiet)
    return delivery.deliver(document, beside=() if folder is None else _written(document, folder))


def _run(
    experiments: tuple[str, ...], seed: int, jobs: int, planned: dict[str, int | None], quiet: bool
) -> ReproductionDocument:
    from fairenum.research.reproduction import reproduce as run

    plan = Plan.quick(seed) if planned.pop("quick") else Plan(seed=seed)
    plan = plan.but(**{name: size for name, size in planned.items() if size is not None})
    with shown_progress(quiet) as progress:
        return run(experiments, plan, jobs=jobs, progress=progress)


def _read(path: str) -> ReproductionDocument:
    from fairenum.document.files import load_as

    return load_as(ReproductionDocument, path)


def _folder(name: str) -> Path:
    """Return the output folder, created if missing; refuse a name that is a file."""
    folder = Path(name)
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"{name!r} is a file; name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _written(document: ReproductionDocument, folder: Path) -> Iterator[tuple[str, str]]:
    """Write page, Markdown, figures and the run to a folder, and yield the kind and path of each."""
    from fairenum.document.files import save, write_atomically
    from fairenum.report.paper_page import rendered

    for name, text in rendered(document).items():
        (folder / name).parent.mkdir(exist_ok=True)
        write_atomically(str(folder / name), text.encode())
    save(document, folder / "paper.json")
    yield "page", str(folder / "paper.html")
    yield "markdown", str(folder / "paper.md")
    yield "run", str(folder / "paper.json")
    yield "figures", str(folder / "figures")
