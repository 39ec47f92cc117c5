"""Every exception that fairenum raises on purpose.

::

    FairenumError
    ├── DataError                  a table, a label, a column or a cell cannot be used
    │   ├── FileUnreadable         a file is no table that can be read
    │   │   ├── DatasetNotFound    no bundled dataset and no file of that name
    │   │   ├── DatasetChanged     a bundled file is not the one its card describes
    │   │   ├── FormatUnknown      the file's suffix or kind is not among those read here
    │   │   ├── ReaderMissing      the format is known, the package that reads it is not installed
    │   │   ├── NotUtf8            a text file in an encoding that cannot be told
    │   │   ├── WrongDelimiter     a CSV file whose cells are separated by something else
    │   │   ├── RaggedTable        a row with more or fewer cells than the header
    │   │   └── EmptyTable         no header, or no row below it
    │   ├── ColumnError            a column cannot be used as asked
    │   │   ├── ColumnMissing      no column has that name
    │   │   ├── ColumnRepeated     two columns share one name
    │   │   ├── ColumnConflict     one column asked to play two parts
    │   │   ├── ColumnConstant     a column with one value, which teaches nothing
    │   │   ├── ColumnUnusable     a column of dates, objects, identifiers or soiled numbers
    │   │   └── CellInfinite       a number that is infinite or too large
    │   ├── LabelError             the label cannot be read as favourable against unfavourable
    │   │   ├── LabelNotBinary     three or more values
    │   │   ├── LabelOneClass      one value only
    │   │   ├── LabelUndefined     a row without a label
    │   │   └── FavourableUnknown  the favourable value is not stated, or not among the values
    │   ├── SplitImpossible        the rows cannot be divided as asked
    │   └── TableTooLarge          the encoded table would take more memory than is allowed
    ├── ModelError                 a model in use gives no answers that can be used
    │   └── ModelFileRefused       a model file is damaged, of no kind that is read here, or could run code
    ├── ConfigError                an option of an audit is unknown or out of range
    ├── ResultError                a saved result cannot be read or does not hold what is asked of it
    │   ├── EvidenceRefused        a file is no evidence file, or one that is made to do harm
    │   └── NotProposed            a model that is a candidate was to be exported like a proposed one
    ├── ExplorationError           a step of an exploration cannot be taken
    │   └── RecordRefused          a decision record is damaged, in use, of other data, or comes out otherwise
    ├── ProblemError               an SVM problem cannot be posed as asked
    ├── AttackError                something about a simulated attack
    │   ├── BudgetExceeded         fewer rows can be flipped than were asked for
    │   ├── StrategyNotFound       no strategy of that name
    │   ├── StrategyConflict       two distributions provide one name
    │   ├── StrategyBroken         the strategy cannot be loaded, or its answer is no set of rows
    │   └── ClusterUnavailable     the cluster cannot be used, or what speaks to it is not installed
    └── SolverError                something about a solver plugin
        ├── SolverNotFound         no plugin of that name
        ├── SolverUnavailable      the plugin is there, what it needs is not
        ├── SolverConflict         two distributions provide one name
        ├── SolverBroken           the plugin cannot be loaded, or failed while it solved
        ├── SolverOverwhelmed      the problem is larger than what is solved exactly in bearable time
        └── AnswerRefused          the plugin answered, and the answer is not a proven optimum

A message says what was wrong, what was received and what to do.
"""

from __future__ import annotations


class FairenumError(Exception):
    """A mistake or a failure that fairenum can explain; the command line prints it in one line."""


class DataError(FairenumError):
    """A table, a label, a column or a cell cannot be used as given."""


class FileUnreadable(DataError):
    """A file is no table that can be read."""


class DatasetNotFound(FileUnreadable):
    """No bundled dataset and no file has the name asked for."""


class DatasetChanged(FileUnreadable):
    """A bundled file is not the one that its card describes."""


class FormatUnknown(FileUnreadable):
    """A file's suffix or kind is not among those read here."""


class ReaderMissing(FileUnreadable):
    """The format is known, but the package that reads it is not installed."""


class NotUtf8(FileUnreadable):
    """A text file is written in an encoding that cannot be told."""


class WrongDelimiter(FileUnreadable):
    """The cells of a CSV file are separated by something else than expected."""


class RaggedTable(FileUnreadable):
    """A row has more or fewer cells than the header."""


class EmptyTable(FileUnreadable):
    """A table has no header, or no row below it."""


class ColumnError(DataError):
    """A column cannot be used as asked."""


class ColumnMissing(ColumnError):
    """No column of the table has the name asked for."""


class ColumnRepeated(ColumnError):
    """Two columns of a table share one name."""


class ColumnConflict(ColumnError):
    """One column is asked to play two parts, or none is left to play the one that is needed."""


class ColumnConstant(ColumnError):
    """A column holds one value, which teaches nothing."""


class ColumnUnusable(ColumnError):
    """A column holds dates, objects, identifiers or soiled numbers."""


class CellInfinite(ColumnError):
    """A cell holds a number that is infinite or too large to compute with."""


class LabelError(DataError):
    """The label cannot be read as favourable against unfavourable."""


class LabelNotBinary(LabelError):
    """The label has three or more values."""


class LabelOneClass(LabelError):
    """The label has one value only."""


class LabelUndefined(LabelError):
    """A row has no label."""


class FavourableUnknown(LabelError):
    """The favourable value is not stated, or is not among the label's values."""


class SplitImpossible(DataError):
    """The rows cannot be divided as asked."""


class TableTooLarge(DataError):
    """The encoded table would take more memory than is allowed."""


class ModelError(FairenumError):
    """A model in use gives no answers that can be used."""


class ModelFileRefused(ModelError):
    """A model file is damaged, of no kind that is read here, or could run code."""


class ConfigError(FairenumError, ValueError):
    """An option of an audit is unknown or out of range; a ValueError, too, so that a document can report its place."""


class ResultError(FairenumError):
    """A saved result cannot be read, or does not hold what is asked of it."""


class EvidenceRefused(ResultError):
    """A file is no evidence file of fairenum, or one made to do harm."""


class NotProposed(ResultError):
    """A candidate model was to be exported as if it were proposed; `why` says what keeps it from that."""

    def __init__(self, rank: int, why: str) -> None:
        self.rank, self.why = rank, why
        super().__init__(
            f"model {rank} is a candidate, not a proposal: {why}; write it all the same with unconfirmed=True "
            f"(--rank {rank} --unconfirmed)"
        )


class ExplorationError(FairenumError):
    """A step of an exploration cannot be taken; the exploration stays as it was."""


class RecordRefused(ExplorationError):
    """A decision record is damaged, in use, of other data, or gives another result when replayed."""


class ProblemError(FairenumError):
    """An SVM problem cannot be posed as asked."""


class AttackError(FairenumError):
    """A simulated attack cannot be run."""


class BudgetExceeded(AttackError):
    """Fewer rows can be flipped than were asked for."""


class StrategyNotFound(AttackError):
    """No installed attack strategy has the name asked for."""


class StrategyConflict(AttackError):
    """Two distributions provide an attack strategy of one name."""


class StrategyBroken(AttackError):
    """An attack strategy cannot be loaded, or its answer is no set of rows."""


class ClusterUnavailable(AttackError):
    """A cluster cannot be used, or the package that speaks to it is not installed."""


class SolverError(FairenumError):
    """A solver plugin cannot be used, or gave no usable answer."""


class SolverNotFound(SolverError):
    """No installed plugin has the name asked for."""


class SolverUnavailable(SolverError):
    """A plugin is installed, but a package that it needs is missing."""


class SolverConflict(SolverError):
    """Two distributions provide a plugin of one name."""


class SolverBroken(SolverError):
    """A plugin cannot be loaded, or raised while it solved."""


class SolverOverwhelmed(SolverError):
    """A problem is too large to be solved exactly in bearable time."""


class AnswerRefused(SolverError):
    """A plugin's answer is not a proven optimum."""
