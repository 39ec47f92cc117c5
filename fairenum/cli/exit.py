"""How the program ends: one code for each thing that a CI job must tell apart."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes; they are documented in ``fairenum --help``."""

    DONE = 0
    VIOLATED = 1
    BAD_INPUT = 2
    INCONCLUSIVE = 3
    PARTIAL = 4
    INTERNAL = 70
    INTERRUPTED = 130
