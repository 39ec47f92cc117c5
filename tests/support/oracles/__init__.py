"""Independent oracles: slow, simple, and sharing no code with what they judge."""
