"""The public functions: audit a table, choose again, and what a result can show of itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, Unpack

from fairenum.budget import Budget
from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import AuditConfig, AuditOptions, with_present_names
from fairenum.document.files import load_as, write_atomically
from fairenum.document.guards import refuse_unknown_columns, resolved_guards
from fairenum.document.models import AuditedModel
from fairenum.document.terms import Gap
from fairenum.errors import ConfigError, NotProposed, ResultError
from fairenum.progress import Progress, silent
from fairenum.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd
    from sklearn.pipeline import Pipeline

    from fairenum.auditing.live import LiveRun
    from fairenum.dataset import Dataset
    from fairenum.dataset.naming import Names
    from fairenum.document.person import Person


@dataclass(frozen=True, slots=True, eq=False)
class AuditResult(Result):
    """What an audit found.

    Parameters
    ----------
    document
        Everything, as a typed value that is kept as JSON.
    live
        The rows and models themselves, where the result was computed here and not loaded.
    """

    document: AuditDocument
    live: LiveRun | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        name, models = self.document.dataset.name, len(self.document.models)
        return f"AuditResult({name!r}, models={models}, selected={self.document.selection.rank})"

    @property
    def selected(self) -> AuditedModel | None:
        """The selected model; None if every model is constant."""
        return self.document.selected

    @property
    def is_partial(self) -> bool:
        """Whether the run was interrupted."""
        return self.document.is_partial

    def model(self, rank: int) -> AuditedModel:
        """Return one model by its rank."""
        models = self.document.models
        if not 1 <= rank <= len(models):
            raise ResultError(f"the result has no model of rank {rank}; its ranks are 1 to {len(models)}")
        return models[rank - 1]

    def estimator(self, rank: int) -> Pipeline:
        """Build the fitted scikit-learn pipeline of one model: preprocessing and classifier."""
        self.model(rank)
        if self.live is None:
            raise ResultError("a saved result holds no models, only their scores; run the audit again to export one")
        return self.live.estimator(rank)

    @property
    def _exporter(self) -> Callable[[str], None] | None:
        return self.export if self.live else None

    @property
    def selected_estimator(self) -> Pipeline:
        """The fitted scikit-learn pipeline of the selected model."""
        return self.estimator(self._selected_rank())

    def export(self, path: str | Path, rank: int | None = None, *, unconfirmed: bool = False) -> None:
        """Write the pipeline of a model to a skops file.

        The selected model is written if it is proposed. Model 1 is what there is without a choice, and may be
        written. Every other model is a candidate, which nothing has confirmed. What a model is stays with it, as
        ``standing_`` of the pipeline: proposed, candidate or model 1.

        Parameters
        ----------
        path
            Of the file.
        rank
            The selected model if not given.
        unconfirmed
            Write a candidate, too.
        """
        from skops.io import dumps

        rank = self._selected_rank() if rank is None else rank
        pipeline, standing = self.estimator(rank), self.standing(rank)
        if standing == "candidate" and not unconfirmed:
            raise NotProposed(rank, self._doubt(rank))
        pipeline.standing_ = standing
        write_atomically(path, dumps(pipeline))

    def standing(self, rank: int) -> Literal["proposed", "candidate", "model 1"]:
        """Say what may be made of a model: only the selected one can be proposed.

        Model 1 needs no proposal, unless it is to take the place of a model in use.
        """
        if self.model(rank).rank == self.document.reference.rank:
            return "model 1"
        selection = self.document.selection
        is_proposed = rank == selection.rank and selection.proposal == "proposed"
        return "proposed" if is_proposed else "candidate"

    def _doubt(self, rank: int) -> str:
        """Say what keeps a model from being proposed."""
        from fairenum.report.wording.standing import why_candidate

        return why_candidate(self.document) if rank == self.document.selection.rank else "it was not selected"

    def _selected_rank(self) -> int:
        rank = self.document.selection.rank
        if rank is None:
            from fairenum.report.wording.choosing import reason

            raise ResultError(f"no model was selected: {reason(self.document)}; name a rank")
        return rank

    def attacked(
        self,
        *,
        jobs: int = 1,
        cluster: str | None = None,
        progress: Progress = silent,
        budget: Budget | None = None,
        **options: object,
    ) -> Self:
        """Add what label flips do to draws of the audited table; see `fairenum.auditing.robustness.attacked`."""
        from fairenum.auditing.robustness import attacked

        if self.live is None:
            raise ResultError("a saved result holds no rows to flip labels of; run the audit again")
        document = attacked(
            self.document, self.live, jobs=jobs, cluster=cluster, progress=progress, budget=budget, **options
        )
        return type(self)(document, self.live)

    def explain(self, values: Mapping[str, object]) -> Person:
        """Decide about one person with every listed model of a linear kernel; a saved result will do.

        A result that was computed here says what all other machines decide that are near-optimal, too.

        Parameters
        ----------
        values
            Numbers and texts by feature; what is not named counts as missing, as it did in training.
        """
        from fairenum.document.person import decide_about

        person = decide_about(self.document, values)
        return person if self.live is None else self.live.settled(self.document, person)

    def redacted(self) -> Self:
        """Leave out what the document holds of single rows: their numbers, labels, groups and values."""
        return type(self)(self.document.redacted(), self.live)

    def to_frame(self) -> pd.DataFrame:
        """Return the models as a table, one row each, with their scores on both splits."""
        from fairenum.frames import models

        return models(self.document)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return everything that is a table, by name.

        These are models, incumbent, scores, groups, rankings, cutoffs, calibration, outcomes, disagreement, baselines,
        ambiguity, ambiguity_curve, flip_prices, strip, guards, left_out, examples, clusters, flips, flipped_groups,
        range, warnings, features, group_sizes, screening, weights, effects, tuning and splits;
        `fairenum.report.wording.tables.TABLES` says what each shows.
        """
        from fairenum.frames import tables

        return tables(self.document)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved audit, and refuse what is none."""
        return cls(load_as(AuditDocument, path))


def audit(
    data: str | Path | pd.DataFrame | Dataset,
    label: str | None = None,
    favourable: object = None,
    sensitive: Names | None = None,
    *,
    config: AuditConfig | None = None,
    progress: Progress = silent,
    budget: Budget | None = None,
    **options: Unpack[AuditOptions],
) -> AuditResult:
    """Audit a table: list the near-optimal SVMs, score and compare them, and select the fairest.

    Parameters
    ----------
    data
        A bundled name, the path of a file, a pandas frame, or a `Dataset`.
    label, favourable, sensitive
        The column to predict, its favourable value, and the columns whose groups are compared. A bundled dataset has
        them on its card.
    config
        All other options; the defaults of `AuditConfig` if not given.
    progress
        Called with the name of a stage, how much of it is done, and of how much (None if that is not known).
    budget
        The time limit of a run that began before this call; by default it begins here, and its limit is that of the
        configuration.
    **options
        Options of `AuditConfig` and of its machine (``k=50, C=1.0, kernel="rbf"``), which win over ``config``. As
        ``incumbent`` the model in use may be given itself: a fitted classifier, a function from a frame to decisions,
        or the decisions, one for each row.

    Returns
    -------
    AuditResult
        Marked as partial if it was interrupted from the keyboard once the best model was there.
    """
    started = Budget()
    from fairenum.qp import ahead

    ahead.begin()  # before all else that has to be loaded
    from fairenum.auditing.pipeline import run_audit

    is_model = not isinstance(options.get("incumbent"), str | None)
    in_use = options.pop("incumbent") if is_model else None
    config = (config or AuditConfig()).but(**options)
    budget = budget or replace(started, seconds=config.max_seconds)
    return AuditResult(*run_audit(data, label, favourable, sensitive, config, progress, in_use, budget))


def select(
    result: AuditResult,
    *,
    metric: Gap | None = None,
    eps: float | None = None,
    max_performance_drop: float | None = None,
    max_accuracy_drop: float | None = None,
    max_loss: float | None = None,
    guards: Sequence[str] | str = (),
    rank: int | None = None,
) -> AuditResult:
    """Choose again under other tolerances; a saved run will do, as no row of the data is needed.

    Parameters
    ----------
    result
        Of an audit, live or loaded.
    metric, eps, max_performance_drop, max_loss
        The tolerances, as in `AuditConfig`; those of the run's last choice if not given. A run lists the models
        within its own eps only, so a larger one is refused. What counts as performance is what the run has measured.
    max_accuracy_drop
        Another name of `max_performance_drop`.
    guards
        Guardrails, in the place of those of the run's last choice about the same; "none" first turns those off.
    rank
        Take this model instead of the one that the rule chooses.

    Returns
    -------
    AuditResult
        With another choice, its tables and its warnings. Verdicts hold for all models together, so looking at the
        holdout before choosing again does not spoil them.
    """
    from fairenum.auditing.choice import choose_again
    from fairenum.threads import one_thread

    last, within = result.document.selection.tolerances, result.document.config.eps
    if eps is not None and not 0.0 <= eps <= within:
        raise ConfigError(f"the run lists models within eps={within:g}; choose eps between 0 and that, not {eps!r}")
    drops = {"max_performance_drop": max_performance_drop, "max_accuracy_drop": max_accuracy_drop}
    asked = {"metric": metric, "eps": eps, "max_loss": max_loss, **drops}
    given = with_present_names({name: value for name, value in asked.items() if value is not None})
    held = resolved_guards((guards,) if isinstance(guards, str) else guards, last.guards)
    refuse_unknown_columns(held, [column.column for column in result.document.dataset.sensitive])
    tolerances = replace(last, guards=held, **given)  # type: ignore[arg-type]  # checked when it is built
    with one_thread():
        if result.live is None:
            return AuditResult(choose_again(result.document, tolerances, rank))
        return AuditResult(result.live.choose_again(result.document, tolerances, rank), result.live)
