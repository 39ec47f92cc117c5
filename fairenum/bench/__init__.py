"""Which solver is fastest here, and against the paper's algorithm; guided search against other mitigations.

All seconds are CPU seconds of one process with one BLAS thread. The figures to quote are ratios: a time in SVC fits
made beside it, and one such time over another.
"""
