"""The audit: from a table to the fairest near-optimal model, and to a document that says how sure that is.

The module is callable, as ``from fairenum import audit`` may find the module or the function in it, whichever was
imported first: ``audit(...)`` is the same either way.
"""

import sys
from types import ModuleType
from typing import Any

from fairenum.audit.attacked import attacked
from fairenum.audit.choice import select
from fairenum.audit.config import AuditConfig
from fairenum.audit.pipeline import audit
from fairenum.audit.result import AuditResult, schema

__all__ = ["AuditConfig", "AuditResult", "attacked", "audit", "schema", "select"]


class _CallableModule(ModuleType):
    def __call__(self, *data: Any, **options: Any) -> AuditResult:
        return audit(*data, **options)


sys.modules[__name__].__class__ = _CallableModule
