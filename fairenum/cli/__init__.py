"""The command line: one file per command; each parses, calls one public function, and prints."""

import sys

import rich_click as click

from fairenum import __version__
from fairenum.cli import bench, datasets, solvers
from fairenum.errors import FairenumError

EXIT_BAD_INPUT = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fairenum")
def group() -> None:
    """Audit the fairness of the near-optimal support vector machines of a table."""


group.add_command(bench.bench)
group.add_command(datasets.datasets)
group.add_command(solvers.solvers)


def main() -> None:
    """Run the program; a mistake the user can mend is one line on stderr and exit code 2."""
    try:
        group(prog_name="fairenum")
    except FairenumError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(EXIT_BAD_INPUT)
