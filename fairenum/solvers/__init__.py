"""Solver plugins: their protocol, registry, isolation and conformance tests, and the certification of their results."""
