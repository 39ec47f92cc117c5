"""Solver plugins: their protocol, registry, isolation, conformance tests, and the certification of their answers."""
