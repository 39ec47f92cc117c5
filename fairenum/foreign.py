"""Code of others that runs in this process: whoever prints can tell whether it is they who print."""

from __future__ import annotations

from contextvars import ContextVar, Token

_IS_FOREIGN: ContextVar[bool] = ContextVar("is_foreign", default=False)


def is_foreign() -> bool:
    """Tell whether the code of a plugin is being run here; also in a thread that was left behind."""
    return _IS_FOREIGN.get()


def entered() -> Token[bool]:
    """Say that a plugin's code begins; a context manager would take longer than many a call does."""
    return _IS_FOREIGN.set(True)


def left(token: Token[bool]) -> None:
    """Say that it has ended."""
    _IS_FOREIGN.reset(token)
