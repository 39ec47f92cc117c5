"""fairenum measure: rates, gaps and impact ratios of the decisions in a table; no model is trained."""

from __future__ import annotations

from functools import partial

import rich_click as click

from fairenum.cli.delivery import Delivery
from fairenum.cli.outputs import check_target, measure_output_options
from fairenum.cli.shared_options import (
    METRICS,
    Bands,
    Number,
    Whole,
    column,
    complete_data,
    decision_options,
    table,
    taken_reading,
)
from fairenum.cli.streams import Exit

HELP = """Measure the decisions or scores in DATA, a bundled name or a file; nothing is trained.

\b
fairenum measure decisions.csv --decision hired --sensitive sex
fairenum measure decisions.csv --score points --cutoff 50 --sensitive sex --sensitive race
fairenum measure counts.csv --counts --sensitive sex --fail-on 'demographic_parity_ratio>=0.8'
"""


statistic = partial(click.option, panel="Statistics", show_default=True)


@click.command(help=HELP)
@click.argument("data", shell_complete=complete_data)
@column("--decision", multiple=True, help="Column of decisions; of several, the first is compared with.")
@table("--decision-favourable", metavar="VALUE", help="Favourable decision, where it is not clear.")
@column("--score", help="Column of scores.")
@table("--cutoff", metavar="T|rate=R|base-rate|median", help="Cutoff of the score, to decide by it as well.")
@table("--lower-is-better", is_flag=True, help="Lower scores are favourable.")
@column("--label", help="Column of the true outcome.")
@table("--favourable", metavar="VALUE", help="Favourable value of the label.")
@column("--sensitive", multiple=True, help="Column whose groups are compared; repeatable.")
@column("--primary", help="Sensitive column that rules are about, or 'a & b'.  [default: the first]")
@table("--reference", metavar="GROUP", help="Group to compare the others with.  [default: the largest]")
@table("--counts", is_flag=True, help="DATA counts rows: groups, n, selected (positives, true_positives).")
@decision_options
@statistic("--metric", type=click.Choice(METRICS), default=METRICS[0], metavar="GAP", help="Gap to compare by.")
@statistic("--seed", type=Whole("seed"), default=0, help="Seed of the bootstrap.")
@statistic("--confidence", type=Number("confidence"), default=0.95, help="Confidence of intervals and verdicts.")
@statistic("--min-group-size", type=Whole("min_group_size"), default=30, help="Groups with fewer rows are small.")
@statistic(
    "--small-groups",
    type=click.Choice(["set-aside", "keep"]),
    default="set-aside",
    help="Show small groups and rows without a group but do not compare them, or compare all.",
)
@statistic("--same-within", type=Number("same_within"), default=0.02, help="A gap that differs by no more is the same.")
@statistic("--replications", type=Whole("replications"), default=1000, help="Replications of the bootstrap.")
@click.option(
    "--output",
    panel="Output",
    callback=check_target,
    metavar="DIR|PATH",
    help="Where to save the run.  [default: fairenum-NAME-measured.json]",
)
@measure_output_options
def measure(
    data: str,
    decision: tuple[str, ...],
    decision_favourable: str | None,
    score: str | None,
    label: str | None,
    favourable: str | None,
    sensitive: tuple[str, ...],
    counts: bool,
    bands: Bands,
    **options: object,
) -> Exit:
    """Measure decisions and deliver the result."""
    delivery = Delivery.taken_from(options, inputs=(data,))
    from fairenum.api import measure as run_measure
    from fairenum.document.measure_document import MeasureConfig

    result = run_measure(
        data,
        decision,
        sensitive,
        score=score,
        label=label,
        favourable=favourable,
        decision_favourable=decision_favourable,
        counts=counts,
        config=MeasureConfig().but(reading=taken_reading(options, bands), **options),
    )
    return delivery.deliver(result.document, is_fresh=True)
