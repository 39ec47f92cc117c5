"""The words of experiments over many draws: simulated attacks, races of solvers, and mitigations side by side."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.attack import Attack, AttackDocument, AttackPoint, TrialFailure
from fairenum.document.bench import PAPER_ALGORITHM, BenchDocument, RaceResult
from fairenum.document.machine import Machine
from fairenum.document.mitigation import CaseSummary, MitigationDocument
from fairenum.document.terms import Basis
from fairenum.document.value import Estimate
from fairenum.rendering.numbers import counted, difference, estimate, percent, rate, share, signed, three_digits
from fairenum.rendering.text import plain, sentence_list, shortened
from fairenum.report.wording import AXES, GAPS, LONGEST, SIGNS, TABLE_WIDTH, case_title, short
from fairenum.report.wording.cautions import replaced

RARE = 0.05
SHOWN_FAILURES = 5

ATTACK_CAPTION = (
    "The mean gap on the holdout over draws of the table, against the number of labels that somebody flipped in its "
    "training rows."
)
ONE_PLANE = (
    "models of one objective share one plane, so that only their bias can make them decide differently: they cannot "
    "differ much, and what differs has another objective"
)
RACE_CAPTION = (
    "Time for all models, in fits of scikit-learn's SVC made beside it. The axis is logarithmic; farther left is "
    "faster."
)
RACE_NOTE = (
    "SVC fits: time for all models, in fits of SVC (tol 0.001) made beside it; times faster: than Algorithm 1 of the "
    "paper; solved: boxes solved beside the first; in place: models found at their proven rank."
)
MITIGATION_SUBJECT = (
    "Medians over seeded splits with bootstrap 95 % intervals over the splits, all on the holdout. The gap is the "
    "demographic parity difference."
)
MITIGATION_METHOD = (
    "Every method learns on the same rows with the same linear SVM (C = 1), and what is to be chosen is chosen on the "
    "selection split, at an accuracy loss of at most 1 point there. The rows that are not trained on are halved into "
    "selection and holdout. Methods that decide by chance are scored by their expected rates.",
    "A method dominates guided search in a split if it is as good in both and better in one beyond the paired 95 % "
    "interval.",
    "With the sensitive columns among the features (--use-sensitive, as in the paper) a plane can make up for the "
    "group itself. Without them (the default) it can only give up what goes along with the group, and the rows to "
    "choose by do not tell well which planes lose least by it.",
    "At equal selection rates every method is cut where it selects the share of the selection split that is favourable "
    "in training, so that none looks fairer for selecting more or fewer: models and machines by their decision values, "
    "mixtures by the mean of theirs, which leaves nothing to chance. ThresholdOptimizer sets thresholds of its own and "
    "takes no part there.",
    "The settings of the guided search were chosen with these tables in sight, on other splits for the most part. "
    "Regenerate with: make mitigation",
)
MITIGATION_CAPTION = (
    "Accuracy against gap on the holdout: medians over the splits, with their intervals. Farther right is more "
    "accurate, lower is fairer."
)


# --- simulated attacks


def attack_title(document: AttackDocument) -> str:
    """Name a saved simulation."""
    return f"Label flips in {shortened(document.dataset.name, TABLE_WIDTH)}"


def attack_subject(document: AttackDocument) -> str:
    """Say what a saved simulation is about."""
    data, column = document.dataset, document.attack.config.primary
    return (
        f"{shortened(data.name, TABLE_WIDTH)}: {counted(data.rows, 'row')}; favourable: {short(data.label)} = "
        f"{short(data.favourable)}; groups by {short(str(column))}"
    )


def metric_of(attack: Attack) -> str:
    """Name the gap that is measured."""
    return GAPS[attack.config.metric]


def attack_headline(attack: Attack, strategy: str, worst: AttackPoint) -> str:
    """Say what the worst attack does."""
    partial, change = "Interrupted: " if attack.status == "interrupted" else "", worst.gap_change
    flips = f"{counted(worst.flips, 'flipped label')} ({percent(worst.share)}, {strategy})"
    gap = f"the mean {metric_of(attack)} gap on the holdout"
    if change.low is None or change.low <= 0.0:
        return (
            f"{partial}{flips} do not measurably raise {gap}: {share(worst.gap.value)}, a change of "
            f"{estimate(change, signed)}."
        )
    before = difference(change.value, worst.gap.value)
    return (
        f"{partial}{flips} raise {gap} from {share(before)} to {share(worst.gap.value)}, by {estimate(change, signed)}."
    )


def attack_findings(attack: Attack, strategy: str, worst: AttackPoint) -> Iterator[str]:
    """Say what was drawn, and what the worst attack does to the listed models."""
    config = attack.config
    train, selection, holdout = config.sizes or (0, 0, 0)
    parts = f"{train} training rows, " + (f"{selection} to select by, " if selection else "") + f"{holdout} held out"
    yield (
        f"{counted(attack.clean.trials, 'draw')} of {parts}; aimed at {short(str(config.primary))} = "
        f"{short(str(config.group))}; {_machine(config.machine)}; intervals "
        f"({100 * config.confidence:g} %) are over draws."
    )
    yield from (f"{strategy}, {counted(worst.flips, 'flip')}: {text}" for text in _of_point(worst, config.k))


def _machine(machine: Machine) -> str:
    plain, weights = f"{machine.kernel} kernel, C = {machine.cost:g}", machine.class_weight
    if weights == "none":
        return plain
    named = weights if isinstance(weights, str) else f"{weights[0]:g} to {weights[1]:g}"
    return f"{plain}, class weights {named}"


def _of_point(point: AttackPoint, k: int) -> Iterator[str]:
    recovery = point.recovery
    if recovery.share.value is not None:
        yield (
            f"one of the {k} best models has at most the clean model's gap at no more error than model 1 in "
            f"{rate(recovery.share)} of trials ({percent(recovery.at_rank_1.value)}: model 1 itself); where "
            f"the gap was raised, in {rate(recovery.of_raised)}."
        )
    if recovery.share.value is not None and point.predictors.value is not None:
        yield (
            f"the {k} models are one predictor on the holdout in {rate(point.one_predictor)} of trials, and "
            f"{point.predictors.value:.1f} on average; all have one objective in {rate(point.all_tied)}."
        )
    if found := point.detection:
        yield (
            f"of the rows that fairer models leave out, {rate(found.precision)} are flipped ones (any row: "
            f"{percent(found.chance.value)}, a support vector: {percent(found.support_chance.value)}), "
            f"which finds {rate(found.recall)} of all flips ({counted(found.trials, 'trial')})."
        )


def attack_lapses(document: AttackDocument) -> Iterator[str]:
    """Say where another solver had to go on."""
    lapses = [trial.lapse for trial in document.trials if trial.lapse]
    if lapses:
        yield shortened(f"in {counted(len(lapses), 'trial')} {replaced(lapses[0])}", LONGEST)


def attack_warnings(attack: Attack) -> Iterator[str]:
    """Say what failed."""
    if attack.status == "interrupted":
        yield f"interrupted after {attack.clean.trials} of {counted(attack.config.trials, 'trial')}"
    if attack.is_out_of_time:
        yield f"the time limit ended it after {attack.clean.trials} of {counted(attack.config.trials, 'trial')}"
    yield from map(_failed, attack.failures[:SHOWN_FAILURES])
    if (hidden := len(attack.failures) - SHOWN_FAILURES) > 0:
        yield f"{counted(hidden, 'further failure')}; the run holds them all"
    for curve in attack.curves:
        for defence in (defence for point in curve.points for defence in point.defences if defence.failed):
            yield (
                f"{short(defence.name)} failed in {counted(defence.failed, 'trial')} of {short(curve.strategy)}: "
                f"{shortened(defence.failure, LONGEST)}"
            )


def _failed(failure: TrialFailure) -> str:
    flips = "" if failure.strategy is None else f", {short(failure.strategy)} with {failure.flips} flips"
    return f"trial with seed {failure.seed}{flips}, failed: {shortened(failure.message, LONGEST)}"


def frequency(found: Estimate) -> str:
    """Say how often a statement holds; what is rare or usual has to be so with confidence."""
    if not found.value or found.low is None or found.high is None:
        return "holds in none"
    if found.high < RARE:
        return "hardly ever holds"
    if found.value == 1.0:
        return "holds"
    if found.low > 1.0 - RARE:
        return "nearly always holds"
    return "mostly holds" if found.low > 0.5 else "holds sometimes"


# --- races of solvers


def bench_subject(document: BenchDocument) -> str:
    """Say what was raced on."""
    data = document.data
    return (
        f"{shortened(data.name, TABLE_WIDTH)}: {counted(data.rows, 'row')}, {counted(data.features, 'feature')}, "
        f"C = {data.cost:g}, the {document.k} best models; one SVC fit takes "
        f"{1000 * document.svc_fit.seconds:.3g} ms"
    )


def bench_headline(document: BenchDocument) -> str:
    """Say who is fastest, and how much faster than the paper's algorithm."""
    ours = [one for one in document.standings if one.fits is not None and one.name != PAPER_ALGORITHM]
    if not ours:
        return "No solver found the models."
    best = min(ours, key=lambda one: one.fits or 0.0)
    ratio = document.speedup(best)
    against = "" if ratio is None else f", {speedup(document, best)} times faster than Algorithm 1 of the paper"
    fits = f"{SIGNS[best.basis]}{three_digits(best.fits or 0.0)} SVC fits"
    return f"{short(best.name)} is the fastest: the {document.k} best models take it {fits}{against}."


def speedup(document: BenchDocument, result: RaceResult) -> str:
    """Say how many times faster than the paper's algorithm a contestant is, and how well that is known."""
    ratio = document.speedup(result)
    if result.name == PAPER_ALGORITHM:
        return "1"
    return "" if ratio is None else _ratio_sign(document.paper.basis, result.basis) + three_digits(ratio)


def _ratio_sign(above: Basis, below: Basis) -> str:
    """Say what is known of a ratio whose two sides are measured, extrapolated or lower bounds."""
    if "at least" in (above, below):
        return "?" if above == below else ">" if above == "at least" else "<"
    return "~" if "extrapolated" in (above, below) else ""


def race_notes(document: BenchDocument) -> Iterator[str]:
    """Say what the words and signs of the race mean."""
    yield RACE_NOTE
    bases, seconds = {one.basis for one in document.standings}, document.seconds or 0.0
    if "extrapolated" in bases:
        yield (
            f"~ extrapolated from the models found in {seconds:g} s, good to a factor of about two; --full runs all of "
            "them."
        )
    if "at least" in bases:
        yield f"> stopped after {seconds:g} s with fewer than three models; --full runs all of them."


def bench_findings(document: BenchDocument) -> Iterator[str]:
    """Say how the times grow, and what the first call costs."""
    for axis, title in AXES.items():
        grown = [one for one in document.growth if one.axis == axis and one.slope is not None and not one.fixed]
        if grown:
            powers = sentence_list(f"{short(one.name)} {axis}^{one.slope:.1f}" for one in grown)
            yield f"Time over {title} grows like: {powers}."
    yield f"First calls (imports, loading or compiling the paths' inner loop): {document.first_calls:.2g} s."


def bench_warnings(document: BenchDocument) -> Iterator[str]:
    """Say who failed, and why."""
    return (plain(f"{one.name}: {one.error}") for one in document.standings if one.error)


# --- mitigations


def mitigation_headline(document: MitigationDocument) -> str:
    """Say how often guided search is beaten, over all splits."""
    splits = sum(summary.splits for summary in document.cases)
    kept = sum(round(summary.not_dominated * summary.splits) for summary in document.cases)
    return f"No other mitigation dominates guided search in {kept} of {counted(splits, 'split')}."


def mitigation_finding(summary: CaseSummary) -> str:
    """Say what guided search reaches in one case."""
    guided = next((one for one in summary.methods if one.method == "guided"), None)
    left = "" if guided is None else f"guided search leaves {_interval(guided.gap_ratio, '.2f')} of model 1's gap; "
    return f"{case_title(summary.case)}: {left}no method dominates it in {percent(summary.not_dominated, 0)} of splits."


def mitigation_price(summary: CaseSummary) -> str:
    """Say what guided search costs in one case."""
    return (
        f"Guided search is dominated by none of the others in {percent(summary.not_dominated, 0)} of the splits. It "
        f"takes {_interval(summary.guided_fits, '.1f')} SVC fits' time and leaves out "
        f"{_interval(summary.left_out, '.0f')} training rows; its objective is "
        f"{_interval(summary.objective_ratio, '.3f')} of model 1's."
    )


def _interval(numbers: Estimate, form: str) -> str:
    return estimate(numbers, lambda value: format(value or 0.0, form))
