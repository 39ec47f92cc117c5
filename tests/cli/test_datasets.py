"""fairenum datasets: the list, the cards, and a mistake."""

import sys

import pytest
from click.testing import CliRunner

from fairenum import cli
from fairenum.cli.datasets import datasets
from fairenum.tables import list_datasets


def test_the_list_is_one_readable_table_within_80_columns():
    result = CliRunner().invoke(cli.group, ["datasets"])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].split() == ["name", "rows", "columns", "label", "favourable", "sensitive", "licence"]
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in result.output
    assert "…" not in result.output
    (compas,) = (line for line in lines if line.startswith("compas"))
    assert compas.split() == ["compas", "6172", "12", "Two_yr_Recidivism", "0", "African_American", "none"]
    for card in list_datasets():
        assert any(line.startswith(card.name) for line in lines)


@pytest.mark.parametrize("card", list_datasets(), ids=lambda card: card.name)
def test_a_card_is_shown_whole(card):
    result = CliRunner().invoke(cli.group, ["datasets", card.name])
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    shown = " ".join(result.output.split())
    for text in (card.title, card.sha256, card.licence_note, card.citation, *card.traits, *card.pitfalls):
        assert " ".join(text.split()) in shown
    for meanings in card.values.values():
        assert all(meaning in shown for meaning in meanings.values())


def test_german_shows_its_bands():
    assert "age (bands end at 25)" in CliRunner().invoke(cli.group, ["datasets", "german"]).output


def test_an_unknown_name_is_one_line_with_a_suggestion_and_exit_code_2(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fairenum", "datasets", "compass"])
    with pytest.raises(SystemExit) as stopped:
        sys.exit(cli.main())
    captured = capsys.readouterr()
    assert stopped.value.code == 2
    assert captured.out == ""
    assert captured.err == "error: no bundled dataset is called 'compass'; did you mean 'compas'?\n"


def test_names_complete_in_the_shell():
    (name,) = datasets.params
    context = datasets.make_context("datasets", [])
    assert [item.value for item in name.shell_complete(context, "")] == [card.name for card in list_datasets()]
    assert [item.value for item in name.shell_complete(context, "co")] == ["compas"]
