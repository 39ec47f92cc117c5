"""The paper's experiments, run many times over, and a verdict on each of its claims.

`reproduce` returns one JSON document, and `rendered` makes page, Markdown and figures of it, so that a saved run can be
shown again.
"""

from fairenum.reproduction.page import rendered
from fairenum.reproduction.plan import EXPERIMENTS, Plan
from fairenum.reproduction.running import FORMAT, reproduce

__all__ = ["EXPERIMENTS", "FORMAT", "Plan", "rendered", "reproduce"]
