"""Documents as files: what was written is read, anything else is refused by its place."""

import json
import math
import os
import subprocess
import sys
from typing import get_args

import pytest
from support.saved_runs import KINDS, path, read

from fairenum.document.attack_document import AttackDocument
from fairenum.document.audit_document import AuditDocument
from fairenum.document.comparison_document import ComparisonDocument
from fairenum.document.files import AnyDocument, load, load_as, parse, save, to_json, write_atomically
from fairenum.document.measure_document import MeasureDocument
from fairenum.document.received import refuse_unwritable
from fairenum.errors import ResultError


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_saved_is_loaded(tmp_path, kind):
    document = read(kind)
    save(document, tmp_path / "run.json")
    assert load(tmp_path / "run.json") == document
    assert load_as(type(document), tmp_path / "run.json") == document
    assert os.listdir(tmp_path) == ["run.json"]


def test_there_is_a_sample_of_every_kind():
    # measurements and comparisons of them are younger than these samples, and have tests of their own
    assert {type(read(kind)) for kind in KINDS} == set(get_args(AnyDocument)) - {ComparisonDocument, MeasureDocument}


def test_runs_are_called_after_their_tables():
    names = {kind: read(kind).name for kind in KINDS}
    assert names == {
        "audit": "compas",
        "attack": "attack-compas",
        "bench": "bench-sonar",
        "mitigation": "comparison of mitigations",
        "reproduction": "reproduction",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_says_first_what_it_is(kind):
    text = to_json(read(kind))
    assert text.startswith(f'{{\n "kind": "{kind}",\n "version": "2.0",\n "environment": ')
    assert text.endswith("}\n")
    assert list(json.loads(text))[:5] == ["kind", "version", "environment", "status", "timings"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "'run.json' is no JSON: Input data was truncated"),
        (b"\x80", "'run.json' is no JSON"),
        (b'{"kind": "\x80"}', "'run.json' is no JSON: 'utf-8' codec can't decode"),
        (b'{"kind": NaN}', "'run.json' is no JSON"),
        (b"[1, 2]", "'run.json' is no document of fairenum: it is no JSON object; make one with: fairenum audit DATA"),
        (b"{}", "'run.json' is no document of fairenum: it does not say of which kind it is; make one with"),
        (b'{"kind": "audit"}', "'run.json' has version None, this fairenum reads '2.0'"),
        (b'{"kind": "audit", "version": "9.0"}', "'run.json' has version '9.0', this fairenum reads '2.0'"),
        (b'{"kind": "audit", "version": "2.0"}', "no valid document: Object missing required field `environment`"),
        (b'{"kind": "essay", "version": "2.0"}', r"no valid document: Invalid value 'essay' - at `\$.kind`"),
        (b"[" * 100_000, "'run.json' is no JSON: it is nested too deeply"),
        (b'{"kind":' * 100_000, "'run.json' is no JSON: it is nested too deeply"),
    ],
    ids=range(12),
)
def test_what_is_no_document_is_refused(content, message):
    with pytest.raises(ResultError, match=message):
        parse(content, "run.json")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("models.2.scores.holdout.hinge_loss.low", "no", r"`\$\.models\[2\]\.scores\.holdout\.hinge_loss\.low`"),
        ("models.2.surprise", 1, r"unknown field `surprise` - at `\$\.models\[2\]`"),
        ("config.kk", 1, r"unknown field `kk` - at `\$\.config`"),
        ("config.max_loss", 0.1, r"unknown field `max_loss` - at `\$\.config`"),
        ("config.svm.kernels", "rbf", r"unknown field `kernels` - at `\$\.config\.svm`"),
        ("attack.config.svm.D", 1, r"unknown field `D` - at `\$\.attack\.config\.svm`"),
        ("selection.tolerances.column", "sex", r"unknown field `column` - at `\$\.selection\.tolerances`"),
        ("config.k", "ten", r"Expected `int`, got `str` - at `\$\.config\.k`"),
        ("config.k", 0, "option 'k' must be a whole number of at least 1 and at most 100000, not 0"),
        ("config.svm.C", -1, r"1e-09 to 1e\+09, or auto, not -1.0 - at `\$.config.svm`"),
        ("config.svm.C", 1e-300, r"1e-09 to 1e\+09, or auto, not 1e-300 - at `\$.config.svm`"),
        ("config.replications", 10**30, r"at most 100000, not 1000000000000000000000000000000 - at `\$.config`"),
        ("config.k", 10**4000, r"'k' must be a whole number .* not 1000+\.\.\. - at `\$.config`"),
        ("models.1.bias", 1e200, r"Expected a finite number, -1e\+150 to 1e\+150 - at `\$.models\[1\].bias`"),
        ("models.1.support_size", -1, r"Expected a whole number from 0 .* - at `\$.models\[1\].support_size`"),
        ("dataset.name", "x" * 1_000_001, r"at most 1000000 signs - at `\$.dataset.name`"),
        ("selection.candidates", [1, 9], r"no model has rank 9; there are 6 - at `\$.selection.candidates`"),
        ("selection.column", "town", r"'town' is none of \['African_American'.* - at `\$.selection.column`"),
        ("group_tables.0.rank", 9, r"no model has rank 9; there are 6 - at `\$.group_tables\[0\].rank`"),
        (
            "group_tables.0.groups.0.group",
            "x",
            r"the groups of 'African_.* - at `\$.group_tables\[0\].groups`",
        ),
        ("models.2.scores.holdout.by_column.Female.selected", [1], r"at `\$.models\[2\].scores.holdout.by_column`"),
        ("models.2.scores.holdout.by_column", {}, r"not in the sensitive columns .* - at `\$.models\[2\].scores.h"),
        ("dataset.sensitive.0.reference", "x", r"'x' is none of .* - at `\$.dataset.sensitive\[0\].reference`"),
        ("dataset.sensitive.0.groups", [], r"has groups of different names - at `\$.dataset.sensitive\[0\].groups`"),
        ("config.eps", 10**400, r"Number out of range - at `\$\.config\.eps`"),
        ("config.sizes.0", 10**400, "option 'sizes' must be three numbers: train, selection and holdout"),
        ("selection.verdict", "nice", r"Invalid enum value 'nice' - at `\$\.selection\.verdict`"),
        ("warnings.0.code", "boring", r"Invalid enum value 'boring' - at `\$\.warnings\[0\]\.code`"),
        ("models.0.rank", 1.5, r"Expected `int`, got `float` - at `\$\.models\[0\]\.rank`"),
        ("models.0.rank", 7, r"models of rank 1 and on, not \[7, 2, 3, 4, 5, 6\]"),
        ("models", [], r"models of rank 1 and on, not \[\]"),
        ("selection.rank", 99, "no model has the selected rank 99"),
    ],
)
def test_what_does_not_belong_is_refused_by_its_place(place, value, message):
    document = json.loads(to_json(read("audit")))
    *way, last = (int(step) if step.isdigit() else step for step in place.split("."))
    part = document
    for step in way:
        part = part[step]
    part[last] = value
    with pytest.raises(ResultError, match=f"'run.json' is no valid document: .*({message})"):
        parse(json.dumps(document).encode(), "run.json")


@pytest.mark.parametrize("text", [r"\ud800", r"\udfff\ud800", r"a\udc80", "\ud800"])
def test_half_of_a_sign_is_refused(text):
    content = to_json(read("audit")).replace('"name": "', f'"name": "{text}', 1)
    with pytest.raises(ResultError, match=r"^'run\.json' is no "):
        parse(content.encode(errors="surrogatepass"), "run.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"timings": {"a\udc80": 1.0}}, r"without lone surrogates - at `\$\.timings`"),
        ({"timings": {"a": math.inf}}, r"Expected a finite number, .* - at `\$\.timings\[\.\.\.\]`"),
        ({"timings": {"a": math.nan}}, r"Expected a finite number, .* - at `\$\.timings\[\.\.\.\]`"),
        ({"options_file": "\ud800"}, r"without lone surrogates - at `\$\.options_file`"),
    ],
)
def test_what_could_not_be_written_again_is_refused_by_its_place(changes, message):
    with pytest.raises(ValueError, match=message):
        refuse_unwritable(read("audit").but(**changes))


@pytest.mark.parametrize("place", ["objective", "scores", "left_out"])
def test_what_is_missing_is_refused_by_its_place(place):
    document = json.loads(to_json(read("audit")))
    del document["models"][2][place]
    with pytest.raises(ResultError, match=rf"missing required field `{place}` - at `\$\.models\[2\]`"):
        parse(json.dumps(document).encode(), "run.json")


def test_another_kind_than_asked_for_is_named_with_what_makes_the_right_one():
    with pytest.raises(ResultError, match=r"attack.json' is a simulated attack, no audit; make one with: fairenum"):
        load_as(AuditDocument, path("attack"))
    with pytest.raises(ResultError, match="is an audit, no simulated attack; make one with: fairenum attack DATA"):
        load_as(AttackDocument, path("audit"))
    with pytest.raises(ResultError, match="is a benchmark, no simulated attack; make one with: fairenum attack DATA"):
        load_as(AttackDocument, path("bench"))


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ResultError, match=r"cannot read '.*none.json': No such file"):
        load(tmp_path / "none.json")
    with pytest.raises(ResultError, match=r"cannot read '.*': Is a directory"):
        load(tmp_path)


def test_an_old_file_survives_a_failed_write(tmp_path, monkeypatch):
    target = tmp_path / "run.json"
    target.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ResultError, match=r"cannot write '.*run.json': No space left"):
        write_atomically(target, b"new")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["run.json"]

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(target, b"new")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["run.json"]
    with pytest.raises(ResultError, match="No such file"):
        write_atomically(tmp_path / "nowhere" / "run.json", b"new")


def test_a_written_file_has_usual_permissions(tmp_path):
    write_atomically(tmp_path / "ours", b"")
    (tmp_path / "usual").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


LIGHTLY = """
import sys
from importlib import import_module
from pkgutil import iter_modules
import fairenum.document
for module in iter_modules(fairenum.document.__path__):
    import_module(f"fairenum.document.{module.name}")
from fairenum.document.files import load, to_json
for path in sys.argv[1:]:
    to_json(load(path))
print([name for name in ("numpy", "pandas", "scipy", "sklearn", "fairlearn") if name in sys.modules])
"""


def test_saved_runs_are_read_without_what_computed_them():
    command = [sys.executable, "-c", LIGHTLY, *(str(path(kind)) for kind in KINDS)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
