"""Small tables to explore, which tests share."""

from hiring import PLAN, applicants, people

from fairenum import Exploration

APPLICANTS = {"label": "hired", "favourable": "y", "sensitive": "sex", "sizes": (120, 150, 150), "replications": 50}


def open_applicants(**options) -> Exploration:
    """Explore a table on which a guided search finds much."""
    return Exploration(applicants(420), **{**APPLICANTS, "guards": "none"} | options)


def open_people(**options) -> Exploration:
    """Explore a table with two sensitive columns and guardrails."""
    return Exploration(people(240), **PLAN, replications=50, **options)
