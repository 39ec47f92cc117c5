"""Benchmarks of solvers, a study of mitigations, and a reproduction of the paper's experiments."""
