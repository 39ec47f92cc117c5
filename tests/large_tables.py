"""Large tables of categories, and whole audits of them in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from fairenum import AuditResult

OPTIONS = ("--label", "label", "--favourable", "yes", "--sensitive", "group", "-k", "20", "--quiet")
COMMAND = "from fairenum.cli import main; main()"


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


def audited(tmp_path: Path, frame: pd.DataFrame, *options: str):
    """Audit a table by the command, and return its document, the seconds of processor that it took, and GB at most."""
    frame.to_csv(tmp_path / "table.csv", index=False)
    written = ["--json", str(tmp_path / "run.json"), "--html", str(tmp_path / "page.html")]
    command = [sys.executable, "-c", COMMAND, "audit", str(tmp_path / "table.csv"), *OPTIONS, *options, *written]
    process = subprocess.Popen(command, cwd=tmp_path)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # which subprocess cannot ask for any more
    assert process.returncode == 0
    assert (tmp_path / "page.html").exists()
    return AuditResult.load(tmp_path / "run.json").document, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6
