"""The whole reproduction: every split and draw once, the same whoever runs it, in a document that is read again."""

import pytest

from fairenum.document.files import load, save
from fairenum.document.research_documents import Plan
from fairenum.errors import ConfigError
from fairenum.research.injected_draws import VARIANTS
from fairenum.research.reproduction import reproduce

TINY = Plan(splits=1, draws=2, printed_draws=1, printed_seconds=0.2, seed=3)


@pytest.fixture(scope="module")
def document():
    return reproduce(["sonar", "compas"], TINY)


def test_a_run_has_every_split_and_draw_and_judges_every_claim(document):
    assert document.status == "complete"
    assert document.plan == TINY
    assert list(document.tables) == ["sonar"]
    assert [split.seed for split in document.tables["sonar"].variants["raw"].splits] == [3]
    assert document.tables["sonar"].printed.fits > 0
    for name in VARIANTS:
        assert [draw.seed for draw in document.injection.variants[name].draws] == [3, 4]
    assert len(document.injection.main.printed.draws) == 1
    verdicts = {claim.name: claim.verdict for claim in document.claims}
    assert list(verdicts) == [
        *("german_spread", "lower_loss", "linear_time", "raised", "tied", "tied_but_different", "fairer")
    ]
    assert verdicts["german_spread"] == "not tried"
    assert list(document.environment.packages) == ["fairenum", "numpy", "scipy", "scikit-learn"]


def test_a_run_is_read_again_as_it_was(document, tmp_path):
    save(document, tmp_path / "paper.json")
    assert load(tmp_path / "paper.json") == document


def untimed(document):
    """Leave out what the clock decides."""
    sonar, injection = document.tables["sonar"], document.injection
    splits = {
        name: variant.but(time=None, splits=tuple(split.but(growth=None) for split in variant.splits))
        for name, variant in sonar.variants.items()
    }
    draws = {name: variant.but(printed=None) for name, variant in injection.variants.items()}
    return document.but(
        timings={},
        tables={"sonar": sonar.but(variants=splits, printed=None)},
        injection=injection.but(variants=draws),
        claims=tuple(claim for claim in document.claims if claim.name != "linear_time"),
    )


def test_two_processes_find_the_same(document):
    assert untimed(reproduce(["sonar", "compas"], TINY, jobs=2)) == untimed(document)


def test_an_interrupt_keeps_what_is_finished():
    def interrupt(_stage, done, _total):
        if done == 1:
            raise KeyboardInterrupt

    found = reproduce(["compas", "sonar"], Plan(splits=2, printed_seconds=0.0), progress=interrupt)
    assert found.is_partial
    assert len(found.tables["sonar"].variants["raw"].splits) == 1
    assert found.injection is None


def test_a_plan_refuses_what_cannot_be():
    with pytest.raises(ConfigError, match="'splits' must be a whole number of at least 1"):
        Plan(splits=0)
    assert Plan.quick(4).seed == 4
    assert Plan().splits >= 20
    assert Plan().draws >= 200
