"""The command line: one module per command, which parses options, calls one public function, and prints the result."""

from __future__ import annotations

import os
import traceback

import rich_click as click

from fairenum import __version__
from fairenum.cli import (
    attack,
    audit,
    bench,
    compare,
    datasets,
    explain,
    explore,
    measure,
    report,
    reproduce,
    score,
    select,
    solvers,
    verify,
)
from fairenum.cli.config_file import origin
from fairenum.cli.streams import Exit, flushed, prepare_streams
from fairenum.errors import FairenumError
from fairenum.runtime.formatting import plain

DEBUG = "FAIRENUM_DEBUG"
FEWER_ROWS = "learn from fewer rows, such as --split 4000,2000,2000"
REPORT_IT = "this is a fault of fairenum, not of your data: please report it with what `fairenum --debug ...` prints"
HELP = """Audit the fairness of the near-optimal support vector machines of a table.

\b
Exit codes:
  0  done, and every --fail-on rule holds
  1  a rule is violated, an alarm or a widened gap was to fail, or evidence is not verified
  2  bad usage, bad data or bad configuration
  3  inconclusive: the data leave a rule open, or a model for --export is not proposed
  4  interrupted, with a partial result saved
 70  an internal error
130  interrupted, with nothing saved
141  stdout closed; output files are saved
"""


@click.group(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.rich_config({"padding_helptext_first_line": (0, 0, 1, 0)})
@click.version_option(__version__, prog_name="fairenum")
@click.option("--debug", is_flag=True, envvar=DEBUG, help=f"Show tracebacks of internal errors; also {DEBUG}=1.")
def group(debug: bool) -> None:
    """Set the environment variable `FAIRENUM_DEBUG` if --debug is given."""
    if debug:
        os.environ[DEBUG] = "1"


for command in (
    audit.audit,
    measure.measure,
    attack.attack,
    select.select,
    explain.explain,
    explore.explore,
    score.score,
    report.report,
    compare.compare,
    verify.verify,
    bench.bench,
    reproduce.reproduce,
    datasets.datasets,
    solvers.solvers,
):
    group.add_command(command)


def main() -> int:
    """Run the program with the arguments of the process, and return an exit code of `Exit`."""
    _prepare_process()
    return flushed(run())


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; an exception becomes a message on stderr."""
    try:
        return group.main(arguments, prog_name="fairenum", standalone_mode=False) or Exit.DONE
    except Exception as error:  # noqa: BLE001  # whatever it is, it must not look like an answer
        message, code = _explain(error)
        click.echo(plain(message), err=True)
        return code


def _prepare_process() -> None:
    # the matrices are small: a second BLAS thread makes them several times slower
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    prepare_streams()


def _explain(error: Exception) -> tuple[str, Exit]:
    """Return the message for stderr and the exit code of an exception; print the traceback in debug mode."""
    match error:
        case click.Abort():
            return "interrupted; nothing was saved", Exit.INTERRUPTED
        case click.ClickException():
            return f"error: {_usage_error(error)}", Exit.BAD_INPUT
        case FairenumError():
            return f"error: {error}", Exit.BAD_INPUT
        case MemoryError():
            return f"error: not enough memory ({error}); {FEWER_ROWS}", Exit.BAD_INPUT
        case OSError(strerror=str(reason)):  # from the system; without a file name if there is no temporary folder
            return f"error: {f'{name!r}: ' if (name := error.filename) else ''}{reason}", Exit.BAD_INPUT
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    return f"internal error: {type(error).__name__}: {error}; {REPORT_IT}", Exit.INTERNAL


def _usage_error(error: click.ClickException) -> str:
    """Return the message of a usage error, with the configuration file that caused it or a pointer to --help."""
    message, context = error.format_message().rstrip("."), getattr(error, "ctx", None)
    if context is None or message.endswith("?"):
        return message
    return message + (origin(error) or f"; see {context.command_path} --help")
