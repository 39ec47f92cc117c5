"""Compilation of inner loops, and keyboard interrupts while they run."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numba import njit, typeof

from fairenum.cli import progress_bar
from fairenum.flips.flip_prices import flip_prices
from fairenum.runtime import compiling
from fairenum.runtime.compiling import LOG, entry, inner
from fairenum.solvers.registry import open_workspace
from fairenum.svm import compile_ahead, fast_walk_loop, path_loop
from fairenum.svm.polish import warm_up
from fairenum.svm.problem import SvmProblem


@entry()
def slow_vectors(rounds):
    total = np.zeros(3)
    for i in range(rounds):
        total[i % 3] += 0.5 * i
    return 1.0, total, total.copy(), total.copy()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_in_compiled_code_stays_an_interrupt():
    slow_vectors(1)  # compile
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        slow_vectors(1_000_000_000)
    timer.join()


@inner
def filled(size):
    return np.zeros(size) + 1.5


@inner
def total_of(numbers):
    total = 0.0
    for number in numbers:
        total += number
    return total


@entry()
def checked_total(size):
    if size > 3:
        raise ValueError("too many")
    return total_of(filled(size)), filled(size)


def test_parts_within_parts_are_linked_and_errors_leave_compiled_code():
    total, numbers = checked_total(3)
    assert total == 4.5
    np.testing.assert_array_equal(numbers, [1.5, 1.5, 1.5])
    with pytest.raises(ValueError, match="too many"):
        checked_total(4)


def test_functions_of_others_may_call_what_was_compiled_as_a_part():
    """Parts of numpy that an entry point uses are made for linking only; other packages' functions link them, too."""

    @njit
    def foreign(size):
        return np.zeros(size) + 1.5, total_of(filled(size))

    checked_total(2)
    numbers, total = foreign(2)
    np.testing.assert_array_equal(numbers, [1.5, 1.5])
    assert total == 3.0


LOOP = """
import sys
sys.path.insert(0, {place!r})
import logging
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
from loop import doubled
print(doubled(4.0))
"""
MODULE = """
from fairenum.runtime.compiling import entry

@entry()
def doubled(number):
    return 2.0 * number
"""


ASIDE = LOOP.replace(
    "print",
    """
from fairenum.runtime import compiling
compiling._processors = lambda: {processors}
compiling.compile_aside(doubled, {program!r})
print""",
)


def run_loop(place: Path, code: str = LOOP, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-B", "-c", code.format(place=str(place))],
        env=os.environ | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_compiled_code_is_kept_and_where_it_cannot_be_the_run_goes_on(tmp_path):
    (tmp_path / "loop.py").write_text(MODULE)
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run_loop(tmp_path, **kept) == ["compiling doubled", "8.0"]
    assert run_loop(tmp_path, **kept) == ["8.0"]
    # a file where a directory should be cannot be written to, whoever runs this
    shutil.rmtree(tmp_path / "cache")
    for place in ("cache", "__pycache__", "home"):
        (tmp_path / place).write_text("")
    nowhere = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home")}
    for environment in (nowhere, nowhere | kept):
        assert run_loop(tmp_path, **environment) == ["compiling doubled", "8.0"]


def cut(content):
    return content[: len(content) // 2]


def with_a_wrong_byte(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


@pytest.mark.parametrize(("kind", "damaged"), [("nbi", cut), ("nbc", cut), ("nbc", with_a_wrong_byte)])
def test_compiled_code_that_is_damaged_is_compiled_anew(tmp_path, kind, damaged):
    (tmp_path / "loop.py").write_text(MODULE)
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run_loop(tmp_path, **kept)
    [file] = (tmp_path / "cache").rglob(f"*.{kind}")
    file.write_bytes(damaged(file.read_bytes()))
    assert run_loop(tmp_path, **kept) == ["compiling doubled", "8.0"]
    assert run_loop(tmp_path, **kept) == ["8.0"]


@pytest.mark.parametrize(
    ("program", "processors", "compiles"),
    [
        ("import loop; loop.doubled(2.0)", 2, ["compiling <function doubled> in another process"]),
        ("raise SystemExit(1)", 2, ["compiling <function doubled> in another process", "compiling doubled"]),
        ("import loop; loop.doubled(2.0)", 1, ["compiling doubled"]),
    ],
)
def test_another_process_compiles_what_is_waited_for_and_need_not_succeed(tmp_path, program, processors, compiles):
    (tmp_path / "loop.py").write_text(MODULE)
    code = ASIDE.replace("{program!r}", repr(program)).replace("{processors}", str(processors))
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    lines = [re.sub(" at 0x[0-9a-f]+", "", line) for line in run_loop(tmp_path, code, **kept)]
    assert lines == [*compiles, "8.0"]
    assert run_loop(tmp_path, code, **kept) == ["8.0"]


def test_the_loop_of_the_paths_is_compiled_ahead_for_the_arrays_that_solvers_have(monkeypatch):
    """Another process caches the code for the argument types that are looked up here."""
    run, kinds = path_loop.run, []

    def recorded(*arguments):
        kinds.append(tuple(map(typeof, arguments)))
        return run(*arguments)

    monkeypatch.setattr(path_loop, "run", recorded)
    compile_ahead.call_loop()
    warm_up.__wrapped__()
    assert len(kinds) > 3
    assert len(set(kinds)) == 1


def test_walks_across_rows_are_compiled_ahead_for_the_arrays_that_prices_have(monkeypatch):
    walk, kinds = fast_walk_loop.walk, []

    def recorded(*arguments):
        kinds.append(tuple(map(typeof, arguments)))
        return walk(*arguments)

    monkeypatch.setattr(fast_walk_loop, "walk", recorded)
    compile_ahead.call_walk()
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(40, 3)), np.eye(12)[rng.integers(0, 12, 40)]):
        problem = SvmProblem(X, np.where(rng.normal(size=40) > 0.0, 1.0, -1.0), 1.0)
        flip_prices(problem, open_workspace("path", problem).solve(), X[:3] + 0.1)
    assert len(kinds) > 3
    assert len(set(kinds)) == 1


def test_a_disk_that_is_full_costs_the_cache_and_not_the_run(tmp_path, monkeypatch):
    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)

    @entry()
    def tripled(number):
        return 3.0 * number

    assert tripled(2.0) == 6.0


def test_compiling_is_said_once_and_not_where_nothing_is_to_be_said(capsys):
    for quiet in (False, True):
        with progress_bar.shown_progress(quiet=quiet):
            LOG.info("compiling one part")
            LOG.info("compiling another")
        assert capsys.readouterr().err == ("" if quiet else progress_bar.COMPILING + "\n")
    LOG.info("compiling when nobody looks")
    assert capsys.readouterr().err == ""


def test_other_versions_of_numba_compile_as_they_do_by_themselves(monkeypatch):
    monkeypatch.setattr(compiling, "KNOWN", set())

    @entry()
    def doubled(size):
        return 2.0 * filled(size)

    assert doubled(2).tolist() == [3.0, 3.0]
