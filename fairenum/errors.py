"""Exceptions of fairenum, all derived from `FairenumError`.

A message says what was wrong, what was received and what to do.
"""

from __future__ import annotations


class FairenumError(Exception):
    """Base class of errors that fairenum can explain; the command line prints the message without a traceback."""


class DataError(FairenumError):
    """A table, a label, a column or a cell cannot be used as given."""


class FileUnreadable(DataError):
    """A file cannot be read as a table."""


class DatasetNotFound(FileUnreadable):
    """No bundled dataset and no file has the requested name."""


class DatasetChanged(FileUnreadable):
    """The content of a bundled dataset is not the one that its description states."""


class FormatUnknown(FileUnreadable):
    """The suffix or format of a file is not supported."""


class ReaderMissing(FileUnreadable):
    """The format of a file is supported, but the package that reads it is not installed."""


class NotUtf8(FileUnreadable):
    """A text file is neither UTF-8, nor UTF-16 with its byte order mark, nor Windows-1252."""


class WrongDelimiter(FileUnreadable):
    """The cells of a CSV file are not separated by the expected delimiter."""


class HeaderMissing(FileUnreadable):
    """The first line of a file looks like a row of data, not like the names of its columns."""


class RaggedTable(FileUnreadable):
    """A row has more or fewer cells than the header."""


class EmptyTable(FileUnreadable):
    """A table has no header, or no row below the header."""


class ColumnError(DataError):
    """A column cannot be used as requested."""


class ColumnMissing(ColumnError):
    """No column of the table has the requested name."""


class ColumnRepeated(ColumnError):
    """Two columns of a table have the same name."""


class ColumnConflict(ColumnError):
    """A column is named for two roles, such as label and feature, or no column is left for a required role."""


class ColumnConstant(ColumnError):
    """A column has a single value, so nothing can be learned from it."""


class ColumnUnusable(ColumnError):
    """A column has dates, objects, identifiers, or numbers mixed with words."""


class CellInfinite(ColumnError):
    """A cell has a number that is infinite or too large."""


class LabelError(DataError):
    """The label cannot be read as favourable or unfavourable."""


class LabelNotBinary(LabelError):
    """The label has three or more values."""


class LabelOneClass(LabelError):
    """The label has a single value."""


class LabelUndefined(LabelError):
    """A row has no label."""


class FavourableUnknown(LabelError):
    """The favourable value of the label is not given, or does not occur in the label column."""


class SplitImpossible(DataError):
    """The rows cannot be divided into training rows, selection split and holdout as requested."""


class TableTooLarge(DataError):
    """The encoded table would take more memory than is allowed."""


class ModelError(FairenumError):
    """The decisions or scores of the model in use cannot be read, or cannot be audited."""


class ModelFileRefused(ModelError):
    """A model file is damaged, of an unsupported format, or could run code."""


class ConfigError(FairenumError, ValueError):
    """An option is unknown or out of range.

    It is also a ValueError, so that msgspec, when it decodes a document, adds the path of the wrong field.
    """


class ResultError(FairenumError):
    """A saved result cannot be read, or does not contain what was requested."""


class EvidenceRefused(ResultError):
    """A file is not an evidence file of fairenum, or has content that could do harm."""


class NotProposed(ResultError):
    """A model is not proposed, so it is not exported without confirmation; `why` is the reason."""

    def __init__(self, rank: int, why: str) -> None:
        self.rank, self.why = rank, why
        super().__init__(
            f"model {rank} is not proposed: {why}; write it all the same with unconfirmed=True "
            f"(--rank {rank} --unconfirmed)"
        )


class ExplorationError(FairenumError):
    """A step of an exploration cannot be taken; the exploration stays as it was."""


class RecordRefused(ExplorationError):
    """A decision record is damaged, open elsewhere, made with other data, or has other results when replayed."""


class ProblemError(FairenumError):
    """The arrays or settings of an SVM training problem are invalid."""


class AttackError(FairenumError):
    """A simulated attack cannot be run."""


class BudgetExceeded(AttackError):
    """A simulated attack was asked to flip the labels of more rows than can be flipped."""


class StrategyNotFound(AttackError):
    """No installed attack strategy has the requested name."""


class StrategyConflict(AttackError):
    """Two distributions provide an attack strategy of the same name."""


class StrategyBroken(AttackError):
    """An attack strategy cannot be loaded, or did not return a set of rows."""


class ClusterUnavailable(AttackError):
    """A compute cluster cannot be used, or the package that connects to it is not installed."""


class SolverError(FairenumError):
    """A solver plugin cannot be used, or did not return a usable solution."""


class SolverNotFound(SolverError):
    """No installed solver has the requested name."""


class SolverUnavailable(SolverError):
    """A solver is installed, but a package that it needs is missing."""


class SolverConflict(SolverError):
    """Two distributions provide a solver of the same name."""


class SolverBroken(SolverError):
    """A solver cannot be loaded, or raised an exception."""


class SolverOverwhelmed(SolverError):
    """A problem is too large to be solved exactly in reasonable time."""


class AnswerRefused(SolverError):
    """The solution that a solver returned could not be proven optimal."""
