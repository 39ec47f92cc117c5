"""Lines of a reproduction as its claims read them, and experiments that hold them."""

from fairenum.document.reproduction import (
    Bands,
    DrawLine,
    DrawVariant,
    InjectionExperiment,
    SplitLine,
    SplitVariant,
    TableExperiment,
)
from fairenum.document.value import Estimate

NOTHING = Bands((), (), (), (), ())


def split_line(**changes):
    return SplitLine(
        seed=0, C=1.0, spread=1e-5, best_rank=1, best_loss=1.0, lower=3, losses=(), fewer_errors=0, growth=1.0
    ).but(**changes)


def draw_line(**changes):
    return DrawLine(
        seed=0,
        C=1.0,
        tied=1,
        predictors=1,
        tied_predictors=1,
        holding=0,
        models=50,
        shortfall=0.1,
        open_rows=0.0,
        gap=0.3,
        clean_gap=0.2,
        untouched_gap=0.2,
        clean_error=0.3,
        fairer=1,
        fairer_than_untouched=1,
        rest_gap=0.3,
        rest_clean_gap=0.2,
    ).but(**changes)


def table_of(**variants):
    """A table with these lines in each variant."""
    found = {
        name: SplitVariant(tuple(lines), (), NOTHING, NOTHING, Estimate(), Estimate(), None)
        for name, lines in variants.items()
    }
    return TableExperiment(1000, 20, "0" * 64, found, None)


def injection_of(**variants):
    """The injected draws, with these lines in each variant."""
    found = {
        name: DrawVariant(tuple(lines), (), NOTHING, NOTHING, None, None, None, None)
        for name, lines in variants.items()
    }
    return InjectionExperiment(6172, 10, "0" * 64, found)
