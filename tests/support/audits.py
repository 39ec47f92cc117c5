"""Tables of applicants in which a proxy of their sex has a say, and audits of them that tests share."""

from functools import partial

import numpy as np
import pandas as pd

from fairenum import AuditResult, audit
from fairenum.document.audit_document import AuditDocument
from fairenum.document.files import parse
from fairenum.document.models import AuditedModel

METRIC = "demographic_parity_difference"
PLAN = {"label": "hired", "favourable": "yes", "sensitive": ["sex", "race"]}


def people(n: int = 300, seed: int = 1) -> pd.DataFrame:
    """A table in which skill and a proxy of sex decide, with noise."""
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["f", "m"], n), rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    skill = rng.normal(size=n)
    proxy = np.where(sex == "m", 0.8, -0.8) + rng.normal(size=n)
    town = rng.choice(["north", "south"], n)
    score = skill + 0.6 * proxy + 0.3 * (town == "north") + rng.normal(scale=0.8, size=n)
    hired = np.where(score > 0, "yes", "no")
    return pd.DataFrame({"skill": skill, "proxy": proxy, "town": town, "sex": sex, "race": race, "hired": hired})


def applicants(n: int = 1000) -> pd.DataFrame:
    """A larger table with one sensitive column, on which a guided search finds much."""
    rng = np.random.default_rng(4)
    sex = rng.choice(["f", "m"], n)
    skill, proxy = rng.normal(size=n), np.where(sex == "m", 0.9, -0.9) + rng.normal(size=n)
    town = rng.choice(["north", "south"], n)
    hired = skill + 0.4 * proxy + 0.3 * (town == "north") + 0.7 * rng.normal(size=n) > 0
    return pd.DataFrame({"skill": skill, "proxy": proxy, "town": town, "sex": sex, "hired": np.where(hired, "y", "n")})


# Bounding the gap takes longer than all the rest of such an audit: tests of that ask for it.
# In samples as small as these, chance puts most models beyond a default guardrail: tests of guardrails name their own.
# They are small enough that the default split would leave too little to train on: most of their rows train.
MOSTLY_TRAINED = (0.6, 0.2, 0.2)
audit_people = partial(audit, **PLAN, sizes=MOSTLY_TRAINED, replications=50, guards="none", range=False)
audit_exactly = partial(audit, **PLAN, sizes=MOSTLY_TRAINED, k=12, replications=200, search="exact", guards="none")


def audit_applicants(sensitive: str | None = "sex", **options: object) -> AuditResult:
    options = {"k": 5, "replications": 100, "sizes": (200, 400, 400), "guards": "none", "range": False, **options}
    return audit(applicants(), "hired", "y", sensitive, **options)


def checked(result: AuditResult) -> AuditDocument:
    """Return the document, once it is what a strict reader makes of its text."""
    assert parse(result.to_json().encode(), "run.json") == result.document
    return result.document


def codes(document: AuditDocument) -> set[str]:
    return {caution.code for caution in document.warnings}


def of_origin(document: AuditDocument, origin: str) -> list[AuditedModel]:
    return [model for model in document.models if model.origin == origin]
