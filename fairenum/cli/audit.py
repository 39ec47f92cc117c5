"""fairenum audit: list the near-optimal models of a table and select the fairest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import rich_click as click

from fairenum.cli.config_file import config_options, named_options_file, options_file
from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import audit_output_options, check_target
from fairenum.cli.progress_bar import shown_progress
from fairenum.cli.shared_options import (
    JOBS,
    LABELLED,
    LISTED,
    TABLE,
    Added,
    Whole,
    added,
    check_jobs,
    click_option,
    complete_data,
    options_of,
)
from fairenum.cli.streams import Exit
from fairenum.document.attack_document import AttackConfig
from fairenum.document.audit_config import AuditConfig
from fairenum.document.header import AFTERWARDS
from fairenum.document.options import declared
from fairenum.errors import FairenumError
from fairenum.runtime.budget import Budget

if TYPE_CHECKING:
    from fairenum.api import AuditResult
    from fairenum.document.audit_document import AuditDocument

HELP = """List the near-optimal models of DATA, a bundled name or a file, and select the fairest.

\b
fairenum audit compas
fairenum audit loans.csv --label approved --favourable yes --sensitive sex
fairenum audit loans.csv --label repaid --favourable yes --sensitive sex --incumbent granted

Options may stand in fairenum.toml, or in [tool.fairenum] of pyproject.toml; the command line wins. A file that is found
in the working directory sets no outputs, plugins or model files: name it with --config for that.
"""


# Options that need --attack, and their flags.
ATTACK = {"strategies": "strategy", "flips": "flips", "trials": "trials", "defences": "defence", "jobs": "jobs"}
OPTIONS = options_of(
    LABELLED,
    AuditConfig,
    order=f"{TABLE} data_source data_dates control incumbent {LISTED} max_nodes max_seconds search max_left_out "
    "baselines prices price_rows metric eps performance max_performance_drop guards same_within decide sizes "
    "split_column time_column group_column weight scores",
)
flips = partial(click.option, panel="Attack")
output = partial(click.option, panel="Output", callback=check_target)


def _attack_option(name: str, text: str) -> Added[Any]:
    return click_option(name, declared(AttackConfig)[name], panel="Attack", help=text)


@click.command(help=HELP)
@click.argument("data", shell_complete=complete_data)
@added(OPTIONS.values())
@flips("--attack", is_flag=True, help="Also simulate label flips; see fairenum attack.")
@_attack_option("strategies", "How rows are chosen.  [default: paper, random]")
@_attack_option("flips", "Rows or shares to flip.  [default: 0.02,0.05,0.1]")
@_attack_option("trials", "Draws of the table.  [default: 20]")
@_attack_option("defences", "Defence to compare; repeatable.")
@flips("--jobs", type=Whole(*JOBS), callback=check_jobs, help="Processes; -1 for all processors.  [default: 1]")
@output("--output", metavar="DIR|PATH", help="Where to save the run.  [default: fairenum-NAME.json]")
@output(
    "--export",
    metavar="PATH",
    help="Write the selected model, if it is proposed, with its preprocessing, as a skops file.",
)
@output(
    "--flips-table", metavar="PATH", help="Write the holdout rows that the selected model decides differently, as CSV."
)
@audit_output_options
@config_options()
def audit(
    data: str,
    label: str | None,
    favourable: str | None,
    sensitive: tuple[str, ...],
    attack: bool,
    **options: object,
) -> Exit:
    """Run an audit, write and print its result, and return the exit code."""
    model = options.get("incumbent_model")
    delivery = Delivery.taken_from(options, inputs=(data,) if model is None else (data, str(model)))
    flipping = _attack_options(options, is_wanted=attack)
    from fairenum.api import audit as run_audit

    config = AuditConfig().but(**options)
    budget = Budget.of_process(config.max_seconds)
    budget.afterwards = {} if flipping is None else AFTERWARDS
    with shown_progress(delivery.quiet, budget, has_notes=True) as progress:
        result = run_audit(data, label, favourable, sensitive or None, config=config, progress=progress, budget=budget)
    document, failure = result.document, None
    if flipping is not None and not result.is_partial:
        document, failure = _attacked(result, flipping, delivery.quiet, budget)
    with budget.listening():
        code = delivery.deliver(
            document.but(options_file=options_file()), is_fresh=True, export=result.export, beside=named_options_file()
        )
    if failure:
        raise failure
    return code


def _attacked(
    result: AuditResult, options: dict[str, object], quiet: bool, budget: Budget
) -> tuple[AuditDocument, FairenumError | None]:
    """Return an audit's document with a simulated attack, or without it and with the error if the attack fails."""
    try:
        with shown_progress(quiet) as progress:
            found = result.attacked(progress=progress, budget=budget, **options)  # type: ignore[arg-type]  # by click
        return found.document, None
    except KeyboardInterrupt:  # before the first trial
        return result.document.but(status="interrupted"), None
    except FairenumError as error:
        return result.document, error


def _attack_options(options: dict[str, object], *, is_wanted: bool) -> dict[str, object] | None:
    """Remove the attack options from `options` and return those that were given; None if no attack is wanted.

    Refuse invalid attack options, attack options without --attack, and options that --attack does not support.
    """
    given = {name: value for name in ATTACK if (value := options.pop(name)) not in (None, ())}
    if not is_wanted:
        if given:
            raise click.UsageError(f"--{ATTACK[next(iter(given))]} is about label flips; add --attack")
        return None
    if options.get("weight") is not None:
        raise click.UsageError("--attack simulates label flips on rows that count alike; leave out --weight")
    if options.get("decide") not in ("auto", "sign"):
        raise click.UsageError("--attack simulates label flips on models that decide by the sign; leave out --decide")
    from fairenum.attack.simulation import check_names

    check_names(AttackConfig().but(**{name: value for name, value in given.items() if name != "jobs"}))
    return given
