"""An exported model and new rows: what it has to know to read them, what it decides, and what is new in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from fairenum.auditing.measurement import ColumnSetting, measured_column
from fairenum.auditing.run_state import RunState
from fairenum.auditing.scorecard import overall_estimates
from fairenum.document.feature_facts import ROUNDING
from fairenum.document.header import environment
from fairenum.document.measure_document import ColumnMeasures, MeasureConfig
from fairenum.document.reading import Reading
from fairenum.document.scoring import FeatureNews, FeatureReading, ModelReading, ScoredTable
from fairenum.document.value import Estimate
from fairenum.errors import ConfigError, ModelFileRefused
from fairenum.metrics import Decisions, score
from fairenum.metrics.counts import BitArray, FloatArray
from fairenum.metrics.inference import parity_p_values, signed_differences
from fairenum.metrics.intervals import estimates, plain
from fairenum.runtime.parallel import one_thread
from fairenum.tables import Encoding, Groups
from fairenum.tables.columns import NUMERIC_KINDS, Column, is_missing, plain_text
from fairenum.tables.groups import comparable, with_intersection
from fairenum.tables.model_answers import SKOPS, blaming, kind_of_file, read_content
from fairenum.tables.model_reading import NewRows, bin_counts, feature_reading, read_new_rows, reading_of
from fairenum.tables.naming import table_name
from fairenum.tables.skops_model import load_skops
from fairenum.tables.table import refuse_unknown_columns, with_plain_names
from fairenum.tables.table_files import FileTable, list_datasets, read_file

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline

    from fairenum.tables.columns import Series

ROW, DECISION, SCORE = "row", "decision", "score"
EXPORT_AGAIN = "export the model again with: fairenum select RUN --data DATA --export PATH"
SHIFTED, ERROR, FEWEST_ROWS, FEWEST_EXPECTED = 0.1, 0.01, 50, 5.0
MOST_NAMED = 5


def model_reading(state: RunState, rank: int, standing: str) -> ModelReading:
    """Return how the model of a rank reads a table, and what it saw in training, to be exported with it."""
    division, dataset, config = state.division, state.division.dataset, state.config
    train, dropped = division.split.train, {*division.encoding.dropped}
    decided = state.listing.values["holdout"][rank - 1] >= 0.0
    return ModelReading(
        version="1",
        fairenum=environment().packages["fairenum"],
        table=dataset.name,
        label=dataset.label.column,
        favourable=dataset.label.favourable,
        unfavourable=dataset.label.unfavourable,
        rank=rank,
        standing=standing,
        rows=len(decided),
        selected=int(decided.sum()),
        features=tuple(
            feature_reading(one, train).but(name=dataset.column_of(one.name))
            for one in dataset.features
            if one.name not in dropped
        ),
        sensitive=dataset.group_readings,
        decimal=config.reading.decimal,
        confidence=config.confidence,
        min_group_size=config.min_group_size,
        small_groups=config.small_groups,
    )


@dataclass(frozen=True, slots=True, eq=False)
class ExportedModel:
    """A model that `fairenum` exported, loaded from its file, with how it reads a table."""

    name: str
    sha256: str
    reading: ModelReading
    pipeline: Pipeline = field(repr=False)

    @classmethod
    def load(cls, path: str | Path) -> ExportedModel:
        """Load an exported model; refuse other files, and models that do not say how they read a table."""
        path = Path(path)
        if path.suffix.lower() != SKOPS:
            raise ModelFileRefused(
                f"{path.name!r} is no {SKOPS} file, as which fairenum exports models, and was not opened; name the "
                "model first, then the table, and write a model with: fairenum select RUN --data DATA --export "
                f"model{SKOPS}"
            )
        kind_of_file(path)
        content = read_content(path)
        pipeline = load_skops(path, content)
        reading = reading_of(pipeline, path.name)
        if reading is None:
            raise ModelFileRefused(
                f"{path.name!r} does not say how its columns are read: another program or an earlier fairenum wrote "
                "it. So written numbers, categories and ranges cannot be checked, and nothing was decided; "
                f"{EXPORT_AGAIN}"
            )
        return cls(path.name, sha256(content).hexdigest(), reading, pipeline)

    def decide(self, rows: NewRows) -> tuple[BitArray, FloatArray]:
        """Return the decisions about rows, 1 if favourable, and decision values, favourable from 0 on."""
        with blaming(f"the model in {self.name!r}"), one_thread():
            raised = np.asarray(self.pipeline.decision_function(rows.frame()), dtype=np.float64)
        bits = (raised > 0.0).astype(np.uint8)
        values = raised - ROUNDING  # by which an exported bias is raised
        return bits, np.where((bits == 1) & (values <= ROUNDING), 0.0, values)


def score_rows(
    model: ExportedModel, data: str | Path | pd.DataFrame, keep: Sequence[str] = (), reading: Reading | None = None
) -> tuple[ScoredTable, pd.DataFrame]:
    """Return what a model decides about the rows of a new table: a summary, and a frame with a line for each row."""
    table, name = _loaded(data, reading or Reading())
    frame = with_plain_names(table.frame)
    _refuse_kept(frame, keep)
    rows = read_new_rows(frame, model.reading)
    bits, values = model.decide(rows)
    decided = _decided(frame, keep, bits, values, model.reading)
    return _summary(model, rows, bits, name, table, frame), decided


def _loaded(data: str | Path | pd.DataFrame, reading: Reading) -> tuple[FileTable, str]:
    if not isinstance(data, str | Path):
        return FileTable(data), "table"
    cards = {card.name: card for card in list_datasets()}
    path = cards[str(data)].path if str(data) in cards else Path(data)
    return read_file(path, reading, is_typed=False), table_name(data)


def _refuse_kept(frame: pd.DataFrame, keep: Sequence[str]) -> None:
    refuse_unknown_columns(frame, keep=keep)
    for name in keep:
        if name in (ROW, DECISION, SCORE):
            raise ConfigError(f"column {name!r}, named in keep (--keep), is a column of the decisions, too; rename it")
        if keep.count(name) > 1:
            raise ConfigError(f"column {name!r} is named twice in keep (--keep); name it once")


def _decided(
    frame: pd.DataFrame, keep: Sequence[str], bits: BitArray, values: FloatArray, reading: ModelReading
) -> pd.DataFrame:
    import pandas as pd

    words = np.array([reading.unfavourable, reading.favourable], dtype=object)
    kept = {name: _kept(frame[name]) for name in keep}
    return pd.DataFrame({ROW: np.arange(len(frame)), **kept, DECISION: words[bits], SCORE: values})


def _kept(series: Series) -> object:
    """Return the cells of a column; texts become numbers only if each is written as the number would be."""
    cells = series.to_numpy()
    if series.dtype.kind in NUMERIC_KINDS:
        return cells
    texts = [cell for cell in cells if isinstance(cell, str)]
    try:
        are_numbers = bool(texts) and all(plain_text(float(text)) == text for text in set(texts))
    except (ValueError, OverflowError):
        are_numbers = False
    return series.astype(float).to_numpy() if are_numbers and len(texts) == series.notna().sum() else cells


def _summary(
    model: ExportedModel, rows: NewRows, bits: BitArray, name: str, table: FileTable, frame: pd.DataFrame
) -> ScoredTable:
    reading = model.reading
    sensitive = [one.column for one in reading.sensitive]
    measures = list(_measured(rows.groups, bits, reading))
    shown = {one.column for one in measures}
    used = {*sensitive, reading.label, *(feature.name for feature in reading.features)}
    rates, change, p = _against_audit(bits, reading)
    return ScoredTable(
        name=name,
        rows=len(bits),
        model=model.name,
        sha256=model.sha256,
        audited=reading.table,
        rank=reading.rank,
        standing=reading.standing,
        label=reading.label,
        favourable=reading.favourable,
        unfavourable=reading.unfavourable,
        selected=int(bits.sum()),
        selection_rate=rates[1],
        audited_rate=rates[0],
        change=change,
        p=p,
        features=_news(model, rows),
        confidence=reading.confidence,
        ignored=tuple(column for column in frame.columns if column not in used),
        lacking=tuple(column for column in sensitive if column not in shown),
        strange={column: names for column, names in rows.strange.items() if column in shown},
        columns=tuple(measures),
        remarks=table.remarks,
    )


def _measured(columns: tuple[Groups, ...], bits: BitArray, reading: ModelReading) -> Iterator[ColumnMeasures]:
    """Yield the selection rates between the groups of each sensitive column, as `fairenum measure` does."""
    if not columns:
        return
    config = MeasureConfig(
        confidence=reading.confidence, min_group_size=reading.min_group_size, small_groups=reading.small_groups
    )
    found = with_intersection(columns)
    if config.fewest is not None:
        found = tuple(groups.setting_aside(config.fewest, (slice(None),)) for groups in found)
    for place, groups in enumerate(comparable(found, (), config.fewest)):
        setting = ColumnSetting(groups, place, groups.names[groups.reference()], False, config)
        yield measured_column(Decisions(bits[None], np.zeros_like(bits), groups), setting)[0]


def _against_audit(bits: BitArray, reading: ModelReading) -> tuple[list[Estimate], Estimate, float | None]:
    """Return the selection rates of the holdout and of the new rows, their difference, and its p-value."""
    held = np.repeat(np.array([1, 0], np.uint8), [reading.selected, reading.rows - reading.selected])
    names = ("holdout", "new")
    groups = Groups(np.repeat([0, 1], [len(held), len(bits)]), names)
    decided = np.concatenate([held, bits])[None]
    both = score(Decisions(decided, np.zeros(decided.shape[1], np.uint8), groups))
    rates = [
        overall_estimates(Decisions(one[None], np.zeros_like(one), Groups.everyone(len(one))), reading.confidence)
        for one in (held, bits)
    ]
    difference = estimates(signed_differences(both, reference="holdout", confidence=reading.confidence)[0])[1]
    p = plain(parity_p_values(both, reference="holdout")[0][1])
    return [one["selection_rate"][0] for one in rates], difference, p


def _news(model: ExportedModel, rows: NewRows) -> tuple[FeatureNews, ...]:
    encoding = Encoding((), (), model.pipeline.named_steps["preprocessing"])
    medians = {one.name: one.median for one in encoding.described()}
    features = model.reading.features
    found = (
        _feature_news(feature, column, rows.unranked.get(feature.name, []), len(features))
        for feature, column in zip(features, rows.features, strict=True)
    )
    return tuple(
        one.but(filled=medians.get(one.name)) if one.missing and column.is_numeric else one
        for one, column in zip(found, rows.features, strict=True)
    )


def _feature_news(feature: FeatureReading, column: Column, unranked: Sequence[str], features: int) -> FeatureNews:
    known = column.values[~is_missing(column.values)]
    missing = len(column.values) - len(known) - len(unranked)
    if feature.kind == "numeric":
        numbers = known.astype(np.float64)
        strange, bins = [*unranked], bin_counts(feature.edges, numbers)
        news = FeatureNews(feature.name, missing, **_range(feature, numbers))  # type: ignore[arg-type]
    else:
        seen = Counter(known.tolist())
        strange = [*Counter({text: seen[text] for text in seen.keys() - {*feature.levels}}).elements()]
        bins = np.array([seen[text] for text in feature.levels], dtype=np.intp)
        news = FeatureNews(feature.name, missing)
    distance, p = _shift((*feature.counts, feature.missing, 0), (*bins.tolist(), missing, len(strange)))
    is_shifted = distance is not None and p is not None and distance >= SHIFTED and p < ERROR / features
    values = tuple(text for text, _ in Counter(strange).most_common(MOST_NAMED))
    return news.but(unseen=len(strange), values=values, distance=distance, p=p, is_shifted=is_shifted)


def _range(feature: FeatureReading, numbers: FloatArray) -> Mapping[str, object]:
    least, most = feature.least, feature.most
    if not numbers.size or least is None or most is None or feature.ranks:
        return {}
    outside = int(np.count_nonzero((numbers < least) | (numbers > most)))
    return {"outside": outside, "least": float(numbers.min()), "most": float(numbers.max()), "trained": (least, most)}


def _shift(trained: Sequence[int], new: Sequence[int]) -> tuple[float | None, float | None]:
    """Return the total variation distance of two distributions given by counts, and a chi-squared test's p-value.

    Bins in which fewer than 5 of the new rows are expected are joined for the test.
    """
    counts = np.array([trained, new], dtype=np.float64)
    totals = counts.sum(1)
    if totals[1] < FEWEST_ROWS or not totals[0]:
        return None, None
    distance = float(np.abs(counts[0] / totals[0] - counts[1] / totals[1]).sum() / 2.0)
    counts = counts[:, counts.sum(0) > 0]
    expected = counts.sum(0) * totals[1] / totals.sum()
    rare = expected < FEWEST_EXPECTED
    joined = np.column_stack([counts[:, ~rare], *([counts[:, rare].sum(1)] if rare.any() else [])])
    if joined.shape[1] < 2:
        return distance, None
    return distance, float(stats.chi2_contingency(joined, correction=False).pvalue)
