"""Solver plugins: the protocol they follow, where they are found, and why no answer of theirs is believed unproven."""
