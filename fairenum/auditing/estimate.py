"""What an audit is expected to take, from the size of its table.

The constants are seconds of one processor, fitted to whole audits of tables from 1,000 to 1,000,000 rows, of numbers
and of categories, with up to 3,000 columns, and of kernel machines; slow tests hold them to a factor of 2. What is not
known beforehand is taken to be as it mostly is: how many boxes the list takes, and how many are on the margin.
"""

from __future__ import annotations

from collections.abc import Mapping

from fairenum.auditing.course import wanted_stages
from fairenum.auditing.sampling import RANGE_WORK, rows_to_examine
from fairenum.document.audit_config import AuditConfig
from fairenum.enumeration import guided, states, tilted
from fairenum.enumeration.parity import is_tightened
from fairenum.enumeration.walking import LARGEST
from fairenum.experiment import PARTS, Division
from fairenum.matrices import filled
from fairenum.problem import affordable
from fairenum.progress import Estimate
from fairenum.qp.gram import held_bytes
from fairenum.qp.working import MATRIX_AT_ONCE

# Scores, choice and report: for any run, by row, by model, and by model, row and column; and models that searches add.
FINISH, FINISH_ROW, FINISH_MODEL, FINISH_CELL, ADDED = 0.8, 1e-5, 4e-3, 5e-7, 35
START, READ, ROOT = 2.2, 1.6e-6, 1e-5  # imports; reading and encoding, by cell of the table; model 1, by row
# A solve from a neighbour's answer: any, by row, by row and column; of a kernel matrix by its size squared.
SOLVE, SOLVE_ROW, SOLVE_CELL, SOLVE_MATRIX = 4e-3, 8e-7, 1.2e-8, 3.9e-8
# A box of the list: any, by row, by what may lie on the margin squared; and boxes beside those of its models.
NODE, NODE_ROW, NODE_PAIR, NODES = 1e-3, 6e-7, 1e-7, 20
SOLVES: Mapping[str, float] = {"explain": 15.0}  # solves' worth of time
RANGE = 1.5  # bounds of the gap, where there is work for more than the rows tell by themselves
# A row that is examined, by row and column: where planes walk, and where they are searched; of a kernel matrix.
PRICE_WALK, PRICE_SEARCH, PRICE_MATRIX = 7e-8, 2e-8, 1e-8
TILT = 1.4  # a solve for another price, in solves from a neighbour's answer
# Bytes: what is imported, a cell of the table as it is read, a number; how often numbers are held; and how much more a
# number takes whose place is kept, too.
BASE, CELL, NUMBER, COPIES, PLACED = 350e6, 60.0, 8.0, 6.0, 1.5


def expected(division: Division, config: AuditConfig) -> Estimate:
    """Say what an audit will take, given its table, encoded."""
    cells = len(division.dataset) * len(division.dataset.features)
    seconds = START + READ * cells + ROOT * len(division.train) + _searching(division, config)
    models = config.k + ADDED * ("guide" in wanted_stages(config))
    return Estimate(seconds + finishing_seconds(division, models), _memory(division, config))


def _searching(division: Division, config: AuditConfig) -> float:
    """Return what it takes to list models, and to search for others."""
    rows, columns = map(int, division.train.X.shape)
    wanted, is_linear = wanted_stages(config), config.machine.kernel == "linear"
    solve = SOLVE + (rows * (SOLVE_ROW + SOLVE_CELL * columns) if is_linear else SOLVE_MATRIX * rows * rows)
    node = NODE + NODE_ROW * rows + NODE_PAIR * columns**2 if is_linear else NODE + 0.1 * solve
    solves = sum(worth for stage, worth in SOLVES.items() if stage in wanted)
    width = columns if is_linear else rows
    priced = rows_to_examine(config.price_rows, rows, rows * width, len(division.holdout)) if "prices" in wanted else 0
    if "guide" in wanted:
        solves += guided.usual_solves(rows * width)
        solves += TILT * affordable(rows * width, tilted.WORK, *tilted.SOLVES)
    cell = (PRICE_SEARCH if rows > LARGEST else PRICE_WALK) if is_linear else PRICE_MATRIX
    price = priced * rows * width * cell
    price += RANGE if "range" in wanted and is_tightened(rows * width, RANGE_WORK / 3) else 0.0
    return solves * solve + (NODES + config.k) * node + price


def _memory(division: Division, config: AuditConfig) -> float:
    """Return the bytes of the table, of what is held of a kernel matrix, and of the states that are kept."""
    rows, columns = map(int, division.train.X.shape)
    everyone, is_linear = len(division.dataset), config.machine.kernel == "linear"
    numbers = COPIES * NUMBER * everyone * min(columns, PLACED * filled(division.train.X) / rows)
    matrix = 0.0 if is_linear else held_bytes(rows) + NUMBER * 2 * min(rows, MATRIX_AT_ONCE) ** 2
    state = states.state_bytes(rows, min(rows, columns))
    searched = guided.usual_solves(rows * (columns if is_linear else rows))
    kept = min(states.ready_states(state), max(2 * (NODES + config.k), searched))
    return BASE + CELL * everyone * len(division.dataset.features) + numbers + matrix + kept * state


def scoring_seconds(division: Division) -> float:
    """Return what one more model costs once it is found."""
    return FINISH_MODEL + FINISH_CELL * _rows(division) * max(1, len(division.columns))


def finishing_seconds(division: Division, models: int) -> float:
    """Return what it takes to score models, to choose among them and to report that."""
    return FINISH + FINISH_ROW * _rows(division) + models * scoring_seconds(division)


def _rows(division: Division) -> int:
    return sum(len(division.rows[part]) for part in PARTS)
