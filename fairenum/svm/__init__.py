"""Solution of the SVM's quadratic programme: interior point, active sets, parametric paths and certificates.

Nothing here depends on plugins or on the enumeration of models; every solution is exact up to rounding.
"""
