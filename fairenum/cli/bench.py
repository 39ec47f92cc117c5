"""fairenum bench: which solver is fastest here, and against the paper's algorithm."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich_click as click

from fairenum.cli.outputs import STDOUT, check_target
from fairenum.report.text import plain

if TYPE_CHECKING:
    from rich.table import Table

    from fairenum.bench import BenchResult, Standing
    from fairenum.bench.contest import Basis, Progress

SIGNS = {"measured": "", "extrapolated": "~", "at least": ">"}


@click.command()
@click.argument("data", default="german")
@click.option("--solver", "solvers", multiple=True, help="Solver to race; repeatable.  [default: all available]")
@click.option("-k", "k", type=click.IntRange(min=1), default=50, show_default=True, help="Number of models.")
@click.option("--rows", type=click.IntRange(min=2), help="Rows to draw.  [default: 70 %, at most 1000]")
@click.option("--cost", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True, help="The SVM's C.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draw.")
@click.option("--label", help="Column to predict; a file needs it.")
@click.option("--favourable", help="Favourable value of the label; a file needs it.")
@click.option("--drop", multiple=True, help="Column to leave out; repeatable.")
@click.option(
    "--categorical",
    type=click.Choice(["ordinal", "onehot"]),
    default="ordinal",
    show_default=True,
    help="How to turn texts into numbers.",
)
@click.option("--standardise/--raw", default=True, show_default=True, help="Whether to scale numbers.")
@click.option("--full", is_flag=True, help="Stop nobody after half a minute; Algorithm 1 may take hours.")
@click.option("--growth/--no-growth", default=True, show_default=True, help="Measure growth on random data.")
@click.option("--json", "target", metavar="PATH|-", callback=check_target, help="Save the result; - prints it alone.")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only; for use with --json.")
def bench(
    data: str,
    label: str | None,
    favourable: str | None,
    drop: tuple[str, ...],
    categorical: Any,
    target: str | None,
    quiet: bool,
    **settings: Any,
) -> None:
    """Race the solvers and the paper's algorithm for the best models of DATA, a bundled name or a file.

    Times are CPU times in one process with one BLAS thread, given in fits of scikit-learn's SVC made beside them.
    Sensitive columns are features here: the clock does not mind.
    """
    from fairenum.audit.result import write_atomically
    from fairenum.bench import bench as run_bench
    from fairenum.dataset import load_dataset

    dataset = load_dataset(data, label, favourable, drop=drop, use_sensitive=True, categorical=categorical)
    with _shown_progress(quiet) as progress:
        result = run_bench(dataset, progress=progress, **settings)
    document = json.dumps(result.record, indent=2)
    if target == STDOUT:
        click.echo(document)
        return
    if target is not None:
        write_atomically(target, f"{document}\n".encode())
    if not quiet:
        _print(result, target)


@contextmanager
def _shown_progress(quiet: bool) -> Iterator[Progress]:
    """Show what is under way on stderr, if that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda _: None
        return
    with console.status("starting") as status:
        yield status.update


def _print(result: BenchResult, target: str | None) -> None:
    from rich.console import Console

    from fairenum.bench import draw

    # Names of tables and solvers are text, never markup; a log and a terminal read the same.
    console = Console(markup=False, highlight=False)
    console.print(_headline(result), _table(result), *_notes(result), sep="\n")
    for axis in ("n", "d", "k"):
        if series := [one for one in result.growth if one.axis == axis]:
            console.print("\n" + draw(series), soft_wrap=True)
    if target is not None:
        console.print(f"\nsaved: {plain(target)}", soft_wrap=True)


def _headline(result: BenchResult) -> str:
    data = result.data
    return (
        f"{plain(data['name'])}: {data['rows']} rows, {data['features']} features, C = {data['cost']:g}, "
        f"the {result.k} best models\none SVC fit takes {1000 * result.svc_fit['seconds']:.3g} ms\n"
    )


def _table(result: BenchResult) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("solver", no_wrap=True)
    for heading in ("SVC fits", "per model", "times faster", "CPU s", "solved", "in place"):
        table.add_column(heading, justify="right", no_wrap=True)
    for standing in sorted(result.standings, key=lambda standing: standing.fits or math.inf):
        table.add_row(plain(standing.name), *_cells(result, standing))
    return table


def _cells(result: BenchResult, standing: Standing) -> list[str]:
    if standing.fits is None or standing.seconds is None:
        return ["failed"]
    sign = SIGNS[standing.basis]
    return [
        sign + _three_digits(standing.fits),
        sign + _three_digits(standing.fits / result.k),
        _times_faster(result, standing),
        sign + _three_digits(standing.seconds),
        str(standing.nodes),
        f"{standing.in_place} of {standing.models}",
    ]


def _times_faster(result: BenchResult, standing: Standing) -> str:
    paper, speedup = result.paper, result.speedup(standing)
    if speedup is None or standing is paper:
        return "" if standing is not paper else "1"
    return _ratio_sign(paper.basis, standing.basis) + _three_digits(speedup)


def _ratio_sign(above: Basis, below: Basis) -> str:
    """Say what is known of a ratio whose two sides are measured, extrapolated or lower bounds."""
    if "at least" in (above, below):
        return "?" if above == below else ">" if above == "at least" else "<"
    return "~" if "extrapolated" in (above, below) else ""


def _three_digits(number: float) -> str:
    """Write a number in plain digits, about as many as were measured."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _notes(result: BenchResult) -> Iterator[str]:
    """Say what the table's words and signs mean, and what is not in it."""
    yield (
        "\nSVC fits: time for all models, in fits of SVC (tol 0.001) made beside it; times faster: than Algorithm 1 "
        "of the paper; solved: boxes solved beside the first; in place: models found at their proven rank."
    )
    bases = {standing.basis for standing in result.standings}
    if "extrapolated" in bases:
        yield (
            f"~ extrapolated from the models found in {result.seconds:g} s, good to a factor of about two; "
            "--full runs all of them."
        )
    if "at least" in bases:
        yield f"> stopped after {result.seconds:g} s with fewer than three models; --full runs all of them."
    for standing in result.standings:
        if standing.error:
            yield plain(f"{standing.name}: {standing.error}")
    yield f"First calls (imports, loading or compiling the paths' inner loop): {result.first_calls:.2g} s."
