"""What tests share.

- Synthetic data: `tables` (approvals), `large_tables`, `audits` (applicants, and audits of them that tests share),
  `decisions` (people decided by a tool), `model_files` (models in use, as objects and files), `problems` (small SVMs,
  scenes for attacks, hard numbers).
- Saved results: `saved_runs` (runs of the gallery, and a small one of every kind), `documents` (typed documents, and
  variants of them), `golden` (hashes of what runs compute and reports show; also a command).
- Pages: `pages` (every kind of block), `explorations` (tables to explore, servers and clients), `screens` (actions on
  the live page), `documentation` (the fenced blocks of the guides, run as a reader would).
- Trials: `guided_search` (tables whose guardrails restrict the guided search), `stand_ins` (fake contestants and entry
  points).
- `oracles/`: slow, independent computations without code of the package: brute force, convex, in a hundred digits, ...
- `simulation/`: populations with known truth, and how often statements about samples are right.
- `fuzzing/`: hostile input of every kind, and what must not happen; `python tests/support/fuzzing csv 309 310`.
"""
