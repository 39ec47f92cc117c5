"""fairenum audit: list the near-optimal models of a table and select the fairest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import rich_click as click

from fairenum.cli.config_file import config_options, named_options_file, options_file
from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import audit_output_options, check_target
from fairenum.cli.progress_bar import shown_progress
from fairenum.cli.shared_options import (
    EPS_HELP,
    MAX_DROP_HELP,
    MAX_LOSS_HELP,
    METRIC_HELP,
    METRICS,
    Bands,
    Budgets,
    CheckedWhole,
    Number,
    NumberOr,
    Sizes,
    Whole,
    about_options,
    check_jobs,
    complete_data,
    model,
    model_options,
    read_defences,
    read_limit,
    table,
    table_options,
    taken_reading,
)
from fairenum.cli.streams import Exit
from fairenum.document.guards import DEFAULT_GUARDS
from fairenum.document.header import AFTERWARDS
from fairenum.document.options import described
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


NO_RANGE_HELP = "Do not bound the parity gap over all near-optimal models."


# Options that need --attack, and their flags.
ATTACK = {"strategies": "strategy", "flips": "flips", "trials": "trials", "defences": "defence", "jobs": "jobs"}


statistic = partial(click.option, panel="Selection and statistics", show_default=True)
incumbent_option = partial(click.option, panel="The model in use")
flips = partial(click.option, panel="Attack")
output = partial(click.option, panel="Output", callback=check_target)


@click.command(help=HELP)
@click.argument("data", shell_complete=complete_data)
@table_options
@about_options
@table("--reference", metavar="GROUP", help="Group to compare the others with.  [default: the largest]")
@incumbent_option("--incumbent", metavar="COLUMN|none", help="Column of its decisions; no model learns from it.")
@incumbent_option(
    "--incumbent-favourable", metavar="VALUE", help="Favourable value of its decisions, where it is not clear."
)
@incumbent_option("--incumbent-score", metavar="COLUMN", help="Column of its scores.")
@incumbent_option(
    "--incumbent-model",
    type=click.Path(exists=True, dir_okay=False),
    metavar="PATH",
    help="Its file: skops or ONNX; pickles are not opened.",
)
@incumbent_option("--cutoff", "incumbent_cutoff", metavar="T|rate=R|base-rate|median", help="Where its score is cut.")
@incumbent_option("--lower-is-better", "incumbent_lower_is_better", is_flag=True, help="Lower scores are favourable.")
@incumbent_option(
    "--against",
    type=click.Choice(["incumbent", "best"]),
    help="The model to compare with.  [default: the model in use if there is one, else model 1]",
)
@model_options("predictions", NumberOr("auto"), "NUMBER|auto", ("auto", "none", "balanced"))
@model(
    "--max-nodes",
    type=NumberOr("auto", "none", kind=int),
    metavar="NUMBER|auto|none",
    default="auto",
    callback=read_limit,
    help=f"Stop after this number of solved problems, {described('max_nodes')}; auto: fewer for larger tables.",
)
@model(
    "--time-limit",
    "max_seconds",
    type=Number("max_seconds"),
    metavar="SECONDS",
    help="Time limit for the whole audit. Optional stages are shortened to meet it, and the report names them.",
)
@model(
    "--search",
    type=click.Choice(["exact", "guided", "both"]),
    default="both",
    help="Best first, guided by unfairness on the selection split, or both.",
)
@model(
    "--max-left-out",
    type=Number("max_left_out"),
    default=0.2,
    help="Share of training rows that a guided model may leave out.",
)
@model("--baselines", is_flag=True, show_default=False, help="Also try fairlearn's mitigations and reweighing.")
@model(
    "--no-prices",
    "prices",
    flag_value=False,
    is_flag=True,
    default=True,
    show_default=False,
    help="Do not compute flip prices: the loss at which the decision about a person flips.",
)
@model(
    "--price-rows",
    type=NumberOr("auto", kind=int),
    metavar="NUMBER|auto",
    default="auto",
    help=f"Holdout rows, {described('price_rows')}, drawn at random for flip prices; auto: a few seconds' worth.",
)
@model("--no-range", "range", flag_value=False, is_flag=True, default=True, show_default=False, help=NO_RANGE_HELP)
@model(
    "--no-explanation",
    "explanation",
    flag_value=False,
    is_flag=True,
    default=True,
    show_default=False,
    help="Do not look for the left-out rows that matter most.",
)
@statistic("--metric", type=click.Choice(METRICS), default=METRICS[0], metavar="GAP", help=METRIC_HELP)
@statistic("--eps", type=Number("eps"), default=0.05, help=EPS_HELP)
@statistic("--max-loss", type=Number("max_loss"), help=MAX_LOSS_HELP)
@statistic(
    "--performance",
    metavar="MEASURE",
    default="auto",
    help="accuracy, balanced_accuracy, auc or cost=FN:FP; auto: balanced accuracy where classes are weighted.",
)
@statistic(
    "--max-performance-drop",
    "--max-accuracy-drop",
    type=Number("max_performance_drop"),
    default=0.01,
    help=MAX_DROP_HELP,
)
@statistic(
    "--guard",
    "guards",
    multiple=True,
    metavar="QUANTITY[@COLUMN]<=LIMIT",
    show_default=False,
    help="What a fairer model must not make worse, such as equal_opportunity_difference<=+0.02, selection_rate=+-0.05 "
    "or balanced_accuracy>=-0.01: a change where signed. Repeatable; none first turns off the defaults, which "
    f"are {', '.join(DEFAULT_GUARDS)}.",
)
@statistic(
    "--same-within",
    type=Number("same_within"),
    default=0.02,
    help="A gap that changes by no more than this is the same.",
)
@statistic(
    "--decide",
    metavar="sign|rate=R|base-rate|like-incumbent|threshold=T",
    default="sign",
    help="Cut every model at 0, at T, or where it selects the share R of the selection split, the base rate, or as "
    "many as the model in use.",
)
@statistic(
    "--split",
    "sizes",
    type=Sizes(),
    metavar="A,B,C",
    default="0.6,0.2,0.2",
    help="Train, selection and holdout: shares or rows.",
)
@statistic(
    "--split-column", metavar="COLUMN", help="Column that marks rows: train, selection, holdout; or train, test."
)
@statistic(
    "--split-by-time",
    "time_column",
    metavar="COLUMN",
    help="Numbers or dates: train on the earliest rows, hold out the latest.",
)
@statistic("--group-column", metavar="COLUMN", help="Column of persons or firms, whose rows stay in one part.")
@statistic("--weight", metavar="COLUMN", help="Column of row weights for training, rates and intervals.")
@statistic("--scores", is_flag=True, show_default=False, help="Also evaluate scores, for all cutoffs.")
@statistic("--seed", type=Whole("seed"), default=0, help="Seed of split, folds and bootstrap.")
@statistic("--confidence", type=Number("confidence"), default=0.95, help="Confidence of intervals and verdicts.")
@statistic(
    "--min-group-size", type=Whole("min_group_size"), default=30, help="Groups with fewer rows in a split are small."
)
@statistic(
    "--small-groups",
    type=click.Choice(["set-aside", "keep"]),
    default="set-aside",
    help="Show small groups and rows without a group but do not compare them, or compare all.",
)
@statistic("--replications", type=Whole("replications"), default=1000, help="Replications of the bootstrap.")
@flips("--attack", is_flag=True, help="Also simulate label flips; see fairenum attack.")
@flips("--strategy", "strategies", multiple=True, metavar="NAME", help="How rows are chosen.  [default: paper, random]")
@flips("--flips", type=Budgets(), metavar="N,..", help="Rows or shares to flip.  [default: 0.02,0.05,0.1]")
@flips("--trials", type=Whole("trials"), help="Draws of the table.  [default: 20]")
@flips(
    "--defence",
    "defences",
    multiple=True,
    metavar="NAME|all",
    callback=read_defences,
    help="Defence to compare; repeatable.",
)
@flips("--jobs", type=CheckedWhole("jobs"), callback=check_jobs, help="Processes; -1 for all processors.  [default: 1]")
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
    bands: Bands,
    attack: bool,
    **options: object,
) -> Exit:
    """Run an audit and deliver its result."""
    model = options.get("incumbent_model")
    delivery = Delivery.taken_from(options, inputs=(data,) if model is None else (data, str(model)))
    flipping = _attack_options(options, is_wanted=attack)
    from fairenum.api import audit as run_audit
    from fairenum.document.audit_config import AuditConfig

    config = AuditConfig().but(reading=taken_reading(options, bands), **options)
    budget = Budget.of_process(config.max_seconds)
    budget.afterwards = {} if flipping is None else AFTERWARDS
    with shown_progress(delivery.quiet, budget) as progress:
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
    """Add a simulated attack to a finished audit; if the attack fails, the audit is still delivered."""
    try:
        with shown_progress(quiet) as progress:
            found = result.attacked(progress=progress, budget=budget, **options)  # type: ignore[arg-type]  # by click
        return found.document, None
    except KeyboardInterrupt:  # before the first trial
        return result.document.but(status="interrupted"), None
    except FairenumError as error:
        return result.document, error


def _attack_options(options: dict[str, object], *, is_wanted: bool) -> dict[str, object] | None:
    """Take the attack options out of all options, and check them before anything is computed."""
    given = {name: value for name in ATTACK if (value := options.pop(name)) not in (None, ())}
    if not is_wanted:
        if given:
            raise click.UsageError(f"--{ATTACK[next(iter(given))]} is about label flips; add --attack")
        return None
    if options.get("weight") is not None:
        raise click.UsageError("--attack simulates label flips on rows that count alike; leave out --weight")
    if options.get("decide") != "sign":
        raise click.UsageError("--attack simulates label flips on models that decide by the sign; leave out --decide")
    from fairenum.attack.simulation import check_names
    from fairenum.document.attack_document import AttackConfig

    check_names(AttackConfig().but(**{name: value for name, value in given.items() if name != "jobs"}))
    return given
