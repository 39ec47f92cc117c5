"""Fairness audits over the near-optimal support vector machines.

Names are resolved when first used: ``import fairenum`` loads no solver backend and no fairlearn.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairenum.api import AuditResult, audit, select
    from fairenum.dataset import Dataset, Groups, load_dataset
    from fairenum.document.audit_config import AuditConfig
    from fairenum.document.machine import Tolerances
    from fairenum.document.measure_config import MeasureConfig
    from fairenum.estimator import EnumSVC
    from fairenum.evidence.verification import verify
    from fairenum.experiment import EncodedRows
    from fairenum.exploration.exploration import Exploration
    from fairenum.measurement import MeasureResult, measure
    from fairenum.problem import Kernel, SvmProblem
    from fairenum.selection import search_fairest
    from fairenum.solvers.registry import list_solvers

_HOMES = {
    "AuditConfig": "document.audit_config",
    "AuditResult": "api",
    "Dataset": "dataset",
    "EncodedRows": "experiment",
    "EnumSVC": "estimator",
    "Exploration": "exploration.exploration",
    "Groups": "dataset",
    "Kernel": "problem",
    "MeasureConfig": "document.measure_config",
    "MeasureResult": "measurement",
    "SvmProblem": "problem",
    "Tolerances": "document.machine",
    "audit": "api",
    "list_solvers": "solvers.registry",
    "load_dataset": "dataset",
    "measure": "measurement",
    "search_fairest": "selection",
    "select": "api",
    "verify": "evidence.verification",
}

__all__ = [
    "AuditConfig",
    "AuditResult",
    "Dataset",
    "EncodedRows",
    "EnumSVC",
    "Exploration",
    "Groups",
    "Kernel",
    "MeasureConfig",
    "MeasureResult",
    "SvmProblem",
    "Tolerances",
    "audit",
    "list_solvers",
    "load_dataset",
    "measure",
    "search_fairest",
    "select",
    "verify",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fairenum' has no attribute {name!r}")
    return getattr(import_module(f"fairenum.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
