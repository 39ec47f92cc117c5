"""Options: checked when they are built, changed by name, and named alike wherever they are given."""

from dataclasses import replace
from typing import get_type_hints

import pytest

from fairenum.document.attack_document import AttackConfig, budget
from fairenum.document.audit_config import AuditConfig
from fairenum.document.keywords import AuditOptions
from fairenum.document.measure_document import MeasureConfig
from fairenum.document.options import all_declared
from fairenum.document.reading import Reading
from fairenum.document.research_documents import Plan
from fairenum.document.terms import PerformanceMeasure
from fairenum.document.training import SvmSettings, Tolerances
from fairenum.errors import ConfigError

HUGE = 10**400


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "option 'k' must be a whole number of at least 1 and at most 100000, not 0"),
        ({"k": True}, "option 'k' must be a whole number of at least 1 and at most 100000, not True"),
        ({"k": 2.0}, "'k' must be a whole number of at least 1 and at most 100000, not 2.0"),
        ({"C": -1}, "option 'C' must be a positive number, 1e-09 to 1e\\+09, or auto, not -1"),
        ({"C": "best"}, "'C' must be a positive number, 1e-09 to 1e\\+09, or auto, not 'best'"),
        ({"C": HUGE}, "'C' must be a positive number, 1e-09 to 1e\\+09, or auto, not 1000"),
        ({"gamma": 0}, "'gamma' must be a positive number, 1e-30 to 1e\\+30, scale or auto, not 0"),
        ({"degree": 0}, "'degree' must be a whole number of at least 1 and at most 20, not 0"),
        ({"coef0": -1}, "'coef0' must be a number of at least 0 and at most 1e\\+06, not -1"),
        ({"solver": None}, "'solver' must be the name of a solver, not None"),
        (
            {"class_weight": "even"},
            "'class_weight' must be none, balanced, auto or two positive .* not 'even'",
        ),
        ({"class_weight": (1.0, 0.0)}, r"'class_weight' must be none, .* not \(1.0, 0.0\)"),
        ({"class_weight": (1, 2, 3)}, r"'class_weight' must be none, .* not \(1, 2, 3\)"),
        ({"class_weight": None}, "'class_weight' must be none, .* not None"),
        ({"kernel": "cubic"}, "'kernel' must be one of linear, rbf, poly, not 'cubic'"),
        ({"metric": "gap"}, "'metric' must be one of demographic_parity_difference, .*, not 'gap'"),
        ({"distinct": "any"}, "'distinct' must be one of support, predictions, diverse, not 'any'"),
        ({"search": "fast"}, "'search' must be one of exact, guided, both, not 'fast'"),
        ({"categorical": "hash"}, "'categorical' must be one of onehot, ordinal, not 'hash'"),
        ({"sizes": (0.5, 0.5)}, "'sizes' must be three numbers: train, selection and holdout, not"),
        ({"sizes": (1, 1, HUGE)}, "'sizes' must be three numbers: train, selection and holdout, not"),
        ({"sizes": 0.5}, r"'sizes' must be three numbers: train, selection and holdout, not \(0.5,\)"),
        ({"sizes": None}, r"'sizes' must be three numbers: train, selection and holdout, not \(None,\)"),
        ({"confidence": 1.0}, "'confidence' must be a number of at least 0.5 and at most 1, not 1.0"),
        ({"eps": float("nan")}, "'eps' must be a number of at least 0 and at most 1 or auto, not nan"),
        ({"rows": 1}, "'rows' must be true or false, not 1"),
        ({"standardise": "yes"}, "'standardise' must be true or false, not 'yes'"),
        ({"max_seconds": 0}, "'max_seconds' must be a number above 0 and at most 1e\\+09, not 0"),
        ({"min_difference": 2}, "'min_difference' must be a number above 0 and at most 1, not 2"),
        (
            {"price_rows": 0},
            "'price_rows' must be a whole number of at least 1 and at most 1000000000 or auto, not 0",
        ),
        ({"replications": 9}, "'replications' must be a whole number of at least 10 and at most 100000, not 9"),
        (
            {"max_nodes": "few"},
            "'max_nodes' must be a whole number of at least 1 and at most 1000000000 or None or auto, not 'few'",
        ),
        (
            {"max_nodes": 0},
            "'max_nodes' must be a whole number of at least 1 and at most 1000000000 or None or auto, not 0",
        ),
        ({"svm": "linear"}, "'svm' must be a SvmSettings, not 'linear'"),
        (
            {"max_accuracy_drops": 0.1},
            "an audit has no option 'max_accuracy_drops'; did you mean 'max_performance_drop'",
        ),
        ({"max_accuracy_drop": 2}, "'max_performance_drop' must be a number of at least 0 and at most 1, not 2"),
        (
            {"max_accuracy_drop": 0.1, "max_performance_drop": 0.1},
            "options 'max_accuracy_drop' and 'max_performance_drop' are one and the same; give the second alone",
        ),
        ({"performance": "f1"}, "'performance' must be accuracy, balanced_accuracy, auc, or cost=FN:FP .*; not 'f1'"),
        ({"decide": "rate=1.5"}, "'decide' selects a share between 0 and 1, such as rate=0.7, not 'rate=1.5'"),
        ({"kernal": "rbf"}, "an audit has no option 'kernal'; did you mean 'kernel'"),
        (
            {"zzz": 1},
            "an audit has no option 'zzz'; there are svm, reading, C, .*, rows, .*, tidy_groups, .*, k, .*",
        ),
    ],
)
def test_bad_options_of_an_audit_are_refused_by_name(options, message):
    with pytest.raises(ConfigError, match=message):
        AuditConfig().but(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, "'trials' must be a whole number of at least 1 and at most 100000, not 0"),
        ({"strategies": ()}, "'strategies' must be at least one"),
        ({"strategies": ("paper", "paper")}, "'strategies' must be a list without repetitions"),
        ({"flips": 1.5}, r"'flips' must be numbers of rows, or shares between 0 and 1, not \(1.5,\)"),
        ({"sizes": (10, 10, 0)}, "'sizes' must be three numbers, of which the holdout is not 0"),
        ({"confidence": 0.4}, "'confidence' must be a number of at least 0.5"),
        ({"C": "auto"}, "'C' must be a positive number, not 'auto'"),
        ({"class_weight": "auto"}, "'class_weight' must be none, balanced or two positive numbers, .* not 'auto'"),
        ({"svm": SvmSettings("auto")}, "'C' must be a positive number, not 'auto'"),
        ({"svm": None}, "'svm' must be a SvmSettings, not None"),
        ({"strategy": "paper"}, "an attack has no option 'strategy'; did you mean 'strategies'"),
    ],
)
def test_bad_options_of_an_attack_are_refused_by_name(options, message):
    with pytest.raises(ConfigError, match=message):
        AttackConfig().but(**options)


def test_an_audit_chooses_the_weights_of_classes_unless_asked_otherwise():
    assert AuditConfig().svm == SvmSettings(class_weight="auto")
    assert AttackConfig().svm == SvmSettings() == SvmSettings(class_weight="none")
    assert SvmSettings(class_weight=[2, 1]) == SvmSettings(class_weight=(2, 1))


def test_a_cost_that_is_not_chosen_yet_is_no_number():
    assert SvmSettings(2).cost == 2.0
    with pytest.raises(ConfigError, match="'C' must be a positive number, not 'auto'"):
        _ = SvmSettings("auto").cost


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "accuracy"}, "'metric' must be one of"),
        ({"eps": -0.1}, "'eps' must be a number of at least 0 and at most 1, not -0.1"),
        ({"performance": "auto"}, "'performance' must be accuracy, balanced_accuracy"),
        ({"max_performance_drop": 1.5}, "'max_performance_drop' must be a number of at least 0 and at most 1, not 1.5"),
    ],
)
def test_bad_tolerances_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Tolerances(**options)


@pytest.mark.parametrize("config", [AuditConfig(), AttackConfig()])
def test_options_of_the_machine_are_changed_like_all_others(config):
    changed = config.but(C=3.0, kernel="rbf", k=7)
    weight = config.svm.class_weight
    assert changed == replace(config, svm=SvmSettings(3.0, "rbf", class_weight=weight), k=7)
    assert changed.but(rows=True).svm == SvmSettings(3.0, "rbf", rows=True, class_weight=weight)
    assert changed.but(svm=SvmSettings(5.0), gamma=0.5).svm == SvmSettings(5.0, gamma=0.5)
    assert config.but() == config


def test_every_option_has_one_name():
    config = AuditConfig().but(C=3.0, k=7)
    assert AuditConfig().but(**config.options) == config
    assert (config.options["C"], config.options["k"]) == (3.0, 7)
    assert "svm" not in config.options
    assert AttackConfig().but(**AttackConfig(k=3).options) == AttackConfig(k=3)


def test_options_given_one_by_one_are_those_of_the_configuration():
    assert AuditOptions.__annotations__.keys() == AuditConfig().options.keys() | {
        "svm",
        "reading",
        "max_accuracy_drop",
    }
    assert not AuditOptions.__required_keys__
    declared = {**get_type_hints(SvmSettings), **get_type_hints(Reading), **get_type_hints(AuditConfig)}
    given = get_type_hints(AuditOptions)
    assert given.pop("max_accuracy_drop") == given["max_performance_drop"]  # another name of it
    wider = {name for name, kind in given.items() if kind != declared[name]}
    # any sequence will do; the configuration keeps a tuple. A cutoff may be a number, the model in use a model itself
    assert wider == {
        "sizes",
        "guards",
        "drop",
        "categorical_columns",
        "only",
        "exclude",
        "incumbent_cutoff",
        "incumbent",
    }
    for value in (["town"], ("town",)):
        assert AuditConfig().but(drop=value, sizes=[0.5, 0.25, 0.25]) == AuditConfig(
            reading=Reading(drop=("town",)), sizes=(0.5, 0.25, 0.25)
        )


def test_a_single_value_stands_for_a_list_of_one():
    assert Reading(drop="town").drop == ("town",)
    assert AttackConfig(strategies="alfa", flips=5, defences="loss_removal") == AttackConfig(
        strategies=("alfa",), flips=(5,), defences=("loss_removal",)
    )


def test_tolerances_are_part_of_the_options():
    config = AuditConfig(metric="equalized_odds_difference", eps=0.1, max_performance_drop=0.2)
    assert config.tolerances == Tolerances("equalized_odds_difference", 0.1, 0.2, "accuracy")
    assert config.but(performance="cost=5.0:1").tolerances.measure == PerformanceMeasure("cost", 5.0, 1.0)
    assert config.but(max_accuracy_drop=0.3) == config.but(max_performance_drop=0.3)


def test_numbers_of_texts_are_written_in_one_way():
    config = AuditConfig(performance="cost=5.0:01", decide="rate=.70")
    assert (config.performance, config.decide, config.rate) == ("cost=5:1", "rate=0.7", 0.7)
    assert AuditConfig(decide="threshold=0.7").rate is None


def test_a_draw_is_small_unless_asked_otherwise():
    assert AttackConfig().sizes_for(10_000) == (300, 0, 1000)
    assert AttackConfig().sizes_for(100) == (60, 0, 40)
    assert AttackConfig(sizes=(5, 0, 5)).sizes_for(100) == (5, 0, 5)
    assert (AttackConfig(sizes=(5, 0, 5)).rows_trained, AttackConfig().rows_trained) == (5, 0)


def test_budgets_are_rows_or_shares():
    assert [budget(flips, 250) for flips in (0, 7, 0.1, 1.0)] == [0, 7, 25, 250]
    assert budget(1, 250) == 1


def test_a_plan_of_a_reproduction():
    assert Plan().but(splits=2, printed_seconds=0) == Plan(splits=2, printed_seconds=0)
    assert (Plan.quick(7).seed, Plan.quick().is_quick, Plan().is_quick) == (7, True, False)
    with pytest.raises(ConfigError, match="a reproduction has no option 'split'; did you mean 'splits'"):
        Plan().but(split=2)
    with pytest.raises(ConfigError, match="'draws' must be a whole number of at least 1 and at most 100000, not 0"):
        Plan(draws=0)


LINE = "must be one line of 1 to 500 signs without control characters, not"


@pytest.mark.parametrize("config", [AuditConfig(), MeasureConfig()])
@pytest.mark.parametrize(("name", "flag"), [("data_source", "--data-source"), ("data_dates", "--data-dates")])
def test_what_is_said_about_data_is_one_line(config, name, flag):
    for text in ("May 2025", "é" * 500, None):
        assert getattr(config.but(**{name: text}), name) == text
    for text in ("", "  ", "two\nlines", "\x1b[31m", "right\u202eleft", "\ud800", "x" * 501, 2025):
        with pytest.raises(ConfigError, match=rf"^option '{name}' \({flag}\) {LINE} .{{2,90}}$"):
            config.but(**{name: text})


def test_none_is_nobody_as_a_model_in_use_alone():
    assert Reading(incumbent="none").aside == {}
    assert Reading(weight="none").aside == {"weight": "none"}


def test_numbers_of_any_length_are_refused_in_a_few_words():
    with pytest.raises(ConfigError, match=r"at most 100000, not a number of thousands of digits$"):
        AuditConfig(k=10**5000)
    with pytest.raises(ConfigError, match=r"at most 100000, not 10{59}\.\.\.$"):
        AuditConfig(replications=10**3000)


LIMITED = {name: option for name, option in all_declared(AuditConfig).items() if option.kind in ("whole", "number")}


@pytest.mark.parametrize("name", LIMITED)
def test_the_ends_of_every_range_are_within_it_and_nothing_beyond(name):
    low, high = LIMITED[name].low, LIMITED[name].high
    for value in (low, high):
        assert AuditConfig().but(**{name: value}).options[name] == value
    for value in (low - 1 if LIMITED[name].kind == "whole" else -1e-9, 2 * high):
        with pytest.raises(ConfigError, match=name):
            AuditConfig().but(**{name: value})


@pytest.mark.parametrize("weight", [1e-9, 1e9])
def test_class_weights_have_limits(weight):
    assert SvmSettings(class_weight=[weight, weight]).class_weight == (weight, weight)
    with pytest.raises(ConfigError, match="two positive numbers, 1e-09 to 1e\\+09"):
        SvmSettings(class_weight=(weight, 2e9))
