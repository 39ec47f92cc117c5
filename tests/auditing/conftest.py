"""Two audits that many tests look at: one exact, one with all that an audit can have."""

import pytest
from support.audits import audit_applicants, audit_exactly, checked, people

from fairenum import AuditResult
from fairenum.document.audit_document import AuditDocument


@pytest.fixture(scope="session")
def exact_run() -> AuditResult:
    return audit_exactly(people())


@pytest.fixture(scope="session")
def exact(exact_run: AuditResult) -> AuditDocument:
    return checked(exact_run)


@pytest.fixture(scope="session")
def guided_run() -> AuditResult:
    return audit_applicants(baselines=True, range=True)


@pytest.fixture(scope="session")
def guided(guided_run: AuditResult) -> AuditDocument:
    return checked(guided_run)
