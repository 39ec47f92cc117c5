"""The audit: from a table to the fairest near-optimal model, and to a document that says how sure that is."""

from fairenum.audit.config import AuditConfig
from fairenum.audit.result import AuditResult, schema

__all__ = ["AuditConfig", "AuditResult", "schema"]
