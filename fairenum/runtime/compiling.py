"""Compilation of inner loops by numba, once per computer, cached beside the module.

A function that is called by compiled code is usually optimised by numba several times: alone, and again together with
every caller. Here such functions ("parts") are only parsed and typed, and are optimised once, together with the
function that Python calls (the "entry point"). This gives the same machine code in less than half the time. It relies
on internals of numba, so it is done only with versions that are known to have them; other versions compile in their
usual way.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial, wraps
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from llvmlite.binding import ModuleRef
from numba import njit, version_info
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types import Type
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature

LOG = logging.getLogger(__name__)
DIGEST = sha256().digest_size
KNOWN = {(0, 68)}  # versions of numba whose internals are known
LONGEST, LOOK = 120.0, 0.02  # seconds: for another process to compile, and between checks whether it is done

Function = TypeVar("Function", bound=Callable[..., object])
Found = Signature | None  # how a call is typed


class SealedFiles(IndexDataCacheFile):
    """Numba's cache files with a SHA-256 digest at the end, so that damaged code is compiled anew and never run."""

    def _load_index(self) -> dict[object, object]:
        try:
            return dict(super()._load_index())
        except Exception as error:  # noqa: BLE001 - a damaged pickle may raise anything
            LOG.debug("the index of compiled code is damaged: %r", error)
            return {}

    def _load_data(self, name: str) -> object:
        content = Path(self._data_path(name)).read_bytes()
        code, digest = content[:-DIGEST], content[-DIGEST:]
        if sha256(code).digest() != digest:
            raise OSError("compiled code is damaged")  # which numba treats as a missing file
        return pickle.loads(code)

    def _save_data(self, name: str, data: object) -> None:
        code = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(code + sha256(code).digest())


class _Part(JITCodeLibrary):
    """The code of a function that only compiled code calls: linked into its callers, no machine code of its own."""

    def add_llvm_module(self, module: ModuleRef) -> None:
        self._final_module.link_in(module)

    def finalize(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def alone(self) -> ModuleRef:
        """Return the code of this function without the functions that it calls."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> ModuleRef:
        """Return the code of this function and all that it calls, for compiled code of other packages."""
        module = self.alone().clone()
        _link(module, self._linking_libraries)
        return module

    @property
    def codegen(self) -> _Part:
        return self

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: numba's environment of this function is set when the function that Python calls is compiled."""


class _Whole(JITCodeLibrary):
    """The code of a function that Python calls, linked with the code of all functions that it calls."""

    def finalize(self) -> None:
        _link(self._final_module, self._linking_libraries)
        self._linking_libraries = []
        super().finalize()


def _link(module: ModuleRef, libraries: Iterable[JITCodeLibrary]) -> None:
    waiting, linked = list(libraries), set()
    while waiting:
        library = waiting.pop()
        if library not in linked:
            linked.add(library)
            if isinstance(library, _Part):
                waiting += library._linking_libraries
                module.link_in(library.alone(), preserve=True)
            else:
                module.link_in(library._get_module_for_linking(), preserve=True)


_HASHED, _EQUAL, _CALL_TYPE = TargetConfig.__hash__, TargetConfig.__eq__, BaseFunction.get_call_type


@cache
def _hash_of(kind: type) -> int:
    return int(_HASHED(kind()))


def _is_equal(self: TargetConfig, other: object) -> bool:
    """Tell whether two sets of compiler options are equal, by comparing only options that at least one of them sets."""
    if not isinstance(other, TargetConfig) or type(self) is not type(other):
        return bool(_EQUAL(self, other))
    return all(getattr(self, name) == getattr(other, name) for name in {*self._values, *other._values})


def _finding_once() -> Callable[[BaseFunction, Context, tuple[Type, ...], Mapping[str, Type]], Found]:
    """Return a replacement for numba's `get_call_type` that caches results by function, argument types and options."""
    known: dict[object, tuple[BaseFunction, Found]] = {}

    def found(
        self: BaseFunction, context: Context, args: tuple[Type, ...], kws: Mapping[str, Type]
    ) -> Signature | None:
        options = ConfigStack.top_or_none()
        key = id(self), id(context), tuple(args), tuple(kws.items()), options
        if key in known:
            return known[key][1]
        kept = (*key[:-1], options and options.copy())
        signature = _CALL_TYPE(self, context, args, kws)
        known[kept] = self, signature  # holding the function keeps its id from being used again
        return signature

    return found


@contextmanager
def _quick_typing() -> Iterator[None]:
    """While the context lasts, replace three slow functions of numba's type inference by faster ones.

    The caller holds numba's compiler lock. Other threads may call the replaced functions meanwhile, with equal results.
    """
    patches = (
        (TargetConfig, "__hash__", _HASHED, lambda self: _hash_of(type(self))),  # type: ignore[arg-type]
        (TargetConfig, "__eq__", _EQUAL, _is_equal),
        (BaseFunction, "get_call_type", _CALL_TYPE, _finding_once()),
    )
    for owner, name, _, quick in patches:
        setattr(owner, name, quick)
    try:
        yield
    finally:
        for owner, name, usual, _ in patches:
            setattr(owner, name, usual)


class _EntryCompiler(Compiler):
    """A compiler for a function that Python calls (as `_Whole`) and all functions that it calls (as `_Part`)."""

    def _compile_core(self) -> CompileResult:  # with numba's lock on compiling held
        LOG.info("compiling %s", self.state.func_id.func_qualname)
        codegen = self.state.targetctx.codegen()
        self.state.library = _Whole(codegen, self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        codegen._library_class = _Part
        collects = gc.isenabled()
        gc.disable()  # hundreds of thousands of small objects, of which hardly any is garbage
        try:
            with _quick_typing():
                result: CompileResult = super()._compile_core()
        finally:
            del codegen._library_class
            if collects:
                gc.enable()
        for environment in result._find_referenced_environments():
            codegen.set_env(environment.env_name, environment)
        return result


class _Kept(FunctionCache):
    """A cache of compiled code on disk for later runs; if it cannot be written, each run compiles anew."""

    aside: subprocess.Popen[bytes] | None = None

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        if version_info.short in KNOWN:
            self._cache_file.__class__ = SealedFiles

    @property
    def is_empty(self) -> bool:
        """Whether nothing is cached for the current version of the function."""
        return not self._cache_file._load_index()

    def load_overload(self, signature: object, target: object) -> object:
        """Return cached code, after waiting for another process if one compiles it; None if no code is cached."""
        kept = super().load_overload(signature, target)
        if kept is None and self.aside is not None:
            LOG.info("compiling %s in another process", self._name)
            _wait_for(self.aside)
            self.aside = None
            kept = super().load_overload(signature, target)
        return kept

    def save_overload(self, signature: object, result: CompileResult) -> None:
        try:
            super().save_overload(signature, result)
        except OSError as error:
            LOG.info("compiled code is not kept: %s", error)


_KEPT: dict[Callable[..., object], _Kept] = {}  # by entry point


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process ends, and kill it after `LONGEST` seconds."""
    last = time.monotonic() + LONGEST
    while process.poll() is None and time.monotonic() < last:
        time.sleep(LOOK)
    if process.poll() is None:
        process.kill()
        process.wait()


def compile_aside(function: Callable[..., object], program: str) -> None:
    """Start a process that compiles `function`, unless its code is cached; `program` is Python code that calls it.

    If `function` is called in this process meanwhile, the call waits for the other process, and compiles here if that
    one failed. No process is started where it would not help: with one processor, without a writable cache, with an
    unknown version of numba, or where Python is embedded.
    """
    kept = _KEPT.get(function)
    is_python = Path(sys.executable or "").name.startswith("python") and not hasattr(sys, "frozen")
    if kept is None or not is_python or version_info.short not in KNOWN or _processors() < 2:
        return
    code, nothing = f"import sys; sys.path[:] = {sys.path!r}; {program}", subprocess.DEVNULL
    with suppress(OSError):  # then it is compiled here
        if kept.is_empty:
            kept.aside = subprocess.Popen([sys.executable, "-c", code], stdin=nothing, stdout=nothing, stderr=nothing)


def _processors() -> int:
    """Return the number of processors available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def inner(function: Function, fastmath: bool | set[str] = False, allocates: bool = True) -> Function:
    """Return a compiled function for calls by compiled code only; code for calls from Python doubles compile time."""
    options: dict[str, object] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "fastmath": fastmath}
    compiled: Function = njit(**options, **_memory(allocates))(function)  # type: ignore[call-overload]
    return compiled


def _memory(allocates: bool) -> dict[str, bool]:
    """Return the options for numba that turn off reference counting, unless the code `allocates` arrays.

    Short loops over many small arrays would spend a third of their time on it.
    """
    return {} if allocates or version_info.short not in KNOWN else {"_nrt": False}


# For sums in which rounding may depend on the order of terms: the processor then adds several terms at a time.
in_any_order = partial(inner, fastmath={"reassoc"})


def entry(allocates: bool = True) -> Callable[[Function], Function]:
    """Return a decorator that compiles an entry point, a function that Python calls.

    The compiled function releases the GIL, so that a waiting thread can abandon it. It must return plain tuples and
    arrays, not named tuples, because of Ctrl-C while numba converts the result by Python code: for plain tuples that
    raises a SystemError, here turned into a KeyboardInterrupt; for named tuples it would crash the process.
    """

    def decorate(function: Function) -> Function:
        pipeline = _EntryCompiler if version_info.short in KNOWN else Compiler
        options: dict[str, object] = {"nogil": True, "no_cfunc_wrapper": True, "pipeline_class": pipeline}
        compiled = njit(**options, **_memory(allocates))(function)  # type: ignore[call-overload]
        kept = None
        if hasattr(compiled, "_cache"):  # unless NUMBA_DISABLE_JIT leaves the function as it is
            with suppress(RuntimeError):  # no place can be written to: every process compiles anew
                kept = compiled._cache = _Kept(function)

        @wraps(function)
        def call(*arguments: object) -> object:
            try:
                return compiled(*arguments)
            except SystemError as error:
                if _was_interrupted(error):
                    raise KeyboardInterrupt from None
                raise

        if kept is not None:
            _KEPT[call] = kept
        return call  # type: ignore[return-value]

    return decorate


def _was_interrupted(error: BaseException | None) -> bool:
    """Tell whether an error, or an error in its chain of causes, is a KeyboardInterrupt."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None
