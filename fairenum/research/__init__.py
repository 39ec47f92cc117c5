"""Benchmarks, studies of mitigations, and the paper's experiments over many splits and draws."""
