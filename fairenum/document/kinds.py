"""Every kind of document."""

from fairenum.document.attack import AttackDocument
from fairenum.document.audit import AuditDocument
from fairenum.document.bench import BenchDocument
from fairenum.document.mitigation import MitigationDocument
from fairenum.document.reproduction import ReproductionDocument

AnyDocument = AuditDocument | AttackDocument | BenchDocument | MitigationDocument | ReproductionDocument
