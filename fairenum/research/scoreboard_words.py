"""The summary of the scoreboard as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from fairenum.document.scoreboard_cells import Cell, Duel, FormCell, MethodFigures, Scoreboard, Share, Standing
from fairenum.research.cell_run import DEFAULT, GUIDED, METHODS, PLAIN, TILTED, UNGUARDED
from fairenum.research.model_forms import FORMS
from fairenum.research.standings import mean, ratio, standings

NAMES = {
    DEFAULT: "fairenum",
    UNGUARDED: "fairenum without guardrails",
    PLAIN: "fairenum's list, rule of the others",
    GUIDED: "its guided models, same rule",
    TILTED: "its tilted models, same rule",
}
WHY = (PLAIN, GUIDED, TILTED, UNGUARDED)
EXPLAINED = """\
A third of each table's rows trained the model in use. The rest is divided as in a default audit, and every method
gets the same rows. Each knob is swept, and chosen on the selection split: the smallest gap (demographic parity
difference) among the settings whose performance is within 0.01 of the model in use. All figures are of the holdout;
errors are standard errors over splits.

- gap left: what remains of the model in use's gap, in sum over splits. The model in use stays where no setting is
  within the tolerance on the selection split, or none has a smaller gap there, so that this is a comparison at equal
  performance as far as a user can tell. The change of performance is beside it, and that of the share of favourable
  decisions (rate).
- selection: gap left on the selection split, by which a setting is chosen; what is smaller there than on the holdout is
  chance.
- always replaced: gap left and change of performance where the chosen setting replaces the model in use in any case; if
  no setting is within the tolerance, the one of best performance is chosen.
- comparable: splits with a setting within the tolerance on the selection split, and splits in which the chosen setting
  is within it on the holdout.
- in hindsight: gap left by the setting that is fairest on the holdout, within the tolerance there.
- best, level, behind: fairenum leaves the least gap of the methods that are not shown to lose more performance than the
  tolerance, by two standard errors; or it is within two standard errors of the least, paired over splits; or not.
- rule of the others: the models that the default audit lists, all of them or those of one search, chosen from as the
  settings of the other methods are.
- (groups): needs a person's group to decide. CPU: seconds of all settings together.
"""


def markdown(board: Scoreboard) -> str:
    """Return the summary of all cells: totals, why fairenum is behind where it is, every table, and forms of model."""
    found = standings(board.cells)
    parts = ["# Scoreboard\n", EXPLAINED, *_totals(found), *_losses(found)]
    parts += [part for one in found for part in _table(one)]
    parts += [*_forms(board.forms), *_failures(board.cells), *_sources(board.cells)]
    return "\n".join(parts) + "\n"


def _totals(found: Sequence[Standing]) -> Iterator[str]:
    """Yield how often fairenum is best, level or behind, and the figures of every method over all tables."""
    if not found:
        yield "No cell has been run."
        return
    disparate = [one for one in found if one.is_disparate]
    shown = "in which the default audit sees a disparity in at least half of the splits"
    for words, some in (("all", found), (shown, disparate)):
        yield f"{len(some)} pairs of a table and a model in use, {words}:\n"
        yield f"- against methods that need no group to decide, {_outcomes([one.blind for one in some])}"
        yield f"- against all methods, {_outcomes([one.aware for one in some])}\n"
    if disparate:
        yield from _means(disparate)


def _means(found: Sequence[Standing]) -> Iterator[str]:
    yield _row("method", "pairs", "gap left", "performance", "selection", "comparable", "in hindsight", "CPU s")
    yield "|---|" + "---:|" * 7
    for name in METHODS:
        if own := [(standing, one) for standing in found if (one := standing.figures(name))]:
            yield _mean_row(own)
    yield "\nThe pairs with a disparity; gaps are in sum over pairs, and standard errors over pairs.\n"


def _outcomes(duels: Sequence[Duel | None]) -> str:
    counts = Counter(duel.outcome for duel in duels if duel)
    return f"fairenum is best in {counts['best']}, level in {counts['level']}, behind in {counts['behind']}"


def _mean_row(own: Sequence[tuple[Standing, MethodFigures]]) -> str:
    gaps, some = [standing.gap.value for standing, _ in own], [one for _, one in own]
    left, tried, later = (
        ratio([gap * share for gap, share in zip(gaps, shares, strict=True)], gaps)
        for shares in zip(*((one.left.value, one.selection_left, one.hindsight) for one in some), strict=True)
    )
    change = mean([one.change.value for one in some])
    comparable, seconds = (float(np.mean([getattr(one, name) for one in some])) for name in ("comparable", "seconds"))
    cells = (_share(left), _change(change), f"{tried.value:.0%}", f"{comparable:.0%}", f"{later.value:.0%}")
    return _row(_name(some[0]), len(own), *cells, f"{seconds:.1f}")


def _losses(found: Sequence[Standing]) -> Iterator[str]:
    """Yield the pairs in which fairenum is behind a method without groups, and what its list would have allowed."""
    behind = [(one, one.blind) for one in found if one.blind and one.blind.outcome == "behind"]
    if not behind:
        return
    heads = ("fairenum", "its performance", *(NAMES[name] for name in WHY), "its list in hindsight")
    yield "## Where fairenum is behind\n"
    yield _row("table", "in use", "best", "it leaves", "its hindsight", *heads, "comparable")
    yield "|---|---|---|" + "---:|" * (len(WHY) + 6)
    for one, duel in behind:
        yield from _loss(one, duel)
    yield ""


def _loss(one: Standing, duel: Duel) -> Iterator[str]:
    rival, own = one.figures(duel.rival), one.figures(DEFAULT)
    if rival and own:
        others = [_share(other.left) if (other := one.figures(name)) else "" for name in WHY]
        cells = (_share(own.left), _change(own.change), *others, f"{own.hindsight:.0%}", f"{own.comparable:.0%}")
        yield _row(one.table, one.kind, _name(rival), _share(rival.left), f"{rival.hindsight:.0%}", *cells)


def _table(one: Standing) -> Iterator[str]:
    """Yield the figures of every method on one table with one kind of model in use."""
    yield f"## {one.table}, {one.kind}\n"
    yield " ".join(_lines(one)) + "\n"
    yield _row(
        "method",
        "gap left",
        "performance",
        "rate",
        "selection",
        "always replaced",
        "comparable",
        "in hindsight",
        "CPU s",
    )
    yield "|---|" + "---:|" * 8
    yield from map(_method_row, one.methods)
    yield ""


def _lines(one: Standing) -> Iterator[str]:
    measures = " or ".join(one.measures).replace("_", " ")
    yield f"{one.splits} splits."
    yield f"Rows of model in use / training / selection / holdout: {' / '.join(map(str, one.rows))}."
    yield f"The model in use has a gap of {_number(one.gap)} and {measures} {_number(one.performance)};"
    answers = ", ".join(f"{answer} {count}" for answer, count in one.answers.items())
    yield f"the default audit answers: {answers or 'it was not run'}."
    if one.blind:
        rival = one.blind.rival.replace("_", " ")
        reason = "" if one.blind.is_as_good else ", as it loses more performance than the tolerance"
        yield f"Fairenum is {one.blind.outcome}{reason}: its gap left minus that of {rival} is"
        yield f"{_points(one.blind.behind)}."


def _method_row(figures: MethodFigures) -> str:
    return _row(
        _name(figures),
        _share(figures.left),
        _change(figures.change),
        f"{figures.rate_change:+.3f}",
        f"{figures.selection_left:.0%}",
        f"{figures.plain_left.value:.0%}, {figures.plain_change.value:+.3f}",
        f"{figures.comparable:.0%}, {figures.within:.0%}",
        f"{figures.hindsight:.0%}",
        f"{figures.seconds:.1f}",
    )


def _forms(cells: Sequence[FormCell]) -> Iterator[str]:
    """Yield the mean accuracy and AUC of each form of model by table."""
    if not cells:
        return
    yield "## Forms of model\n"
    yield "Mean accuracy, AUC and CPU seconds on the holdout, without any regard to groups; every form selects the"
    yield "share of favourable labels of the training rows.\n"
    yield _row("table", "splits", *(name.replace("_", " ") for name in FORMS))
    yield "|---|---:|" + "---:|" * len(FORMS)
    for table in dict.fromkeys(cell.table for cell in cells):
        own = [cell for cell in cells if cell.table == table]
        yield _row(table, len(own), *(_form(own, name) for name in FORMS))
    yield ""


def _form(cells: Sequence[FormCell], name: str) -> str:
    scores = [score for cell in cells for score in cell.scores if score.form == name]
    pairs = [(one.accuracy, one.auc, one.seconds) for one in scores if one.accuracy is not None and one.auc is not None]
    if not pairs:
        return "none"
    accuracy, auc, seconds = np.mean(pairs, axis=0)
    return f"{accuracy:.3f}, {auc:.3f}, {seconds:.1f} s"


def _failures(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield why methods have no result, with the number of cells."""
    errors = Counter((one.method, one.error) for cell in cells for one in cell.methods if one.error)
    if errors:
        yield "## Without a result\n"
        yield from (f"- {method}, {count} cells: {error}" for (method, error), count in errors.items())
        yield ""


def _sources(cells: Sequence[Cell]) -> Iterator[str]:
    if cells:
        yield "## Tables\n"
        yield _row("table", "source", "licence")
        yield "|---|---|---|"
        yield from dict.fromkeys(_row(cell.table, cell.source, cell.licence) for cell in cells)


def _name(figures: MethodFigures) -> str:
    words = NAMES.get(figures.method, figures.method.replace("_", " "))
    return f"{words} (groups)" if figures.needs_groups else words


def _share(share: Share) -> str:
    return f"{share.value:.0%}" if share.error is None else f"{share.value:.0%} ± {share.error:.0%}"


def _points(share: Share) -> str:
    points = f"{100.0 * share.value:+.0f}"
    return f"{points} points" if share.error is None else f"{points} ± {100.0 * share.error:.0f} points"


def _change(share: Share) -> str:
    return f"{share.value:+.3f}" if share.error is None else f"{share.value:+.3f} ± {share.error:.3f}"


def _number(share: Share) -> str:
    return f"{share.value:.3f}" if share.error is None else f"{share.value:.3f} ± {share.error:.3f}"


def _row(*cells: object) -> str:
    return f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |"
