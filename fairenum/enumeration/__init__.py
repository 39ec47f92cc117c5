"""Near-optimal SVMs: exact best-first enumeration, guided and tilted searches, and the fairest choice."""
