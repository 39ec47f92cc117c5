"""The cards tell the truth about the files beside them, wherever these are installed."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fairenum import errors
from fairenum.tables import list_datasets, load_dataset, read_card, table_files
from fairenum.tables.columns import read_column
from fairenum.tables.loading import read_bundled

ROOT = Path(__file__).parents[2]
NAMES = ("adult", "compas", "german", "ionosphere", "sonar")


loaded = cache(load_dataset)


def test_the_five_datasets_are_there():
    assert tuple(card.name for card in list_datasets()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_card_describes_its_file(name):
    card = read_card(name)
    frame = read_bundled(card)
    declared = {column: kind for kind, columns in card.types.items() for column in columns}
    assert set(declared) == set(frame.columns)
    assert sum(map(len, card.types.values())) == card.columns
    found = {column: "numeric" if read_column(frame[column]).is_numeric else "categorical" for column in frame}
    assert found == declared
    for column, meanings in card.values.items():
        assert set(frame[column].astype(str)) <= set(meanings)


@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_where_the_file_comes_from_and_what_to_beware_of(name):
    card = read_card(name)
    for text in (
        card.title,
        card.licence,
        card.licence_note,
        card.citation,
        card.derived,
        *card.traits,
        *card.pitfalls,
    ):
        assert text.strip()
    assert card.traits
    assert card.pitfalls
    for source in card.source:
        assert source.package
        assert source.version
        assert source.path
        assert re.fullmatch("[0-9a-f]{64}", source.sha256)


@pytest.mark.parametrize(
    ("name", "rows", "features", "favourable", "groups"),
    [
        ("adult", 48842, 11, 11687, {"sex": (16192, 32650), "race": (470, 1519, 4685, 406, 41762)}),
        ("compas", 6172, 4, 3363, {"African_American": (2997, 3175), "Female": (4997, 1175)}),
        ("german", 1000, 17, 700, {"age": (190, 810)}),
        ("ionosphere", 351, 33, 225, {}),
        ("sonar", 208, 60, 111, {}),
    ],
)
def test_a_bundled_name_needs_no_options(name, rows, features, favourable, groups):
    dataset = loaded(name)
    assert (len(dataset), len(dataset.features), int(dataset.y.sum())) == (rows, features, favourable)
    assert {each.column: tuple(each.sizes) for each in dataset.sensitive} == groups


def test_adult_counts_its_missing_cells():
    assert loaded("adult").missing == {"workclass": 2799, "occupation": 2809, "native_country": 857}


def test_age_splits_german_as_the_card_says():
    german = load_dataset("german")
    (age,) = german.sensitive
    rates = [german.y[age.codes == code].mean() for code in range(2)]
    assert age.names == ("<= 25", "> 25")
    np.testing.assert_allclose(rates, [0.579, 0.728], atol=5e-4)


def test_compas_is_the_published_table_byte_for_byte():
    digest = hashlib.sha256(read_card("compas").path.read_bytes()).hexdigest()
    assert digest == "efc28b32b72462af9a07236bfe04b2a9ac07971fad35f87704b2b92bbfe6cf06"


def test_the_gzip_file_holds_no_time_and_no_name():
    assert read_card("adult").path.read_bytes()[3:8] == bytes(5)


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(errors.DatasetNotFound, match="'compass'; did you mean 'compas'"):
        read_card("compass")
    with pytest.raises(errors.DatasetNotFound, match="there are 'adult', 'compas'"):
        read_card("xyzzy")


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A folder with sonar alone, free to be damaged."""
    for name in ("sonar.csv", "sonar.toml"):
        (tmp_path / name).write_bytes((table_files.folder() / name).read_bytes())
    monkeypatch.setattr(table_files, "folder", lambda: tmp_path)
    return tmp_path


def test_a_changed_file_is_refused(copied):
    data = (copied / "sonar.csv").read_bytes()
    (copied / "sonar.csv").write_bytes(data.replace(b"R", b"M", 1))
    with pytest.raises(errors.DatasetChanged, match=r"'sonar.csv' has sha256 .*its card 87e18926f42b"):
        load_dataset("sonar")


def test_a_file_of_another_shape_is_refused(copied):
    data = (copied / "sonar.csv").read_bytes().splitlines(keepends=True)[:-1]
    (copied / "sonar.csv").write_bytes(b"".join(data))
    card = (copied / "sonar.toml").read_text()
    digest = hashlib.sha256(b"".join(data)).hexdigest()
    (copied / "sonar.toml").write_text(re.sub('(?m)^sha256 = "87.*$', f'sha256 = "{digest}"', card))
    with pytest.raises(errors.DatasetChanged, match="has 207 rows and 61 columns, its card says 208 and 61"):
        load_dataset("sonar")


def test_a_wheel_installed_anywhere_finds_its_datasets(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "anywhere")
    code = (
        "from fairenum.tables import table_files, list_datasets, load_dataset; "
        "print(table_files.folder(), len(list_datasets()), len(load_dataset('sonar')))"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "anywhere")}
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == [str(tmp_path / "anywhere" / "fairenum" / "bundled"), "5", "208"]


def test_no_machine_learns_from_the_verdict_of_a_tool_unless_that_is_asked_for():
    def features(**options):
        return {column.name for column in load_dataset("compas", **options).features}

    assert "score_factor" not in features()
    assert "score_factor" not in features(incumbent_object=lambda frame: frame["Misdemeanor"])
    assert "score_factor" not in features(incumbent_score="Number_of_Priors", incumbent_cutoff=1)
    assert "score_factor" in features(incumbent="none")
