"""fairenum measure: rates, gaps and impact ratios of the decisions in a table; no model is trained."""

from __future__ import annotations

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import check_target, measure_output_options
from fairenum.cli.shared_options import FILE, GROUPING, LABELLED, added, column, complete_data, options_of, table
from fairenum.cli.streams import Exit
from fairenum.document.measure_document import READ, MeasureConfig
from fairenum.document.options import declared
from fairenum.document.reading import Reading

HELP = """Measure the decisions or scores in DATA, a bundled name or a file; nothing is trained.

\b
fairenum measure decisions.csv --decision hired --sensitive sex
fairenum measure decisions.csv --score points --cutoff 50 --sensitive sex --sensitive race
fairenum measure counts.csv --counts --sensitive sex --fail-on 'demographic_parity_ratio>=0.8'
"""

GIVEN = {
    "decision": column(
        "--decision", multiple=True, help="Column of decisions; of several, the first is compared with."
    ),
    "decision_favourable": table(
        "--decision-favourable", metavar="VALUE", help="Favourable decision, where it is not clear."
    ),
    "score": column("--score", help="Column of scores."),
    "label": column("--label", help="Column of the true outcome."),
    "favourable": table("--favourable", metavar="VALUE", help="Favourable value of the label."),
    "sensitive": LABELLED["sensitive"],
    "counts": table(
        "--counts", is_flag=True, help="DATA counts rows: groups, n, selected (positives, true_positives)."
    ),
}
OPTIONS = options_of(
    GIVEN,
    MeasureConfig,
    order="decision decision_favourable score cutoff lower_is_better label favourable sensitive primary control "
    f"group_probabilities given by group_column counts {GROUPING} {FILE}",
    without={*declared(Reading)} - {*READ},
)


@click.command(help=HELP)
@click.argument("data", shell_complete=complete_data)
@added(OPTIONS.values())
@click.option(
    "--output",
    panel="Output",
    callback=check_target,
    metavar="DIR|PATH",
    help="Where to save the run.  [default: fairenum-NAME-measured.json]",
)
@measure_output_options
@click.option("--fail-on-alarm", panel="Output", is_flag=True, help="Exit code 1 if there is an alarm (--by).")
def measure(
    data: str,
    decision: tuple[str, ...],
    decision_favourable: str | None,
    score: str | None,
    label: str | None,
    favourable: str | None,
    sensitive: tuple[str, ...],
    counts: bool,
    fail_on_alarm: bool,
    **options: object,
) -> Exit:
    """Measure decisions, write and print the result, and return the exit code."""
    if fail_on_alarm and options.get("by") is None:
        raise click.UsageError("--fail-on-alarm is about periods; name their column with --by")
    if fail_on_alarm and options.get("group_column") is not None:
        raise click.UsageError(
            "--fail-on-alarm: no alarm is computed with --group-column, as rows of one person or firm are not "
            "independent; leave out one of the two"
        )
    delivery = Delivery.taken_from(options, inputs=(data,))
    from fairenum.api import measure as run_measure

    result = run_measure(
        data,
        decision,
        sensitive,
        score=score,
        label=label,
        favourable=favourable,
        decision_favourable=decision_favourable,
        counts=counts,
        config=MeasureConfig().but(**options),
    )
    code = delivery.deliver(result.document, is_fresh=True)
    has_alarm = any(caution.code == "alarm" for caution in result.document.warnings)
    return Exit.VIOLATED if fail_on_alarm and has_alarm else code
