"""The quadratic programme behind the SVM: interior point, margin set, parametric paths, polish.

Nothing here knows about plugins or enumeration; everything here is exact up to rounding.
"""
