"""What tests share, by what it makes or does.

- Made-up data: `tables` (approvals), `large_tables`, `audits` (hiring, and audits of it that tests share), `decisions`
  (a tool in use), `model_files` (models in use, as objects and files), `problems` (SVMs, scenes for attackers).
- Kept results: `saved_runs` (files of the gallery and of version 0.1), `documents` (typed ones, and what they would say
  had they come out otherwise), `golden` (hashes of all that runs compute; a command of its own).
- What people see: `pages` (every kind of block), `explorations` (tables to explore, servers and visitors), `screens`
  (what is done to the live page), `documentation` (the fenced blocks of the guides, run as a reader would).
- Trials: `guided_search` (tables on which guardrails stand in its way), `stand_ins` (contestants, entry points).
- `oracles/`: what is true, found slowly and with no code of the package: brute force, convex, in a hundred digits, ...
- `simulation/`: populations of which the truth is known, and how often what is said of samples is right.
- `fuzzing/`: hostile input of every kind, and what must not come of it; `python tests/support/fuzzing csv 309 310`.
"""
