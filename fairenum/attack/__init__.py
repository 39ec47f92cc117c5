"""Label-flip injection: how fair the models of a table stay when somebody lies about its labels."""

from fairenum.attack.simulate import Simulation, simulate
from fairenum.attack.strategies import list_strategies
from fairenum.document.attack_config import AttackConfig

__all__ = ["AttackConfig", "Simulation", "list_strategies", "simulate"]
