"""The registry of solvers, with injected entry points."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.stand_ins import Entry

from fairenum.errors import ProblemError, SolverBroken, SolverConflict, SolverNotFound, SolverUnavailable
from fairenum.solvers.registry import SolverInfo, list_solvers, load_solver, open_workspace
from fairenum.svm.problem import SvmProblem

PROBLEM = SvmProblem([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1])


class Good:
    name = "good"
    requires = ("numpy",)
    install = "pip install good"

    def open(self, problem, tolerance):
        raise KeyError("only loaded here, never opened")


class Needy(Good):
    name = "needy"
    requires = ("numpy", "no_such_module", "not_here.either")
    install = "pip install 'fairenum[needy]'"


class WithoutOpen:
    name, requires, install = "good", (), ""


class Misnamed(Good):
    name = "other"


class Greedy(Good):
    requires = "numpy"


class Uninstallable(Good):
    install = None


class Unbuildable(Good):
    def __init__(self):
        raise ValueError("no licence")


def test_the_bundled_solvers_are_found_with_their_backends():
    found = {info.name: info for info in list_solvers()}
    assert {"libsvm", "osqp", "path", "piqp"} <= set(found)
    assert all(info.is_available and info.provider == "fairenum" for info in found.values())
    assert [name for name, _ in found["libsvm"].backends] == ["scikit-learn"]
    assert found["osqp"].backends[0][1][0].isdigit()


def test_a_solver_is_listed_with_its_provider():
    (info,) = list_solvers([Entry("good", Good)])
    assert (info.name, info.provider, info.version) == ("good", "acme-solvers", "2.0")
    assert info.backends == (("numpy", np.__version__),)
    assert info.is_available
    assert info.reason == ""


def test_an_entry_point_without_a_distribution_is_listed_too():
    (info,) = list_solvers([Entry("good", Good, None)])
    assert (info.provider, info.version) == ("unknown", "")
    assert info.is_available


def test_what_is_missing_is_named_and_how_to_install_it():
    (info,) = list_solvers([Entry("needy", Needy)])
    assert not info.is_available
    assert info.missing == ("no_such_module", "not_here.either")
    message = "solver 'needy' needs no_such_module and not_here.either; install it with: pip install 'fairenum[needy]'"
    assert info.reason == message
    with pytest.raises(SolverUnavailable) as caught:
        load_solver("needy", [Entry("needy", Needy)])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (ImportError("no module named acme"), "cannot be loaded: ImportError: no module named acme"),
        (SystemExit(3), "cannot be loaded: SystemExit: 3"),
        (Unbuildable, "cannot be loaded: ValueError: no licence"),
        (None, "cannot be loaded: TypeError"),
        (WithoutOpen, "no method open"),
        (Misnamed, "its entry point is called 'good', its attribute name is 'other'"),
        (Greedy, "requires must be a tuple of importable names, not 'numpy'"),
        (Uninstallable, "no attribute install"),
    ],
)
def test_a_broken_plugin_is_a_row_with_its_error_and_no_crash(target, words):
    entries = [Entry("good", target), Entry("needy", Needy)]
    broken, other = list_solvers(entries)
    assert words in broken.error
    assert "solver 'good' of acme-solvers" in broken.error
    assert broken.reason == broken.error
    assert not broken.is_available
    assert other.name == "needy"
    assert not other.error
    with pytest.raises(SolverBroken, match="solver 'good' of acme-solvers"):
        load_solver("good", entries)


def test_a_key_error_inside_a_plugin_is_not_taken_for_a_missing_solver():
    assert isinstance(load_solver("good", [Entry("good", Good)]), Good)
    with pytest.raises(SolverBroken, match="KeyError: 'only loaded here, never opened'"):
        open_workspace(Good(), PROBLEM)


def test_two_providers_of_one_name_are_an_error_that_names_both():
    entries = [
        Entry("good", Good),
        Entry("good", Good, SimpleNamespace(name="zeta", version="1")),
        Entry("needy", Needy),
    ]
    for info in list_solvers(entries)[:2]:
        assert "solver 'good' is provided by acme-solvers and by zeta" in info.error
    with pytest.raises(SolverConflict, match="acme-solvers and by zeta; uninstall all but one"):
        load_solver("good", entries)
    with pytest.raises(SolverUnavailable):
        load_solver("needy", entries)


def test_an_unknown_name_is_answered_with_a_suggestion_and_the_list():
    with pytest.raises(SolverNotFound) as caught:
        load_solver("libsmv")
    message = "no solver is called 'libsmv'; did you mean 'libsvm'? Installed are: libsvm, osqp, path, piqp"
    assert str(caught.value) == message
    with pytest.raises(SolverNotFound, match=r"no solver is called 'quantum'\. Installed are: good"):
        load_solver("quantum", [Entry("good", Good)])
    with pytest.raises(SolverNotFound, match="Installed are: none"):
        load_solver("quantum", [])


def test_a_workspace_is_opened_by_name_or_from_a_plugin():
    by_name = open_workspace("path", PROBLEM).solve()
    from_plugin = open_workspace(load_solver("path"), PROBLEM).solve()
    assert by_name.alpha.tobytes() == from_plugin.alpha.tobytes()
    assert by_name.support.tolist() == [1, 2]
    with pytest.raises(SolverUnavailable, match="needs no_such_module"):
        open_workspace(Needy(), PROBLEM)


def test_options_are_checked_when_a_plugin_is_built():
    libsvm, osqp, piqp = (type(load_solver(name)) for name in ("libsvm", "osqp", "piqp"))
    for build, words in [
        (lambda: libsvm(tol=0.0), "tol must be a positive number, not 0.0"),
        (lambda: libsvm(max_iter=-1), "max_iter must be a positive number, not -1"),
        (lambda: libsvm(cache_megabytes=float("nan")), "cache_megabytes"),
        (lambda: osqp(accuracies=()), "accuracies must lie between 0 and 1"),
        (lambda: osqp(accuracies=(1e-3, 2.0)), "accuracies must lie between 0 and 1"),
        (lambda: osqp(max_iter=0), "max_iter must be at least 1, not 0"),
        (lambda: piqp(accuracy=0.0), "accuracy must lie between 0 and 1, not 0.0"),
        (lambda: piqp(max_iter=0), "max_iter must be at least 1, not 0"),
    ]:
        with pytest.raises(ProblemError, match=words):
            build()


def test_solver_info_is_a_value():
    assert SolverInfo("a", "b", "1") == SolverInfo("a", "b", "1")
