"""The public functions `audit`, `measure`, `compare`, `score` and `select`, and the results that they return."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, Unpack

from fairenum.document.audit_config import AuditConfig
from fairenum.document.audit_document import AuditDocument, JudgedDocument
from fairenum.document.comparison_document import CompareConfig, ComparisonDocument
from fairenum.document.files import load, load_as, save, to_json, write_atomically
from fairenum.document.guards import refuse_unknown_columns, resolved_guards
from fairenum.document.keywords import AuditOptions, CompareOptions, GapName, MeasureOptions
from fairenum.document.measure_document import MeasureConfig, MeasuredDecisions, MeasureDocument
from fairenum.document.models import AuditedModel
from fairenum.errors import ConfigError, NotProposed, ResultError
from fairenum.runtime.budget import Budget, Progress, silent
from fairenum.runtime.hints import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date

    import pandas as pd
    from numpy.typing import ArrayLike
    from sklearn.pipeline import Pipeline

    from fairenum.auditing.run_state import RunState
    from fairenum.document.person import Person
    from fairenum.document.scoring import ScoredTable
    from fairenum.document.table_facts import TableFacts
    from fairenum.document.training import Tolerances
    from fairenum.report.rules import Rule
    from fairenum.tables import Dataset
    from fairenum.tables.naming import Names


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Base class of `AuditResult` and `MeasureResult`: a result document, with methods that display and save it."""

    document: JudgedDocument

    @property
    def warnings(self) -> dict[str, list[str]]:
        """The texts of all warnings, by warning code."""
        from fairenum.report import warnings

        found: dict[str, list[str]] = {}
        for code, words in warnings(self.document):
            found.setdefault(code, []).append(words)
        return found

    def _repr_html_(self) -> str:
        from fairenum.render.html import to_notebook
        from fairenum.report import page

        return to_notebook(page(self.document))

    def to_html(self, *, rules: Iterable[Rule] = (), profile: str | None = None, day: date | None = None) -> str:
        """Return the report as one self-contained HTML page.

        Parameters
        ----------
        rules
            Fairness rules to judge the result by.
        profile
            Arrangement of the page: "ll144" or, for an audit, "lda"; the plain report if not given.
        day
            Date on the page of a profile; today if not given.
        """
        from fairenum.render.html import to_html
        from fairenum.report import page

        return to_html(page(self.document, rules=rules, profile=profile, day=day))

    def to_markdown(self, *, rules: Iterable[Rule] = ()) -> str:
        """Return a brief report in Markdown, with the verdicts on the given fairness rules."""
        from fairenum.render.markdown import to_markdown
        from fairenum.report import page

        return to_markdown(page(self.document, rules=rules, brief=True))

    def save_tables(self, folder: str | Path) -> None:
        """Write every table as a CSV file in a folder; texts that a spreadsheet would run as formulas are escaped."""
        from fairenum.evidence.frames import write_tables

        write_tables(self.document, folder)

    def save_xlsx(self, path: str | Path) -> None:
        """Write all tables to one Excel workbook, a sheet for each; needs the extra ``fairenum[excel]``."""
        from fairenum.evidence.frames import workbook

        write_atomically(path, workbook(self.document))

    def save_evidence(
        self, path: str | Path, *, rules: Iterable[Rule] = (), profile: str | None = None, day: date | None = None
    ) -> None:
        """Write the document, its reports and its tables to one evidence file, which `fairenum.verify` checks.

        For an audit the file also has a model card, and the selected model if the audit ran in this process and the
        model may be exported. See `to_html` for the parameters.
        """
        from fairenum.evidence.bundle import evidence

        content = evidence(self.document, rules=rules, profile=profile, day=day, export=self._exporter)
        write_atomically(path, content)

    @property
    def _exporter(self) -> Callable[[str], None] | None:
        """The function that writes the selected model to a file; None if there is no model to write."""
        return None

    def to_json(self) -> str:
        """Return the document as JSON text; equal input and seed give equal text, except for timings."""
        return to_json(self.document)

    def save(self, path: str | Path) -> None:
        """Write the document to a JSON file, completely or not at all."""
        save(self.document, path)


@dataclass(frozen=True, slots=True, eq=False)
class MeasureResult(Result):
    """The result of `measure`: fairness and performance of decisions or scores.

    Parameters
    ----------
    document
        All findings, as a typed value that is saved as JSON.
    """

    document: MeasureDocument

    def __repr__(self) -> str:
        names = [decisions.name for decisions in self.document.decisions]
        return f"MeasureResult({self.document.dataset.name!r}, decisions={names})"

    def decisions(self, name: str | None = None) -> MeasuredDecisions:
        """Return the measured decisions of a decision or score column; by default those of the first column."""
        found = {decisions.name: decisions for decisions in reversed(self.document.decisions)}
        if name is None:
            return self.document.decisions[0]
        if name not in found:
            raise ResultError(f"the result has no decisions {name!r}; there are {quoted(reversed(found))}")
        return found[name]

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables by name: decisions, groups, warnings and, with a score, scores, cutoffs and calibration."""
        from fairenum.evidence.frames import tables

        return tables(self.document)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved measurement; refuse any other file."""
        return cls(load_as(MeasureDocument, path))


def measure(
    data: str | Path | pd.DataFrame | Mapping[str, ArrayLike],
    decision: Names = (),
    sensitive: Names = (),
    *,
    score: str | None = None,
    label: str | None = None,
    favourable: object = None,
    decision_favourable: object = None,
    counts: bool = False,
    config: MeasureConfig | None = None,
    **options: Unpack[MeasureOptions],
) -> MeasureResult:
    """Measure the decisions or scores of a table; nothing is trained.

    Parameters
    ----------
    data
        Name of a bundled dataset, path of a file, pandas frame, or arrays of equal length by column name.
    decision
        Columns of decisions; the first is compared with each of the others. Values are 0 and 1, yes and no, or those of
        the label.
    sensitive
        Columns whose groups are compared.
    score
        Column of numbers that rank rows.
    label, favourable
        Column of the true outcome, and its favourable value; without a label, rates that need one are left out.
    decision_favourable
        Favourable value of the decisions, if it is ambiguous.
    counts
        Whether each row is a group with its counts, in columns n, selected and optionally positives and
        true_positives, instead of a person.
    config
        All other options; the defaults of `MeasureConfig` if not given.
    **options
        Options of `MeasureConfig` and of reading the table (``cutoff=0.5, bands={"age": [40]}``); they override
        ``config``.
    """
    from fairenum.auditing.measurement import run_measure
    from fairenum.tables.decision_tables import Roles
    from fairenum.tables.naming import listed

    roles = Roles(listed(sensitive), listed(decision), score, label, favourable, decision_favourable)
    config = (config or MeasureConfig()).but(**options)
    return MeasureResult(run_measure(data, roles, config, counts=counts))


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonResult:
    """The result of `compare`: how every gap changed from one run to another."""

    document: ComparisonDocument

    @property
    def verdicts(self) -> dict[tuple[str, str], str]:
        """The verdict on each gap of the first decisions, by sensitive column and metric."""
        gaps = self.document.gaps
        return {(gap.column, gap.metric): gap.verdict for gap in gaps if gap.old_decisions == gaps[0].old_decisions}

    def to_html(self) -> str:
        """Return the comparison as one self-contained HTML page."""
        from fairenum.render.html import to_html
        from fairenum.report import page

        return to_html(page(self.document))

    def to_markdown(self) -> str:
        """Return the comparison in brief, as Markdown."""
        from fairenum.render.markdown import to_markdown
        from fairenum.report import page

        return to_markdown(page(self.document, brief=True))

    def save(self, path: str | Path) -> None:
        """Write the document to a JSON file, completely or not at all."""
        save(self.document, path)


def compare(
    old: str | Path | Result,
    new: str | Path | Result,
    *,
    names: tuple[str, str] = ("old", "new"),
    config: CompareConfig | None = None,
    **options: Unpack[CompareOptions],
) -> ComparisonResult:
    """Compare the gaps of two runs about different people: a verdict for each.

    Parameters
    ----------
    old, new
        Results of `measure` or `audit`, or files in which they are saved. Of an audit, the holdout counts.
    names
        What the two are called in reports.
    config
        All other options; the defaults of `CompareConfig` if not given.
    **options
        Options of `CompareConfig`; they override ``config``.
    """
    from fairenum.auditing.comparing import compare_runs

    found = (config or CompareConfig()).but(**options)
    return ComparisonResult(compare_runs(_judged(old), _judged(new), found, names))


def _judged(run: str | Path | Result) -> JudgedDocument:
    """Return the document of a result, or of the file of one; refuse documents of other kinds."""
    if isinstance(run, Result):
        return run.document
    document = load(run)
    if not isinstance(document, JudgedDocument):
        raise ResultError(f"{str(run)!r} is a {document.title}; only measurements and audits are compared")
    return document


@dataclass(frozen=True, slots=True, eq=False)
class AuditResult(Result):
    """The result of `audit`: the listed models, their scores and comparisons, and the selected model.

    Parameters
    ----------
    document
        All findings, as a typed value that is saved as JSON.
    live
        The rows and trained models, which are not saved; None for a loaded result.
    """

    document: AuditDocument
    live: RunState | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        name, models = self.document.dataset.name, len(self.document.models)
        return f"AuditResult({name!r}, models={models}, selected={self.document.selection.rank})"

    @property
    def selected(self) -> AuditedModel | None:
        """The selected model; None if every model is constant, or the model in use is kept."""
        return self.document.selected

    @property
    def is_partial(self) -> bool:
        """Whether the user interrupted the run, so that parts of it may be missing."""
        return self.document.is_partial

    def model(self, rank: int) -> AuditedModel:
        """Return the model of a rank, counted from 1; refuse a rank that does not exist."""
        models = self.document.models
        if not 1 <= rank <= len(models):
            raise ResultError(f"the result has no model of rank {rank}; its ranks are 1 to {len(models)}")
        return models[rank - 1]

    def estimator(self, rank: int) -> Pipeline:
        """Return the fitted scikit-learn pipeline of the model of a rank: preprocessing and classifier."""
        self.model(rank)
        return self._models.estimator(rank)

    @property
    def _models(self) -> RunState:
        if self.live is None:
            raise ResultError("a saved result holds no models, only their scores; run the audit again to export one")
        return self.live

    @property
    def _exporter(self) -> Callable[[str], None] | None:
        return self.export if self.live else None

    @property
    def selected_estimator(self) -> Pipeline:
        """The fitted scikit-learn pipeline of the selected model."""
        return self.estimator(self._selected_rank())

    def export(self, path: str | Path, rank: int | None = None, *, unconfirmed: bool = False) -> None:
        """Write the pipeline of a model to a skops file.

        A model that is not proposed (see `standing`) is written only with ``unconfirmed=True``. The attribute
        ``standing_`` of the pipeline holds the status, ``reading_`` how `score` reads new tables, as JSON text.

        Parameters
        ----------
        path
            Path of the file.
        rank
            Rank of the model; by default the selected model.
        unconfirmed
            Whether to write a model that is not proposed instead of refusing it.
        """
        from skops.io import dumps

        from fairenum.auditing.new_decisions import model_reading

        rank = self._selected_rank() if rank is None else rank
        pipeline, standing = self.estimator(rank), self.standing(rank)
        if standing in ("candidate", "not proposed") and not unconfirmed:
            raise NotProposed(rank, self._doubt(rank))
        pipeline.standing_ = standing
        pipeline.reading_ = to_json(model_reading(self._models, rank, standing))
        write_atomically(path, dumps(pipeline))

    def standing(self, rank: int) -> Literal["proposed", "candidate", "not proposed", "model 1"]:
        """Return the status of the model of a rank: "proposed", "candidate", "not proposed" or "model 1".

        The selected model has the answer of the audit; all others are candidates. Model 1, the best one, has the status
        "model 1" unless models are compared with the model in use.
        """
        if self.model(rank).rank == self.document.reference.rank:
            return "model 1"
        selection = self.document.selection
        if rank == selection.rank and selection.answer in ("proposed", "not proposed"):
            return selection.answer
        return "candidate"

    def _doubt(self, rank: int) -> str:
        """Return the reason why the model of a rank is not proposed."""
        from fairenum.report.headline import why_not

        return why_not(self.document) if rank == self.document.selection.rank else "it was not selected"

    def _selected_rank(self) -> int:
        rank = self.document.selection.rank
        if rank is None:
            from fairenum.report.choice_words import reason

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
        """Return the result with a simulation of label flips added; see `fairenum.attack.simulation.attacked`."""
        from fairenum.attack.simulation import attacked

        if self.live is None:
            raise ResultError("a saved result has no rows whose labels could be flipped; run the audit again")
        document = attacked(
            self.document, self.live, jobs=jobs, cluster=cluster, progress=progress, budget=budget, **options
        )
        return type(self)(document, self.live)

    def explain(self, values: Mapping[str, object]) -> Person:
        """Return the decision of every listed model about one person; the kernel must be linear.

        A loaded result suffices. If the audit ran in this process, the person also gets the flip price: the least
        relative loss at which some SVM decides differently from model 1.

        Parameters
        ----------
        values
            Numbers and texts by feature name. Omitted features count as missing, and are encoded as in training.
        """
        from fairenum.document.person import decide_about

        person = decide_about(self.document, values)
        return person if self.live is None else self.live.with_flip_price(self.document, person)

    def redacted(self) -> Self:
        """Return the result without data of single rows: row numbers, labels, groups and cell values."""
        return type(self)(self.document.redacted(), self.live)

    def to_frame(self) -> pd.DataFrame:
        """Return a frame with one row for each model, and its scores on the selection split and the holdout."""
        from fairenum.evidence.frames import models

        return models(self.document)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables by name.

        These are models, incumbent, incumbent_gaps, incumbent_groups, scores, groups, rankings, cutoffs, calibration,
        outcomes, disagreement, baselines, ambiguity, ambiguity_curve, flip_prices, strip, guards, left_out, examples,
        clusters, flips, flipped_groups, range, warnings, features, group_sizes, screening, weights, effects, tuning and
        splits;
        `fairenum.report.evidence_words.TABLES` describes each.
        """
        from fairenum.evidence.frames import tables

        return tables(self.document)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved audit; refuse any other file."""
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
        Name of a bundled dataset, path of a file, pandas frame, or `Dataset`.
    label, favourable, sensitive
        The column to predict, its favourable value, and the columns whose groups are compared. A bundled dataset
        has defaults for all three.
    config
        All other options; the defaults of `AuditConfig` if not given.
    progress
        Called with the name of a stage, the amount done and the total (None if unknown).
    budget
        Time limit that began to run before this call; by default that of ``config``, which begins now.
    **options
        Options of `AuditConfig` and of its SVM (``k=50, C=1.0, kernel="rbf"``), which override ``config``.
        ``incumbent`` may be the model in use itself: a fitted classifier, a function from a frame to decisions, or an
        array with one decision for each row.

    Returns
    -------
    AuditResult
        Marked as partial if interrupted from the keyboard after the best model was found.
    """
    started = Budget()
    from fairenum.svm import compile_ahead

    compile_ahead.begin()  # before all else that has to be loaded
    from fairenum.auditing.pipeline import run_audit

    config, incumbent_object = with_options(config, options)
    budget = budget or replace(started, seconds=config.max_seconds)
    return AuditResult(*run_audit(data, label, favourable, sensitive, config, progress, incumbent_object, budget))


def select(
    result: AuditResult,
    *,
    metric: GapName | None = None,
    eps: float | None = None,
    max_performance_drop: float | None = None,
    max_accuracy_drop: float | None = None,
    guards: Sequence[str] | str = (),
    rank: int | None = None,
    in_advance: bool = False,
) -> AuditResult:
    """Return the result with a model chosen again under other tolerances; no data are needed.

    Parameters
    ----------
    result
        Result of an audit, computed in this process or loaded.
    metric, eps, max_performance_drop
        The tolerances, as in `AuditConfig`; by default those of the last choice. A run looks for models within its own
        eps only, so a larger eps is refused. Performance is measured as in the run.
    max_accuracy_drop
        Another name of `max_performance_drop`.
    guards
        Guardrails; each replaces that of the last choice on the same quantity. If the first is "none", all guardrails
        of the last choice are removed.
    rank
        Rank of the model to choose, instead of the one that the rule of choice selects.
    in_advance
        Whether these tolerances were fixed before anybody saw the holdout. The choice is then one claim more that is
        judged alone, and the report says of how many the result knows.

    Returns
    -------
    AuditResult
        With the new choice, its tables and its warnings. What was shown of a model stays so if it is chosen again.
        Verdicts on another model are simultaneous over all models, unless it was fixed in advance, so they stay valid
        although the holdout was seen before the choice.
    """
    from fairenum.auditing.choosing import choose_again
    from fairenum.runtime.parallel import one_thread

    document, within = result.document, result.document.config.tolerances.eps
    if eps is not None and not 0.0 <= eps <= within:
        searched = f"the run looked for models within eps={within:g}"
        raise ConfigError(f"{searched}; choose eps between 0 and that, not {eps!r}")
    drops = {"max_performance_drop": max_performance_drop, "max_accuracy_drop": max_accuracy_drop}
    changes = {"metric": metric, "eps": eps, **drops}
    tolerances = changed_tolerances(document.selection.tolerances, document.dataset, guards, changes)
    with one_thread():
        if result.live is None:
            return AuditResult(choose_again(document, tolerances, rank, in_advance=in_advance))
        again = result.live.choose_again(document, tolerances, rank, in_advance=in_advance)
        return AuditResult(again, result.live)


@dataclass(frozen=True, slots=True, eq=False)
class ScoreResult:
    """The result of `score`: the decisions of an exported model about the rows of a new table.

    Parameters
    ----------
    summary
        Counts and selection rates, by group if possible, and what the rows have that is new to the model.
    decisions
        A frame with a line for each row: its number from 0, the columns that were kept, the decision in the words of
        the label, and the score, which is favourable from 0 on.
    """

    summary: ScoredTable
    decisions: pd.DataFrame = field(repr=False)

    def _repr_html_(self) -> str:
        from fairenum.render.html import to_notebook
        from fairenum.report.scored_page import scored_page

        return to_notebook(scored_page(self.summary))

    def to_html(self) -> str:
        """Return the report as one self-contained HTML page."""
        from fairenum.render.html import to_html
        from fairenum.report.scored_page import scored_page

        return to_html(scored_page(self.summary))

    def to_json(self) -> str:
        """Return the summary as JSON text."""
        return to_json(self.summary)

    def content(self, path: str | Path) -> bytes:
        """Return the content of a file of decisions: Parquet if the path ends in .parquet or .pq, else CSV."""
        from fairenum.evidence.spreadsheet import to_csv, to_parquet

        is_parquet = Path(path).suffix.lower() in (".parquet", ".pq")
        return to_parquet(self.decisions) if is_parquet else to_csv(self.decisions).encode()

    def save(self, path: str | Path) -> None:
        """Write the decisions to a CSV or, by its suffix, a Parquet file, completely or not at all."""
        write_atomically(path, self.content(path))


def score(
    model: str | Path,
    data: str | Path | pd.DataFrame,
    *,
    keep: Names = (),
    delimiter: str | None = None,
    sheet: str | None = None,
) -> ScoreResult:
    """Decide about the rows of a new table with an exported model, which reads it as the audit read its own.

    Parameters
    ----------
    model
        Path of a skops file that `AuditResult.export`, or ``--export`` of a command, has written.
    data
        Path of a table file, name of a bundled dataset, or pandas frame; it has all features of the model.
    keep
        Columns of the table to keep beside the decisions, such as an id.
    delimiter, sheet
        Separator between the cells of a CSV file, and sheet of a spreadsheet, as in `audit`.
    """
    from fairenum.auditing.new_decisions import ExportedModel, score_rows
    from fairenum.document.reading import Reading
    from fairenum.tables.naming import listed

    reading = Reading().but(delimiter=delimiter, sheet=sheet)
    return ScoreResult(*score_rows(ExportedModel.load(model), data, listed(keep), reading))


def with_options(config: AuditConfig | None, options: AuditOptions) -> tuple[AuditConfig, object]:
    """Return a pair: the configuration with the options applied, and the model in use if it is a Python object."""
    is_object = not isinstance(options.get("incumbent"), str | None)
    incumbent_object = options.pop("incumbent") if is_object else None
    return (config or AuditConfig()).but(**options), incumbent_object


def changed_tolerances(
    last: Tolerances, table: TableFacts, guards: Sequence[str] | str, changes: Mapping[str, object]
) -> Tolerances:
    """Return the tolerances `last` with the given guardrails and changes; a change to None has no effect."""
    given = {name: value for name, value in changes.items() if value is not None}
    kept = resolved_guards((guards,) if isinstance(guards, str) else guards, last.guards)
    refuse_unknown_columns(kept, [column.column for column in table.sensitive])
    return last.but(guards=kept, **given)
