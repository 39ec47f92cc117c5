"""Every exception that fairenum raises on purpose.

::

    FairenumError
    ├── DataError              a table, a label, a column or a cell cannot be used
    ├── ProblemError           an SVM problem cannot be posed as asked
    └── SolverError            something about a solver plugin
        ├── SolverNotFound     no plugin of that name
        ├── SolverUnavailable  the plugin is there, what it needs is not
        ├── SolverConflict     two distributions provide one name
        ├── SolverBroken       the plugin cannot be loaded, or failed while it solved
        └── AnswerRefused      the plugin answered, and the answer is not a proven optimum

A message says what was wrong, what was received and what to do.
"""


class FairenumError(Exception):
    """A mistake or a failure that fairenum can explain; the command line prints it in one line."""


class DataError(FairenumError):
    """A table, a label, a column or a cell cannot be used as given."""


class ProblemError(FairenumError):
    """An SVM problem cannot be posed as asked."""


class SolverError(FairenumError):
    """Something about a solver plugin."""


class SolverNotFound(SolverError):
    """No installed plugin has the name asked for."""


class SolverUnavailable(SolverError):
    """A plugin is installed, but a package that it needs is missing."""


class SolverConflict(SolverError):
    """Two distributions provide a plugin of one name."""


class SolverBroken(SolverError):
    """A plugin cannot be loaded, or raised while it solved."""


class AnswerRefused(SolverError):
    """A plugin answered, and the answer is not a proven optimum."""
