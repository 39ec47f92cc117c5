"""Large tables of categories and of numbers, and whole commands about them in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairenum import AuditResult

OPTIONS = ("--label", "label", "--favourable", "yes", "--sensitive", "group", "-k", "20", "--quiet")
LONGEST = 900  # seconds of processor after which a command is ended
COMMAND = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({LONGEST}, {LONGEST}))
from fairenum.cli import main
sys.exit(main())
"""


class Run(NamedTuple):
    """How a command ended, what it said, the seconds of processor that it took, and GB at most."""

    code: int
    said: str
    seconds: float
    gigabytes: float


def table(rows: int, columns: int = 10, levels: int = 5, wide: int = 0, seed: int = 0) -> pd.DataFrame:
    """Categories whose values are not as frequent in one group as in the others, and a label that they half explain."""
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1])
    score, frame = 0.4 * (group == "a"), {}
    for name, size in {**{f"c{place}": levels for place in range(columns)}, **({"wide": wide} if wide else {})}.items():
        shares = rng.dirichlet(np.full(size, 2.0), 2)
        codes = np.where(group == "a", *(rng.choice(size, rows, p=share) for share in shares))
        score = score + rng.normal(0.0, 0.7, size)[codes]
        frame[name] = np.array([f"v{level}" for level in range(size)])[codes]
    label = score - np.median(score) + rng.logistic(0.0, 0.7, rows) > 0.0
    return pd.DataFrame({**frame, "group": group, "label": np.where(label, "yes", "no")})


def numbers(rows: int, columns: int, groups: int = 2, seed: int = 0) -> pd.DataFrame:
    """Numbers of which thirty half explain the label, and groups of equal size."""
    rng = np.random.default_rng(seed)
    table, group = rng.normal(size=(rows, columns)), rng.permutation(rows) % groups
    score = table[:, :30] @ rng.normal(size=min(columns, 30)) + 0.8 * (group % 2) + rng.normal(0.0, 2.0, rows)
    frame = pd.DataFrame(table.round(4), columns=[f"x{place}" for place in range(columns)])
    return frame.assign(group=[f"g{code}" for code in group], label=np.where(score > 0.0, "yes", "no"))


def ran(tmp_path: Path, *arguments: str) -> Run:
    """Run a command of the program in a process of its own, and measure it."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with (tmp_path / "said.txt").open("w+") as said:
        command = [sys.executable, "-c", COMMAND, *arguments]
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # which subprocess cannot ask for any more
        said.seek(0)
        return Run(process.returncode, said.read(), used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)


def audited(tmp_path: Path, frame: pd.DataFrame, *options: str):
    """Audit a table by the command, and return its document, the seconds of processor that it took, and GB at most."""
    frame.to_csv(tmp_path / "table.csv", index=False)
    written = ["--json", str(tmp_path / "run.json"), "--html", str(tmp_path / "page.html")]
    run = ran(tmp_path, "audit", str(tmp_path / "table.csv"), *OPTIONS, *options, *written)
    assert run.code == 0, run.said
    assert (tmp_path / "page.html").exists()
    return AuditResult.load(tmp_path / "run.json").document, run.seconds, run.gigabytes
