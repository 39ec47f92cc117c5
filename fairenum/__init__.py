"""Fairness audits over the near-optimal support vector machines.

Names are resolved when first used: ``import fairenum`` loads no solver backend and no fairlearn.
"""

from importlib import import_module

_HOMES = {
    "AuditConfig": "audit",
    "AuditResult": "audit",
    "Dataset": "dataset",
    "EnumSVC": "estimator",
    "Kernel": "problem",
    "SvmProblem": "problem",
    "audit": "audit",
    "list_solvers": "solvers.registry",
    "load_dataset": "dataset",
    "to_html": "report.html",
    "to_notebook": "report.notebook",
}

__all__ = [
    "AuditConfig",
    "AuditResult",
    "Dataset",
    "EnumSVC",
    "Kernel",
    "SvmProblem",
    "audit",
    "list_solvers",
    "load_dataset",
    "to_html",
    "to_notebook",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fairenum' has no attribute {name!r}")
    return getattr(import_module(f"fairenum.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
