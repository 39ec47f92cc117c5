"""How an audit kept to its time, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairenum.document.audit import AuditDocument
from fairenum.document.choice import Caution
from fairenum.document.spending import CutBy, OptionalStage, Spending
from fairenum.phrases import option
from fairenum.rendering.text import sentence_list

STAGES: Mapping[OptionalStage, str] = {
    "enumerate": "the list of models",
    "guide": "the guided search",
    "tilt": "the search among tilted machines",
    "baselines": "the other mitigations",
    "screen": "what single features give away",
    "score": "the scores (of the models found, those of least gap on the selection split were kept)",
    "disagree": "how far the models disagree",
    "prices": "the search for decisions that depend on the choice of model",
    "range": "the range of what any machine could do",
    "explain": "the explanation of the selected model",
    "weigh": "what choosing flatters by",
    "attack": "the simulated attacks",
}


def cut(spending: Spending, by: CutBy) -> str:
    """Say which stages ended early, and which are missing."""
    early = [STAGES[stage] for stage in spending.stages(by, is_skipped=False)]
    missing = [STAGES[stage] for stage in spending.stages(by, is_skipped=True)]
    parts = (("cut short", early), ("left out", missing))
    return "; ".join(f"{how}: {sentence_list(stages)}" for how, stages in parts if stages)


def time_spent(document: AuditDocument, _caution: Caution) -> str:
    """Say what the time limit has cut."""
    spending = document.spending or Spending(None)
    limit = spending.limit or 0.0
    longer = option("max_seconds", 4.0 * limit, "time-limit", f"{4.0 * limit:g}")
    return f"the time limit of {limit:g} s ended the run early ({cut(spending, 'time')}); {longer} gives it longer"


def over_time(document: AuditDocument, _caution: Caution) -> str:
    """Say that the limit could not be kept, and why."""
    spending = document.spending or Spending(None)
    return (
        f"the time limit of {spending.limit:g} s could not be kept: the run took {spending.seconds:.1f} s, of which "
        f"{spending.required:.1f} s went to what no audit can do without (imports, the table, model 1, scores, choice)"
    )


def left_out(document: AuditDocument) -> Iterator[str]:
    """Say what was not asked for."""
    config = document.config
    why = "which needs that" if config.range else "--no-range"
    names = [
        *([] if config.prices else [f"{STAGES['prices']} (--no-prices)"]),
        *([] if config.range and config.prices else [f"{STAGES['range']} ({why})"]),
        *([] if config.explanation else [f"{STAGES['explain']} (--no-explanation)"]),
    ]
    if names:
        yield f"Not asked for: {sentence_list(names)}."
