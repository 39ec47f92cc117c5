"""The words of the reproduction: what the paper claims, what became of it, and what the figures show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fairenum.document.reproduction import (
    Count,
    InjectionExperiment,
    JudgedClaim,
    ReproductionDocument,
    TableExperiment,
)
from fairenum.rendering.numbers import UNDEFINED, counted, percent
from fairenum.rendering.text import capitalised, plain, sentence_list
from fairenum.report.wording import CLAIM_VERDICTS

CLAIMS = {
    "german_spread": "On German the objective values of the 50 best models are the same within 6.0e-4.",
    "lower_loss": "One of the 50 best models, at least, has a smaller test loss than the optimal one.",
    "linear_time": "The total time is almost linear in the number of models, up to 1000.",
    "raised": "The injection raises demographic parity on the test rows.",
    "tied": "All 50 best models on injected COMPAS have the same objective value.",
    "tied_but_different": "Models of the same objective value decide the test rows differently.",
    "fairer": "Several of the 50 best models have a smaller parity gap than the clean reference and less error than "
    "model 1.",
}
VERDICT_NOTE = "Holds: true in at least 95 % of splits or draws; does not hold: in at most 5 %. Intervals: 95 %."

OBJECTIVE = (
    "How far the objective of the k-th model falls short of the best, 1 - f(k)/f(1): the paper's Figure 1 (a), on a "
    "logarithmic axis. Median, half and nine tenths of the splits; dashed: the 6.0e-4 that the paper states for German."
)
LOSS = (
    "Test hinge loss of the k-th model over that of the best: the paper's Figure 1 (b). Dashed upright: the model that "
    "the paper names as better than the best."
)
TIME = (
    "CPU seconds until the k-th model, both axes logarithmic: the paper's Figure 2. Orange: its own algorithm on "
    "scikit-learn's SVC, on one split, for as long as it was given."
)
SPREAD = (
    "Share of splits whose 50 best models lie within a given distance of the best objective; dashed: the paper's "
    "statement for German."
)
PARITY = (
    "Demographic parity gap and misclassification on the 50 test rows by rank: the paper's Figure 3, over all draws. "
    "Dashed: the reference of the clean labels (median over draws) and the paper's 0.321."
)
TIES = (
    "Share of draws whose 50th model falls short of the first by at most so much. To the left of 1e-9 nothing can be "
    "told apart; orange: what the paper's own algorithm on SVC shows."
)
REFERENCE = (
    "The parity gap on 50 test rows before and after the injection, as shares of draws at or below it; dashed: the "
    "paper's reference of 0.321."
)
UNSAID = (
    "The random draws. Every figure here is a distribution over many; the paper's is one of them.",
    "How columns are coded and scaled. Texts become ordinal codes, which gives the paper's 20 columns of German; "
    "numbers are standardised by the training rows. Raw numbers are run beside.",
    "Which accuracy chooses C, and what happens at a tie. Folds are stratified, the mean accuracy counts, and the "
    "smaller C wins a tie.",
    "Whether the split is stratified. Here label and groups are spread alike over both parts.",
    "Whether the test loss is taken of decision values or of labels: l(y, ŷ) is read with ŷ the decision value; of "
    "labels it would be twice the error.",
    "What C is on COMPAS, and whether columns are scaled there. C = 1 and standardised columns are the main "
    "variant; raw columns and C by folds are run beside.",
    "Which model is the clean reference: trained on the 100 rows before the flips, or on the 90 that were not "
    "flipped. The first is taken, the second counted beside.",
    "Whether test rows may be training rows. Here they may not.",
    "The bias, where no support vector is free: the middle of the interval of optimal biases. The paper prints "
    "b = 1 - ...; it is y_i - ....",
    "sgn(0), which is 1 here, and which of several optimal answers the solver gives (the paper's Assumption 1). "
    "Here it is the one of least tie weight, which makes the assumption true.",
    "What the same objective value means. Here: proven equal within a relative 1e-9.",
)


def subject(document: ReproductionDocument) -> str:
    """Say what was run."""
    plan, parts = document.plan, []
    if document.tables:
        each = "each " if len(document.tables) > 1 else ""
        tables = sentence_list(map(plain, document.tables))
        parts.append(f"{counted(plan.splits, 'random split')} {each}of {tables}")
    if document.injection:
        parts.append(f"{counted(plan.draws, 'random draw')} of injected COMPAS")
    version = plain(document.environment.packages.get("fairenum", "of an unknown version"))
    return (
        f"Kanamori, Hara, Ishihata, Arimura: Enumeration of Distinct Support Vectors for Interactive Decision Making "
        f"(2019). {sentence_list(parts)}, seeds from {plan.seed}, by fairenum {version}."
    )


def headline(claims: tuple[JudgedClaim, ...]) -> str:
    """Count the verdicts."""
    tried = [claim.verdict for claim in claims if claim.trials]
    counts = Counter(tried)
    parts = [
        f"{counts[verdict]} {words[counts[verdict] != 1]}"
        for verdict, words in CLAIM_VERDICTS.items()
        if counts[verdict]
    ]
    number = counted(len(tried), "claim")
    is_whole = len(tried) == len(claims)
    subject = f"the paper's {number}" if is_whole else f"{number} of the paper that could be tried"
    return f"Of {subject}, {sentence_list(parts)}" if parts else "No claim of the paper was tried"


def statement(claim: JudgedClaim) -> str:
    """Give a claim as the paper makes it."""
    return CLAIMS.get(claim.name, plain(claim.name))


def finding(claim: JudgedClaim) -> str:
    """Say in one sentence what became of a claim."""
    often = f"in {claim.true} of {claim.trials} ({share_limits(claim)})"
    return f"{capitalised(claim.verdict)}: {statement(claim)} True {often}."


def share_limits(count: Count) -> str:
    """Give the interval of a share."""
    if count.share.value is None:
        return UNDEFINED
    return f"{percent(count.share.low)} to {percent(count.share.high)}"


def experiments(document: ReproductionDocument) -> Iterator[tuple[str, TableExperiment | InjectionExperiment]]:
    """Go through what was run, by its names."""
    yield from document.tables.items()
    if document.injection:
        yield "compas", document.injection


def warnings(document: ReproductionDocument) -> Iterator[str]:
    """Say what to beware of."""
    if document.plan.is_quick:
        yield "A quick run: too few splits and draws for a verdict to lean on."
    if document.is_partial:
        yield "Interrupted: only what was finished is counted."
    for name, experiment in experiments(document):
        for variant, found in experiment.variants.items():
            if refused := found.refused:
                yield plain(
                    f"{name}, {variant}: {len(refused)} not counted, for want of a proven answer "
                    f"(seed {refused[0].seed}: {refused[0].reason})."
                )


def facts(document: ReproductionDocument) -> Iterator[tuple[str, str]]:
    """Say how it was run."""
    plan, environment = document.plan, document.environment
    yield "splits", f"{plan.splits} of each table, 70 % to train on and 30 % to test on"
    yield "draws", f"{plan.draws} of COMPAS: 100 rows to train on, 10 flips among y ≠ z, 50 rows to test on"
    yield "Algorithm 1 on SVC", f"{plan.printed_draws} draws, {plan.printed_seconds:g} s on each other table"
    yield "seed", str(plan.seed)
    versions = {"python": environment.python, **environment.packages}
    yield "versions", plain(", ".join(f"{name} {version}" for name, version in versions.items()))
    for name, experiment in experiments(document):
        yield (
            plain(name),
            (f"{experiment.rows} rows, {experiment.features} features, sha256 {plain(experiment.fingerprint[:12])}"),
        )
