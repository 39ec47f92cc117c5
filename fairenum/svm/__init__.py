"""Methods that solve an SVM's dual problem: interior points, active sets, parametric paths and certificates.

Nothing here depends on plugins or on the enumeration of models; solutions are exact up to rounding.
"""
