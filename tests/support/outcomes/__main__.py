"""Run default audits of public tables: `python tests/support/outcomes FOLDER/manifest.json --results FILE.json`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def main() -> None:
    """Judge the tables of a manifest; write the results as JSON, and their summary as Markdown beside it."""
    from support.outcomes.judging import run, table_of

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--results", type=Path, required=True, help="JSON file of results; the table has suffix .md")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds, from 0")
    parser.add_argument("--only", nargs="*", help="names of tables")
    parser.add_argument("--split", help="sizes, such as 0.4,0.2,0.4")
    given = parser.parse_args()
    entries = json.loads(given.manifest.read_text("utf-8"))
    manifest = [one for one in entries if not given.only or one["name"] in given.only]
    options = {"sizes": tuple(map(float, given.split.split(",")))} if given.split else {}
    rows = run(manifest, given.manifest.parent, range(given.seeds), **options)
    given.results.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    table = table_of(rows)
    given.results.with_suffix(".md").write_text(table, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])  # instead of this folder
    main()
