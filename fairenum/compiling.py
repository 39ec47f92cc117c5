"""How inner loops are compiled: numba, once per machine, cached beside the module."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def inner(function: Function, fastmath: bool | set[str] = False) -> Function:
    """Compile what only compiled code calls: a way in from Python would double the time that takes."""
    decorate = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=fastmath)  # type: ignore[call-overload]
    compiled: Function = decorate(function)
    return compiled


# For sums whose order does not matter: several terms at a time.
in_any_order = partial(inner, fastmath={"reassoc"})


def entry(signature: str | None = None) -> Callable[[Function], Function]:
    """Compile a way in from Python; give back plain tuples and arrays, never named tuples.

    To box a result numba runs a little Python code. An interrupt from the keyboard that arrives there would surface as
    a SystemError; it is raised again as what it is. In a named tuple's code it would bring the process down.
    """

    def decorate(function: Function) -> Function:
        compiled = njit(signature, cache=True)(function)

        @wraps(function)
        def call(*arguments: object) -> object:
            try:
                return compiled(*arguments)
            except SystemError as error:
                if _was_interrupted(error):
                    raise KeyboardInterrupt from None
                raise

        return call  # type: ignore[return-value]

    return decorate


def _was_interrupted(error: BaseException | None) -> bool:
    """Tell whether an interrupt is at the bottom of an error: every array that is boxed may put one more upon it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None
