"""Hostile input of every kind, and what must not come of it.

`hostile` makes texts, numbers and documents by a seed; `tables`, `documents`, `models`, `options` and `requests` make
whole cases of them, which `running` runs and judges; `fuzzers` has all of them by name; `decoders` looks for more.
"""
