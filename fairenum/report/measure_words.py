"""The words of a measurement: its subject, inequality, uncertainty and cautions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairenum.document.measure_document import ColumnMeasures, MeasuredDecisions, MeasureDocument
from fairenum.document.metric_registry import METRICS
from fairenum.document.scores import MeasuredScore
from fairenum.document.terms import Gap, Verdict
from fairenum.document.words import GAP_NAMES, GROUP_WIDTH, TABLE_WIDTH, decisions_title, short
from fairenum.runtime.formatting import capitalised, counted, estimate, sentence_list, shortened, signed
from fairenum.runtime.hints import quoted

NO_LABEL = "without a label, only whom decisions select can be measured, not whether they are right"
AGAINST_LABEL: tuple[Gap, ...] = tuple(metric.key for metric in METRICS if metric.needs_label)
SWEEP_CAPTION = (
    "At every cutoff: the share of each group that is selected (left) and the largest difference between two groups "
    "(right), with intervals that hold one by one."
)
ROC_CAPTION = (
    "Within each group: how many of those with a favourable label are selected (upwards) and of those without "
    "(to the right), as the cutoff falls. The dashed line is a score that tells nothing."
)
CALIBRATION_CAPTION = (
    "Rows of about the same score: the share with a favourable label in each group, with intervals. Where the curves "
    "lie apart, one score means different things."
)
NAMED = 3  # groups that a sentence names


def name(document: MeasureDocument) -> str:
    """Call the table by its name."""
    return shortened(document.dataset.name, TABLE_WIDTH)


def subject(document: MeasureDocument) -> str:
    """Say what was measured."""
    data = document.dataset
    counts = " (from counts)" if data.form == "counts" else ""
    parts = [f"{counted(data.rows, 'decided row')}{counts}"]
    named = [one for one in document.decisions if one.how == "column" and one.favourable is not None]
    if named:
        favourable = ", ".join(f"{short(one.name)} = {short(str(one.favourable))}" for one in named)
        parts.append(f"favourable: {favourable}")
    if document.score:
        better = "lower" if document.config.lower_is_better else "higher"
        parts.append(f"score: {short(document.score.name)}, {better} is favourable")
    if data.label is not None and data.favourable is not None:
        parts.append(f"label: {short(data.label)}, favourable: {short(data.favourable)}")
    elif data.label is None:
        parts.append("no label")
    columns = sentence_list(short(column) for column in data.sensitive_columns)
    return f"{name(document)}: {'; '.join([*parts, f'groups by {columns}'])}"


def headline(document: MeasureDocument) -> str:
    """Say how unequal the first decisions are, and how sure that is."""
    first = document.decisions[0]
    column = first.of_column(document.dataset.primary.column)
    whose = f"{decisions_title(first, document)}: " if len(document.decisions) > 1 or first.how != "column" else ""
    return whose + (_nothing(first, column) or _inequality(column))


def _nothing(decisions: MeasuredDecisions, column: ColumnMeasures) -> str:
    """Say why no groups can be compared; empty if they can."""
    compared = [group for group in column.impact.groups if group.is_compared and group.n]
    by = shortened(column.column, GROUP_WIDTH)
    if len(compared) < 2:
        return f"There is one group by {by} only, so there is nothing to compare."
    if decisions.is_constant:
        outcome = "Everybody gets" if decisions.selected else "Nobody gets"
        return f"{outcome} the favourable outcome, so groups by {by} do not differ."
    if all(group.is_small for group in compared):
        return f"The groups by {by} are too small to say whether they are selected alike."
    return ""


def _inequality(column: ColumnMeasures) -> str:
    gap = column.scores.gap("demographic_parity_difference")
    ratio = column.scores.ratio("demographic_parity_ratio")
    by = shortened(column.column, GROUP_WIDTH)
    rates = f"{estimate(gap)}; the lowest impact ratio is {estimate(ratio)}, {fifths(column)}."
    if (gap.low or 0.0) > 0.0:
        return f"Groups by {by} are selected at different rates: the largest difference is {rates}"
    return f"No difference between groups by {by} is shown; they differ by {rates}"


def fifths(column: ColumnMeasures) -> str:
    """State the evidence on the four-fifths rule."""
    return {
        "kept": "at least four fifths",
        "violated": "below four fifths",
        "open": "which leaves open whether it is below four fifths",
    }[column.four_fifths]


def findings(document: MeasureDocument) -> Iterator[str]:
    """Give the numbers behind the headline: columns, decisions against the first, rates that need a label, scores."""
    primary = document.dataset.primary.column
    for column in document.dataset.sensitive:
        if column.column != primary:
            found = document.decisions[0].of_column(column.column)
            yield _nothing(document.decisions[0], found) or _inequality(found)
    yield from (_against_first(one, document) for one in document.decisions[1:])
    if document.has_label:
        yield from (_rightness(one, document) for one in document.decisions)
    else:
        yield capitalised(NO_LABEL) + "."
    if document.score:
        yield _scoring(document.score, primary)


def compared_by(document: MeasureDocument) -> Gap:
    """Return the gap that decisions are compared by; demographic parity if another one lacks its label."""
    metric = document.config.metric
    return metric if document.has_label or metric not in AGAINST_LABEL else "demographic_parity_difference"


def _against_first(decisions: MeasuredDecisions, document: MeasureDocument) -> str:
    metric = compared_by(document)
    gap = decisions.of_column(document.dataset.primary.column).scores.gap(metric)
    first = decisions_title(document.decisions[0], document)
    if gap.change is None:
        return f"{decisions_title(decisions, document)} cannot be compared with {first}."
    words = {
        Verdict.FAIRER: f"is fairer than {first}",
        Verdict.LESS_FAIR: f"is less fair than {first}",
        Verdict.SAME: f"has the gap of {first} within {document.config.same_within:g}",
        Verdict.OPEN: f"cannot be told from {first}",
        None: f"cannot be compared with {first}",
    }[gap.verdict]
    return (
        f"{decisions_title(decisions, document)} {words}: its {GAP_NAMES[metric]} gap is {estimate(gap)}, a change of "
        f"{estimate(gap.change, signed)} on the same rows."
    )


def _rightness(decisions: MeasuredDecisions, document: MeasureDocument) -> str:
    scores = decisions.of_column(document.dataset.primary.column).scores
    gaps = sentence_list(f"{GAP_NAMES[gap]} {estimate(scores.gap(gap))}" for gap in AGAINST_LABEL)
    accuracy = f"{decisions_title(decisions, document)}: accuracy {estimate(decisions.accuracy)}"
    return f"{accuracy}; gaps against the label: {gaps}."


def _scoring(score: MeasuredScore, primary: str) -> str:
    column = score.of_column(primary)
    widest = max(column.groups, key=lambda group: abs(group.difference.value or 0.0))
    side = median_side(is_lower_better=score.is_lower_better)
    sign = ", above 0 where it is lower" if score.is_lower_better else ""
    return (
        f"By {short(primary)} the lowest ratio of scoring rates (scores {side}) is {estimate(column.lowest)};"
        f" the mean score of {short(widest.group)} is {estimate(widest.difference, signed)} standard deviations from "
        f"that of {short(column.scoring.reference)}{sign}."
    )


def median_side(*, is_lower_better: bool) -> str:
    """Say on which side of the median scores are favourable."""
    return "below the median" if is_lower_better else "above the median"


def scoring_rate(*, is_lower_better: bool) -> str:
    """Say what a scoring rate is."""
    side = median_side(is_lower_better=is_lower_better)
    return f"scoring rate: share of the group whose score is {side} of all measured rows"


def standardised(score: MeasuredScore, reference: str) -> str:
    """Say what a standardised difference of means is, and which sign is favourable."""
    sign = "; above 0 where scores are lower, which is favourable" if score.is_lower_better else ""
    return f"standardised: mean against {short(reference)}, in standard deviations{sign}"


def bias_source(document: MeasureDocument) -> str:
    """Say what impact ratios are about."""
    data, first = document.dataset, document.decisions[0]
    return (
        f"Decisions about {counted(data.rows, 'row')} of {name(document)}, as {decisions_title(first, document)} says. "
        "Whether they are the tool's own history or test data is for the auditor to say."
    )


def steps(document: MeasureDocument) -> Iterator[str]:
    """Say how the numbers came about."""
    level = f"{100 * document.config.confidence:g} %"
    yield (
        "Nothing was trained: decisions and scores are measured as the table holds them, each row as one person "
        "independent of the others."
    )
    yield (
        f"Intervals have a level of {level}. Rates have Wilson's; differences, gaps and ratios are bounded from these, "
        "gaps and lowest ratios for all groups together; the ratio of a group takes the most selected one as given."
    )
    if len(document.decisions) > 1:
        yield (
            f"Decisions are compared with {decisions_title(document.decisions[0], document)} on the same rows; the "
            "limits of changes hold for all of them together."
        )
    if document.score:
        side = median_side(is_lower_better=document.score.is_lower_better)
        yield (
            f"A scoring rate is the share {side} of all measured rows; standardised differences are in standard "
            "deviations of the two groups together; cutoffs are those that the most favourable scores of 5, 10, ... "
            "95 % of the rows reach."
        )


def limits(document: MeasureDocument) -> Iterator[str]:
    """Say what the numbers cannot say."""
    yield "No difference shown is not the same as fair: small groups hide large differences."
    yield (
        "Rates say whom decisions select, not why. Differences may come from whoever applied, or from what was known "
        "of them; and these rows say nothing about people who are not among them."
    )
    if document.has_label:
        yield "Labels are taken as they are; where they are biased, or known for some only, so are these rates."


def single_group(column: str) -> str:
    """Say that a rule has only one group to judge by."""
    return f", but there is one group of {short(column)} only"


def few_trials(column: str, few: Mapping[str, int]) -> str:
    """Say that a rule is about rates of too few rows to judge by."""
    named = [f"{short(name)} ({counted(rows, 'row')})" for name, rows in few.items()]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    what = f"{counted(len(few), 'group')} of {short(column)} too small"
    return f", but {what} to have such a rate: {', '.join(named[:NAMED])}{more}; --min-group-size sets the minimum"


def aside(names: list[str]) -> str:
    """Say which groups a rule is not judged by."""
    return f" (not judged: {quoted(names, 3)})"


def rates_caption(whose: str) -> str:
    """Say what the bars of selection rates are."""
    return f"Share that gets the favourable outcome, with its interval; dashed: four fifths of the highest of {whose}."
