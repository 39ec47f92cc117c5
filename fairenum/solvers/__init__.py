"""Solver plugins: the protocol, the registry, and the proof that stands behind every answer."""
