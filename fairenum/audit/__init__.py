"""The audit: from a table to the fairest near-optimal model, and to a document that says how sure that is.

Names are resolved when first used, so that a saved run is read and shown without what computed it. The module is
callable, as ``from fairenum import audit`` may find the module or the function in it, whichever was imported first:
``audit(...)`` is the same either way.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairenum.audit.choice import select
    from fairenum.audit.config import AuditConfig
    from fairenum.audit.pipeline import audit
    from fairenum.audit.result import AuditResult, schema
    from fairenum.audit.robustness import attacked

__all__ = ["AuditConfig", "AuditResult", "attacked", "audit", "schema", "select"]

_HOMES = {
    "AuditConfig": "config",
    "AuditResult": "result",
    "attacked": "robustness",
    "audit": "pipeline",
    "schema": "result",
    "select": "choice",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fairenum.audit' has no attribute {name!r}")
    return getattr(import_module(f"fairenum.audit.{_HOMES[name]}"), name)


class _CallableModule(ModuleType):
    def __call__(self, *data: Any, **options: Any) -> "AuditResult":
        from fairenum.audit.pipeline import audit as run

        return run(*data, **options)


sys.modules[__name__].__class__ = _CallableModule
