"""Fairness audits over the near-optimal support vector machines of a table.

Public names are imported when they are first used: ``import fairenum`` loads no solver backend and no fairlearn.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairenum.api import (
        AuditResult,
        ComparisonResult,
        MeasureResult,
        ScoreResult,
        audit,
        compare,
        measure,
        score,
        select,
    )
    from fairenum.document.audit_config import AuditConfig
    from fairenum.document.comparison_document import CompareConfig
    from fairenum.document.measure_document import MeasureConfig
    from fairenum.document.training import Tolerances
    from fairenum.enumeration.division import EncodedRows
    from fairenum.enumeration.fairest import search_fairest
    from fairenum.estimator import EnumSVC
    from fairenum.evidence.verification import verify
    from fairenum.explore.exploration import Exploration
    from fairenum.solvers.registry import list_solvers
    from fairenum.svm.problem import Kernel, SvmProblem
    from fairenum.tables import Dataset, Groups, load_dataset
    from fairenum.tables.cut_points import CutPoints

_HOMES = {
    "AuditConfig": "document.audit_config",
    "AuditResult": "api",
    "CompareConfig": "document.comparison_document",
    "ComparisonResult": "api",
    "CutPoints": "tables.cut_points",
    "Dataset": "tables",
    "EncodedRows": "enumeration.division",
    "EnumSVC": "estimator",
    "Exploration": "explore.exploration",
    "Groups": "tables",
    "Kernel": "svm.problem",
    "MeasureConfig": "document.measure_document",
    "MeasureResult": "api",
    "ScoreResult": "api",
    "SvmProblem": "svm.problem",
    "Tolerances": "document.training",
    "audit": "api",
    "compare": "api",
    "list_solvers": "solvers.registry",
    "load_dataset": "tables",
    "measure": "api",
    "score": "api",
    "search_fairest": "enumeration.fairest",
    "select": "api",
    "verify": "evidence.verification",
}

__all__ = [
    "AuditConfig",
    "AuditResult",
    "CompareConfig",
    "ComparisonResult",
    "CutPoints",
    "Dataset",
    "EncodedRows",
    "EnumSVC",
    "Exploration",
    "Groups",
    "Kernel",
    "MeasureConfig",
    "MeasureResult",
    "ScoreResult",
    "SvmProblem",
    "Tolerances",
    "audit",
    "compare",
    "list_solvers",
    "load_dataset",
    "measure",
    "score",
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
