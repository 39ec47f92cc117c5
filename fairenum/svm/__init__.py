"""Solving the SVM's quadratic programme: interior point, active sets, parametric paths and certificates.

Nothing here knows about plugins or enumeration; everything here is exact up to rounding.
"""
