"""The golden check: what a dozen runs compute and every saved report shows, as hashes that must not change unnoticed.

`python tests/support/golden.py` runs all of it and names what differs from `tests/golden.json`; `--write` keeps the new
hashes. What was hashed lies in `build/golden` afterwards, to be compared with that of another checkout. Numbers of runs
are rounded to nine digits, since processors differ in the last ones; timings and versions are left out.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests/golden.json"
SMALL = ["--replications", "100", "--quiet"]
LOANS = ["loans.csv", "--label", "paid", "--favourable", "yes", "--sensitive", "sex", "--sensitive", "origin"]
LOANS_SPLIT = [*LOANS, "--split", "150,200,250", *SMALL]
COMPAS_DECISIONS = ["compas", "--decision", "score_factor", "--decision-favourable", "0"]
RUNS = {
    "audit_german": ["audit", "german", "--split", "120,200,400", "--baselines", "--scores", *SMALL],
    "audit_incumbent": ["audit", "compas", "--split", "100,400,1000", *SMALL],
    "audit_like_incumbent": ["audit", "compas", "--split", "100,400,1000", "--decide", "like-incumbent", *SMALL],
    "audit_weights": ["audit", *LOANS_SPLIT, "--weight", "weight", "--group-column", "person"],
    "audit_score": ["audit", *LOANS_SPLIT, "--incumbent-score", "score", "--cutoff", "rate=0.5", "--against", "best"],
    "audit_odds": ["audit", *LOANS_SPLIT, "--metric", "equalized_odds_difference", "--performance", "auc"],
    "audit_primary": ["audit", *LOANS_SPLIT, "--primary", "sex & origin", "--guard", "none", "--distinct", "diverse"],
    "audit_rbf": ["audit", "german", "--kernel", "rbf", "--split", "80,100,200", "--models", "12", *SMALL],
    "audit_exact": ["audit", "adult", "--split", "200,300,500", "--search", "exact", "--rows", *SMALL],
    "audit_attack": ["audit", *LOANS_SPLIT, "--attack", "--trials", "3", "--models", "5", "--no-range"],
    "measure_rows": [
        "measure",
        *COMPAS_DECISIONS,
        "--label",
        "Two_yr_Recidivism",
        "--favourable",
        "0",
        *SMALL,
        "--sensitive",
        "African_American",
        "--sensitive",
        "Female",
    ],
    "measure_scores": [
        "measure",
        "loans.csv",
        "--score",
        "score",
        "--cutoff",
        "median",
        "--sensitive",
        "sex",
        *SMALL,
        "--label",
        "paid",
        "--favourable",
        "yes",
    ],
    "measure_counts": ["measure", "counts.csv", "--counts", "--sensitive", "origin", *SMALL],
    "attack": [
        "attack",
        "compas",
        "--use-sensitive",
        "--raw",
        "--split",
        "60,60,100",
        "--flips",
        "6",
        "--trials",
        "4",
        "--strategy",
        "paper",
        "--strategy",
        "margin_near",
        "--defence",
        "all",
        "--quiet",
    ],
}
EXPLORED = """
from datetime import datetime, timezone
from fairenum import Exploration
now = lambda: datetime(2026, 1, 1, tzinfo=timezone.utc)
plan = dict(label="paid", favourable="yes", sensitive=["sex", "origin"], sizes=(120, 150, 150), replications=50)
with Exploration("loans.csv", **plan, record="steps.jsonl", now=now) as exploration:
    exploration.next(2)
    exploration.fairer(4)
    exploration.undo()
    exploration.tolerate(eps=0.1, guards=["none"])
    exploration.fairer(3)
    content = open("steps.jsonl", "rb").read()
with Exploration.resume("steps.jsonl", "loans.csv", now=now) as exploration:
    assert open("steps.jsonl", "rb").read() == content
    exploration.commit(exploration.view.models[-1].number, "why", "who").save("explored.json")
"""
RULES = ["--fail-on", "demographic_parity_difference<=0.2", "--fail-on", "accuracy>=0.5"]
TABLES = ["--tables", "tables", "--junit", "rules.xml", *RULES]
PROFILED = ["--html", "profile.html", "--date", "2026-01-01", "--profile"]
RENDITIONS = {
    name: [["report", f"{name}.json", "--html", "page.html", "--markdown", "page.md"]]
    for name in ("injection", "defences", "mitigation", "bench")
}
RENDITIONS |= {
    name: [
        ["report", f"{name}.json", "--html", "page.html", "--markdown", "page.md", *TABLES],
        *(["report", f"{name}.json", "--quiet", *PROFILED, profile] for profile in profiles),
    ]
    for name, profiles in {
        "compas": ("lda", "ll144"),
        "german": ("lda",),
        "adult": ("lda", "ll144"),
        "measured": ("ll144",),
    }.items()
}
RENDITIONS["paper"] = [["reproduce", "--saved", "paper.json", "--output", "out"]]


def main() -> int:
    """Run everything, name what differs from the kept hashes, and keep the new ones where that is asked for."""
    found = golden(ROOT / "build/golden")
    if "--write" in sys.argv:
        KEPT.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        return 0
    different = differences(found)
    print("\n".join(different) or f"{len(found)} hashes, all equal")
    return int(bool(different))


def differences(found: dict[str, str]) -> list[str]:
    """Return the names of what has another hash than the kept one."""
    kept = json.loads(KEPT.read_text())
    return sorted(name for name in kept.keys() | found.keys() if kept.get(name) != found.get(name))


def golden(folder: Path) -> dict[str, str]:
    """Return the hash of every run and every rendition, by its name."""
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    jobs = [(_run, name) for name in RUNS] + [(_explore, "explored")] + [(_render, name) for name in RENDITIONS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = pool.map(lambda job: job[0](_place(folder, job[1]), job[1]), jobs)
        return {name: digest for part in parts for name, digest in part.items()}


def _place(folder: Path, name: str) -> Path:
    place = folder / name
    place.mkdir(parents=True)
    return place


def _run(place: Path, name: str) -> dict[str, str]:
    write_loans(place / "loans.csv", place / "counts.csv")
    command, data, *options = RUNS[name]
    _fairenum(place, command, data, *options, "--json", "run.json")
    return {f"run {name}": _hash_run(place / "run.json")}


def _explore(place: Path, name: str) -> dict[str, str]:
    write_loans(place / "loans.csv", place / "counts.csv")
    subprocess.run([sys.executable, "-c", EXPLORED], cwd=place, env=_environment(), check=True)
    record = [json.loads(line) for line in (place / "steps.jsonl").read_text().splitlines()]
    (place / "steps.json").write_text(json.dumps({"record": record}))
    return {f"run {name}": _hash_run(place / "explored.json"), f"record {name}": _hash_run(place / "steps.json")}


def _render(place: Path, name: str) -> dict[str, str]:
    saved = place / f"{name}.json"
    saved.write_bytes((ROOT / f"reports/{name}.json").read_bytes())
    for number, command in enumerate(RENDITIONS[name]):
        text = _fairenum(place, *command)
        (place / f"terminal{number}.txt").write_text(text)
        profile = place / "profile.html"
        if profile.exists():
            profile.rename(place / f"{command[-1]}.html")
    saved.unlink()
    files = sorted(path for path in place.rglob("*") if path.is_file() and path.suffix != ".json")
    return {
        f"page {name}/{path.relative_to(place)}": hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in files
    }


def _fairenum(place: Path, *command: str) -> str:
    options = [sys.executable, "-m", "fairenum", *command]
    done = subprocess.run(options, cwd=place, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):  # 1, 3: a rule is violated, or left open
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def _environment() -> dict[str, str]:
    paths = [str(ROOT), str(ROOT / "plugins")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "100", "NO_COLOR": "1"}


def _hash_run(path: Path) -> str:
    text = json.dumps(_rounded(json.loads(path.read_text())), indent=1, sort_keys=True)
    path.write_text(text)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rounded(value: object) -> object:
    """Return a run with nine digits of every number, 0 for what is rounding alone, without timings and versions."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items() if key not in ("timings", "environment")}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.9g}") if abs(value) > 1e-13 else 0.0
    return value


def write_loans(rows: Path, counts: Path) -> None:
    """Write a made table with weights, persons of several rows, three groups, missing cells and a score; and counts."""
    draw = random.Random(7)
    header = ["person", "income", "years", "job", "sex", "origin", "weight", "score", "paid"]
    table = []
    for number in range(600):
        sex, origin = draw.choice("fm"), draw.choice(["north", "north", "south", "west"])
        income = draw.lognormvariate(3.0 + 0.3 * (sex == "m") - 0.2 * (origin == "west"), 0.5)
        years = "" if draw.random() < 0.05 else draw.randrange(12)
        worth = 0.05 * income + 0.1 * float(years or 3) + draw.gauss(0.0, 1.0)
        score = round(worth + 0.3 * (sex == "m"), 3)
        job = draw.choice(["office", "field", "none"])
        weight = draw.choice([1, 1, 2, 3])
        paid = "yes" if worth + draw.gauss(0.0, 0.7) > 1.5 else "no"
        table.append([number // 2, round(income, 2), years, job, sex, origin, weight, score, paid])
    with rows.open("w", newline="") as file:
        csv.writer(file).writerows([header, *table])
    with counts.open("w", newline="") as file:
        csv.writer(file).writerows(
            [["origin", "n", "selected"], ["north", 400, 210], ["south", 150, 60], ["west", 90, 41]]
        )


if __name__ == "__main__":
    sys.exit(main())
